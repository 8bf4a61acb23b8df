//! The blobs of a catalog, as `opm` reads the files of a directory.

use std::rc::Rc;

use super::{
    blob::{self, BundleBlob, ChannelBlob, Deprecations, PackageBlob, UnknownBlob, property},
    decode::{self, Blob},
    document::{self, WINDOW_OF_CATALOGS},
    properties,
};
use diagnostics::Diagnostic;
use go_data::yaml::Value;
use model::ProjectPath;

/// The position at which a blob begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobLocation {
    pub file: Rc<str>,
    pub line: usize,
}

impl BlobLocation {
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::in_file(&*self.file, message).at_position(self.line, 1)
    }
}

/// A blob and its location; none if it was not read from a file.
#[derive(Clone, Debug)]
pub struct Located<T> {
    pub blob: T,
    pub place: Option<BlobLocation>,
}

impl<T> Located<T> {
    pub fn new(blob: T) -> Self {
        Self { blob, place: None }
    }

    /// Returns a diagnostic about this blob.
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        match &self.place {
            Some(place) => place.fault(message),
            None => message.into().into(),
        }
    }
}

/// The blobs, each kind in the order in which they were read.
#[derive(Debug, Default)]
pub struct Catalog {
    pub packages: Vec<Located<PackageBlob>>,
    pub channels: Vec<Located<ChannelBlob>>,
    pub bundles: Vec<Located<BundleBlob>>,
    pub deprecations: Vec<Located<Deprecations>>,
    pub others: Vec<Located<UnknownBlob>>,
    /// Fields that `opm` drops, too.
    pub warnings: Vec<Diagnostic>,
}

/// Reads files one after another.
#[derive(Default)]
pub struct Loader {
    pub catalog: Catalog,
    /// Errors of files that cannot be read. `opm` stops at the first of these.
    pub faults: Vec<Diagnostic>,
    /// True if manifests and texts that only a full rendering needs are dropped.
    pub for_verdict: bool,
}

impl Loader {
    /// Reads a file; `title` is its path in messages.
    pub fn load_file(&mut self, path: &ProjectPath, bytes: &[u8], title: &str) {
        let file: Rc<str> = title.into();
        let read = document::for_each_document(bytes, WINDOW_OF_CATALOGS, &mut |document| {
            self.load_document(
                document.value,
                BlobLocation { file: Rc::clone(&file), line: document.line },
            );
        });
        if let Err(fault) = read {
            let (line, column) = fault.position;
            let mut problem = Diagnostic::in_file(title, fault.message).at_position(line, column);
            if !matches!(path.extension(), "yaml" | "yml" | "json") {
                problem = problem.with_hint(format!(
                    "all files of a catalog are read, with any name: move `{path}` elsewhere, or list it in `.indexignore`"
                ));
            }
            self.faults.push(problem);
        }
    }

    /// Reads one blob.
    pub fn load_document(&mut self, value: Value, place: BlobLocation) {
        let mut dropped = Vec::new();
        let blob = decode::decode_blob(value, &mut dropped);
        for field in dropped {
            self.catalog.warnings.push(
                place.fault(format!(
                    "`{field}` is left out: blobs of this schema have no such field"
                )),
            );
        }
        let blob = match blob {
            Ok(blob) => blob,
            Err(message) => {
                let is_comment = message == "this document has no blob";
                let mut problem = place.fault(message);
                if is_comment {
                    problem = problem.with_hint(
                        "this document holds no blob: remove the `---` after it, or the document",
                    );
                }
                return self.faults.push(problem);
            }
        };
        self.add_blob(blob, place);
    }

    fn add_blob(&mut self, blob: Blob, place: BlobLocation) {
        let catalog = &mut self.catalog;
        match blob {
            Blob::Package(blob) => catalog.packages.push(Located { blob, place: Some(place) }),
            Blob::Channel(blob) => catalog.channels.push(Located { blob, place: Some(place) }),
            Blob::Deprecations(blob) => {
                catalog.deprecations.push(Located { blob, place: Some(place) })
            }
            Blob::Other(blob) => catalog.others.push(Located { blob, place: Some(place) }),
            Blob::Bundle(mut blob) => {
                if let Err(message) = properties::check_objects(&blob) {
                    return self.faults.push(place.fault(message));
                }
                if self.for_verdict {
                    drop_large_values(&mut blob);
                }
                catalog.bundles.push(Located { blob, place: Some(place) });
            }
        }
    }
}

/// Drops the values of properties that are large, and that a verdict does not need once they are checked.
fn drop_large_values(bundle: &mut BundleBlob) {
    for property in &mut bundle.properties {
        let is_large =
            property.type_ == property::OBJECT || property.type_ == property::CSV_METADATA;
        let is_readable = properties::parse_properties(std::slice::from_ref(property)).is_ok();
        if is_large && is_readable {
            property.value = Some(Value::Null);
        }
    }
}

/// True if the blob belongs to no package, then the package, the order of the schema, and the name.
type Order = (bool, String, u8, String);

impl Catalog {
    /// Adds the blobs of another catalog.
    pub fn merge(&mut self, other: Self) {
        self.packages.extend(other.packages);
        self.channels.extend(other.channels);
        self.bundles.extend(other.bundles);
        self.deprecations.extend(other.deprecations);
        self.others.extend(other.others);
        self.warnings.extend(other.warnings);
    }

    /// Puts what bundles hold in the order of `opm render`: images by their references, and what is large after the
    /// other properties.
    pub fn sort_contents(&mut self) {
        let is_large = |property: &blob::Property| {
            [property::OBJECT, property::CSV_METADATA].contains(&&*property.type_)
        };
        for Located { blob, .. } in &mut self.bundles {
            blob.related_images.sort_by(|one, other| one.image.cmp(&other.image));
            blob.properties.sort_by_key(is_large);
        }
    }

    /// All blobs in the order of `opm render`: by package; in it channels, bundles and others by name; and last what
    /// belongs to no package. A known blob without a package is left out, as there: the second result has them.
    pub fn into_sorted(self) -> (Vec<Value>, Vec<Diagnostic>) {
        let mut sorted: Vec<(Order, Value)> = Vec::new();
        let mut lost = Vec::new();
        let mut put =
            |package: &str, kind: u8, name: &str, place: Option<BlobLocation>, value: Value| {
                if !package.is_empty() {
                    return sorted
                        .push(((false, package.to_owned(), kind, name.to_owned()), value));
                }
                let blob = Located { blob: (), place };
                lost.push(blob.fault("this is left out, because it belongs to no package"));
            };
        for Located { blob, place } in self.packages {
            put(&blob.name, 0, "", place, blob.to_value());
        }
        for Located { blob, place } in self.channels {
            put(&blob.package, 1, &blob.name, place, blob.to_value());
        }
        for Located { blob, place } in self.bundles {
            let (package, name) = (blob.package.clone(), blob.name.clone());
            put(&package, 2, &name, place, blob.into_value());
        }
        for Located { blob, place } in self.deprecations {
            put(&blob.package, 4, "", place, blob.to_value());
        }
        for Located { blob: UnknownBlob { schema, package, value }, .. } in self.others {
            let schema = if package.is_empty() { String::new() } else { schema };
            sorted.push(((package.is_empty(), package, 3, schema), value));
        }
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        (sorted.into_iter().map(|entry| entry.1).collect(), lost)
    }
}

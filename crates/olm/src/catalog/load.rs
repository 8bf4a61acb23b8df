//! The blobs of a catalog, as `opm` reads the files of a directory.

use std::rc::Rc;

use super::{
    blob::{self, Bundle, Channel, Deprecations, Other, Package, property},
    decode::{self, Blob},
    document::{self, WINDOW_OF_CATALOGS},
    properties,
};
use diagnostics::Diagnostic;
use go_data::yaml::Value;
use model::ProjectPath;

/// Where a blob begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: Rc<str>,
    pub line: usize,
}

impl Place {
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::in_file(&*self.file, message).at(self.line, 1)
    }
}

/// A blob and its place; none where it was not read from a file.
#[derive(Clone, Debug)]
pub struct Located<T> {
    pub blob: T,
    pub place: Option<Place>,
}

impl<T> Located<T> {
    pub fn new(blob: T) -> Self {
        Self { blob, place: None }
    }

    /// A problem of this blob.
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
    pub packages: Vec<Located<Package>>,
    pub channels: Vec<Located<Channel>>,
    pub bundles: Vec<Located<Bundle>>,
    pub deprecations: Vec<Located<Deprecations>>,
    pub others: Vec<Located<Other>>,
    /// Fields that `opm` drops, too.
    pub warnings: Vec<Diagnostic>,
}

/// Reads files one after another.
#[derive(Default)]
pub struct Loader {
    pub catalog: Catalog,
    /// What cannot be read. `opm` stops at the first of these.
    pub faults: Vec<Diagnostic>,
    /// Whether to forget the manifests and texts that only a full rendering needs.
    pub for_verdict: bool,
}

impl Loader {
    /// Reads a file; `title` is its path in messages.
    pub fn file(&mut self, path: &ProjectPath, bytes: &[u8], title: &str) {
        let file: Rc<str> = title.into();
        let read = document::each(bytes, WINDOW_OF_CATALOGS, &mut |it| {
            self.document(it.value, Place { file: Rc::clone(&file), line: it.line });
        });
        if let Err(fault) = read {
            let (line, column) = fault.position;
            let mut problem = Diagnostic::in_file(title, fault.message).at(line, column);
            if !matches!(path.extension(), "yaml" | "yml" | "json") {
                problem = problem.with_hint(format!(
                    "all files of a catalog are read, with any name: move `{path}` elsewhere, or list it in `.indexignore`"
                ));
            }
            self.faults.push(problem);
        }
    }

    /// Reads one blob.
    pub fn document(&mut self, value: Value, place: Place) {
        let mut dropped = Vec::new();
        let blob = decode::blob(value, &mut dropped);
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
        self.add(blob, place);
    }

    fn add(&mut self, blob: Blob, place: Place) {
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
                    forget(&mut blob);
                }
                catalog.bundles.push(Located { blob, place: Some(place) });
            }
        }
    }
}

/// Drops the values of properties that are large, and that a verdict does not need once they are checked.
fn forget(bundle: &mut Bundle) {
    for it in &mut bundle.properties {
        let is_large = it.type_ == property::OBJECT || it.type_ == property::CSV_METADATA;
        let is_readable = properties::properties(std::slice::from_ref(it)).is_ok();
        if is_large && is_readable {
            it.value = Some(Value::Null);
        }
    }
}

/// Whether it belongs to no package, its package, its kind, and its name.
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
    pub fn arrange(&mut self) {
        let is_large =
            |it: &blob::Property| [property::OBJECT, property::CSV_METADATA].contains(&&*it.type_);
        for Located { blob, .. } in &mut self.bundles {
            blob.related_images.sort_by(|one, other| one.image.cmp(&other.image));
            blob.properties.sort_by_key(is_large);
        }
    }

    /// All blobs in the order of `opm render`: by package; in it channels, bundles and others by name; and last what
    /// belongs to no package. A known blob without a package is left out, as there: the second result has them.
    pub fn into_sorted(self) -> (Vec<Value>, Vec<Diagnostic>) {
        let mut res: Vec<(Order, Value)> = Vec::new();
        let mut lost = Vec::new();
        let mut put = |package: &str, kind: u8, name: &str, place: Option<Place>, value: Value| {
            if !package.is_empty() {
                return res.push(((false, package.to_owned(), kind, name.to_owned()), value));
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
        for Located { blob: Other { schema, package, value }, .. } in self.others {
            let schema = if package.is_empty() { String::new() } else { schema };
            res.push(((package.is_empty(), package, 3, schema), value));
        }
        res.sort_by(|one, other| one.0.cmp(&other.0));
        (res.into_iter().map(|it| it.1).collect(), lost)
    }
}

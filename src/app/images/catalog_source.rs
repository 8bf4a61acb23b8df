//! The sources of bundles and catalogs: directories, archives and images.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;

use crate::app::{
    images::{self, RegistryAccess, folder::Folder},
    output::outcome::reading,
};
use diagnostics::{Diagnostics, Hint as _};
use model::{Platform, ProjectPath, display_path};
use oci::image::{Limits, Stored};
use olm::{
    bundle::annotations::PACKAGE,
    catalog::{self, Ignore, Loader, bundle::Files},
};

/// The files of a bundle or of a catalog, and how a person names them.
pub struct CatalogSource {
    title: String,
    kind: SourceKind,
    files: SourceContents,
}

enum SourceContents {
    /// Read one after another, by their paths inside.
    Folder(Folder),
    Image(Files),
}

#[derive(Clone, PartialEq, Eq)]
enum SourceKind {
    Folder,
    /// The reference by which it was pulled.
    BundleImage {
        reference: Option<String>,
    },
    CatalogImage,
}

/// The size limit of a catalog's file: one file may hold the catalog of a whole index. The files of an image have the
/// same limit.
const LONGEST: u64 = 512 << 20;

pub const CONFIGS: &str = "operators.operatorframework.io.index.configs.v1";
const DATABASE: &str = "operators.operatorframework.io.index.database.v1";

const REBUILD: &str =
    "build the image again, e.g. with `operator-rs catalog build`, or ask its author to do so";

/// Returns the platforms whose image is read, the first one that there is.
fn preferred_platforms() -> [Platform; 2] {
    [Platform::linux("amd64"), images::here()]
}

impl CatalogSource {
    /// Returns the image that a file names, in a registry. It may not name a path: a clone could read any file with it.
    pub fn image(text: &str, access: &RegistryAccess) -> anyhow::Result<Self> {
        // An image on this machine is never meant: `archive.tar` and `folder/layout` are names in a registry, too.
        let image = text.parse().map_err(|error| {
            anyhow::format_err!("`{text}` is not the name of an image: it {error}")
        });
        let image = image.hint(
            "a template names images; to read a bundle from a directory, pass `--bundle IMAGE=DIR`",
        )?;
        let stored = images::pulled(&image, &preferred_platforms(), access)?;
        Self::of_stored(text, Some(text.to_owned()), &stored)
    }

    /// Returns a directory, an archive, an OCI layout, or an image in a registry.
    pub fn open(dir: &Path, text: &str, access: &RegistryAccess) -> anyhow::Result<Self> {
        let path = dir.join(text);
        if path.is_dir() && !path.join("oci-layout").is_file() {
            return Self::folder(dir, Path::new(text));
        }
        if !path.exists() && !text.contains([':', '@', '.']) {
            return Err(anyhow::format_err!("there is no directory `{text}`"))
                .hint("name a directory, an archive, or an image such as `quay.io/example/catalog:v1`; `operator-rs generate catalog` creates a catalog");
        }
        let stored = images::read(dir, text, &preferred_platforms(), access)?;
        Self::of_stored(text, Some(text.to_owned()).filter(|_| !path.exists()), &stored)
    }

    /// Returns the bundle or the catalog in an image, which was pulled by a reference.
    fn of_stored(text: &str, reference: Option<String>, stored: &Stored) -> anyhow::Result<Self> {
        let label = |text: &str| stored.labels.get(text).cloned();
        if label(DATABASE).is_some() {
            return Err(anyhow::format_err!(
                "`{text}` is a catalog in an SQLite database, which OLM no longer supports"
            ))
            .hint("migrate it to a file-based catalog with `opm migrate`");
        }
        let (kind, folders) = match (label(CONFIGS), label(PACKAGE)) {
            (Some(configs), _) => {
                // Without the `/` at the start; the root is empty.
                let folder = model::resolve_path("", &configs).ok_or_else(|| {
                    anyhow::format_err!(
                        "the label `{CONFIGS}` of `{text}` leads out of the image: `{configs}`"
                    )
                });
                (SourceKind::CatalogImage, vec![folder.hint(REBUILD)?])
            }
            (None, Some(_)) => {
                let folders = ["manifests", "metadata"].map(str::to_owned);
                (SourceKind::BundleImage { reference }, folders.to_vec())
            }
            (None, None) => {
                return Err(anyhow::format_err!("`{text}` is neither a bundle nor a catalog"))
                    .hint(format!("the image of a bundle has the label `{PACKAGE}`, and that of a catalog `{CONFIGS}`"));
            }
        };
        // The root of an image is all that is in it.
        let named: Vec<&str> =
            folders.iter().map(|folder| &**folder).filter(|folder| !folder.is_empty()).collect();
        let unpacked = stored.unpack(&named, Limits::default())?;
        let mut files = unpacked.files;
        if kind == SourceKind::CatalogImage && !named.is_empty() {
            let configs = &folders[0];
            if !unpacked.folders.contains(configs) {
                return Err(anyhow::format_err!(
                    "`{text}` has no directory `/{configs}`, which its label `{CONFIGS}` names as the directory of the catalog"
                ))
                .hint(REBUILD);
            }
            let below = |path: &ProjectPath| {
                path.as_str().strip_prefix(&**configs)?.strip_prefix('/')?.parse().ok()
            };
            files = files.into_iter().filter_map(|pair| Some((below(&pair.0)?, pair.1))).collect();
        } else if kind == SourceKind::CatalogImage && stored.layers.is_empty() {
            return Err(anyhow::format_err!("`{text}` has no files")).hint(REBUILD);
        }
        Ok(Self { title: text.to_owned(), kind, files: SourceContents::Image(files) })
    }

    /// Returns a directory. Symlinks that lead out of it are refused: a clone may have put them there.
    pub fn folder(dir: &Path, folder: &Path) -> anyhow::Result<Self> {
        reading(dir)?;
        let Some(files) = Folder::open(dir, folder)? else {
            return Err(anyhow::format_err!("there is no directory `{}`", display_path(&folder))).hint(
                "name the directory of a catalog, or create one with `operator-rs generate catalog`",
            );
        };
        let inside = folder.to_str().and_then(|text| ProjectPath::from_system(text).ok());
        let title = inside.map_or_else(|| display_path(&folder), |path| path.to_string());
        Ok(Self { title, kind: SourceKind::Folder, files: SourceContents::Folder(files) })
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the reference of the bundle's image, if it was pulled.
    pub fn reference(&self) -> Option<&str> {
        match &self.kind {
            SourceKind::BundleImage { reference } => reference.as_deref(),
            _ => None,
        }
    }

    fn file_paths(&self) -> Vec<ProjectPath> {
        match &self.files {
            SourceContents::Folder(it) => it.paths.clone(),
            SourceContents::Image(files) => files.keys().cloned().collect(),
        }
    }

    fn read_bytes(&self, path: &ProjectPath) -> anyhow::Result<Vec<u8>> {
        let bytes = match &self.files {
            SourceContents::Folder(it) => it.bytes_up_to(path, LONGEST)?,
            SourceContents::Image(files) => files.get(path).cloned(),
        };
        bytes.with_context(|| format!("`{}/{path}` no longer exists", self.title))
    }

    pub fn is_bundle(&self) -> bool {
        let paths = self.file_paths();
        let has = |text: &str| paths.iter().any(|path| path.as_str().starts_with(text));
        match self.kind {
            SourceKind::Folder => has("manifests/") && has("metadata/"),
            SourceKind::BundleImage { .. } => true,
            SourceKind::CatalogImage => false,
        }
    }

    /// Returns the bundle that this is.
    pub fn bundle(&self) -> anyhow::Result<catalog::Bundle> {
        if !self.is_bundle() {
            return Err(anyhow::format_err!("`{}` is not a bundle", self.title))
                .hint("a bundle has the directories `manifests` and `metadata`");
        }
        catalog::Bundle::read(&self.all()?, &self.title)
    }

    /// Returns the catalog that this is. What cannot be read of it is among the loader's faults.
    pub fn catalog(&self, for_verdict: bool) -> anyhow::Result<Loader> {
        let mut loader = Loader { for_verdict, ..Loader::default() };
        for path in self.catalog_paths()? {
            loader.load_file(&path, &self.read_bytes(&path)?, &format!("{}/{path}", self.title));
        }
        Ok(loader)
    }

    /// Returns the files that belong to a catalog.
    fn catalog_paths(&self) -> anyhow::Result<Vec<ProjectPath>> {
        let mut paths = self.file_paths();
        let mut ignored = BTreeMap::new();
        for path in paths.iter().filter(|path| path.name() == catalog::IGNORE_FILE) {
            let text = String::from_utf8_lossy(&self.read_bytes(path)?).into_owned();
            ignored.insert(path.clone(), text);
        }
        let ignore = Ignore::parse(&self.title, &ignored)?;
        paths.retain(|path| !ignore.excludes(path));
        Ok(paths)
    }

    /// Returns every file, by its path inside.
    pub fn all(&self) -> anyhow::Result<Files> {
        self.file_paths()
            .into_iter()
            .map(|path| Ok((path.clone(), self.read_bytes(&path)?)))
            .collect()
    }
}

/// Returns the blobs of a catalog in which everything could be read.
pub fn whole(loader: Loader, title: &str) -> anyhow::Result<catalog::Catalog> {
    if loader.faults.is_empty() {
        Ok(loader.catalog)
    } else {
        Err(Diagnostics {
            headline: format!("{title} cannot be read as a catalog"),
            list: loader.faults,
        }
        .into())
    }
}

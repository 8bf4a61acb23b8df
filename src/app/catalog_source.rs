//! The sources of bundles and catalogs: directories, archives and images.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;

use crate::app::{
    folder::Folder,
    images::{self, Access},
    outcome::reading,
};
use diagnostics::{Diagnostics, Hint as _};
use model::{Platform, ProjectPath, display_path};
use oci::image::{Limits, Stored};
use olm::{
    bundle::annotations::PACKAGE,
    catalog::{self, Ignore, Loader, bundle::Files},
};

/// The files of a bundle or of a catalog, and how a person names them.
pub struct Source {
    title: String,
    kind: Kind,
    files: Contents,
}

enum Contents {
    /// Read one after another, by their paths inside.
    Folder(Folder),
    Image(Files),
}

#[derive(Clone, PartialEq, Eq)]
enum Kind {
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

/// The platforms whose image is read, the first one that there is.
fn platforms() -> [Platform; 2] {
    [Platform::linux("amd64"), images::here()]
}

impl Source {
    /// The image that a file names, in a registry. It may not name a path: a clone could read any file with it.
    pub fn image(text: &str, access: &Access) -> anyhow::Result<Self> {
        // An image on this machine is never meant: `archive.tar` and `folder/layout` are names in a registry, too.
        let image = text.parse().map_err(|error| {
            anyhow::format_err!("`{text}` is not the name of an image: it {error}")
        });
        let image = image.hint(
            "a template names images; to read a bundle from a directory, pass `--bundle IMAGE=DIR`",
        )?;
        let stored = images::pulled(&image, &platforms(), access)?;
        Self::of_stored(text, Some(text.to_owned()), &stored)
    }

    /// A directory, an archive, an OCI layout, or an image in a registry.
    pub fn open(dir: &Path, text: &str, access: &Access) -> anyhow::Result<Self> {
        let path = dir.join(text);
        if path.is_dir() && !path.join("oci-layout").is_file() {
            return Self::folder(dir, Path::new(text));
        }
        if !path.exists() && !text.contains([':', '@', '.']) {
            return Err(anyhow::format_err!("there is no directory `{text}`"))
                .hint("name a directory, an archive, or an image such as `quay.io/example/catalog:v1`; `operator-rs generate catalog` creates a catalog");
        }
        let stored = images::read(dir, text, &platforms(), access)?;
        Self::of_stored(text, Some(text.to_owned()).filter(|_| !path.exists()), &stored)
    }

    /// The bundle or the catalog in an image, which was pulled by a reference.
    fn of_stored(text: &str, reference: Option<String>, stored: &Stored) -> anyhow::Result<Self> {
        let label = |it: &str| stored.labels.get(it).cloned();
        if label(DATABASE).is_some() {
            return Err(anyhow::format_err!(
                "`{text}` is a catalog in an SQLite database, which OLM no longer supports"
            ))
            .hint("migrate it to a file-based catalog with `opm migrate`");
        }
        let (kind, folders) = match (label(CONFIGS), label(PACKAGE)) {
            (Some(configs), _) => {
                // Without the `/` at the start; the root is empty.
                let folder = model::resolve("", &configs).ok_or_else(|| {
                    anyhow::format_err!(
                        "the label `{CONFIGS}` of `{text}` leads out of the image: `{configs}`"
                    )
                });
                (Kind::CatalogImage, vec![folder.hint(REBUILD)?])
            }
            (None, Some(_)) => {
                let folders = ["manifests", "metadata"].map(str::to_owned);
                (Kind::BundleImage { reference }, folders.to_vec())
            }
            (None, None) => {
                return Err(anyhow::format_err!("`{text}` is neither a bundle nor a catalog"))
                    .hint(format!("the image of a bundle has the label `{PACKAGE}`, and that of a catalog `{CONFIGS}`"));
            }
        };
        // The root of an image is all that is in it.
        let named: Vec<&str> = folders.iter().map(|it| &**it).filter(|it| !it.is_empty()).collect();
        let unpacked = stored.unpack(&named, Limits::default())?;
        let mut files = unpacked.files;
        if kind == Kind::CatalogImage && !named.is_empty() {
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
            files = files.into_iter().filter_map(|it| Some((below(&it.0)?, it.1))).collect();
        } else if kind == Kind::CatalogImage && stored.layers.is_empty() {
            return Err(anyhow::format_err!("`{text}` has no files")).hint(REBUILD);
        }
        Ok(Self { title: text.to_owned(), kind, files: Contents::Image(files) })
    }

    /// A directory. Symlinks that lead out of it are refused: a clone may have put them there.
    pub fn folder(dir: &Path, folder: &Path) -> anyhow::Result<Self> {
        reading(dir)?;
        let Some(files) = Folder::open(dir, folder)? else {
            return Err(anyhow::format_err!("there is no directory `{}`", display_path(&folder))).hint(
                "name the directory of a catalog, or create one with `operator-rs generate catalog`",
            );
        };
        let inside = folder.to_str().and_then(|it| ProjectPath::from_system(it).ok());
        let title = inside.map_or_else(|| display_path(&folder), |it| it.to_string());
        Ok(Self { title, kind: Kind::Folder, files: Contents::Folder(files) })
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    /// The reference of the bundle's image, if it was pulled.
    pub fn reference(&self) -> Option<&str> {
        match &self.kind {
            Kind::BundleImage { reference } => reference.as_deref(),
            _ => None,
        }
    }

    fn paths(&self) -> Vec<ProjectPath> {
        match &self.files {
            Contents::Folder(it) => it.paths.clone(),
            Contents::Image(files) => files.keys().cloned().collect(),
        }
    }

    fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Vec<u8>> {
        let bytes = match &self.files {
            Contents::Folder(it) => it.bytes_up_to(path, LONGEST)?,
            Contents::Image(files) => files.get(path).cloned(),
        };
        bytes.with_context(|| format!("`{}/{path}` no longer exists", self.title))
    }

    pub fn is_bundle(&self) -> bool {
        let paths = self.paths();
        let has = |it: &str| paths.iter().any(|path| path.as_str().starts_with(it));
        match self.kind {
            Kind::Folder => has("manifests/") && has("metadata/"),
            Kind::BundleImage { .. } => true,
            Kind::CatalogImage => false,
        }
    }

    /// The bundle that this is.
    pub fn bundle(&self) -> anyhow::Result<catalog::Bundle> {
        if !self.is_bundle() {
            return Err(anyhow::format_err!("`{}` is not a bundle", self.title))
                .hint("a bundle has the directories `manifests` and `metadata`");
        }
        catalog::Bundle::read(&self.all()?, &self.title)
    }

    /// The catalog that this is. What cannot be read of it is among the loader's faults.
    pub fn catalog(&self, for_verdict: bool) -> anyhow::Result<Loader> {
        let mut loader = Loader { for_verdict, ..Loader::default() };
        for path in self.catalog_paths()? {
            loader.file(&path, &self.bytes(&path)?, &format!("{}/{path}", self.title));
        }
        Ok(loader)
    }

    /// The files that belong to a catalog.
    fn catalog_paths(&self) -> anyhow::Result<Vec<ProjectPath>> {
        let mut paths = self.paths();
        let mut ignored = BTreeMap::new();
        for path in paths.iter().filter(|it| it.name() == catalog::IGNORE_FILE) {
            let text = String::from_utf8_lossy(&self.bytes(path)?).into_owned();
            ignored.insert(path.clone(), text);
        }
        let ignore = Ignore::read(&self.title, &ignored)?;
        paths.retain(|it| !ignore.has(it));
        Ok(paths)
    }

    /// Every file, by its path inside.
    pub fn all(&self) -> anyhow::Result<Files> {
        self.paths().into_iter().map(|it| Ok((it.clone(), self.bytes(&it)?))).collect()
    }
}

/// The blobs of a catalog in which everything could be read.
pub fn whole(loader: Loader, title: &str) -> anyhow::Result<catalog::Catalog> {
    match loader.faults.is_empty() {
        true => Ok(loader.catalog),
        false => Err(Diagnostics {
            headline: format!("{title} cannot be read as a catalog"),
            list: loader.faults,
        }
        .into()),
    }
}

//! The source of a bundle, as the user names it: a directory, an image in an archive or an OCI layout, or an image in a
//! registry.

use std::{collections::BTreeMap, path::Path};

use crate::{
    app::{
        images::{self, RegistryAccess, folder::Folder},
        output::{outcome::reading, repository::Repository},
    },
    disk,
    project::below,
};
use diagnostics::Hint as _;
use model::{Platform, ProjectPath, display_path};
use oci::image::{Limits, Unpacked};
use olm::bundle::validate::Files;

/// The folders of a bundle, in its directory and in its image.
const FOLDERS: &[&str] = &["manifests", "metadata", "tests"];

/// The labels of an image.
pub type Labels = BTreeMap<String, String>;

/// A bundle as it was found.
pub struct BundleContents {
    pub files: Files,
    /// Its directories, also those without files.
    pub folders: Vec<String>,
    /// Its name for messages.
    pub label: String,
    /// The labels of the image, if it is one.
    pub labels: Option<Labels>,
}

/// Returns the files of a bundle, and its name for messages.
pub fn read(dir: &Path, text: &str, access: &RegistryAccess) -> anyhow::Result<(Files, String)> {
    contents(dir, text, access).map(|content| (content.files, content.label))
}

/// The directory of a project's bundle.
pub const BUNDLE: &str = "bundle";

/// The same, or the bundle that is committed at a revision: `REV` has that of the project, and `REV:DIR` one in a directory
/// from the top of the repository. What names a revision names no image.
pub fn read_or_revision(
    dir: &Path,
    text: &str,
    project: &Path,
    access: &RegistryAccess,
) -> anyhow::Result<(Files, String)> {
    match of_revision(dir, text, project)? {
        Some(files) if files.is_empty() => Err(anyhow::format_err!("found no bundle at `{text}`"))
            .hint("give its directory from the top of the repository: `REV:DIR`"),
        Some(files) => Ok((files, text.to_owned())),
        None => read(dir, text, access),
    }
}

fn of_revision(dir: &Path, text: &str, project: &Path) -> anyhow::Result<Option<Files>> {
    let (revision, path) = match text.split_once(':') {
        Some((revision, path)) => (revision, Some(path)),
        None => (text, None),
    };
    let is_name = !revision.is_empty() && !revision.starts_with(['-', '.', '/']);
    if !is_name || dir.join(text).exists() {
        return Ok(None);
    }
    let project = disk::resolve_folder(project)?;
    if Repository::prefix_of(&project)?.is_none() {
        return Ok(None);
    }
    let repository = Repository::of(&project)?;
    if !repository.has(revision)? {
        return Ok(None);
    }
    let path = match path {
        Some(path) => path.trim_matches('/').to_owned(),
        None => below(&repository.prefix, BUNDLE),
    };
    let mut files = Files::new();
    for (path, bytes) in repository.at(revision)?.files(&path)? {
        files.insert(path.parse()?, bytes);
    }
    Ok(Some(files))
}

/// Returns the whole of a bundle.
pub fn contents(dir: &Path, text: &str, access: &RegistryAccess) -> anyhow::Result<BundleContents> {
    reading(dir)?;
    let text = &*display_path(text);
    let path = dir.join(text);
    // `./bundle/` is `bundle`.
    let label =
        text.parse::<ProjectPath>().map_or_else(|_| text.to_owned(), |path| path.to_string());
    if path.join("PROJECT").is_file() && !path.join("manifests").is_dir() {
        return Err(anyhow::format_err!("`{label}` is a project, not a bundle"))
            .hint("generate its bundle with `operator-rs bundle`, and name the directory: `bundle` by default");
    }
    let is_image = !path.is_dir() || path.join("oci-layout").exists();
    let (files, folders, labels) = if is_image && is_there(&path, text) {
        let found = of_image(dir, text, access)?;
        (found.files, found.folders.into_iter().collect(), Some(found.labels))
    } else {
        let (files, folders) = of_folder(dir, text)?;
        (files, folders, None)
    };
    if files.is_empty() {
        return Err(anyhow::format_err!("found no bundle in `{label}`"))
            .hint("name the directory of a bundle, which has `manifests/` and `metadata/annotations.yaml`, or its image");
    }
    Ok(BundleContents { files, folders, label, labels })
}

/// Returns whether a name is that of an image in a registry.
pub fn is_remote(dir: &Path, text: &str) -> bool {
    let path = dir.join(text);
    !path.exists() && is_there(&path, text) && !text.ends_with(".tar")
}

/// Returns whether there is something to read as an image. A name without registry, tag and digest is a directory that
/// is missing.
fn is_there(path: &Path, text: &str) -> bool {
    path.exists() || text.contains([':', '@']) || text.ends_with(".tar")
}

fn of_image(dir: &Path, text: &str, access: &RegistryAccess) -> anyhow::Result<Unpacked> {
    // The files are the same for every platform.
    let platforms = [images::here(), Platform::linux("amd64")];
    let image = images::read(dir, text, &platforms, access)?;
    image.unpack(FOLDERS, Limits::default())
}

fn of_folder(dir: &Path, text: &str) -> anyhow::Result<(Files, Vec<String>)> {
    let mut files = Files::new();
    // A directory that is no bundle may be large, and is not read.
    let path = dir.join(text);
    if !["manifests", "metadata"].iter().any(|manifest| path.join(manifest).is_dir()) {
        return Ok((files, Vec::new()));
    }
    let Some(folder) = Folder::open(dir, Path::new(text))? else { return Ok((files, Vec::new())) };
    for path in &folder.paths {
        if let Some(bytes) = folder.bytes(path)? {
            files.insert(path.clone(), bytes);
        }
    }
    Ok((files, folder.folders()?))
}

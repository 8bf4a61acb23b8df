//! Finds a cargo workspace.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::{below, parse};
use crate::disk::{self, Root};
use diagnostics::Hint as _;
use model::display_path;

/// A workspace on disk, or a package that is in none.
pub struct Workspace {
    pub root: Root,
    /// The package whose Cargo.toml was passed, if it is not the workspace's own.
    pub member: Option<String>,
}

impl Workspace {
    /// Finds it as cargo does: from the Cargo.toml that was passed, or from the nearest one upwards.
    pub fn find(dir: &Path, manifest: Option<&Path>) -> anyhow::Result<Self> {
        let manifest = match manifest {
            Some(path) if path.is_dir() => path.join("Cargo.toml"),
            Some(path) => path.to_owned(),
            None => next(dir)?,
        };
        if manifest.file_name().is_none_or(|name| name != "Cargo.toml") {
            return Err(anyhow::format_err!("`{}` is not a Cargo.toml", display_path(&manifest)))
                .hint("give the path of a Cargo.toml or of its directory: `--manifest-path PATH`");
        }
        let Some(text) = disk::read_text_if_exists(&manifest)? else {
            return Err(anyhow::format_err!("there is no `{}`", display_path(&manifest)))
                .hint("give the path of a Cargo.toml or of its directory: `--manifest-path PATH`");
        };
        let folder = disk::resolve_folder(manifest.parent().unwrap_or(Path::new("")))?;
        let table = parse(&manifest, &text)?;
        let (root, member) =
            root_of(&folder, &table, &disk::read_text_if_exists, &disk::resolve_folder)?;
        Ok(Self { root: Root::new(&root)?, member })
    }
}

/// Reads a file; none if it does not exist.
type Read<'a> = &'a dyn Fn(&Path) -> anyhow::Result<Option<String>>;

/// Returns the root of the workspace that the package in a folder belongs to, and the package's name if it is not the
/// root's own.
pub fn root_of(
    folder: &Path,
    manifest: &Table,
    read: Read<'_>,
    real: &dyn Fn(&Path) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<(PathBuf, Option<String>)> {
    let package = manifest.get("package");
    let own = package.and_then(|package| package.get("workspace")).and_then(Value::as_str);
    if own.is_none() && manifest.contains_key("workspace") {
        return Ok((folder.to_owned(), None));
    }
    let above = match own {
        Some(path) => Some(real(&folder.join(path))?),
        None => workspace_above(folder, read)?,
    };
    let member = package.and_then(|package| package.get("name")).and_then(Value::as_str);
    Ok(match above {
        Some(root) => (root, member.map(str::to_owned)),
        None => (folder.to_owned(), None),
    })
}

/// Returns the nearest Cargo.toml from a folder upwards.
fn next(dir: &Path) -> anyhow::Result<PathBuf> {
    let dir = disk::resolve_folder(dir)?;
    for folder in dir.ancestors() {
        let path = folder.join("Cargo.toml");
        if path.is_file() {
            return Ok(path);
        }
    }
    const LISTED: usize = 4;
    let below = below::packages(&dir);
    let listed = below.iter().take(LISTED).map(|folder| format!("`{folder}`"));
    let listed = listed.collect::<Vec<_>>().join(" or ");
    Err(anyhow::format_err!("no Cargo.toml in `{}` or any parent directory", display_path(&dir)))
        .hint(if below.is_empty() {
            "run the command in the directory of a package or workspace, or name it with `--dir`"
                .to_owned()
        } else {
            format!("run the command in a directory that has one: {listed}")
        })
}

/// Returns the nearest workspace above a folder, unless it excludes the folder.
fn workspace_above(folder: &Path, read: Read<'_>) -> anyhow::Result<Option<PathBuf>> {
    for root in folder.ancestors().skip(1) {
        let path = root.join("Cargo.toml");
        let Some(text) = read(&path)? else { continue };
        let table = parse(&path, &text)?;
        let Some(workspace) = table.get("workspace") else { continue };
        let below = folder.strip_prefix(root).unwrap_or(folder);
        let list = |key: &str| {
            let list = workspace.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(Path::new).collect::<Vec<_>>()
        };
        let is_in = |path: &&Path| below.starts_with(without_dots(path));
        let excluded = list("exclude").iter().any(is_in) && !list("members").iter().any(is_in);
        return Ok((!excluded).then(|| root.to_owned()));
    }
    Ok(None)
}

/// Returns a relative path without its `.`.
fn without_dots(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}

//! The only room that reads and writes the project. Symlinks are not followed out of it.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

mod apart;
mod journal;
mod throwaway;
pub mod watch;
mod write;

pub use apart::{put, put_programs, temporary};
pub use throwaway::Throwaway;
pub use write::Recovered;

use std::{
    cell::OnceCell,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use walkdir::WalkDir;

use crate::{
    model::ProjectPath,
    plan::{Found, Tree},
};

/// The text of a file that the user names, wherever it is.
pub fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))
}

/// The same; nothing where there is no such file.
pub fn text_if_any(path: &Path) -> anyhow::Result<Option<String>> {
    watch::note(path);
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading `{}`", path.display())),
    }
}

/// The folder that a path means, without symlinks.
pub fn real(path: &Path) -> anyhow::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::canonicalize(path).with_context(|| format!("looking at `{}`", path.display()))
}

/// What is in a folder, sorted, folders with a `/` behind their names; nothing where there is no such folder.
/// A name that is not UTF-8 is none that a project could use.
pub fn names(path: &Path) -> anyhow::Result<Vec<String>> {
    watch::note(path);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => {
            return Err(error).with_context(|| format!("listing `{}`", path.display()));
        }
    };
    let mut res = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("listing `{}`", path.display()))?;
        let kind = entry.file_type().with_context(|| format!("listing `{}`", path.display()))?;
        let folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        let end = if folder { "/" } else { "" };
        res.extend(entry.file_name().into_string().map(|it| it + end));
    }
    res.sort();
    Ok(res)
}

/// A project's directory.
pub struct Root {
    dir: PathBuf,
    /// The same without symlinks, where it exists.
    real: PathBuf,
    held: OnceCell<File>,
}

impl Root {
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        let real = match fs::canonicalize(dir) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => anyhow::bail!("`{}` is not a folder", dir.display()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => dir.to_owned(),
            Err(error) => {
                return Err(error).with_context(|| format!("looking at `{}`", dir.display()));
            }
        };
        Ok(Self { dir: dir.to_owned(), real, held: OnceCell::new() })
    }

    /// The folder itself, without symlinks.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The folder's own name.
    pub fn name(&self) -> anyhow::Result<String> {
        let name = self.real.file_name().and_then(|it| it.to_str());
        name.map(str::to_owned)
            .with_context(|| format!("`{}` has no name in UTF-8", self.dir.display()))
    }

    /// What is wrong with a symlink at `path`, seen from the project; nothing if it stays inside.
    fn leads_out(&self, path: &Path, name: &str) -> Option<String> {
        match fs::canonicalize(path) {
            Ok(real) if real.starts_with(&self.real) => None,
            Ok(_) => Some(format!("`{name}` is a symlink out of the project")),
            Err(_) => Some(format!("`{name}` is a symlink to nothing")),
        }
    }
}

impl Tree for Root {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        let parts: Vec<&str> = path.as_str().split('/').collect();
        watch::note(&self.dir.join(path));
        let mut at = self.dir.clone();
        for (depth, part) in parts.iter().enumerate() {
            at.push(part);
            let name = parts[..=depth].join("/");
            let meta = match fs::symlink_metadata(&at) {
                Ok(meta) => meta,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => {
                    return Ok(Found::Nothing);
                }
                Err(error) => return Err(error).with_context(|| format!("looking at {name}")),
            };
            if meta.is_symlink()
                && let Some(why) = self.leads_out(&at, &name)
            {
                return Ok(Found::Other(why));
            }
            let folder = at.is_dir();
            if depth + 1 < parts.len() && !folder {
                return Ok(Found::Other(format!("`{name}` is a file, where a folder must go")));
            }
            if depth + 1 == parts.len() && folder {
                return Ok(Found::Other("a folder is there, where a file must go".to_owned()));
            }
        }
        let bytes = fs::read(&at).with_context(|| format!("reading {path}"))?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Found::Text(text),
            Err(_) => Found::Other("what is there is not UTF-8 text".to_owned()),
        })
    }

    fn dir(&self) -> Option<&Path> {
        Some(&self.dir)
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        names(&self.dir.join(folder))
    }

    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let top = self.dir.join(folder);
        if !top.is_dir() || self.leads_out(&top, folder.as_str()).is_some() {
            return Ok(Vec::new());
        }
        let mut res = Vec::new();
        for entry in WalkDir::new(&top).sort_by_file_name() {
            let entry = entry.with_context(|| format!("listing {folder}"))?;
            let file =
                entry.file_type().is_file() || entry.path_is_symlink() && entry.path().is_file();
            let below = entry.path().strip_prefix(&self.dir).unwrap_or(entry.path());
            if !file || journal::is_temporary(below) {
                continue;
            }
            let text = below
                .to_str()
                .with_context(|| format!("`{}` is not named in UTF-8", below.display()))?;
            res.push(text.parse()?);
        }
        res.sort();
        Ok(res)
    }
}

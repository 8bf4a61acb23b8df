//! A project's folder as a `Tree`: the view that plans and readers have of it.

use std::{io, path::Path};

use anyhow::Context as _;
use walkdir::WalkDir;

use super::{
    content::size_limit,
    folder::{FileKind, Folder},
    journal,
    root::{FolderLookup, Root, symlink_message},
    system_errors::is_missing,
    watch,
};
use diagnostics::utf8_text;
use model::{FileContent, ProjectPath, Tree, display_path};

/// The maximum depth of folders in a folder that is listed.
const DEEPEST: usize = 32;

impl Tree for Root {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        watch::record_path(&self.dir.join(path));
        let folder = match self.lookup_folder(path)? {
            FolderLookup::To(folder) => folder,
            FolderLookup::Missing => return Ok(FileContent::Nothing),
            FolderLookup::Blocked(what) => return Ok(FileContent::Other(what)),
        };
        let kind = folder.kind(path.name()).with_context(|| format!("cannot access {path}"))?;
        Ok(match kind {
            FileKind::Nothing => FileContent::Nothing,
            FileKind::Folder => FileContent::Other("it is a directory, not a file".to_owned()),
            FileKind::Symlink => FileContent::Other(symlink_message(path.as_str())),
            FileKind::Special => FileContent::Other("it is not a regular file".to_owned()),
            FileKind::File => {
                let bytes =
                    folder.read(path.name()).with_context(|| format!("cannot read {path}"))?;
                match utf8_text(&bytes) {
                    Ok(text) => FileContent::Text(text.to_owned()),
                    Err(problem) => FileContent::Other(problem),
                }
            }
        })
    }

    fn read_text(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        let Some(bytes) = self.read_bytes(path)? else { return Ok(None) };
        match utf8_text(&bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(problem) => anyhow::bail!("{path} cannot be read: {problem}"),
        }
    }

    fn read_bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        self.bytes_up_to(path, size_limit(Path::new(path.as_str())))
    }

    fn root_dir(&self) -> Option<&Path> {
        Some(&self.dir)
    }

    fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        watch::record_path(&self.dir.join(folder));
        let Some(top) = self.folder() else { return Ok(Vec::new()) };
        let path = if folder.is_empty() { "." } else { folder };
        let mut res = match top.names_below(Path::new(path)) {
            Ok(names) => names,
            Err(error) if is_missing(&error) || error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error).with_context(|| format!("cannot list {path}")),
        };
        res.sort();
        Ok(res
            .into_iter()
            .map(|(name, is_folder)| name + if is_folder { "/" } else { "" })
            .collect())
    }

    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let mut paths = self.list_all(folder)?;
        paths.retain(|name| !journal::is_temporary(name.as_ref()));
        Ok(paths)
    }
}

impl Root {
    /// Lists all files of a folder, also those that an interrupted run has left, which other programs see.
    pub fn list_all(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let is_folder = |other: &Folder| {
            other.kind_below(folder.as_ref()).is_ok_and(|kind| kind == FileKind::Folder)
        };
        if !self.folder().is_some_and(is_folder) {
            return Ok(Vec::new());
        }
        let mut paths = Vec::new();
        for entry in WalkDir::new(self.real.join(folder)).max_depth(DEEPEST).sort_by_file_name() {
            let entry = entry.with_context(|| format!("cannot list {folder}"))?;
            let below = entry.path().strip_prefix(&self.real).unwrap_or(entry.path());
            if entry.file_type().is_dir() {
                anyhow::ensure!(
                    entry.depth() < DEEPEST,
                    "{}: its directories are nested too deep",
                    display_path(&below)
                );
                continue;
            }
            let text = below
                .to_str()
                .with_context(|| format!("the path `{}` is not UTF-8", display_path(&below)))?;
            paths.push(ProjectPath::from_system(text)?);
        }
        paths.sort();
        Ok(paths)
    }
}

/// Returns why a path cannot be read. Symlinks inside of the project are followed.
pub fn unreadable_error(folder: &Folder, path: &ProjectPath, error: io::Error) -> anyhow::Error {
    let names: Vec<&str> = path.as_str().split('/').collect();
    for depth in 1..=names.len() {
        let name = names[..depth].join("/");
        let is_link = folder.kind_at(Path::new(&name)).is_ok_and(|kind| kind == FileKind::Symlink);
        match folder.kind_below(Path::new(&name)) {
            Ok(FileKind::Folder) if depth == names.len() => {
                return anyhow::format_err!("it is a directory, not a file");
            }
            Ok(kind) if kind != FileKind::Folder && depth < names.len() => {
                return anyhow::format_err!("`{name}` is a file, not a directory");
            }
            // A refusal of the sandbox itself has no error code of the system.
            Err(it) if is_link && it.raw_os_error().is_none() => {
                let error =
                    anyhow::format_err!("`{name}` is a symlink that leads out of the project");
                return with_hint(error, "replace it with what it leads to");
            }
            Err(_) if is_link => {
                let error = anyhow::format_err!("`{name}` is a broken symlink");
                return with_hint(error, "delete it, or restore what it leads to");
            }
            _ => {}
        }
    }
    error.into()
}

fn with_hint(error: anyhow::Error, hint: &str) -> anyhow::Error {
    diagnostics::with_hints::<()>(error, std::iter::once(hint.to_owned())).unwrap_err()
}

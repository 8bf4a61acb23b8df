//! A project's folder, or another one that files are written to, and its lock.

use std::{
    cell::OnceCell,
    fs::{self, File},
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;

use super::{
    changed_meanwhile::ChangedMeanwhile,
    folder::{FileKind, Folder},
    lock,
    system_errors::is_missing,
};
use diagnostics::Hint as _;
use model::{ProjectPath, display_path};

pub struct Root {
    pub(super) dir: PathBuf,
    /// The path of the folder without symlinks, if it exists.
    pub(super) real: PathBuf,
    /// The names that lead to it from `base`; no symlink among them is followed.
    below: Vec<String>,
    /// The folder that the user has named, where symlinks are followed.
    base: PathBuf,
    opened: OnceCell<Folder>,
    held: OnceCell<File>,
}

/// The folder that a path leads to when no symlink is followed.
pub(super) enum FolderLookup {
    /// The folder that holds it.
    To(Folder),
    /// A folder on the way is missing.
    Missing,
    /// Something other than a folder is on the way; the text describes it in a message.
    Blocked(String),
}

impl Root {
    /// Returns the folder that the user has named.
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        Self::open_below(dir, dir.to_owned(), Vec::new())
    }

    /// Returns a folder for output. Below `dir` no symlink is followed on the way to it: a clone may have put it there.
    pub fn open_output(dir: &Path, folder: &Path) -> anyhow::Result<Self> {
        model::require_names_of_system(folder)?;
        let whole = dir.join(folder);
        let top = super::resolve_path(dir).unwrap_or_else(|_| dir.to_owned());
        let path = normalize_lexically(
            &std::path::absolute(top.join(folder)).context("cannot resolve the directory")?,
        );
        let Ok(below) = path.strip_prefix(&top) else {
            return Self::new(&whole);
        };
        let names =
            below.components().map(|component| component.as_os_str().to_str().map(str::to_owned));
        let names: Option<Vec<String>> = names.collect();
        let names =
            names.with_context(|| format!("the path `{}` is not UTF-8", display_path(&whole)))?;
        Self::open_below(dir, whole, names)
    }

    /// Returns the folder that holds `folder`, and the name in there: to read from it. Symlinks on the way to it are
    /// followed, but not out of `dir`: a clone may have put them there. None if there is no such folder.
    pub fn open_around(dir: &Path, folder: &Path) -> anyhow::Result<Option<(Self, ProjectPath)>> {
        let whole =
            std::path::absolute(dir.join(folder)).context("cannot resolve the directory")?;
        if !whole.is_dir() {
            return Ok(None);
        }
        let real = super::resolve_folder(&whole)?;
        let top = super::resolve_folder(dir)?;
        let path = normalize_lexically(
            &std::path::absolute(top.join(folder)).context("cannot resolve the directory")?,
        );
        if path.starts_with(&top) && !real.starts_with(&top) {
            return Err(anyhow::format_err!(
                "`{}` is a symlink that leads out of the project",
                display_path(&folder)
            ))
            .hint(format!("name the directory itself: `{}`", display_path(&real)));
        }
        let (Some(parent), Some(name)) =
            (real.parent(), real.file_name().and_then(|name| name.to_str()))
        else {
            return Err(anyhow::format_err!("`{}` has no name of its own", display_path(&folder)))
                .hint("name a directory below it, e.g. `../other/bundle`");
        };
        Ok(Some((Self::open_output(dir, parent)?, name.parse()?)))
    }

    fn open_below(base: &Path, dir: PathBuf, below: Vec<String>) -> anyhow::Result<Self> {
        let looking = || format!("cannot open `{}`", display_path(&dir));
        let real = match super::resolve_path(&dir) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => anyhow::bail!("`{}` is not a directory", display_path(&dir)),
            Err(error) if is_missing(&error) => dir.clone(),
            Err(error) => return Err(error).with_context(looking),
        };
        let opened = OnceCell::new();
        match Folder::open_trusted(base) {
            Ok(folder) => match walk_folders(folder, &below)? {
                FolderLookup::To(folder) => drop(opened.set(folder)),
                FolderLookup::Missing => {}
                FolderLookup::Blocked(what) => anyhow::bail!("{what}"),
            },
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error).with_context(looking),
        }
        Ok(Self { base: base.to_owned(), real, below, opened, held: OnceCell::new(), dir })
    }

    /// Returns the path of an output folder in the directory that it was opened from, if it is below it.
    pub fn path_below_base(&self) -> Option<ProjectPath> {
        self.below.join("/").parse().ok()
    }

    /// Returns the folder itself, without symlinks.
    pub fn resolved_path(&self) -> &Path {
        &self.real
    }

    /// Returns the folder's own name.
    pub fn name(&self) -> anyhow::Result<String> {
        let name = self.real.file_name().and_then(|name| name.to_str());
        name.map(str::to_owned)
            .with_context(|| format!("the name of `{}` is not UTF-8", display_path(&self.dir)))
    }

    pub(super) fn folder(&self) -> Option<&Folder> {
        self.opened.get()
    }

    /// Opens the folder, and creates it first if it is missing.
    pub(super) fn folder_or_new(&self) -> anyhow::Result<&Folder> {
        if let Some(folder) = self.opened.get() {
            return Ok(folder);
        }
        let making = || format!("cannot create the directory `{}`", display_path(&self.dir));
        let mut folder = Folder::open_or_create_trusted(&self.base).with_context(making)?;
        for name in &self.below {
            folder = folder.folder_or_new(name).with_context(making)?.0;
        }
        Ok(self.opened.get_or_init(|| folder))
    }

    /// Returns the way to the folder that holds a path.
    pub(super) fn lookup_folder(&self, path: &ProjectPath) -> anyhow::Result<FolderLookup> {
        let Some(folder) = self.folder() else { return Ok(FolderLookup::Missing) };
        let names: Vec<&str> = path.as_str().split('/').collect();
        let folder = folder.reopen().context("cannot open the project directory")?;
        walk_folders(folder, &names[..names.len() - 1])
    }

    /// Fails if the folder that is open is no longer where the user has named it.
    pub(super) fn require_in_place(&self) -> anyhow::Result<()> {
        let looking = || format!("cannot open `{}`", display_path(&self.dir));
        let way = match Folder::open_trusted(&self.base) {
            Ok(folder) => walk_folders(folder, &self.below)?,
            Err(error) if is_missing(&error) => FolderLookup::Missing,
            Err(error) => return Err(error).with_context(looking),
        };
        let (FolderLookup::To(now), Some(folder)) = (way, self.folder()) else {
            return Err(ChangedMeanwhile::moved_folder(&display_path(&self.dir)));
        };
        if now.identity().with_context(looking)? == folder.identity().with_context(looking)? {
            Ok(())
        } else {
            Err(ChangedMeanwhile::moved_folder(&display_path(&self.dir)))
        }
    }

    /// Locks the folder until this process ends, however it ends. A command that writes takes the lock before it
    /// reads, because what it writes depends on what it has read.
    pub fn lock(&self) -> anyhow::Result<()> {
        // A folder that does not exist yet, or that cannot be opened as a file, cannot be locked.
        let Some(folder) = self.folder().filter(|_| self.held.get().is_none()) else {
            return Ok(());
        };
        match lock::try_lock(folder) {
            Ok(file) => {
                let _ = self.held.set(file);
                Ok(())
            }
            Err(fs::TryLockError::WouldBlock) => busy_error(),
            Err(fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Locks the folder, which is created if it is missing. Waits for another process that has the lock; calls `tell`
    /// before it waits.
    pub fn wait_for_lock(&self, tell: impl FnOnce()) -> anyhow::Result<()> {
        let folder = self.folder_or_new()?;
        if self.lock().is_err() {
            tell();
            if let Ok(file) = lock::lock(folder) {
                let _ = self.held.set(file);
            }
        }
        Ok(())
    }

    /// Returns whether another operator-rs is writing here now.
    pub(super) fn is_busy(&self) -> bool {
        self.held.get().is_none() && self.folder().is_some_and(lock::is_locked)
    }
}

fn walk_folders(mut folder: Folder, names: &[impl AsRef<str>]) -> anyhow::Result<FolderLookup> {
    let mut path = String::new();
    for name in names.iter().map(AsRef::as_ref) {
        path.push_str(name);
        match enter_folder(&folder, name, &path)? {
            FolderLookup::To(inner) => folder = inner,
            other => return Ok(other),
        }
        path.push('/');
    }
    Ok(FolderLookup::To(folder))
}

/// Opens a folder in another one; `path` is what it is called in a message.
pub(super) fn enter_folder(
    folder: &Folder,
    name: &str,
    path: &str,
) -> anyhow::Result<FolderLookup> {
    match folder.folder(name) {
        Ok(inner) => Ok(FolderLookup::To(inner)),
        Err(error) if is_missing(&error) => Ok(FolderLookup::Missing),
        Err(error) => {
            let kind = folder.kind(name).with_context(|| format!("cannot access {path}"))?;
            Ok(FolderLookup::Blocked(match kind {
                FileKind::Symlink => symlink_message(path),
                FileKind::Nothing | FileKind::Folder => {
                    return Err(error).with_context(|| format!("cannot open {path}"));
                }
                FileKind::File | FileKind::Special => {
                    format!("`{path}` is a file, not a directory")
                }
            }))
        }
    }
}

pub(super) fn busy_error<T>() -> anyhow::Result<T> {
    Err(anyhow::format_err!("another operator-rs is writing here"))
        .hint("wait until it has ended, then run the command again")
}

pub(super) fn symlink_message(path: &str) -> String {
    format!("`{path}` is a symlink, and nothing is written through symlinks")
}

/// Returns a path without `.` and `..`, as it is written.
fn normalize_lexically(path: &Path) -> PathBuf {
    let mut res = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(res.pop()),
            part => res.push(part),
        }
    }
    res
}

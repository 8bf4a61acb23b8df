//! A project's folder, or another one that files are written to, and its lock.

use std::{
    cell::OnceCell,
    fs::{self, File},
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;

use super::{
    folder::{Folder, Kind, is_missing},
    lock,
    places::Meanwhile,
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

/// Where a path leads when no symlink is followed.
pub(super) enum Way {
    /// The folder that holds it.
    To(Folder),
    /// A folder on the way is missing.
    Missing,
    /// Something other than a folder is on the way; the text describes it in a message.
    Blocked(String),
}

impl Root {
    /// The folder that the user has named.
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        Self::at(dir, dir.to_owned(), Vec::new())
    }

    /// A folder for output. Below `dir` no symlink is followed on the way to it: a clone may have put it there.
    pub fn output(dir: &Path, folder: &Path) -> anyhow::Result<Self> {
        model::require_names_of_system(folder)?;
        let whole = dir.join(folder);
        let top = super::resolved(dir).unwrap_or_else(|_| dir.to_owned());
        let path = lexical(
            &std::path::absolute(top.join(folder)).context("cannot resolve the directory")?,
        );
        let Ok(below) = path.strip_prefix(&top) else {
            return Self::new(&whole);
        };
        let names = below.components().map(|it| it.as_os_str().to_str().map(str::to_owned));
        let names: Option<Vec<String>> = names.collect();
        let names =
            names.with_context(|| format!("the path `{}` is not UTF-8", display_path(&whole)))?;
        Self::at(dir, whole, names)
    }

    /// The folder that holds `folder`, and the name in there: to read from it. Symlinks on the way to it are followed,
    /// but not out of `dir`: a clone may have put them there. None if there is no such folder.
    pub fn around(dir: &Path, folder: &Path) -> anyhow::Result<Option<(Self, ProjectPath)>> {
        let whole =
            std::path::absolute(dir.join(folder)).context("cannot resolve the directory")?;
        if !whole.is_dir() {
            return Ok(None);
        }
        let real = super::real(&whole)?;
        let top = super::real(dir)?;
        let path = lexical(
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
            (real.parent(), real.file_name().and_then(|it| it.to_str()))
        else {
            return Err(anyhow::format_err!("`{}` has no name of its own", display_path(&folder)))
                .hint("name a directory below it, e.g. `../other/bundle`");
        };
        Ok(Some((Self::output(dir, parent)?, name.parse()?)))
    }

    fn at(base: &Path, dir: PathBuf, below: Vec<String>) -> anyhow::Result<Self> {
        let looking = || format!("cannot open `{}`", display_path(&dir));
        let real = match super::resolved(&dir) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => anyhow::bail!("`{}` is not a directory", display_path(&dir)),
            Err(error) if is_missing(&error) => dir.clone(),
            Err(error) => return Err(error).with_context(looking),
        };
        let opened = OnceCell::new();
        match Folder::trusted(base) {
            Ok(folder) => match walk(folder, &below)? {
                Way::To(folder) => drop(opened.set(folder)),
                Way::Missing => {}
                Way::Blocked(what) => anyhow::bail!("{what}"),
            },
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error).with_context(looking),
        }
        Ok(Self { base: base.to_owned(), real, below, opened, held: OnceCell::new(), dir })
    }

    /// The path of an output folder in the directory that it was opened from, if it is below it.
    pub fn below(&self) -> Option<ProjectPath> {
        self.below.join("/").parse().ok()
    }

    /// The folder itself, without symlinks.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The folder's own name.
    pub fn name(&self) -> anyhow::Result<String> {
        let name = self.real.file_name().and_then(|it| it.to_str());
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
        let mut folder = Folder::trusted_or_new(&self.base).with_context(making)?;
        for name in &self.below {
            folder = folder.folder_or_new(name).with_context(making)?.0;
        }
        Ok(self.opened.get_or_init(|| folder))
    }

    /// The way to the folder that holds a path.
    pub(super) fn way(&self, path: &ProjectPath) -> anyhow::Result<Way> {
        let Some(folder) = self.folder() else { return Ok(Way::Missing) };
        let names: Vec<&str> = path.as_str().split('/').collect();
        let folder = folder.again().context("cannot open the project directory")?;
        walk(folder, &names[..names.len() - 1])
    }

    /// Fails if the folder that is open is no longer where the user has named it.
    pub(super) fn require_in_place(&self) -> anyhow::Result<()> {
        let looking = || format!("cannot open `{}`", display_path(&self.dir));
        let way = match Folder::trusted(&self.base) {
            Ok(folder) => walk(folder, &self.below)?,
            Err(error) if is_missing(&error) => Way::Missing,
            Err(error) => return Err(error).with_context(looking),
        };
        let (Way::To(now), Some(folder)) = (way, self.folder()) else {
            return Err(Meanwhile::moved(&display_path(&self.dir)));
        };
        match now.identity().with_context(looking)? == folder.identity().with_context(looking)? {
            true => Ok(()),
            false => Err(Meanwhile::moved(&display_path(&self.dir))),
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
            Err(fs::TryLockError::WouldBlock) => busy(),
            Err(fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Locks the folder, which is created if it is missing. Waits for another process that has the lock; calls `tell`
    /// before it waits.
    pub fn wait(&self, tell: impl FnOnce()) -> anyhow::Result<()> {
        let folder = self.folder_or_new()?;
        if self.lock().is_err() {
            tell();
            if let Ok(file) = lock::lock(folder) {
                let _ = self.held.set(file);
            }
        }
        Ok(())
    }

    /// Whether another operator-rs is writing here now.
    pub(super) fn is_busy(&self) -> bool {
        self.held.get().is_none() && self.folder().is_some_and(lock::is_locked)
    }
}

fn walk(mut folder: Folder, names: &[impl AsRef<str>]) -> anyhow::Result<Way> {
    let mut path = String::new();
    for name in names.iter().map(AsRef::as_ref) {
        path.push_str(name);
        match enter(&folder, name, &path)? {
            Way::To(inner) => folder = inner,
            other => return Ok(other),
        }
        path.push('/');
    }
    Ok(Way::To(folder))
}

/// Opens a folder in another one; `path` is what it is called in a message.
pub(super) fn enter(folder: &Folder, name: &str, path: &str) -> anyhow::Result<Way> {
    match folder.folder(name) {
        Ok(inner) => Ok(Way::To(inner)),
        Err(error) if is_missing(&error) => Ok(Way::Missing),
        Err(error) => {
            let kind = folder.kind(name).with_context(|| format!("cannot access {path}"))?;
            Ok(Way::Blocked(match kind {
                Kind::Symlink => symlink(path),
                Kind::Nothing | Kind::Folder => {
                    return Err(error).with_context(|| format!("cannot open {path}"));
                }
                Kind::File | Kind::Special => format!("`{path}` is a file, not a directory"),
            }))
        }
    }
}

pub(super) fn busy<T>() -> anyhow::Result<T> {
    Err(anyhow::format_err!("another operator-rs is writing here"))
        .hint("wait until it has ended, then run the command again")
}

pub(super) fn symlink(path: &str) -> String {
    format!("`{path}` is a symlink, and nothing is written through symlinks")
}

/// A path without `.` and `..`, as it is written.
fn lexical(path: &Path) -> PathBuf {
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

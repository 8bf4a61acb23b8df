//! A project's folder, or another that files are written into: what is read of it, and the lock on it.

use std::{
    cell::OnceCell,
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;
use walkdir::WalkDir;

use super::{
    folder::{Folder, Kind, is_missing},
    journal, watch,
};
use crate::{
    hint::Hint as _,
    model::ProjectPath,
    plan::{Found, Tree},
};

pub struct Root {
    dir: PathBuf,
    /// The same without symlinks, where it exists.
    real: PathBuf,
    /// The names that lead to it from `base`; no symlink among them is followed.
    below: Vec<String>,
    /// A folder that the user has named, symlinks and all.
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
    /// Something else is there; what it is, for a message.
    Blocked(String),
}

impl Root {
    /// The folder that the user has named.
    pub fn new(dir: &Path) -> anyhow::Result<Self> {
        Self::at(dir, dir.to_owned(), Vec::new())
    }

    /// A folder for output. Below `dir` no symlink is followed on the way to it: a clone may have put it there.
    pub fn output(dir: &Path, folder: &Path) -> anyhow::Result<Self> {
        let whole = dir.join(folder);
        let top = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
        let path = lexical(&std::path::absolute(top.join(folder)).context("naming the folder")?);
        let Ok(below) = path.strip_prefix(&top) else {
            return Self::new(&whole);
        };
        let names = below.components().map(|it| it.as_os_str().to_str().map(str::to_owned));
        let names: Option<Vec<String>> = names.collect();
        let names = names.with_context(|| format!("`{}` is no name in UTF-8", whole.display()))?;
        Self::at(dir, whole, names)
    }

    fn at(base: &Path, dir: PathBuf, below: Vec<String>) -> anyhow::Result<Self> {
        let looking = || format!("opening `{}`", dir.display());
        let real = match fs::canonicalize(&dir) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => anyhow::bail!("`{}` is not a folder", dir.display()),
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

    pub(super) fn folder(&self) -> Option<&Folder> {
        self.opened.get()
    }

    /// The folder, made where it is missing.
    pub(super) fn made(&self) -> anyhow::Result<&Folder> {
        if let Some(folder) = self.opened.get() {
            return Ok(folder);
        }
        let making = || format!("making the folder `{}`", self.dir.display());
        let mut folder = Folder::trusted_or_new(&self.base).with_context(making)?;
        for name in &self.below {
            folder = folder.folder_or_new(name).with_context(making)?.0;
        }
        Ok(self.opened.get_or_init(|| folder))
    }

    /// The way to the folder that holds a path.
    pub(super) fn way(&self, path: &ProjectPath) -> anyhow::Result<Way> {
        let names: Vec<&str> = path.as_str().split('/').collect();
        self.walk_from_here(&names[..names.len() - 1])
    }

    /// The way into a folder.
    pub(super) fn into(&self, path: &ProjectPath) -> anyhow::Result<Way> {
        self.walk_from_here(&path.as_str().split('/').collect::<Vec<_>>())
    }

    fn walk_from_here(&self, names: &[&str]) -> anyhow::Result<Way> {
        let Some(folder) = self.folder() else { return Ok(Way::Missing) };
        walk(folder.again().context("opening the project's folder")?, names)
    }

    /// One operator-rs at a time that means to write in a folder, from before it reads until it ends,
    /// however that ends: what it writes follows from what it has read.
    pub fn lock(&self) -> anyhow::Result<()> {
        // Where there is no folder yet, or none that can be opened as a file, there is no lock to be had.
        let Some(Ok(folder)) = self.folder().map(Folder::handle) else { return Ok(()) };
        if self.held.get().is_some() {
            return Ok(());
        }
        match folder.try_lock() {
            Ok(()) => {
                let _ = self.held.set(folder);
                Ok(())
            }
            Err(fs::TryLockError::WouldBlock) => busy(),
            Err(fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    /// The same of a folder that is made where it is missing; waits where somebody else has it, which is told.
    pub fn wait(&self, tell: impl FnOnce()) -> anyhow::Result<()> {
        let folder = self.made()?;
        if self.lock().is_err()
            && let Ok(folder) = folder.handle()
        {
            tell();
            if folder.lock().is_ok() {
                let _ = self.held.set(folder);
            }
        }
        Ok(())
    }

    /// Whether another operator-rs is writing here just now.
    pub(super) fn is_busy(&self) -> bool {
        let Some(Ok(folder)) = self.folder().map(Folder::handle) else { return false };
        self.held.get().is_none()
            && matches!(folder.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
    }

    /// Why a path cannot be read, where symlinks may be followed inside of the project.
    fn unreadable(&self, folder: &Folder, path: &ProjectPath, error: io::Error) -> anyhow::Error {
        let names: Vec<&str> = path.as_str().split('/').collect();
        for depth in 1..=names.len() {
            let name = names[..depth].join("/");
            let is_link = folder.kind_at(Path::new(&name)).is_ok_and(|it| it == Kind::Symlink);
            match folder.kind_below(Path::new(&name)) {
                Ok(Kind::Folder) if depth == names.len() => {
                    return anyhow::format_err!("a folder is there, where a file must go");
                }
                Ok(kind) if kind != Kind::Folder && depth < names.len() => {
                    return anyhow::format_err!("`{name}` is a file, where a folder must go");
                }
                // The sandbox's own refusal has no number of the system's.
                Err(it) if is_link && it.raw_os_error().is_none() => {
                    return anyhow::format_err!("`{name}` is a symlink out of the project");
                }
                Err(_) if is_link => {
                    return anyhow::format_err!("`{name}` is a symlink to nothing");
                }
                _ => {}
            }
        }
        error.into()
    }
}

fn walk(mut folder: Folder, names: &[impl AsRef<str>]) -> anyhow::Result<Way> {
    for (depth, name) in names.iter().map(AsRef::as_ref).enumerate() {
        folder = match folder.folder(name) {
            Ok(it) => it,
            Err(error) if is_missing(&error) => return Ok(Way::Missing),
            Err(error) => {
                let path: Vec<&str> = names[..=depth].iter().map(AsRef::as_ref).collect();
                let path = path.join("/");
                let kind = folder.kind(name).with_context(|| format!("looking at {path}"))?;
                return Ok(Way::Blocked(match kind {
                    Kind::Symlink => symlink(&path),
                    Kind::Folder => return Err(error).with_context(|| format!("opening {path}")),
                    _ => format!("`{path}` is a file, where a folder must go"),
                }));
            }
        };
    }
    Ok(Way::To(folder))
}

pub(super) fn busy<T>() -> anyhow::Result<T> {
    Err(anyhow::format_err!("another operator-rs is writing here"))
        .hint("wait until it is done, then run this again")
}

fn symlink(path: &str) -> String {
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

impl Tree for Root {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        watch::note(&self.dir.join(path));
        let folder = match self.way(path)? {
            Way::To(folder) => folder,
            Way::Missing => return Ok(Found::Nothing),
            Way::Blocked(what) => return Ok(Found::Other(what)),
        };
        let kind = folder.kind(path.name()).with_context(|| format!("looking at {path}"))?;
        Ok(match kind {
            Kind::Nothing => Found::Nothing,
            Kind::Folder => Found::Other("a folder is there, where a file must go".to_owned()),
            Kind::Symlink => Found::Other(symlink(path.as_str())),
            Kind::Special => Found::Other("it is not a regular file".to_owned()),
            Kind::File => {
                let bytes = folder.read(path.name()).with_context(|| format!("reading {path}"))?;
                match String::from_utf8(bytes) {
                    Ok(text) => Found::Text(text),
                    Err(_) => Found::Other("what is there is not UTF-8 text".to_owned()),
                }
            }
        })
    }

    fn read(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        watch::note(&self.dir.join(path));
        let Some(folder) = self.folder() else { return Ok(None) };
        let below = path.as_ref();
        let reading = || format!("{path} cannot be read");
        match folder.read_below(below) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(anyhow::format_err!(
                    "{path} cannot be read: what is there is not UTF-8 text"
                )),
            },
            // A symlink to nothing is there all the same.
            Err(error) if is_missing(&error) && folder.kind_at(below).is_err() => Ok(None),
            Err(error) => {
                let why = self.unreadable(folder, path, error);
                Err(anyhow::format_err!("{}: {why:#}", reading()))
            }
        }
    }

    fn dir(&self) -> Option<&Path> {
        Some(&self.dir)
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        watch::note(&self.dir.join(folder));
        let Some(top) = self.folder() else { return Ok(Vec::new()) };
        let path = if folder.is_empty() { "." } else { folder };
        let mut res = match top.names_below(Path::new(path)) {
            Ok(names) => names,
            Err(error) if is_missing(&error) || error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error).with_context(|| format!("listing {path}")),
        };
        res.sort();
        Ok(res
            .into_iter()
            .map(|(name, is_folder)| name + if is_folder { "/" } else { "" })
            .collect())
    }

    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let is_folder =
            |it: &Folder| it.kind_below(folder.as_ref()).is_ok_and(|it| it == Kind::Folder);
        if !self.folder().is_some_and(is_folder) {
            return Ok(Vec::new());
        }
        let mut res = Vec::new();
        for entry in WalkDir::new(self.real.join(folder)).max_depth(DEEPEST).sort_by_file_name() {
            let entry = entry.with_context(|| format!("listing {folder}"))?;
            let below = entry.path().strip_prefix(&self.real).unwrap_or(entry.path());
            if entry.file_type().is_dir() {
                anyhow::ensure!(
                    entry.depth() < DEEPEST,
                    "{}: its folders are nested too deep",
                    below.display()
                );
                continue;
            }
            if journal::is_temporary(below) {
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

/// How deep folders may be nested in one that is listed.
const DEEPEST: usize = 32;

//! The only room that reads and writes files.
//!
//! Files are written below a [`Root`], one open folder at a time: no symlink is followed on the way, nothing is
//! replaced but regular files, and a file is replaced whole. What is read of a project is below its root, too,
//! though symlinks may lead from one place in there to another. A FIFO or a device is opened in [`named`] only.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

mod content;
#[cfg(all(test, unix))]
mod crash;
mod find_up;
mod folder;
mod inputs;
mod journal;
mod large;
mod like;
mod lock;
mod named;
mod open_elsewhere;
mod outside;
mod own;
mod places;
mod recover;
mod root;
mod scratch_dir;
mod transaction;
mod tree;
pub mod watch;
mod write;

pub use content::LONGEST;
pub use find_up::{Ancestor, find_up, has};
pub use inputs::{digest, digest_of, files_below, is_newer, stamp};
pub use large::{large, stream};
pub use lock::NAME as LOCK_FILE;
pub use named::{Bounds, read_input, read_named, read_named_text};
pub use outside::{keep, put, put_programs, temporary};
pub use own::Own;
pub use root::Root;
pub use scratch_dir::{ScratchDir, leave};
pub use write::write_all;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use diagnostics::utf8_text;
use model::display_path;

/// Reads all of a file that a program has written, without a size limit. A command that watches does not run again
/// when this file changes.
pub fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read `{}`", display_path(&path)))
}

/// Reads the text of a regular file, wherever it is.
pub fn text(path: &Path) -> anyhow::Result<String> {
    text_if_any(path)?.with_context(|| format!("there is no `{}`", display_path(&path)))
}

/// Returns whether anything is at a path. Below a folder that may not be entered, nothing is.
pub fn exists(path: &Path) -> bool {
    watch::note(path);
    path.exists()
}

/// Reads the text of a regular file, wherever it is; `None` if there is no such file.
pub fn text_if_any(path: &Path) -> anyhow::Result<Option<String>> {
    watch::note(path);
    let reading = || format!("cannot read `{}`", display_path(&path));
    match content::read_anywhere(path, content::size_limit(path)) {
        Ok(bytes) => match utf8_text(&bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(problem) => anyhow::bail!("{}: {problem}", reading()),
        },
        Err(error) if folder::is_missing(&error) => Ok(None),
        Err(error) => Err(error).with_context(reading),
    }
}

/// Resolves the path of a folder, so that it has no symlinks.
pub fn real(path: &Path) -> anyhow::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    resolved(path).with_context(|| format!("cannot access `{}`", display_path(&path)))
}

/// The same, with the error of the system. Nothing here resolves a path in another way, so that resolved paths can be
/// compared, shown and given to programs.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(model::without_verbatim_prefix)
}

/// The names in a folder, sorted; names of folders end in `/`. Empty if there is no such folder. Names that are not
/// UTF-8 are left out, because a project cannot use them.
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
            return Err(error).with_context(|| format!("cannot list `{}`", display_path(&path)));
        }
    };
    let mut res = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list `{}`", display_path(&path)))?;
        let kind =
            entry.file_type().with_context(|| format!("cannot list `{}`", display_path(&path)))?;
        let folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        let end = if folder { "/" } else { "" };
        res.extend(entry.file_name().into_string().map(|it| it + end));
    }
    res.sort();
    Ok(res)
}

#[cfg(all(test, unix))]
mod tests;

//! The only layer that reads and writes files.
//!
//! Files are written below a [`Root`], one open folder at a time: no symlink is followed on the way, nothing is
//! replaced but regular files, and a file is replaced whole. What is read of a project is below its root, too,
//! though symlinks may lead from one place in there to another. A FIFO or a device is opened in [`named`] only.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

mod changed_meanwhile;
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
mod system_errors;
mod transaction;
mod tree;
pub mod watch;
mod write;

pub use content::LONGEST;
pub use find_up::{Ancestor, find_up, has_file};
pub use inputs::{digest_of_file, file_stamp, files_below, is_newer, sha256_hex};
pub use large::{open_stream, read_large};
pub use lock::NAME as LOCK_FILE;
pub use named::{Bounds, read_input, read_named, read_named_text};
pub use outside::{create_temporary_folder, write_new_file, write_private_file, write_programs};
pub use own::UserPath;
pub use root::Root;
pub use scratch_dir::{ScratchDir, add_file};
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
pub fn read_program_output(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read `{}`", display_path(&path)))
}

/// Reads the text of a regular file, wherever it is.
pub fn read_text(path: &Path) -> anyhow::Result<String> {
    read_text_if_exists(path)?.with_context(|| format!("there is no `{}`", display_path(&path)))
}

/// Returns whether anything is at a path. Below a folder that may not be entered, nothing is.
pub fn exists(path: &Path) -> bool {
    watch::record_path(path);
    path.exists()
}

/// Reads the text of a regular file, wherever it is; `None` if there is no such file.
pub fn read_text_if_exists(path: &Path) -> anyhow::Result<Option<String>> {
    watch::record_path(path);
    let reading = || format!("cannot read `{}`", display_path(&path));
    match content::read_anywhere(path, content::size_limit(path)) {
        Ok(bytes) => match utf8_text(&bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(problem) => anyhow::bail!("{}: {problem}", reading()),
        },
        Err(error) if system_errors::is_missing(&error) => Ok(None),
        Err(error) => Err(error).with_context(reading),
    }
}

/// Resolves the path of a folder, so that it has no symlinks.
pub fn resolve_folder(path: &Path) -> anyhow::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    resolve_path(path).with_context(|| format!("cannot access `{}`", display_path(&path)))
}

/// The same, with the error of the system. Nothing here resolves a path in another way, so that resolved paths can be
/// compared, shown and given to programs.
fn resolve_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).map(model::without_verbatim_prefix)
}

/// Returns the names in a folder, sorted; names of folders end in `/`. Empty if there is no such folder. Names that are
/// not UTF-8 are left out, because a project cannot use them.
pub fn list_names(path: &Path) -> anyhow::Result<Vec<String>> {
    watch::record_path(path);
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
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list `{}`", display_path(&path)))?;
        let kind =
            entry.file_type().with_context(|| format!("cannot list `{}`", display_path(&path)))?;
        let folder = kind.is_dir() || kind.is_symlink() && entry.path().is_dir();
        let end = if folder { "/" } else { "" };
        names.extend(entry.file_name().into_string().map(|name| name + end));
    }
    names.sort();
    Ok(names)
}

#[cfg(all(test, unix))]
mod tests;

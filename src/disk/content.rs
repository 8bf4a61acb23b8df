//! The content of a regular file, up to a limit.

use std::{
    io::{self, Read as _},
    path::Path,
};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::{
    ambient_authority,
    fs::{File, OpenOptions},
};

/// The content of an open file, which must not have more than `limit` bytes.
pub fn content(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !meta.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut res = Vec::new();
    // A file that is still being written may be longer by now.
    if meta.len() <= limit {
        file.take(limit + 1).read_to_end(&mut res)?;
    }
    match meta.len().max(res.len() as u64) <= limit {
        true => Ok(res),
        false => {
            let what = format!("it is longer than {} MiB", limit >> 20);
            Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
        }
    }
}

/// Reads a regular file that is not below a root. Nothing is written there.
pub fn read_anywhere(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let options = &mut OpenOptions::new();
    let options = options.read(true).nonblock(true);
    content(File::open_ambient_with(path, options, ambient_authority())?, limit)
}

//! The content of a regular file, up to a limit.

use std::{
    io::{self, Read as _},
    path::Path,
};

use cap_fs_ext::OpenOptionsSyncExt as _;
use cap_std::{
    ambient_authority,
    fs::{File, Metadata, OpenOptions},
};

/// The size limit of a file, in bytes: no source file or manifest is that long. A longer file is refused, not read
/// into memory.
pub const LONGEST: u64 = 16 << 20;

/// The size limit of a file of Cargo's, in bytes: what is parsed of it takes up to 40 times its size.
const LONGEST_OF_CARGO: u64 = 4 << 20;

/// Returns the size limit of a file with this name.
pub fn size_limit(name: &Path) -> u64 {
    let is_of_cargo =
        name.extension().is_some_and(|extension| extension == "toml" || extension == "lock");
    if is_of_cargo { LONGEST_OF_CARGO } else { LONGEST }
}

/// Returns the content of an open file, which must not have more than `limit` bytes.
pub fn read_content(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    require_file(&meta)?;
    // Room for all of a usual file at once.
    let mut res = Vec::with_capacity(usize::try_from(meta.len().min(1 << 20)).unwrap_or(0) + 1);
    // A file that is still being written may be longer by now.
    if meta.len() <= limit {
        file.take(limit + 1).read_to_end(&mut res)?;
    }
    if meta.len().max(res.len() as u64) <= limit {
        Ok(res)
    } else {
        let what = format!("it is longer than {} MiB", limit >> 20);
        Err(io::Error::new(io::ErrorKind::FileTooLarge, what))
    }
}

fn require_file(meta: &Metadata) -> io::Result<()> {
    match meta {
        it if it.is_file() => Ok(()),
        it if it.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

/// Opens a regular file that is not below a root. Nothing is written there.
pub fn open_anywhere(path: &Path) -> io::Result<File> {
    let options = &mut OpenOptions::new();
    let options = options.read(true).nonblock(true);
    let file = File::open_ambient_with(path, options, ambient_authority())?;
    require_file(&file.metadata()?)?;
    Ok(file)
}

/// Reads such a file.
pub fn read_anywhere(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_content(open_anywhere(path)?, limit)
}

#[test]
fn files_of_cargo_have_a_limit_of_their_own() {
    for (name, limit) in [
        ("Cargo.toml", 4 << 20),
        ("a/Cargo.lock", 4 << 20),
        (".cargo/config.toml", 4 << 20),
        ("src/main.rs", 16 << 20),
        ("toml", 16 << 20),
    ] {
        assert_eq!(size_limit(Path::new(name)), limit, "{name}");
    }
}

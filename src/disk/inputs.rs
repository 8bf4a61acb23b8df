//! Digests of files, to find out whether anything has changed.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use walkdir::WalkDir;

use model::Digest;

/// Returns the SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Digest::from_content(bytes).hex().to_owned()
}

/// Returns the digest of a file, or a word if it does not exist or is not a regular file. `None` if it cannot be read
/// or is longer than `left`, from which its length is subtracted.
pub fn digest_of_file(path: &Path, left: &mut u64) -> Option<String> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Some("absent".to_owned());
        }
        Err(_) => return None,
    };
    // A FIFO would never end.
    if !meta.is_file() {
        return Some("no file".to_owned());
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(*left + 1).read_to_end(&mut bytes).ok()?;
    *left = left.checked_sub(u64::try_from(bytes.len()).ok()?)?;
    Some(sha256_hex(&bytes))
}

/// Returns every file below a folder except those of git and in cargo's target folders. Symlinks to folders are not
/// followed. `None` if there are more than `most` files, or if a folder cannot be listed.
pub fn files_below(folder: &Path, most: usize) -> Option<Vec<PathBuf>> {
    let is_input = |entry: &walkdir::DirEntry| {
        let is_built = entry.file_type().is_dir()
            && (entry.path().join("CACHEDIR.TAG").exists() || entry.file_name() == "target");
        entry.depth() == 0 || !(is_built || entry.file_name() == ".git")
    };
    let mut paths = Vec::new();
    for entry in WalkDir::new(folder).into_iter().filter_entry(is_input) {
        let entry = entry.ok()?;
        if !entry.file_type().is_dir() {
            paths.push(entry.into_path());
        }
        if paths.len() > most {
            return None;
        }
    }
    Some(paths)
}

/// Returns the size of a file, and when it was last written.
pub fn file_stamp(path: &Path) -> String {
    let Ok(meta) = fs::metadata(path) else { return "absent".to_owned() };
    let time = meta.modified().ok().and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    format!("{} {:?}", meta.len(), time.map(|time| (time.as_secs(), time.subsec_nanos())))
}

/// Returns whether a file was written after another one, or at the same time.
pub fn is_newer(path: &Path, than: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    match (time(path), time(than)) {
        (Ok(one), Ok(other)) => one >= other,
        // A missing file is not newer. A file may be newer if the time of the other one is unknown.
        (Err(_), _) => false,
        (Ok(_), Err(_)) => true,
    }
}

#[test]
fn files_of_cargo_and_git_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    for (path, text) in [
        ("src/lib.rs", "1"),
        (".git/config", ""),
        ("target/a", ""),
        ("built/CACHEDIR.TAG", ""),
        ("target.rs", ""),
    ] {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text).unwrap();
    }
    let mut found = files_below(dir.path(), 2).unwrap();
    found.sort();
    assert_eq!(found, [at("src/lib.rs"), at("target.rs")]);
    assert_eq!(files_below(dir.path(), 1), None);
    let mut left = 1;
    assert_eq!(digest_of_file(&at("src/lib.rs"), &mut left), Some(sha256_hex(b"1")));
    assert_eq!(digest_of_file(&at("src/lib.rs"), &mut left), None, "nothing is left");
    assert_eq!(digest_of_file(&at("gone"), &mut left).as_deref(), Some("absent"));
}

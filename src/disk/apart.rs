//! What is kept apart from any project: folders for a while, and programs in the user's cache.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// A new folder that only this user can look into. Whoever asks for it takes it away.
pub fn temporary(prefix: &str) -> anyhow::Result<PathBuf> {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir();
    Ok(folder.context("making a temporary folder")?.keep())
}

/// Writes a file that is of no project.
pub fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing `{}`", path.display()))
}

/// Makes a folder of programs, whole or not at all. Where another process was faster, its folder stays.
pub fn put_programs(folder: &Path, programs: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    let writing = || format!("writing `{}`", folder.display());
    let above = folder.parent().context("a folder is in one")?;
    fs::create_dir_all(above).with_context(writing)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above).with_context(writing)?;
    for (name, bytes) in programs {
        let path = new.path().join(name);
        fs::write(&path, bytes).with_context(writing)?;
        executable(&path).with_context(writing)?;
    }
    match fs::rename(new.path(), folder) {
        Err(error) if !is_there(error.kind()) => Err(error).with_context(writing),
        _ => Ok(()),
    }
}

fn is_there(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty)
}

#[cfg(unix)]
fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[test]
fn programs_come_whole_and_a_faster_process_wins() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a/b");
    let programs = |text: &str| BTreeMap::from([("x".to_owned(), text.as_bytes().to_vec())]);
    put_programs(&folder, &programs("1")).unwrap();
    put_programs(&folder, &programs("2")).unwrap();
    assert_eq!(fs::read_to_string(folder.join("x")).unwrap(), "1");
    assert_eq!(super::names(&dir.path().join("a")).unwrap(), ["b/"], "nothing else is left");
}

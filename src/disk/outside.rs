//! Files outside any project: temporary folders, and programs in the user's cache.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

use std::{
    collections::BTreeMap,
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::folder::Folder;
use model::display_path;

/// Creates a folder that only this user can read. The caller removes it.
pub fn create_temporary_folder(prefix: &str) -> anyhow::Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.prefix(prefix).tempdir();
    Ok(folder.context("cannot create a temporary directory")?.keep())
}

/// Writes a new file outside any project that only this user may read.
pub fn write_new_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let name = path.file_name().unwrap_or_default();
    Folder::open_trusted(path.parent().unwrap_or(Path::new(".")))
        .and_then(|folder| folder.create_private(name, text.as_bytes()))
        .with_context(|| format!("cannot write `{}`", display_path(&path)))
}

/// Writes a text outside any project, atomically, to a file that only this user may read. Missing folders are created.
pub fn write_private_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let writing = || format!("cannot write `{}`", display_path(&path));
    let above = path.parent().context("the path has no parent directory")?;
    let mut folders = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.recursive(true).create(above).with_context(writing)?;
    let mut new = tempfile::NamedTempFile::new_in(above).with_context(writing)?;
    new.write_all(text.as_bytes()).with_context(writing)?;
    new.persist(path).map(drop).with_context(writing)
}

/// Creates a folder of programs, atomically. If another process was faster, its folder stays.
pub fn write_programs(folder: &Path, programs: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    let writing = || format!("cannot write `{}`", display_path(&folder));
    let above = folder.parent().context("the path has no parent directory")?;
    fs::create_dir_all(above).with_context(writing)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(above).with_context(writing)?;
    for (name, bytes) in programs {
        let path = new.path().join(name);
        fs::write(&path, bytes).with_context(writing)?;
        make_executable(&path).with_context(writing)?;
    }
    match fs::rename(new.path(), folder) {
        Err(error) if !is_already_there(error.kind()) => Err(error).with_context(writing),
        _ => Ok(()),
    }
}

fn is_already_there(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[test]
fn programs_come_whole_and_a_faster_process_wins() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a/b");
    let programs = |text: &str| BTreeMap::from([("x".to_owned(), text.as_bytes().to_vec())]);
    write_programs(&folder, &programs("1")).unwrap();
    write_programs(&folder, &programs("2")).unwrap();
    assert_eq!(fs::read_to_string(folder.join("x")).unwrap(), "1");
    assert_eq!(super::list_names(&dir.path().join("a")).unwrap(), ["b/"], "nothing else is left");
}

#[cfg(unix)]
#[test]
fn files_outside_of_a_project_are_readable_by_their_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = create_temporary_folder("operator-rs-outside-").unwrap();
    write_new_file(&folder.join("token"), "secret").unwrap();
    let modes = (mode(&folder), mode(&folder.join("token")));
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(modes, (0o700, 0o600));
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a/b");
    write_private_file(&file, "1").unwrap();
    write_private_file(&file, "2").unwrap();
    assert_eq!((mode(&dir.path().join("a")), mode(&file)), (0o700, 0o600));
    assert_eq!(fs::read_to_string(&file).unwrap(), "2");
    assert_eq!(super::list_names(&dir.path().join("a")).unwrap(), ["b"], "nothing else is left");
}

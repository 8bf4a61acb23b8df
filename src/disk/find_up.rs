//! Finds a file in the folders above another one, as git and cargo find theirs.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use anyhow::Context as _;

/// The nearest folder that has a file, and whether both belong to the user who owns the folder where the search began.
#[derive(Debug, PartialEq)]
pub struct Ancestor {
    pub folder: PathBuf,
    pub same_owner: bool,
}

/// Returns whether anything has this name in a folder.
pub fn has_file(folder: &Path, name: &str) -> bool {
    fs::symlink_metadata(folder.join(name)).is_ok()
}

/// Returns the nearest folder above `dir` that has a file or a symlink of this name. The search ends where another file
/// system begins, as git's does.
pub fn find_up(dir: &Path, name: &str) -> anyhow::Result<Option<Ancestor>> {
    let whole = std::path::absolute(dir).context("cannot resolve the directory")?;
    // A folder that does not exist yet is searched from the nearest one that does.
    let Some(real) = whole.ancestors().find_map(|ancestor| super::resolve_path(ancestor).ok())
    else {
        return Ok(None);
    };
    let missing = whole.ancestors().take_while(|ancestor| !ancestor.exists()).count();
    let Ok(start) = fs::metadata(&real) else { return Ok(None) };
    for (level, folder) in real.ancestors().enumerate() {
        let Ok(here) = fs::metadata(folder) else { return Ok(None) };
        if !is_same_device(&start, &here) {
            return Ok(None);
        }
        let levels = level + missing;
        let found = fs::symlink_metadata(folder.join(name)).ok();
        let found = found.filter(|file| levels > 0 && (file.is_file() || file.is_symlink()));
        if let Some(file) = found {
            // A symlink in `dir` may lead elsewhere than its name says.
            let named = folder_above(dir, levels);
            let is_named = super::resolve_path(&named).is_ok_and(|path| path == folder);
            // In a folder that every user may write into, the file may belong to another user.
            let same_owner = is_same_owner(&start, &here) && is_same_owner(&start, &file);
            let folder = if is_named { named } else { folder.to_owned() };
            return Ok(Some(Ancestor { folder, same_owner }));
        }
    }
    Ok(None)
}

/// Returns the folder so many levels above, as a person would write it.
fn folder_above(dir: &Path, levels: usize) -> PathBuf {
    let mut parts: Vec<Component<'_>> =
        dir.components().filter(|component| *component != Component::CurDir).collect();
    for _ in 0..levels {
        match parts.last() {
            Some(Component::Normal(_)) => drop(parts.pop()),
            Some(Component::RootDir | Component::Prefix(_)) => {}
            _ => parts.push(Component::ParentDir),
        }
    }
    if parts.is_empty() { PathBuf::from(".") } else { parts.into_iter().collect() }
}

#[cfg(unix)]
fn is_same_device(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.dev() == other.dev()
}

#[cfg(unix)]
fn is_same_owner(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn is_same_device(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_same_owner(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[test]
fn the_nearest_file_above_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    fs::create_dir_all(top.join("a/b/NAME")).unwrap();
    let find =
        |below: &str| find_up(&top.join(below), "NAME").unwrap().map(|ancestor| ancestor.folder);
    assert_eq!(find("a/b"), None);
    fs::write(top.join("NAME"), "").unwrap();
    assert_eq!(find("a/b"), Some(top.to_owned()));
    assert_eq!(find("a/b/NAME"), Some(top.to_owned()), "a folder is not the file");
    assert_eq!(find("a/new/folder"), Some(top.to_owned()), "a folder that is still missing");
    fs::write(top.join("a/NAME"), "").unwrap();
    assert_eq!(find("a/b"), Some(top.join("a")));
    assert_eq!(find(""), None, "only folders above are searched");
    assert!(find_up(&top.join("a"), "NAME").unwrap().unwrap().same_owner);
    #[cfg(unix)]
    {
        // Only root can give a file to another user.
        let is_given = std::os::unix::fs::chown(top.join("NAME"), Some(65534), None).is_ok();
        assert_eq!(find_up(&top.join("a"), "NAME").unwrap().unwrap().same_owner, !is_given);
    }
}

#[test]
fn folders_above_are_written_as_a_person_would() {
    let check = |dir: &str, levels: usize, expected: &str| {
        assert_eq!(folder_above(Path::new(dir), levels), Path::new(expected));
    };
    check(".", 1, "..");
    check("./", 2, "../..");
    check("a/b", 1, "a");
    check("a/b", 2, ".");
    check("a/b", 3, "..");
    check("../a", 2, "../..");
    check("/a/b", 2, "/");
}

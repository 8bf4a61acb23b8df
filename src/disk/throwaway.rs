//! Folders that are ours alone and may go at any time: crates under the target folder that cargo builds.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// What a throwaway folder is to hold, each by its path in it, with `/`.
#[derive(Debug, Default, PartialEq)]
pub struct Throwaway {
    pub files: BTreeMap<String, String>,
    /// Files and folders that stand elsewhere.
    pub links: BTreeMap<String, PathBuf>,
}

impl Throwaway {
    /// Brings the folder to just this. What is there already keeps its time, so that cargo finds it fresh.
    pub fn put(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("making `{}`", folder.display()))?;
        let wanted: BTreeSet<&str> =
            self.files.keys().chain(self.links.keys()).map(String::as_str).collect();
        sweep(folder, folder, &wanted)?;
        for (path, text) in &self.files {
            let path = folder.join(path);
            let writing = || format!("writing `{}`", path.display());
            if fs::read_to_string(&path).is_ok_and(|it| it == *text) {
                continue;
            }
            fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(writing)?;
            fs::write(&path, text).with_context(writing)?;
        }
        for (path, target) in &self.links {
            let path = folder.join(path);
            let linking = || format!("linking `{}`", path.display());
            if fs::read_link(&path).is_ok_and(|it| it == *target) {
                continue;
            }
            fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(linking)?;
            link(target, &path).with_context(linking)?;
        }
        Ok(())
    }
}

/// Takes away what is not wanted any more. Links are taken away themselves, never what they lead to.
fn sweep(top: &Path, folder: &Path, wanted: &BTreeSet<&str>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing `{}`", folder.display()))? {
        let entry = entry.with_context(|| format!("listing `{}`", folder.display()))?;
        let path = entry.path();
        let below = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let kind = entry.file_type().with_context(|| format!("looking at `{}`", path.display()))?;
        if kind.is_dir() {
            sweep(top, &path, wanted)?;
            // Only an empty folder can be removed so.
            drop(fs::remove_dir(&path));
        } else if !wanted.contains(below.as_str()) {
            fs::remove_file(&path).with_context(|| format!("removing `{}`", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    match target.is_dir() {
        true => std::os::windows::fs::symlink_dir(target, path),
        false => std::os::windows::fs::symlink_file(target, path),
    }
}

#[test]
fn a_throwaway_folder_holds_just_what_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("kept"), "theirs").unwrap();
    let of = |files: &[(&str, &str)], links: &[&str]| Throwaway {
        files: files.iter().map(|(at, it)| ((*at).to_owned(), (*it).to_owned())).collect(),
        links: links.iter().map(|it| ((*it).to_owned(), elsewhere.path().to_owned())).collect(),
    };
    of(&[("a", "1"), ("src/b", "2")], &["linked", "src/linked"]).put(folder.path()).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("src/linked/kept")).unwrap(), "theirs");
    let before = fs::metadata(folder.path().join("a")).unwrap().modified().unwrap();
    of(&[("a", "1")], &["linked"]).put(folder.path()).unwrap();
    assert_eq!(super::names(folder.path()).unwrap(), ["a", "linked/"]);
    assert_eq!(fs::metadata(folder.path().join("a")).unwrap().modified().unwrap(), before);
    of(&[("linked", "a file now")], &[]).put(folder.path()).unwrap_err();
    assert_eq!(fs::read_to_string(elsewhere.path().join("kept")).unwrap(), "theirs");
}

//! Folders that only operator-rs uses and that may be deleted at any time: crates under the target folder that cargo
//! builds.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use anyhow::Context as _;

use super::{
    folder::{FileKind, Folder},
    lock,
    root::Root,
};
use diagnostics::with_hints;
use model::display_path;

/// The content of a scratch directory, by paths in it, with `/`.
#[derive(Debug, Default, PartialEq)]
pub struct ScratchDir {
    pub files: BTreeMap<String, String>,
    /// Targets of symlinks: files and folders elsewhere.
    pub links: BTreeMap<String, PathBuf>,
}

impl ScratchDir {
    /// Calls `act` with a new directory that contains this, and deletes it afterwards.
    #[cfg(test)]
    pub fn with_new<T>(&self, act: impl FnOnce(&Root) -> T) -> anyhow::Result<T> {
        let folder = tempfile::tempdir()?;
        let root = Root::new(folder.path())?;
        self.put(&root)?;
        Ok(act(&root))
    }

    /// Makes a folder contain exactly this. Files that do not change keep their time, so that cargo considers them
    /// fresh.
    pub fn put(&self, root: &Root) -> anyhow::Result<()> {
        let whole = |path: &str| display_path(&root.resolved_path().join(path));
        // On Windows, the lock of the folder is a file in it.
        let paths = self.files.keys().chain(self.links.keys()).map(String::as_str);
        let paths: BTreeSet<&str> = paths.chain([lock::NAME]).collect();
        let top = root.folder_or_new()?;
        remove_other_files(top, "", &paths)
            .with_context(|| format!("cannot clear `{}`", whole("")))?;
        for (path, text) in &self.files {
            let writing = || format!("cannot write `{}`", whole(path));
            let (folder, name) = parent_folder(top, path).with_context(writing)?;
            if folder.read(name).is_ok_and(|content| content == text.as_bytes()) {
                continue;
            }
            // Never write into an existing file: it may be a symlink, or a hard link to a file elsewhere.
            folder.remove(name).with_context(writing)?;
            folder.create_private(name, text.as_bytes()).with_context(writing)?;
        }
        for (path, target) in &self.links {
            let linking = || format!("cannot link `{}`", whole(path));
            let (folder, name) = parent_folder(top, path).with_context(linking)?;
            if folder.link_target(name).is_ok_and(|it| it == *target) {
                continue;
            }
            folder.remove(name).with_context(linking)?;
            if let Err(error) = folder.symlink(target, name) {
                let hint = symlink_hint(error.raw_os_error(), cfg!(windows)).map(str::to_owned);
                return with_hints(anyhow::Error::from(error).context(linking()), hint.into_iter());
            }
        }
        Ok(())
    }
}

/// Returns a hint for an error code of a symlink that was not created.
fn symlink_hint(code: Option<i32>, is_windows: bool) -> Option<&'static str> {
    const PRIVILEGE_NOT_HELD: i32 = 1314;
    (is_windows && code == Some(PRIVILEGE_NOT_HELD)).then_some(
        "turn on Developer Mode in the settings of Windows: without it, only administrators may create symlinks",
    )
}

/// Adds a file to a scratch directory, which stays until the next `put`.
pub fn add_file(root: &Root, name: &str, text: &str) -> anyhow::Result<()> {
    let writing = || format!("cannot write `{}`", display_path(&root.resolved_path().join(name)));
    let folder = root.folder_or_new()?;
    folder.remove(name).with_context(writing)?;
    folder.create_private(name, text.as_bytes()).with_context(writing)
}

/// Opens the folder of a path, and creates it first if it is missing; also returns the last name of the path.
fn parent_folder<'a>(top: &Folder, path: &'a str) -> io::Result<(Folder, &'a str)> {
    let mut names: Vec<&str> = path.split('/').collect();
    let name = names.pop().unwrap_or(path);
    let mut folder = top.reopen()?;
    for name in names {
        folder = folder.folder_or_new(name)?.0;
    }
    Ok((folder, name))
}

/// Removes everything except `paths`. A symlink is removed itself, never its target.
fn remove_other_files(folder: &Folder, at: &str, paths: &BTreeSet<&str>) -> io::Result<()> {
    for (name, kind) in folder.entries()? {
        let path = format!("{at}{}", name.to_string_lossy());
        if kind == FileKind::Folder {
            remove_other_files(&folder.folder(&name)?, &format!("{path}/"), paths)?;
            // This succeeds only if the folder is empty.
            drop(folder.remove_folder(&name));
        } else if !paths.contains(path.as_str()) {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test looks at the disk from outside")]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn scratch_dir(files: &[(&str, &str)], links: &[&str], to: &Path) -> ScratchDir {
        ScratchDir {
            files: files.iter().map(|(at, file)| ((*at).to_owned(), (*file).to_owned())).collect(),
            links: links.iter().map(|link| ((*link).to_owned(), to.to_owned())).collect(),
        }
    }

    #[test]
    fn a_scratch_directory_contains_exactly_its_files() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("kept"), "theirs").unwrap();
        let put = |files: &[(&str, &str)], links: &[&str]| {
            let root = Root::new(dir.path()).unwrap();
            scratch_dir(files, links, elsewhere.path()).put(&root).unwrap();
        };
        put(&[("a", "1"), ("src/b", "2")], &["linked", "src/linked"]);
        assert_eq!(fs::read_to_string(dir.path().join("src/linked/kept")).unwrap(), "theirs");
        let before = fs::metadata(dir.path().join("a")).unwrap().modified().unwrap();
        put(&[("a", "1")], &["linked"]);
        assert_eq!(crate::disk::list_names(dir.path()).unwrap(), ["a", "linked/"]);
        assert_eq!(fs::metadata(dir.path().join("a")).unwrap().modified().unwrap(), before);
        put(&[("linked", "a file now")], &[]);
        assert_eq!(fs::read_to_string(dir.path().join("linked")).unwrap(), "a file now");
        assert_eq!(fs::read_to_string(elsewhere.path().join("kept")).unwrap(), "theirs");
    }

    #[test]
    fn the_lock_of_a_scratch_directory_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(lock::NAME), "").unwrap();
        scratch_dir(&[("a", "1")], &[], dir.path()).put(&Root::new(dir.path()).unwrap()).unwrap();
        assert_eq!(crate::disk::list_names(dir.path()).unwrap(), [lock::NAME, "a"]);
    }

    #[test]
    fn symlinks_that_windows_refuses_have_a_hint() {
        let hint = "turn on Developer Mode in the settings of Windows: without it, only administrators may create symlinks";
        assert_eq!(symlink_hint(Some(1314), true), Some(hint));
        assert_eq!((symlink_hint(Some(5), true), symlink_hint(Some(1314), false)), (None, None));
    }

    #[cfg(unix)]
    #[test]
    fn targets_of_symlinks_in_a_scratch_directory_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = elsewhere.path().join("theirs");
        fs::write(&theirs, "theirs").unwrap();
        symlink(elsewhere.path(), dir.path().join("src")).unwrap();
        fs::hard_link(&theirs, dir.path().join("a")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        scratch_dir(&[("a", "1"), ("src/theirs", "2")], &[], dir.path()).put(&root).unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        let mode = fs::metadata(dir.path().join("src/theirs")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "others read nothing of it");
    }
}

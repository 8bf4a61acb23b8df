//! Folders of this user that decide what a command does: answers, downloads, credentials.
//!
//! A clone cannot bring them: what is inside of it, really and not only by name, does not count. Neither does what
//! belongs to another user.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

use std::path::{Path, PathBuf};

use super::find_up::has_file;
use model::display_path;

/// A folder or file of this user, outside of the clone that a command works in.
#[derive(Clone, Debug)]
pub struct UserPath {
    path: PathBuf,
    /// The top of the clone, without symlinks.
    clone: PathBuf,
}

impl UserPath {
    /// `dir` is the folder that the command works in. The error says why `path` does not count.
    pub fn new(path: &Path, dir: &Path) -> Result<Self, String> {
        let clone = clone_of(&resolve_existing(dir).0);
        let res = Self { path: path.to_owned(), clone };
        res.require_outside_clone(path).map(|()| res)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path below it. The error says why what is there does not count.
    pub fn path_below(&self, path: &str) -> Result<PathBuf, String> {
        let mut here = self.path.clone();
        for name in path.split('/') {
            here.push(name);
            self.require_outside_clone(&here)?;
        }
        Ok(here)
    }

    fn require_outside_clone(&self, path: &Path) -> Result<(), String> {
        let (real, exists) = resolve_existing(path);
        let shown = display_path(&path);
        if real.starts_with(&self.clone) {
            return Err(format!(
                "`{shown}` is inside of `{}`, so a clone may have brought it",
                display_path(&self.clone)
            ));
        }
        if exists && !is_of_this_user(&real) {
            Err(format!("`{shown}` belongs to another user"))
        } else {
            Ok(())
        }
    }
}

/// Returns the path without symlinks, as far as it exists, and whether all of it does.
fn resolve_existing(path: &Path) -> (PathBuf, bool) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in path.ancestors() {
        if let Ok(mut real) = super::resolve_path(above) {
            // To join nothing would add a `/`, with which a file is none.
            real.extend(path.strip_prefix(above).into_iter().flatten());
            return (real, above == path);
        }
    }
    (path, false)
}

/// Returns the top of the clone that a folder is in: of its repository and those that it is a submodule of, else of the
/// project or workspace.
fn clone_of(dir: &Path) -> PathBuf {
    let mut top = dir;
    for folder in dir.ancestors() {
        if [".git", "PROJECT", "Cargo.toml"].iter().any(|text| has_file(folder, text)) {
            top = folder;
        }
        // A submodule has a file of this name.
        if folder.join(".git").is_dir() {
            break;
        }
    }
    top.to_owned()
}

#[cfg(unix)]
fn is_of_this_user(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|metadata| metadata.uid() == user)
}

#[cfg(not(unix))]
fn is_of_this_user(_: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::{
        fs,
        os::unix::fs::{chown, symlink},
    };

    use super::*;

    #[test]
    fn what_a_clone_or_another_user_has_brought_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["home/state", "home/shared", "clone/.git", "clone/inner/state", "plain/a"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("clone/inner/.git"), "gitdir: ../.git/modules/inner").unwrap();
        fs::write(at("plain/PROJECT"), "").unwrap();
        symlink(at("clone/inner/state"), at("home/linked")).unwrap();
        symlink(at("clone"), at("other")).unwrap();
        let check = |path: &str, works_in: &str, expected: &str| {
            let found = UserPath::new(&at(path), &at(works_in));
            let why = found.err().unwrap_or_default();
            assert!(
                why.contains(expected) && why.is_empty() == expected.is_empty(),
                "{path}: {why}"
            );
        };
        check("home/state", "clone/inner", "");
        check("home/missing/too", "clone", "");
        check("home/missing/too", "home/state", "");
        for dir in ["clone", "clone/inner", "other/inner", "clone/missing"] {
            check("clone/inner/state", dir, "is inside of");
            check("clone/missing/state", dir, "is inside of");
            check("other/inner/state", dir, "is inside of");
            check("home/linked", dir, "is inside of");
            check("home/linked/missing", dir, "is inside of");
        }
        check("plain/.local/state", "plain/a", "is inside of");
        fs::write(at("home/state/file"), "").unwrap();
        check("home/state/file", "clone", "");
        // The folder is ours, and a file in it leads into the clone.
        symlink(at("clone/inner/state"), at("home/state/allowed")).unwrap();
        let own = UserPath::new(&at("home/state"), &at("clone")).unwrap();
        assert!(own.path_below("other/a").is_ok());
        assert!(own.path_below("allowed/a").is_err_and(|error| error.contains("is inside of")));
        // Only root can give a folder to another user.
        if chown(at("home/shared"), Some(65_534), None).is_ok() {
            check("home/shared", "clone", "belongs to another user");
            check("home/shared/missing", "clone", "");
        }
    }
}

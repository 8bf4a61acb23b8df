//! Files that may be larger than any source file or manifest: images.

use std::{
    io::{BufReader, ErrorKind, Read, Seek},
    path::Path,
};

use anyhow::Context as _;

use super::{
    content::{open_anywhere, read_anywhere},
    folder::{FileKind, Folder},
    like::NewFileAttributes,
    places::OpenFolders,
    root::{FolderLookup, Root},
    system_errors::is_missing,
};
use diagnostics::Hint as _;
use model::{ProjectPath, display_path};

/// Reads a regular file that the user has named, up to `limit` bytes; none if there is no such file.
pub fn read_large(path: &Path, limit: u64) -> anyhow::Result<Option<Vec<u8>>> {
    match read_anywhere(path, limit) {
        Err(error) if is_missing(&error) => Ok(None),
        bytes => bytes.map(Some).with_context(|| format!("cannot read `{}`", display_path(&path))),
    }
}

/// Returns the length of a regular file that the user has named, and its content, which is read as it is needed; none
/// if there is no such file.
pub fn open_stream(path: &Path) -> anyhow::Result<Option<(u64, impl Read + Seek + use<>)>> {
    match open_anywhere(path).and_then(|file| Ok((file.metadata()?.len(), BufReader::new(file)))) {
        Err(error) if is_missing(&error) => Ok(None),
        file => file.map(Some).with_context(|| format!("cannot read `{}`", display_path(&path))),
    }
}

impl Root {
    /// Returns the content of a file, up to `limit` bytes; none if there is no such file.
    pub fn bytes_up_to(&self, path: &ProjectPath, limit: u64) -> anyhow::Result<Option<Vec<u8>>> {
        super::watch::record_path(&self.dir.join(path));
        let Some(folder) = self.folder() else { return Ok(None) };
        let below = path.as_ref();
        let reading = || format!("{path} cannot be read");
        match folder.read_below(below, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            // A broken symlink exists, although its target does not.
            Err(error) if is_missing(&error) && folder.kind_at(below).is_err() => Ok(None),
            Err(error) => {
                let why = super::tree::unreadable_error(folder, path, error);
                let hints: Vec<String> =
                    diagnostics::collect_hints(&why).into_iter().map(str::to_owned).collect();
                let error = anyhow::format_err!("{}: {why:#}", reading());
                diagnostics::with_hints(error, hints.into_iter())
            }
        }
    }

    /// Writes a file of any content, whole or not at all. What is replaced must be a regular file.
    pub fn write_whole(&self, path: &ProjectPath, bytes: &[u8]) -> anyhow::Result<()> {
        let writing = || format!("cannot write `{}`", display_path(&self.dir.join(path)));
        let name = path.name();
        // Every file has its own temporary name: a later run replaces what an interrupted one has left.
        let new = format!(".{name}.operator-rs-unfinished");
        let mut places = OpenFolders::open(self, self.folder_or_new()?, std::iter::once(path))?;
        let folder = places.folder_of_or_new(path)?;
        self.require_file(folder, path)?;
        let put = || {
            folder.remove(&new)?;
            folder.create(&new, bytes, &NewFileAttributes::default())?;
            folder.sync_file(&new)?;
            folder.rename(&new, name)?;
            folder.sync()
        };
        put().or_else(|error| {
            let _ = folder.remove(&new);
            let hint = match error.kind() {
                ErrorKind::NotFound => {
                    "another program has removed it or its directory: run the command again"
                }
                _ => "free some space or correct the permissions, then run the command again",
            };
            Err(error).with_context(writing).hint(hint)
        })?;
        places.require_in_place().with_context(writing).hint("run the command again")
    }

    /// Fails if `put` would refuse to write there.
    pub fn require_replaceable(&self, path: &ProjectPath) -> anyhow::Result<()> {
        match self.lookup_folder(path)? {
            FolderLookup::To(folder) => self.require_file(&folder, path),
            FolderLookup::Missing => Ok(()),
            FolderLookup::Blocked(what) => anyhow::bail!("{what}"),
        }
    }

    fn require_file(&self, folder: &Folder, path: &ProjectPath) -> anyhow::Result<()> {
        let place = self.dir.join(path);
        let writing = || format!("cannot write `{}`", display_path(&place));
        match folder.kind(path.name()).with_context(writing)? {
            FileKind::Nothing | FileKind::File => Ok(()),
            _ => Err(anyhow::format_err!(
                "`{}` is not a regular file, and is not replaced",
                display_path(&place)
            ))
            .hint("move or delete it, or name another file"),
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::disallowed_methods, reason = "a test looks at the disk from outside")]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_directory_that_others_create_at_the_same_time_is_used() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let start = std::sync::Barrier::new(4);
            let put = &|name: u8| {
                let root = Root::new(dir.path()).unwrap();
                start.wait();
                root.write_whole(&ProjectPath::fixed(&format!("{round}/{name}")), b"x").unwrap();
            };
            std::thread::scope(|scope| {
                (0..4).for_each(|name| drop(scope.spawn(move || put(name))))
            });
        }
    }

    #[test]
    fn a_large_file_is_written_whole_and_never_through_a_symlink() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put = |path: &str, bytes: &[u8]| {
            let root = Root::new(dir.path()).unwrap();
            root.write_whole(&ProjectPath::fixed(path), bytes).map_err(|error| format!("{error:#}"))
        };
        let big = vec![7; 20 << 20];
        put("a/b.tar", &big).unwrap();
        assert_eq!(read_large(&dir.path().join("a/b.tar"), 20 << 20).unwrap(), Some(big));
        assert!(read_large(&dir.path().join("a/b.tar"), 19 << 20).is_err());
        assert_eq!(read_large(&dir.path().join("a/c.tar"), 1).unwrap(), None);
        // Removes files that an interrupted run has left.
        fs::write(dir.path().join("a/.b.tar.operator-rs-unfinished"), "half").unwrap();
        put("a/b.tar", b"x").unwrap();
        assert_eq!(crate::disk::list_names(&dir.path().join("a")).unwrap(), ["b.tar"]);

        let theirs = elsewhere.path().join("theirs");
        fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, dir.path().join("linked.tar")).unwrap();
        symlink(elsewhere.path(), dir.path().join("folder")).unwrap();
        assert!(put("linked.tar", b"x").unwrap_err().contains("not a regular file"));
        assert!(put("folder/new.tar", b"x").unwrap_err().contains("is a symlink"));
        assert!(put("a", b"x").unwrap_err().contains("not a regular file"));
        symlink(&theirs, dir.path().join(".c.tar.operator-rs-unfinished")).unwrap();
        put("c.tar", b"x").unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(crate::disk::list_names(elsewhere.path()).unwrap(), ["theirs"]);
    }
}

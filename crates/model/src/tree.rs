//! How the files of a project are read.

use std::path::Path;

use super::ProjectPath;

/// The files of a project: on disk, or in a test's map.
pub trait Tree {
    /// What is at a path. Symlinks are not followed.
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found>;

    /// Its directory on disk, if it has one.
    fn dir(&self) -> Option<&Path> {
        None
    }

    /// Every file below a directory, in path order; empty if there is no such directory.
    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>>;

    /// The names in a directory, sorted; those of directories end with `/`. `""` is the project's own directory.
    /// Empty if there is no such directory.
    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>>;

    /// The text of a file, if the file exists. Symlinks are followed inside the project. Anything but a text is an
    /// error.
    fn read(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.look(path)? {
            Found::Nothing => Ok(None),
            Found::Text(text) => Ok(Some(text)),
            Found::Other(what) => Err(anyhow::format_err!("{path} cannot be read: {what}")),
        }
    }

    /// The bytes of a file, if it exists.
    fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.read(path)?.map(String::into_bytes))
    }
}

/// The kind of file at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Text(String),
    /// Something that a text file cannot replace, described for a message.
    Other(String),
}

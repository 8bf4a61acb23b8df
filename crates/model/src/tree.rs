//! The interface that reads the files of a project.

use std::path::Path;

use super::ProjectPath;

/// The files of a project: on disk, or in a test's map.
pub trait Tree {
    /// Returns the content of a path. Symlinks are not followed.
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent>;

    /// Returns its directory on disk, if it has one.
    fn root_dir(&self) -> Option<&Path> {
        None
    }

    /// Lists the files below a directory, in path order; empty if there is no such directory.
    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>>;

    /// Lists the names in a directory, sorted; those of directories end with `/`. `""` is the project's own directory.
    /// Empty if there is no such directory.
    fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>>;

    /// Reads the text of a file, if the file exists. Symlinks are followed inside the project. Anything but a text is
    /// an error.
    fn read_text(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.read_content(path)? {
            FileContent::Nothing => Ok(None),
            FileContent::Text(text) => Ok(Some(text)),
            FileContent::Other(kind) => Err(anyhow::format_err!("{path} cannot be read: {kind}")),
        }
    }

    /// Reads the bytes of a file, if it exists.
    fn read_bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.read_text(path)?.map(String::into_bytes))
    }
}

/// The content of the file at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    Nothing,
    Text(String),
    /// A file that a text file cannot replace, described for a message.
    Other(String),
}

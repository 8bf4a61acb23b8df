//! What the reader sees of the disk.

use std::rc::Rc;

use crate::model::ProjectPath;

/// Files and folders by their paths, seen from the workspace's own folder. The reader asks for what it
/// needs, and for nothing else.
pub trait Library {
    /// The text of a file; nothing where there is none. What is there and is no text is an error.
    fn text(&self, path: &ProjectPath) -> anyhow::Result<Option<Rc<str>>>;

    /// The folders in a folder, by name and sorted; `""` is the workspace's own.
    fn folders(&self, folder: &str) -> anyhow::Result<Vec<String>>;

    /// Every file below a folder.
    fn below(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>>;
}

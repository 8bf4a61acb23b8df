//! A directory that a command reads as a whole: a bundle or a catalog.

use std::path::Path;

use crate::{disk::Root, hint::Hint as _, model::ProjectPath, plan::Tree as _};

pub struct Folder {
    root: Root,
    name: ProjectPath,
    /// Its files, by their paths inside.
    pub paths: Vec<ProjectPath>,
}

impl Folder {
    /// None if there is no such directory. Symlinks in it that lead out of it are refused when they are read.
    pub fn open(dir: &Path, folder: &Path) -> anyhow::Result<Option<Self>> {
        let Some((root, name)) = Root::around(dir, folder)? else { return Ok(None) };
        let listed = root.list_all(&name)?;
        let paths = listed.iter().map(|it| below(it, &name)).collect::<Result<_, _>>()?;
        Ok(Some(Self { root, name, paths }))
    }

    /// The same of a file that may be longer than others.
    pub fn bytes_up_to(&self, path: &ProjectPath, limit: u64) -> anyhow::Result<Option<Vec<u8>>> {
        self.root.bytes_up_to(&self.name.join(path.as_str())?, limit)
    }

    /// The content of a file, by its path inside.
    pub fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        self.root.bytes(&self.name.join(path.as_str())?)
    }
}

/// The path of a listed file inside of the folder that was listed.
pub fn below(path: &ProjectPath, folder: &ProjectPath) -> anyhow::Result<ProjectPath> {
    let inside = path.as_str().strip_prefix(folder.as_str()).and_then(|it| it.strip_prefix('/'));
    // A listing has the folder itself if it is a symlink.
    let error = || {
        Err(anyhow::format_err!("`{folder}` is a symlink"))
            .hint("name the directory that it leads to")
    };
    inside.map_or_else(error, |it| Ok(it.parse()?))
}

//! A directory that a command reads as a whole: a bundle or a catalog.

use std::path::Path;

use crate::disk::{self, Root};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree};

pub struct Folder {
    root: Root,
    name: ProjectPath,
    /// Its files, by their paths inside.
    pub paths: Vec<ProjectPath>,
}

impl Folder {
    /// Returns `None` if there is no such directory. Symlinks in it that lead out of it are refused when they are read.
    pub fn open(dir: &Path, folder: &Path) -> anyhow::Result<Option<Self>> {
        let Some((root, name)) = Root::open_around(dir, folder)? else { return Ok(None) };
        let listed = root.list_all(&name)?;
        let paths = listed.iter().map(|path| below(path, &name)).collect::<Result<_, _>>()?;
        Ok(Some(Self { root, name, paths }))
    }

    /// The same of a directory whose symlinks may lead anywhere in the project, if it is there.
    pub fn open_in_project(dir: &Path, folder: &Path) -> anyhow::Result<Option<Self>> {
        let whole = dir.join(folder);
        if !whole.is_dir() {
            return Ok(None);
        }
        let (top, real) = (disk::resolve_folder(dir)?, disk::resolve_folder(&whole)?);
        let name = match real.strip_prefix(&top).ok().and_then(Path::to_str) {
            Some(below) if !below.is_empty() => ProjectPath::from_system(below)?,
            _ => return Self::open(dir, folder),
        };
        let root = Root::new(&top)?;
        let listed = root.list_all(&name)?;
        let paths = listed.iter().map(|path| below(path, &name)).collect::<Result<_, _>>()?;
        Ok(Some(Self { root, name, paths }))
    }

    /// Returns its directories, by their paths inside.
    pub fn folders(&self) -> anyhow::Result<Vec<String>> {
        folders(&self.root, self.name.as_str())
    }

    /// Returns the bytes of a file of up to `limit` bytes.
    pub fn bytes_up_to(&self, path: &ProjectPath, limit: u64) -> anyhow::Result<Option<Vec<u8>>> {
        self.root.bytes_up_to(&self.name.join(path.as_str())?, limit)
    }

    /// Returns the content of a file, by its path inside.
    pub fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        self.root.read_bytes(&self.name.join(path.as_str())?)
    }
}

/// Returns every directory below one, also those without files, by their paths inside of it.
pub fn folders(tree: &impl Tree, top: &str) -> anyhow::Result<Vec<String>> {
    let mut res: Vec<String> = Vec::new();
    let mut open = vec![String::new()];
    while let Some(above) = open.pop() {
        let whole = [top, &above].into_iter().filter(|name| !name.is_empty());
        for name in tree.list_names(&whole.collect::<Vec<_>>().join("/"))? {
            let Some(name) = name.strip_suffix('/') else { continue };
            let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
            // The settings of other programs, which may be large.
            if !path.starts_with('.') {
                res.push(path.clone());
                open.push(path);
            }
        }
    }
    Ok(res)
}

/// Returns the path of a listed file inside of the folder that was listed.
pub fn below(path: &ProjectPath, folder: &ProjectPath) -> anyhow::Result<ProjectPath> {
    let inside =
        path.as_str().strip_prefix(folder.as_str()).and_then(|text| text.strip_prefix('/'));
    // A listing has the folder itself if it is a symlink.
    let error = || {
        Err(anyhow::format_err!("`{folder}` is a symlink"))
            .hint("name the directory that it leads to")
    };
    inside.map_or_else(error, |inside| Ok(inside.parse()?))
}

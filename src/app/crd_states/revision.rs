//! A workspace at a revision as the reader sees it: the project's own files from git, other packages from where cargo
//! keeps them on this machine.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::bail;

use crate::app::repository::Tree;
use crate::project::{SourcePath, below};
use crate::{
    app::cargo::{PackageDirs, config},
    disk,
    source::{ConfigFile, Locked, ReadFile, Sources},
};

pub struct Revision {
    tree: Rc<Tree>,
    /// The workspace's folder in the repository; empty at the top.
    root: String,
    /// The working tree's own folder.
    folder: PathBuf,
    packages: PackageDirs,
}

impl Revision {
    /// `folder` is the working tree's own, from which cargo's configuration is looked for.
    pub fn new(tree: Rc<Tree>, root: &str, folder: &Path) -> Self {
        let packages = PackageDirs::new(folder);
        Self { tree, root: root.to_owned(), folder: folder.to_owned(), packages }
    }

    /// A path in the repository.
    fn inside(&self, path: &str) -> anyhow::Result<String> {
        let res = below(&self.root, path);
        if res == ".." || res.starts_with("../") {
            bail!(
                "the path is outside the repository, so its content at {} is unknown",
                self.tree.name
            );
        }
        Ok(res)
    }
}

impl Sources for Revision {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        let text = match self.packages.find(path.as_str()) {
            Some(path) => disk::text_if_any(&path)?,
            None => self.tree.text(&self.inside(path.as_str())?)?,
        };
        Ok(text.map(Rc::from))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        match self.packages.find(path.as_str()) {
            Some(path) => path.is_file(),
            // What is outside is told by whoever reads it.
            None => self.inside(path.as_str()).map_or(true, |it| self.tree.is_file(&it)),
        }
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        match self.packages.find(folder) {
            Some(path) => disk::names(&path),
            None => self.tree.names(&self.inside(folder)?),
        }
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let is_taken = |it: &str| {
            let is_package = self.packages.find(it).is_some();
            !is_package && !self.names(it).unwrap_or_default().is_empty()
        };
        self.packages.add(locked, is_taken)
    }

    fn cargo_configs(&self) -> anyhow::Result<Vec<ConfigFile>> {
        let depth = self.root.split('/').filter(|part| !part.is_empty()).count();
        let mut files = Vec::new();
        for above in 0..=depth {
            for name in config::NAMES {
                let path = format!("{}.cargo/{name}", "../".repeat(above));
                if let Some(text) = self.tree.text(&below(&self.root, &path))? {
                    files.push(ConfigFile { path: path.parse()?, text: Rc::from(text) });
                    break;
                }
            }
        }
        files.extend(config::texts(&self.folder, depth + 1)?);
        Ok(files)
    }

    fn vendoring_fault(&self, locked: &Locked) -> Option<String> {
        self.packages.vendoring_fault(locked)
    }

    fn file_reader(&self, folder: &str) -> ReadFile {
        if let Some(reader) = self.packages.reader(folder) {
            return reader;
        }
        let (tree, folder) = (Rc::clone(&self.tree), self.inside(folder).ok());
        Rc::new(move |path| tree.text(&below(folder.as_ref()?, path)).ok().flatten())
    }
}

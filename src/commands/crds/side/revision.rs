//! A workspace at a revision as the reader sees it: the project's own files from git, other packages from where cargo
//! keeps them on this machine.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::bail;

use super::tree::Tree;
use crate::{
    commands::cargo::Cargo,
    disk,
    model::{SourcePath, below},
    source::{Locked, ReadFile, Sources},
};

pub struct Revision {
    tree: Rc<Tree>,
    /// The workspace's folder in the repository; empty at the top.
    root: String,
    cargo: Cargo,
    /// The folders of packages, by the first word of paths in them.
    shelves: RefCell<BTreeMap<String, PathBuf>>,
}

impl Revision {
    /// `folder` is the working tree's own, from which cargo's configuration is looked for.
    pub fn new(tree: Rc<Tree>, root: &str, folder: &Path) -> Self {
        let cargo = Cargo::of(folder);
        Self { tree, root: root.to_owned(), cargo, shelves: RefCell::default() }
    }

    /// Where a package from elsewhere has a path, if it is in one.
    fn shelved(&self, path: &str) -> Option<PathBuf> {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        self.shelves.borrow().get(first).map(|it| it.join(rest))
    }

    /// A path in the repository.
    fn inside(&self, path: &str) -> anyhow::Result<String> {
        let res = below(&self.root, path);
        if res == ".." || res.starts_with("../") {
            bail!(
                "it is outside of the repository: what was there at {} is not known",
                self.tree.name
            );
        }
        Ok(res)
    }
}

impl Sources for Revision {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        let text = match self.shelved(path.as_str()) {
            Some(path) => disk::text_if_any(&path)?,
            None => self.tree.text(&self.inside(path.as_str())?)?,
        };
        Ok(text.map(Rc::from))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        match self.shelved(path.as_str()) {
            Some(path) => path.is_file(),
            // What is outside is told by whoever reads it.
            None => self.inside(path.as_str()).map_or(true, |it| self.tree.is_file(&it)),
        }
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        match self.shelved(folder) {
            Some(path) => disk::names(&path),
            None => self.tree.names(&self.inside(folder)?),
        }
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let found = self.cargo.find(locked)?;
        let mut name = found.name;
        // A folder of the project may have the same name.
        while !self.names(&name).unwrap_or_default().is_empty() && self.shelved(&name).is_none() {
            name += "+";
        }
        let folder = below(&name, &found.below);
        self.shelves.borrow_mut().insert(name, found.folder);
        Some(folder)
    }

    fn file_reader(&self, folder: &str) -> ReadFile {
        if let Some(folder) = self.shelved(folder) {
            return Rc::new(move |path| disk::text_if_any(&folder.join(path)).ok().flatten());
        }
        let (tree, folder) = (Rc::clone(&self.tree), self.inside(folder).ok());
        Rc::new(move |path| tree.text(&below(folder.as_ref()?, path)).ok().flatten())
    }
}

//! The folders that a write concerns, held open from before the first change until after the last one.
//!
//! Whatever happens to a folder's name in the meantime, the same folder gets the new files, and the old ones back. In
//! the end, each must still be where it was.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::{
    changed_meanwhile::ChangedMeanwhile,
    folder::Folder,
    root::{FolderLookup, Root, enter_folder},
};
use diagnostics::Hint as _;
use model::ProjectPath;

pub struct OpenFolders<'a> {
    root: &'a Root,
    top: &'a Folder,
    held: BTreeMap<ProjectPath, Folder>,
    /// The folders that did not exist before, outermost first.
    new: Vec<ProjectPath>,
}

impl<'a> OpenFolders<'a> {
    /// Opens the folders of these files, as far as they exist.
    pub fn open<'p>(
        root: &'a Root,
        top: &'a Folder,
        paths: impl Iterator<Item = &'p ProjectPath>,
    ) -> anyhow::Result<Self> {
        let mut folders = Self { root, top, held: BTreeMap::new(), new: Vec::new() };
        for path in paths {
            for folder in parent_folders(path) {
                if folders.held.contains_key(&folder) {
                    continue;
                }
                match folders.enter(&folder)? {
                    FolderLookup::To(it) => drop(folders.held.insert(folder, it)),
                    FolderLookup::Missing => break,
                    FolderLookup::Blocked(what) => return blocked_path(path, &what),
                }
            }
        }
        Ok(folders)
    }

    /// Returns the folder of a file, if it exists.
    pub fn folder_of(&self, path: &ProjectPath) -> Option<&Folder> {
        match path.parent() {
            Some(folder) => self.held.get(&folder),
            None => Some(self.top),
        }
    }

    /// Returns the folder of a file, which is created if it is missing.
    pub fn folder_of_or_new(&mut self, path: &ProjectPath) -> anyhow::Result<&Folder> {
        for folder in parent_folders(path) {
            if self.held.contains_key(&folder) {
                continue;
            }
            let inner = match self.enter(&folder)? {
                FolderLookup::To(it) => it,
                FolderLookup::Blocked(what) => return blocked_path(path, &what),
                FolderLookup::Missing => {
                    let outer = self.folder_of(&folder).unwrap_or(self.top);
                    let created = outer.folder_or_new(folder.name());
                    let (inner, is_new) =
                        created.with_context(|| format!("cannot create the directory {folder}"))?;
                    if is_new {
                        self.new.push(folder.clone());
                    }
                    inner
                }
            };
            self.held.insert(folder, inner);
        }
        Ok(self.folder_of(path).unwrap_or(self.top))
    }

    fn enter(&self, folder: &ProjectPath) -> anyhow::Result<FolderLookup> {
        enter_folder(self.folder_of(folder).unwrap_or(self.top), folder.name(), folder.as_str())
    }

    /// Fails if one of the folders is no longer where it was.
    pub fn require_in_place(&self) -> anyhow::Result<()> {
        self.root.require_in_place()?;
        // A folder comes after the one that it is in.
        for (path, folder) in &self.held {
            if !self.is_in_place(path, folder)? {
                return Err(ChangedMeanwhile::moved_folder(path.as_str()));
            }
        }
        Ok(())
    }

    fn is_in_place(&self, path: &ProjectPath, folder: &Folder) -> anyhow::Result<bool> {
        let looking = || format!("cannot access {path}");
        let FolderLookup::To(now) = self.enter(path)? else { return Ok(false) };
        Ok(now.identity().with_context(looking)? == folder.identity().with_context(looking)?)
    }

    /// Returns when all names in these folders are on the disk.
    pub fn sync_all(&self) -> anyhow::Result<()> {
        for (path, folder) in &self.held {
            folder.sync().with_context(|| format!("cannot write {path} to the disk"))?;
        }
        self.top.sync().context("cannot write to the disk")
    }

    /// Removes those that did not exist before, if they are empty.
    pub fn remove_new(&mut self) {
        for path in std::mem::take(&mut self.new).iter().rev() {
            let Some(folder) = self.held.get(path) else { continue };
            if !self.is_in_place(path, folder).unwrap_or(false) {
                continue;
            }
            // Windows does not remove a folder that is open.
            self.held.remove(path);
            let _ = self.folder_of(path).map(|outer| outer.remove_folder(path.name()));
        }
    }
}

/// Returns the folders that lead to a file, outermost first.
fn parent_folders(path: &ProjectPath) -> Vec<ProjectPath> {
    let mut paths: Vec<ProjectPath> =
        std::iter::successors(path.parent(), ProjectPath::parent).collect();
    paths.reverse();
    paths
}

pub fn blocked_path<T>(path: &ProjectPath, what: &str) -> anyhow::Result<T> {
    Err(anyhow::format_err!("{path} cannot be written: {what}"))
        .hint("move or delete it, then run the command again")
}

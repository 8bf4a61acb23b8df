use std::{collections::BTreeMap, path::Path};

use super::Changes;
use model::{Found, ProjectPath, Tree};

/// A tree as it would be after some changes.
pub struct Overlay<'a, T> {
    below: &'a T,
    changes: &'a Changes,
    changed: BTreeMap<&'a ProjectPath, Option<&'a str>>,
}

impl<'a, T: Tree> Overlay<'a, T> {
    pub fn new(below: &'a T, changes: &'a Changes) -> Self {
        let changed = changes.iter().map(|it| (&it.path, it.after.as_deref())).collect();
        Self { below, changes, changed }
    }

    /// For each line of a changed file, its number before the changes, counted from 1: none for new lines. None for a
    /// file that stays as it is.
    pub fn lines_before(&self, path: &str) -> Option<Vec<Option<usize>>> {
        let change = self.changes.iter().find(|it| it.path.as_str() == path)?;
        let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
        Some(lines_before(before, after))
    }
}

/// For each line of a text, its number before a change, counted from 1: none for new lines.
pub fn lines_before(before: &str, after: &str) -> Vec<Option<usize>> {
    let diff = similar::TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter(|it| it.new_index().is_some());
    lines.map(|it| it.old_index().map(|it| it + 1)).collect()
}

impl<T: Tree> Tree for Overlay<'_, T> {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        match self.changed.get(path) {
            Some(Some(text)) => Ok(Found::Text((*text).to_owned())),
            Some(None) => Ok(Found::Nothing),
            None => self.below.look(path),
        }
    }

    fn read(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.changed.get(path) {
            Some(text) => Ok(text.map(str::to_owned)),
            None => self.below.read(path),
        }
    }

    fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        match self.changed.get(path) {
            Some(text) => Ok(text.map(|it| it.as_bytes().to_vec())),
            None => self.below.bytes(path),
        }
    }

    fn dir(&self) -> Option<&Path> {
        self.below.dir()
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let mut res = self.below.names(folder)?;
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for (path, after) in &self.changed {
            let Some(inner) = path.as_str().strip_prefix(&start) else { continue };
            match (inner.split_once('/'), after) {
                (Some((name, _)), Some(_)) => res.push(format!("{name}/")),
                (None, Some(_)) => res.push(inner.to_owned()),
                (None, None) => res.retain(|it| it != inner),
                // The directory may be empty now; nobody looks for anything in it then.
                (Some(_), None) => {}
            }
        }
        res.sort();
        res.dedup();
        Ok(res)
    }

    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let mut res = self.below.list(folder)?;
        res.retain(|it| self.changed.get(it).is_none_or(Option::is_some));
        for (path, after) in &self.changed {
            if after.is_some() && path.is_in(folder) && !res.contains(path) {
                res.push((*path).clone());
            }
        }
        res.sort();
        Ok(res)
    }
}

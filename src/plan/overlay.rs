use std::collections::BTreeMap;

use super::{Changes, Found, Tree};
use crate::model::ProjectPath;

/// A tree as it would be with some changes made.
pub struct Overlay<'a, T> {
    below: &'a T,
    changed: BTreeMap<&'a ProjectPath, Option<&'a str>>,
}

impl<'a, T: Tree> Overlay<'a, T> {
    pub fn new(below: &'a T, changes: &'a Changes) -> Self {
        let changed = changes.iter().map(|it| (&it.path, it.after.as_deref())).collect();
        Self { below, changed }
    }
}

impl<T: Tree> Tree for Overlay<'_, T> {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        match self.changed.get(path) {
            Some(Some(text)) => Ok(Found::Text((*text).to_owned())),
            Some(None) => Ok(Found::Nothing),
            None => self.below.look(path),
        }
    }

    fn folders(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let mut res = self.below.folders(folder)?;
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for (path, after) in &self.changed {
            let inside = path.as_str().strip_prefix(&start).and_then(|it| it.split_once('/'));
            if let (Some(_), Some((name, _))) = (after, inside) {
                res.push(name.to_owned());
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

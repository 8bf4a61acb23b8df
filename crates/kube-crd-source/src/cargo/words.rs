//! The first words of paths that lead into packages from elsewhere.

use std::collections::BTreeSet;

use super::packages::{PackageId, Packages};
use crate::builtin::{self, names::is_table};
use crate::text::Problem;

impl Packages<'_> {
    /// The first word of a path that leads into a package from elsewhere. Each package has its own; the packages
    /// that we know by tables have their crates' names, where they are those that decide.
    pub fn crate_word(&self, id: PackageId) -> String {
        let it = &self.all[id];
        let name = it.name.replace('-', "_");
        let all = self.candidates_for(&it.name);
        let is_candidate = all.contains(&id) || it.locked.is_none();
        let newest = all.iter().all(|other| self.all[*other].version <= it.version);
        match &it.source {
            _ if !is_candidate || !newest => {
                let version = it.version.as_ref().map(ToString::to_string);
                format!("{name}@{}", version.unwrap_or_default())
            }
            Some(source) if source.starts_with("git+") && is_table(&name) => {
                format!("git/{name}")
            }
            None if is_table(&name) => format!("path/{name}"),
            Some(_) if is_table(&name) && !self.is_published(id) => format!("registry/{name}"),
            Some(_) if self.table_fault(id).is_some() => format!("vendored/{name}"),
            _ => name,
        }
    }

    /// The problem of a package whose types are in our tables: its code may not be the published one.
    pub fn table_fault(&self, id: PackageId) -> Option<Problem> {
        let is_table = builtin::has_types_of(&self.all[id].name.replace('-', "_"));
        if is_table && self.is_published(id) { self.publication_fault(id) } else { None }
    }

    /// The words of all packages that are from git, from another registry than crates.io, or vendored in another way.
    pub fn unpublished_words(&self) -> BTreeSet<String> {
        let is_unpublished = |id: &PackageId| {
            let is_elsewhere = self.all[*id].source.is_some() && !self.is_published(*id);
            is_elsewhere || self.table_fault(*id).is_some()
        };
        (0..self.all.len()).filter(is_unpublished).map(|id| self.crate_word(id)).collect()
    }

    /// The package that such a word means.
    pub fn by_crate_word(&self, word: &str) -> Option<PackageId> {
        let name = word.rsplit('/').next().and_then(|name| name.split('@').next())?;
        let is = |id: &PackageId| self.crate_word(*id) == word;
        let near = [name.to_owned(), name.replace('_', "-")];
        let near =
            near.iter().flat_map(|name| self.lock.versions_of(name)).copied().find(|it| is(it));
        near.or_else(|| {
            let same = |id: &PackageId| self.all[*id].name.replace('-', "_") == name;
            (0..self.all.len()).find(|id| same(id) && is(id))
        })
    }
}

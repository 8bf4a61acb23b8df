//! Traits whose methods code in a module can call: those that the module declares or imports.

use std::collections::BTreeSet;

use super::Types;
use crate::names::{GlobTarget, Miss, Named};
use crate::tree::{Item, ItemId, ItemKind, ModuleId, Path};

/// Code that is not read and may declare traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// Crates that are neither read nor on crates.io.
    Crates,
    /// Such crates, and macros that are not known.
    CratesAndMacros,
}

impl Types {
    /// Returns whether the methods of a trait may be called in a module. If an import is not certain, they may.
    pub fn is_trait_in_scope(&self, module: ModuleId, trait_: ItemId) -> bool {
        let here = &self.modules[module];
        let name = &self.items[trait_].name;
        let leads_there = |path: &Path| match self.resolve_import(module, path) {
            Ok(named) => named == Named::Item(trait_),
            Err(Miss::Doubt(_) | Miss::Perhaps(_)) => true,
            Err(Miss::Nothing | Miss::Unreachable) => false,
        };
        let imports = here.types.values().flatten().map(|id| &self.items[*id]);
        imports.filter_map(path_of_import).any(leads_there)
            || here.anonymous_imports.iter().any(leads_there)
            // Its own name: declared here, or imported by a glob.
            || leads_there(&Path { global: false, parts: vec![name.clone()], span: self.items[trait_].span })
            || !here.globs.is_empty() && self.is_exported_without_its_name(name)
    }

    /// Returns what may bring a trait that is not read into scope of a module: an import from a crate that is not read,
    /// or a macro that is not known, in the module or in one that it imports everything of.
    ///
    /// Crates of crates.io are left out: a published trait that took over methods of std would do so for all who
    /// import it.
    pub fn possible_trait_in_scope(&self, module: ModuleId, unread: Unread) -> Option<String> {
        let with_macros = unread == Unread::CratesAndMacros;
        let (mut open, mut seen) = (vec![module], BTreeSet::from([module]));
        while let Some(here) = open.pop() {
            if let Some(found) = self.unknown_items(here).next().filter(|_| with_macros) {
                return Some(format!("`{}` at {}", found.text, self.place_in(here, found.span)));
            }
            let module = &self.modules[here];
            let imports = module.types.values().flatten().map(|id| &self.items[*id]);
            let imports = imports.filter_map(path_of_import).chain(&module.anonymous_imports);
            let found =
                imports.map(|path| (path, self.resolve_import(here, path))).find(|(_, found)| {
                    match found {
                        Ok(Named::Foreign(target)) => self.is_unread(target),
                        Err(Miss::Doubt(doubt) | Miss::Perhaps(doubt)) => {
                            with_macros || self.is_of_unpublished(doubt)
                        }
                        _ => false,
                    }
                });
            if let Some((path, found)) = found {
                match &found {
                    Ok(Named::Foreign(target)) => self.note_need(target),
                    Err(Miss::Doubt(doubt) | Miss::Perhaps(doubt)) => self.need_for(doubt),
                    _ => {}
                }
                let place = self.place_in(here, path.span);
                return Some(format!("`{}`, imported at {place},", path.parts.join("::")));
            }
            for (path, target) in self.glob_targets(here) {
                let text = || format!("`use {}::*` in {}", path.parts.join("::"), module.file);
                match target {
                    GlobTarget::Module(next) if seen.insert(*next) => open.push(*next),
                    GlobTarget::Foreign(target) if self.is_unread(target) => {
                        self.note_need(target);
                        return Some(text());
                    }
                    GlobTarget::Uncertain(doubt)
                        if with_macros || self.is_of_unpublished(doubt) =>
                    {
                        return Some(text());
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// Returns whether a path leads into a crate that is not on crates.io and whose source is not read.
    fn is_unread(&self, path: &str) -> bool {
        let word = path.split("::").next().unwrap_or(path);
        self.unpublished.contains(word) && !self.macro_crates.contains(word)
    }

    /// Returns whether any module exports a trait under another name or none, so that a glob brings it into scope unseen.
    fn is_exported_without_its_name(&self, name: &str) -> bool {
        let is_of_trait = |path: &Path| path.parts.last().is_some_and(|last| last == name);
        let is_renamed =
            |item: &Item| item.name != name && path_of_import(item).is_some_and(is_of_trait);
        let anonymous = || self.modules.iter().flat_map(|module| &module.anonymous_imports);
        anonymous().any(is_of_trait) || self.items.iter().any(is_renamed)
    }
}

fn path_of_import(item: &Item) -> Option<&Path> {
    match &item.kind {
        ItemKind::Use(path) => Some(path),
        _ => None,
    }
}

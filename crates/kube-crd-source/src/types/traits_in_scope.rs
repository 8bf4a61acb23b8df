//! Traits whose methods code in a module can call: those that the module declares or imports.

use super::Types;
use crate::names::{Miss, Named, Space};
use crate::tree::{Item, ItemId, ItemKind, ModuleId, Path};

impl Types {
    /// Returns whether the methods of a trait may be called in a module. If an import is not certain, they may.
    pub fn is_trait_in_scope(&self, module: ModuleId, trait_: ItemId) -> bool {
        let here = &self.modules[module];
        let name = &self.items[trait_].name;
        let leads_there = |path: &Path| match self.resolve(module, path, Space::Types) {
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

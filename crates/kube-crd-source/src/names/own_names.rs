//! What a module itself declares: its items, its imports, and what its macros may declare.

use super::imports::ImportTarget;
use super::{Lookup, Miss, Named, Resolution, Space};
use crate::cargo::cfg::Cfg;
use crate::tree::Reach;
use crate::tree::{Item, ItemId, Kind, ModuleId};

impl Lookup<'_> {
    /// What a module itself declares under a name, items and imports alike; nothing where a glob may import it.
    pub fn own(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        from: ModuleId,
        skip: Option<ItemId>,
    ) -> Option<Resolution> {
        let (mut sure, mut doubt, mut any) = (Vec::new(), None, false);
        for (found, reach) in self.own_bindings(module, name, space, skip) {
            any = true;
            match found {
                _ if !self.world.sees(from, reach) => {}
                Ok(named) if !sure.contains(&named) => sure.push(named),
                Err(Miss::Doubt(why) | Miss::Perhaps(why)) => doubt = Some(why),
                _ => {}
            }
        }
        // An import of something foreign may be a macro or a function: own items are preferred.
        if 1 < sure.len() && sure.iter().any(|it| !matches!(it, Named::Foreign(_))) {
            sure.retain(|it| !matches!(it, Named::Foreign(_)));
        }
        match (doubt, &sure[..]) {
            (Some(why), _) => Some(Err(Miss::Doubt(why))),
            (None, [one]) => Some(Ok(one.clone())),
            (None, [_, ..]) => {
                let file = &self.world.modules[module].file;
                Some(Err(Miss::Doubt(format!("{file} defines it more than once").into())))
            }
            (None, []) => any.then_some(Err(Miss::Unreachable)),
        }
    }

    pub fn own_bindings(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        skip: Option<ItemId>,
    ) -> Vec<(Resolution, Reach)> {
        let here = &self.world.modules[module];
        let names = match space {
            Space::Types => &here.types,
            // Imports may be of macros, and are in both.
            Space::Values | Space::Macros => &here.values,
        };
        let mut res = Vec::new();
        for id in names.get(name).into_iter().flatten().filter(|id| Some(**id) != skip) {
            let item = &self.world.items[*id];
            let found = match self.item(*id, item, space) {
                None => continue,
                Some(_) if item.cfg == Cfg::Depends => {
                    let file = &here.file;
                    Err(Miss::Doubt(format!("whether {file} defines it depends on a `cfg`").into()))
                }
                Some(found) => found,
            };
            res.push((found, self.world.reach(module, &item.vis)));
        }
        res
    }

    /// What an item is in a space; nothing where it is not in there.
    fn item(&self, id: ItemId, item: &Item, space: Space) -> Option<Resolution> {
        match &item.kind {
            Kind::Use(_) => match self.imports.target(id, space) {
                ImportTarget::Absent => None,
                ImportTarget::Nowhere => Some(Err(Miss::Unreachable)),
                ImportTarget::Is(named) => Some(Ok(named.clone())),
                ImportTarget::Doubt(why) => Some(Err(Miss::Doubt(why.clone()))),
                ImportTarget::Perhaps(why) => Some(Err(Miss::Perhaps(why.clone()))),
            },
            _ if space == Space::Macros => None,
            Kind::Module(module) => Some(Ok(Named::Module(*module))),
            Kind::ExternCrate(name) if name == "self" => {
                Some(self.module_word(item.module, "crate"))
            }
            Kind::ExternCrate(name) => Some(self.krate(item.module, name).ok_or(Miss::Unreachable)),
            _ => Some(Ok(Named::Item(id))),
        }
    }

    /// Why a module may declare a name without a visible item.
    pub fn why_hidden(&self, module: ModuleId, name: &str) -> Option<String> {
        let here = &self.world.modules[module];
        if let Some(why) = &here.broken {
            return Some(format!("{why}, and may define it"));
        }
        self.by_macro(module, name)
    }

    pub fn by_macro(&self, module: ModuleId, name: &str) -> Option<String> {
        let effects = self.imports.effects.get(&module)?;
        let here = &self.world.modules[module];
        let mut calls = here.macros.iter().zip(effects);
        let (call, _) = calls.find(|(_, it)| it.may_declare(name))?;
        let (text, file) = (call.text(), &here.file);
        Some(match &call.unknown {
            Some(why) => format!("`{text}` in {file} may define it: {why}"),
            None => format!("`{text}` in {file} may define it"),
        })
    }
}

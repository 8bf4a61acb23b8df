//! The names that a module declares without its globs: items, imports, and those that its macros may declare.

use super::imports::{ImportTarget, LookupRead, PathReader};
use super::{Doubt, Lookup, Miss, Named, Resolution, Space, is_open};
use crate::cargo::cfg::Cfg;
use crate::tree::Reach;
use crate::tree::{Item, ItemId, ItemKind, ModuleId};

/// The limit of items and imports of one name in a module: one in each space, for each `cfg`.
const MOST_SAME: usize = 50;

/// The items and imports of a module under a name, without its globs.
pub enum Own {
    Is(Resolution),
    /// Only imports that cannot be seen and whose targets are not decided yet.
    Open,
    /// Nothing: a glob may import it.
    No,
}

/// Something that a module declares under a name, as far as that is decided, and from where it is seen.
pub type OwnBinding = (Resolution, Reach);

impl Lookup<'_> {
    /// Returns what a module itself declares under a name, items and imports alike.
    pub fn declared_under(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        from: ModuleId,
        by: PathReader,
    ) -> Own {
        self.imports.note_read(|| LookupRead::At(module, name.to_owned()));
        let all = self.own_bindings(module, name, space, by);
        if all.is_empty() {
            return Own::No;
        }
        let is_decided = !all.iter().all(|binding| is_open(&binding.0));
        let seen = all.into_iter().filter(|binding| self.world.can_see(from, binding.1));
        let (mut sure, mut doubt) = (Vec::new(), None);
        for (found, _) in seen {
            match found {
                Ok(named) if !sure.contains(&named) => sure.push(named),
                Err(Miss::Doubt(why) | Miss::Perhaps(why)) if why.is_open || doubt.is_none() => {
                    doubt = Some(why);
                }
                _ => {}
            }
        }
        // An import of something foreign may be a macro or a function: own items are preferred.
        if sure.len() > 1 && sure.iter().any(|target| !matches!(target, Named::Foreign(_))) {
            sure.retain(|target| !matches!(target, Named::Foreign(_)));
        }
        match (doubt, &sure[..]) {
            (Some(why), _) => Own::Is(Err(Miss::Doubt(why))),
            (None, [one]) => Own::Is(Ok(one.clone())),
            (None, [_, ..]) => {
                let file = &self.world.modules[module].file;
                Own::Is(Err(Miss::Doubt(format!("{file} defines it more than once").into())))
            }
            (None, []) if is_decided => Own::Is(Err(Miss::Unreachable)),
            (None, []) => Own::Open,
        }
    }

    pub fn own_bindings(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        by: PathReader,
    ) -> Vec<OwnBinding> {
        let here = &self.world.modules[module];
        let names = match space {
            Space::Types => &here.types,
            // Imports may be of macros, and are in both.
            Space::Values | Space::Macros => &here.values,
        };
        let ids = names.get(name).map_or(&[][..], Vec::as_slice);
        if ids.len() > MOST_SAME {
            let why = format!("{} declares it more than {MOST_SAME} times", here.file);
            return vec![(Err(Miss::Doubt(why.into())), Reach::All)];
        }
        let (mut res, mut is_item) = (Vec::new(), false);
        for id in ids.iter().filter(|id| by != PathReader::Use(**id)) {
            let item = &self.world.items[*id];
            let found = match self.item_binding(*id, item, space) {
                None => continue,
                Some(_) if item.cfg == Cfg::Depends => {
                    let file = &here.file;
                    Err(Miss::Doubt(format!("whether {file} defines it depends on a `cfg`").into()))
                }
                Some(found) => found,
            };
            is_item |= found.is_ok() && !matches!(item.kind, ItemKind::Use(_));
            res.push((found, self.world.reach_of(module, &item.vis)));
        }
        // Beside an item, Rust allows no import of the name in the same space.
        if is_item {
            res.retain(|binding| !is_open(&binding.0));
        }
        res
    }

    /// The binding of an item in a namespace; none if it is not in that one.
    fn item_binding(&self, id: ItemId, item: &Item, space: Space) -> Option<Resolution> {
        match &item.kind {
            ItemKind::Use(_) => match self.imports.targets.get(&(id, space)) {
                None => Some(Err(Miss::Doubt(Doubt::of_cycle()))),
                Some(ImportTarget::Absent) => None,
                Some(ImportTarget::Nowhere) => Some(Err(Miss::Unreachable)),
                Some(ImportTarget::Is(named)) => Some(Ok(named.clone())),
                Some(ImportTarget::Doubt(why)) => Some(Err(Miss::Doubt(why.clone()))),
                Some(ImportTarget::Perhaps(why)) => Some(Err(Miss::Perhaps(why.clone()))),
            },
            _ if space == Space::Macros => None,
            ItemKind::Module(module) => Some(Ok(Named::Module(*module))),
            ItemKind::ExternCrate(name) if name == "self" => {
                Some(self.module_word(item.module, "crate"))
            }
            ItemKind::ExternCrate(name) => {
                Some(self.find_crate(item.module, name).ok_or(Miss::Unreachable))
            }
            _ => Some(Ok(Named::Item(id))),
        }
    }

    /// Why a module may declare a name without a visible item.
    pub fn why_hidden(&self, module: ModuleId, name: &str, space: Space) -> Option<String> {
        let here = &self.world.modules[module];
        if let Some(why) = &here.broken {
            return Some(format!("{why}, and may define it"));
        }
        self.by_macro(module, name, space)
    }

    /// Why a macro may declare a name in a module. rustc takes the name of a macro for ambiguous (E0659) if another macro
    /// declares it and it has a meaning without that, so there is no doubt about those.
    pub fn by_macro(&self, module: ModuleId, name: &str, space: Space) -> Option<String> {
        if space == Space::Macros {
            return None;
        }
        let mut all = self.imports.unexpanded.get(&module)?.iter();
        let found = all.find(|unexpanded| unexpanded.effect.may_declare(name))?;
        let (text, place) = (&found.text, self.world.place_in(module, found.span));
        Some(match &found.unknown {
            Some(why) => format!("`{text}` at {place} may define it: {why}"),
            None => format!("`{text}` at {place} may define it"),
        })
    }
}

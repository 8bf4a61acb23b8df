//! The `use …::*` of all modules, sorted by what they lead to.
//!
//! Most bring names for their own module only. The others, whose names go on to who imports everything of that
//! module in turn, are kept apart: only those are followed when a name is brought.

use std::collections::BTreeMap;

use super::{Doubt, Found, Miss, Named, Names};
use crate::tree::{ItemId, ModuleId, Reach};

/// One glob: its module, and which of the module's it is.
pub type GlobId = (ModuleId, usize);

#[derive(Default)]
pub struct Globs {
    pub targets: BTreeMap<GlobId, Leads>,
    /// Those that hand names on, by the module that they import everything of.
    pub importers: Vec<Vec<GlobId>>,
    /// The same for enums.
    pub enums: Vec<(GlobId, ItemId)>,
    /// The same for what other crates have, by its path.
    pub foreign: BTreeMap<String, Vec<GlobId>>,
    /// The same for those that lead nowhere for certain.
    pub lost: Vec<GlobId>,
    /// Those that hand nothing on, by their own module.
    pub ends: Vec<Vec<usize>>,
}

/// What a glob leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    Module(ModuleId),
    Enum(ItemId),
    Foreign(String),
    /// Nowhere for certain, and why it may bring a name.
    Lost(Doubt),
}

impl Leads {
    pub fn new(found: Found, path: &[String]) -> Self {
        match found {
            Ok(Named::Module(module)) => Self::Module(module),
            Ok(Named::Item(item)) => Self::Enum(item),
            Ok(Named::Foreign(path)) => Self::Foreign(path),
            Ok(Named::Member(..)) | Err(Miss::Nothing | Miss::Lost) => {
                let path = path.join("::");
                Self::Lost(format!("`use {path}::*` is not found, and may bring it").into())
            }
            Err(Miss::Doubt(why) | Miss::Perhaps(why)) => Self::Lost(why),
        }
    }
}

impl Globs {
    pub fn new(world: &Names, targets: BTreeMap<GlobId, Leads>) -> Self {
        let mut all = vec![Vec::new(); world.modules.len()];
        for (id, to) in &targets {
            if let Leads::Module(of) = to {
                all[*of].push(*id);
            }
        }
        let mut res = Self {
            importers: vec![Vec::new(); world.modules.len()],
            ends: vec![Vec::new(); world.modules.len()],
            ..Self::default()
        };
        let mut known: BTreeMap<(ModuleId, Reach), bool> = BTreeMap::new();
        for (id @ (module, index), to) in &targets {
            let reach = world.reach(*module, &world.modules[*module].globs[*index].vis);
            let seen = || all[*module].iter().any(|it| world.sees(it.0, reach));
            if !*known.entry((*module, reach)).or_insert_with(seen) {
                res.ends[*module].push(*index);
                continue;
            }
            match to {
                Leads::Module(of) => res.importers[*of].push(*id),
                Leads::Enum(item) => res.enums.push((*id, *item)),
                Leads::Foreign(path) => res.foreign.entry(path.clone()).or_default().push(*id),
                Leads::Lost(_) => res.lost.push(*id),
            }
        }
        Self { targets, ..res }
    }
}

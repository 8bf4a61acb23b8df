//! The `use …::*` of all modules, sorted by what they lead to.
//!
//! Most import names for their own module only. The others, whose names are imported again by globs of that
//! module, are kept apart: only those are followed when a name is looked up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Doubt, Miss, Named, Names, Resolution};
use crate::cargo::Cfg;
use crate::tree::{ItemId, ModuleId, Reach};

/// One glob: its module, and which of the module's it is.
pub type GlobId = (ModuleId, usize);

#[derive(Default)]
pub struct Globs {
    pub targets: BTreeMap<GlobId, GlobTarget>,
    /// Those that hand names on, by the module that they import everything of.
    pub importers: Vec<Vec<GlobId>>,
    /// The same for enums.
    pub enums: Vec<(GlobId, ItemId)>,
    /// The same for what other crates have, by its path.
    pub foreign: BTreeMap<String, Vec<GlobId>>,
    /// The same for those that lead nowhere for certain.
    pub uncertain: Vec<GlobId>,
    /// Those that hand nothing on, by their own module.
    pub ends: Vec<Vec<usize>>,
}

/// The target of a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobTarget {
    Module(ModuleId),
    Enum(ItemId),
    Foreign(String),
    /// Not certain, and why it may import a name.
    Uncertain(Doubt),
}

/// The names that a glob imports. Two globs of a module with equal ones need to be followed once.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Imported {
    Module(ModuleId),
    Enum(ItemId),
    Foreign(String),
    /// Doubts of equal rank have the same effect.
    Uncertain((bool, bool)),
}

impl GlobTarget {
    fn to_imported(&self) -> Imported {
        match self {
            Self::Module(id) => Imported::Module(*id),
            Self::Enum(id) => Imported::Enum(*id),
            Self::Foreign(path) => Imported::Foreign(path.clone()),
            Self::Uncertain(why) => Imported::Uncertain(why.rank()),
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Uncertain(why) if why.is_open)
    }

    pub fn new(found: Resolution, path: &[String]) -> Self {
        match found {
            Ok(Named::Module(module)) => Self::Module(module),
            Ok(Named::Item(item)) => Self::Enum(item),
            Ok(Named::Foreign(path)) => Self::Foreign(path),
            Ok(Named::Member(..)) | Err(Miss::Nothing | Miss::Unreachable) => {
                let path = path.join("::");
                Self::Uncertain(format!("`use {path}::*` is not found, and may import it").into())
            }
            Err(Miss::Doubt(why) | Miss::Perhaps(why)) => Self::Uncertain(why),
        }
    }
}

impl Globs {
    /// Before any of them is followed.
    pub fn not_followed(world: &Names) -> Self {
        let modules = world.modules.iter().enumerate();
        let ids = modules.flat_map(|(module, it)| (0..it.globs.len()).map(move |at| (module, at)));
        Self::new(world, ids.map(|id| (id, GlobTarget::Uncertain(Doubt::of_cycle()))).collect())
    }

    pub fn new(world: &Names, targets: BTreeMap<GlobId, GlobTarget>) -> Self {
        let mut all = vec![Vec::new(); world.modules.len()];
        for (id, to) in &targets {
            if let GlobTarget::Module(of) = to {
                all[*of].push(*id);
            }
        }
        let mut globs = Self {
            importers: vec![Vec::new(); world.modules.len()],
            ends: vec![Vec::new(); world.modules.len()],
            ..Self::default()
        };
        let mut known: BTreeMap<(ModuleId, Reach), bool> = BTreeMap::new();
        let mut unequal = BTreeSet::new();
        for (id @ (module, index), to) in &targets {
            let glob = &world.modules[*module].globs[*index];
            let reach = world.reach_of(*module, &glob.vis);
            if !unequal.insert((*module, reach, glob.cfg == Cfg::Depends, to.to_imported())) {
                continue;
            }
            let seen = || all[*module].iter().any(|importer| world.can_see(importer.0, reach));
            if !*known.entry((*module, reach)).or_insert_with(seen) {
                globs.ends[*module].push(*index);
                continue;
            }
            match to {
                GlobTarget::Module(of) => globs.importers[*of].push(*id),
                GlobTarget::Enum(item) => globs.enums.push((*id, *item)),
                GlobTarget::Foreign(path) => {
                    globs.foreign.entry(path.clone()).or_default().push(*id)
                }
                GlobTarget::Uncertain(_) => globs.uncertain.push(*id),
            }
        }
        Self { targets, ..globs }
    }
}

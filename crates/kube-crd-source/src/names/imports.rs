//! The target of every `use`: resolved again until nothing changes, as Rust defines it.
//!
//! What a resolution depends on is noted, so that only its dependents are resolved again after a change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::calls::{self, Effect};
use super::glob_names::Cache;
use super::globs::{GlobId, GlobTarget, Globs};
use super::{Doubt, Lookup, Miss, Named, Names, Resolution, SPACES, Space};
use crate::builtin::names as foreign;
use crate::tree::{ItemId, Kind, ModuleId};

/// How often globs are looked at anew, and how often an import is, on average.
const ENOUGH: usize = 100;

/// How many imports of one name a module may have: one in each space, for each `cfg`.
const MOST_SAME: usize = 50;

/// Where an import leads, in one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Nowhere, in no space.
    Nowhere,
    /// To something that is in another space.
    Absent,
    Is(Named),
    Doubt(Doubt),
    Perhaps(Doubt),
}

/// What an import depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Read {
    /// What a module itself declares under a name.
    At(ModuleId, String),
    /// What globs import under a name.
    Globs(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    Use(ItemId),
    Glob(GlobId),
}

#[derive(Default)]
pub struct Imports {
    /// They do not come to rest: no name is certain.
    pub entangled: bool,
    targets: BTreeMap<ItemId, [ImportTarget; 3]>,
    pub globs: Globs,
    /// The modules that declare a name themselves.
    pub by_name: BTreeMap<String, Vec<ModuleId>>,
    /// Modules with macros in them, and those that do not parse.
    pub macros: Vec<ModuleId>,
    pub broken: Vec<ModuleId>,
    /// The effects of each module's macro calls.
    pub effects: BTreeMap<ModuleId, Vec<Effect>>,
    /// The effects of what stands in blocks.
    pub block_effects: Vec<Effect>,
    /// Further names of types, by the names that they lead to.
    pub further_names: BTreeMap<String, BTreeSet<String>>,
    pub cache: RefCell<Cache>,
    /// What was read since this was last emptied; nothing once all is solved.
    reads: RefCell<Option<BTreeSet<Read>>>,
}

impl Imports {
    pub fn target(&self, import: ItemId, space: Space) -> &ImportTarget {
        self.targets.get(&import).map_or(&ImportTarget::Nowhere, |it| &it[space as usize])
    }

    pub fn note(&self, read: impl FnOnce() -> Read) {
        if let Some(reads) = &mut *self.reads.borrow_mut() {
            reads.insert(read());
        }
    }

    pub fn solve(world: &Names) -> Self {
        let globs = Globs::new(world, BTreeMap::new());
        let mut res = Self {
            globs,
            effects: calls::effects(world),
            block_effects: calls::block_effects(world),
            further_names: calls::further_names(world),
            ..Self::default()
        };
        let (mut uses, mut globs) = (BTreeSet::new(), BTreeSet::new());
        let mut same: BTreeMap<(ModuleId, &str), usize> = BTreeMap::new();
        for (id, item) in world.items.iter().enumerate() {
            if let Kind::Use(_) = &item.kind {
                uses.insert(id);
                let imports = same.entry((item.module, &item.name)).or_default();
                *imports += 1;
                // Each is looked at for each other one.
                res.entangled |= MOST_SAME < *imports && item.name != "_";
            }
        }
        if res.entangled {
            return res;
        }
        for (module, it) in world.modules.iter().enumerate() {
            globs.extend((0..it.globs.len()).map(|index| (module, index)));
            let names: BTreeSet<_> = it.types.keys().chain(it.values.keys()).collect();
            for name in names {
                res.by_name.entry(name.clone()).or_default().push(module);
            }
            if !it.macros.is_empty() {
                res.macros.push(module);
            }
            if it.broken.is_some() {
                res.broken.push(module);
            }
        }
        *res.reads.borrow_mut() = Some(BTreeSet::new());
        res.settle(world, uses, globs);
        *res.reads.borrow_mut() = None;
        res
    }

    fn settle(&mut self, world: &Names, mut uses: BTreeSet<ItemId>, mut globs: BTreeSet<GlobId>) {
        let mut readers: BTreeMap<Read, BTreeSet<Reader>> = BTreeMap::new();
        let mut left = ENOUGH * (100 + uses.len());
        for _ in 0..ENOUGH {
            let mut changed = BTreeMap::new();
            for id in std::mem::take(&mut globs) {
                let leads = self.glob(world, id);
                self.remember(&mut readers, Reader::Glob(id));
                if self.globs.targets.get(&id) != Some(&leads) {
                    changed.insert(id, leads);
                }
            }
            if !changed.is_empty() {
                let mut targets = std::mem::take(&mut self.globs.targets);
                targets.extend(changed);
                self.globs = Globs::new(world, targets);
                *self.cache.borrow_mut() = Cache::default();
                let globbed = readers.range(Read::Globs(String::new())..);
                queue(globbed.flat_map(|it| it.1), &mut uses, &mut globs);
            }
            while let Some(id) = uses.pop_first() {
                let targets = self.import(world, id);
                self.remember(&mut readers, Reader::Use(id));
                if SPACES.iter().all(|it| targets[*it as usize] == *self.target(id, *it)) {
                    continue;
                }
                let Some(rest) = left.checked_sub(1) else {
                    self.entangled = true;
                    return;
                };
                left = rest;
                self.targets.insert(id, targets);
                let (module, name) = (world.items[id].module, &world.items[id].name);
                let read = Read::At(module, name.clone());
                queue(readers.get(&read).into_iter().flatten(), &mut uses, &mut globs);
                SPACES.iter().for_each(|it| self.cache.borrow_mut().forget(name, *it));
                let read = Read::Globs(name.clone());
                queue(readers.get(&read).into_iter().flatten(), &mut uses, &mut globs);
            }
            if globs.is_empty() {
                return;
            }
        }
        self.entangled = true;
    }

    fn remember(&self, readers: &mut BTreeMap<Read, BTreeSet<Reader>>, reader: Reader) {
        let reads = self.reads.borrow_mut().replace(BTreeSet::new()).unwrap_or_default();
        for read in reads {
            readers.entry(read).or_default().insert(reader);
        }
    }

    fn glob(&self, world: &Names, (module, index): GlobId) -> GlobTarget {
        let path = &world.modules[module].globs[index].path;
        let names = Lookup { world, imports: self };
        GlobTarget::new(names.path(module, path, Space::Types, None), &path.parts)
    }

    fn import(&self, world: &Names, id: ItemId) -> [ImportTarget; 3] {
        let item = &world.items[id];
        let Kind::Use(path) = &item.kind else { return SPACES.map(|_| ImportTarget::Nowhere) };
        let names = Lookup { world, imports: self };
        let Some((last, front)) = path.parts.split_last() else {
            return SPACES.map(|_| ImportTarget::Nowhere);
        };
        let found: [Resolution; 3] = if front.is_empty() {
            SPACES.map(|space| names.path(item.module, path, space, Some(id)))
        } else {
            match names.front(item.module, path, front, Some(id)) {
                Ok(of) => SPACES.map(|it| names.member(&of, last, it, item.module, Some(id))),
                Err(miss) => SPACES.map(|_| Err(miss.clone())),
            }
        };
        let is_macro = || world.rules.iter().any(|it| it.name == *last);
        let nowhere = found.iter().all(|it| matches!(it, Err(Miss::Nothing | Miss::Unreachable)));
        let none =
            if nowhere && !is_macro() { ImportTarget::Nowhere } else { ImportTarget::Absent };
        let mut targets = found.map(|found| match found {
            Ok(named) => ImportTarget::Is(named),
            Err(Miss::Nothing | Miss::Unreachable) => none.clone(),
            Err(Miss::Doubt(why)) => ImportTarget::Doubt(why),
            Err(Miss::Perhaps(why)) => ImportTarget::Perhaps(why),
        });
        // A derive leaves its name to a type.
        if let ImportTarget::Is(Named::Foreign(path)) = &targets[0]
            && foreign::is_macro(path)
        {
            targets[0] = ImportTarget::Absent;
            targets[1] = ImportTarget::Absent;
        }
        targets
    }
}

fn queue<'a>(
    readers: impl Iterator<Item = &'a Reader>,
    uses: &mut BTreeSet<ItemId>,
    globs: &mut BTreeSet<GlobId>,
) {
    for reader in readers {
        match reader {
            Reader::Use(id) => drop(uses.insert(*id)),
            Reader::Glob(id) => drop(globs.insert(*id)),
        }
    }
}

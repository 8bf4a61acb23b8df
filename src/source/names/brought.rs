//! What `use …::*` brings, one name at a time, into every module at once.
//!
//! A name starts where it is written and goes on to those who import everything from there, so that rings of
//! globs cost no more than chains, and a name that nobody writes costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::super::cfg::{self, Cfg};
use super::super::foreign;
use super::super::world::{Glob, ItemId, Kind, ModuleId};
use super::reach::Reach;
use super::{Miss, Named, Names, Space};

/// How many different things one name is followed as.
const MANY: usize = 8;

/// What a glob brings, or why it may bring something.
#[derive(Clone)]
pub struct Binding {
    pub what: Result<Named, String>,
    pub reach: Reach,
}

/// By the module that it is brought into.
pub type Brought = BTreeMap<ModuleId, Vec<Binding>>;

type Queue = VecDeque<(ModuleId, Binding)>;

impl Names<'_> {
    pub fn brought(&self, name: &str, space: Space) -> Rc<Brought> {
        let key = (name.to_owned(), space);
        if let Some(known) = self.imports.brought.borrow().get(&key) {
            return known.clone();
        }
        let mut res = Brought::new();
        let mut queue = self.sources(name, space);
        while let Some((module, mut binding)) = queue.pop_front() {
            if !self.all_written(module, name, space, None).is_empty() {
                continue;
            }
            if let (Ok(_), Some(why)) = (&binding.what, self.by_macro(module, name)) {
                binding.what = Err(why);
            }
            if !self.note_binding(res.entry(module).or_default(), &mut binding) {
                continue;
            }
            self.pass_on(module, &binding, &mut queue);
        }
        let res = Rc::new(res);
        self.imports.brought.borrow_mut().insert(key, res.clone());
        res
    }

    /// Whether this is news to a module.
    fn note_binding(&self, known: &mut Vec<Binding>, new: &mut Binding) -> bool {
        let is_new = |what: &Result<Named, String>| known.iter().all(|it| it.what != *what);
        if MANY <= known.len() && is_new(&new.what) {
            new.what = Err("too many `use …::*` bring it".to_owned());
        }
        let same = |it: &&mut Binding| match (&it.what, &new.what) {
            (Ok(one), Ok(other)) => one == other,
            (one, other) => one.is_err() && other.is_err(),
        };
        if let Some(known) = known.iter_mut().find(same) {
            if self.world.narrower(new.reach, known.reach) == new.reach {
                return false;
            }
            known.reach = new.reach;
            return true;
        }
        known.push(new.clone());
        true
    }

    fn pass_on(&self, module: ModuleId, binding: &Binding, queue: &mut Queue) {
        for (importer, index) in &self.imports.importers[module] {
            if self.world.sees(*importer, binding.reach) {
                let glob = &self.world.modules[*importer].globs[*index];
                queue.push_back((*importer, self.through(*importer, glob, binding)));
            }
        }
    }

    /// A binding as a glob hands it on.
    fn through(&self, module: ModuleId, glob: &Glob, binding: &Binding) -> Binding {
        let reach = self.world.narrower(self.world.reach(module, &glob.vis), binding.reach);
        let what = match &binding.what {
            _ if glob.cfg == Cfg::Depends => {
                let file = &self.world.modules[module].file;
                Err(format!("whether {file} imports it depends on a `cfg`"))
            }
            what => what.clone(),
        };
        Binding { what, reach }
    }

    fn sources(&self, name: &str, space: Space) -> Queue {
        let mut res = Queue::new();
        let mut bring = |module: ModuleId, index: usize, what: Result<Named, String>| {
            let glob = &self.world.modules[module].globs[index];
            let binding = Binding { what, reach: Reach::All };
            res.push_back((module, self.through(module, glob, &binding)));
        };
        for (module, index, item) in &self.imports.enums {
            if space != Space::Macros && self.has_variant(*item, name) {
                bring(*module, *index, Ok(Named::Member(*item, name.to_owned())));
            }
        }
        for (path, places) in &self.imports.foreign {
            let whole = foreign::canonical(path, name);
            let what = if self.world.is_known(&whole) {
                Ok(Named::Foreign(whole))
            } else if self.world.is_known_whole(path) {
                continue;
            } else {
                Err(())
            };
            for (module, index) in places {
                let written = self.world.modules[*module].globs[*index].path.parts.join("::");
                let why = format!("`use {written}::*` may bring another `{name}`");
                bring(*module, *index, what.clone().map_err(|()| why));
            }
        }
        for (module, index, why) in &self.imports.lost {
            bring(*module, *index, Err(why.clone()));
        }
        for module in self.imports.by_name.get(name).into_iter().flatten() {
            for (found, reach) in self.all_written(*module, name, space, None) {
                let what = match found {
                    Ok(named) => Ok(named),
                    Err(Miss::Doubt(why) | Miss::Perhaps(why)) => Err(why),
                    Err(Miss::Nothing | Miss::Lost) => {
                        let file = &self.world.modules[*module].file;
                        Err(format!("what {file} imports under this name is not found"))
                    }
                };
                self.pass_on(*module, &Binding { what, reach }, &mut res);
            }
        }
        let unseen = self.imports.macros.iter().chain(&self.imports.broken);
        for module in unseen.filter(|it| !self.imports.importers[**it].is_empty()) {
            if let Some(why) = self.unseen(*module, name)
                && self.all_written(*module, name, space, None).is_empty()
            {
                self.pass_on(*module, &Binding { what: Err(why), reach: Reach::All }, &mut res);
            }
        }
        res
    }

    fn has_variant(&self, item: ItemId, name: &str) -> bool {
        let item = &self.world.items[item];
        let Kind::Data(input) = &item.kind else { return false };
        let syn::Data::Enum(it) = &input.data else { return false };
        let features = self.world.features(item.module);
        it.variants.iter().any(|it| {
            super::super::world::plain(&it.ident) == name
                && cfg::settle(&it.attrs, features).is_ok_and(|it| it.cfg != Cfg::No)
        })
    }
}

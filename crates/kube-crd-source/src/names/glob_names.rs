//! Names that `use …::*` imports, one name at a time, into every module at once.
//!
//! A name starts where it is declared and is passed on to those that import everything from there, so that rings of
//! globs cost no more than chains, and a name that nobody writes costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::globs::{GlobId, GlobTarget};
use super::imports::Reader;
use super::own_names::OwnBinding;
use super::{Doubt, Lookup, Miss, Named, Space, is_open};
use crate::builtin::names as foreign;
use crate::cargo::cfg::{self, Cfg};
use crate::text::plain;
use crate::tree::Reach;
use crate::tree::{ItemId, ItemKind, ModuleId};

/// How many different things one name is followed as.
const MANY: usize = 8;
/// How many bindings are kept for another time.
const KEPT: usize = 100_000;

/// A name that a glob imports, or the reason why it may import one.
#[derive(Clone)]
pub struct Binding {
    pub what: Result<Named, Doubt>,
    pub reach: Reach,
}

impl Binding {
    fn is_decided(&self) -> bool {
        !matches!(&self.what, Err(why) if why.is_open)
    }
}

/// By the module that it is imported into, and passed on from.
type Bindings = BTreeMap<ModuleId, Vec<Binding>>;

type Queue = VecDeque<(ModuleId, Binding)>;

/// Lookups of before.
#[derive(Default)]
pub struct Cache {
    known: BTreeMap<(String, Space), Rc<Bindings>>,
    size: usize,
}

impl Cache {
    pub fn forget(&mut self, name: &str, space: Space) {
        self.known.remove(&(name.to_owned(), space));
    }
}

impl Lookup<'_> {
    /// All that globs import into a module under a name.
    pub fn glob_bindings(&self, module: ModuleId, name: &str, space: Space) -> Vec<Binding> {
        if self.world.modules[module].globs.is_empty() {
            return Vec::new();
        }
        if !self.imports.counts_globs(1 + self.imports.globs.ends[module].len()) {
            return vec![Binding { what: Err(Doubt::too_many_globs()), reach: Reach::All }];
        }
        let all = self.propagate(name, space);
        let mut res = all.get(&module).cloned().unwrap_or_default();
        for index in &self.imports.globs.ends[module] {
            let id = (module, *index);
            match self.imports.globs.targets.get(&id) {
                Some(GlobTarget::Module(of)) => {
                    let mut found = self.here(*of, name, space);
                    // Where nothing is certain there, its own globs may decide.
                    if !found.iter().any(Binding::is_decided) {
                        found.extend(all.get(of).into_iter().flatten().cloned());
                    }
                    let seen = found.into_iter().filter(|it| self.world.sees(module, it.reach));
                    res.extend(seen.map(|it| self.through(id, it)));
                }
                Some(leads) => {
                    let found = self.outside(id, leads, name, space);
                    res.extend(found.map(|it| self.through(id, it)));
                }
                None => {}
            }
        }
        res
    }

    fn propagate(&self, name: &str, space: Space) -> Rc<Bindings> {
        let key = (name.to_owned(), space);
        if let Some(known) = self.imports.cache.borrow().known.get(&key) {
            return known.clone();
        }
        let mut res = Bindings::new();
        let mut size = 0;
        let mut queue = self.sources(name, space);
        while let Some((module, binding)) = queue.pop_front() {
            let own = self.own_of(module, name, space);
            let what = match self.by_macro(module, name, space) {
                _ if own.iter().all(|it| is_open(&it.0)) && !own.is_empty() => Err(Doubt::open()),
                _ if !own.is_empty() => continue,
                Some(why) => Err(why.into()),
                None => binding.what,
            };
            let binding = Binding { what, ..binding };
            if let Some(news) = self.note_binding(res.entry(module).or_default(), binding) {
                size += 1;
                self.pass_on(module, &news, &mut queue);
            }
        }
        let res = Rc::new(res);
        let mut cache = self.imports.cache.borrow_mut();
        cache.size += size;
        if KEPT < cache.size {
            *cache = Cache { size, ..Cache::default() };
        }
        cache.known.insert(key, res.clone());
        res
    }

    /// The part of a binding that a module did not have yet.
    fn note_binding(&self, known: &mut Vec<Binding>, mut new: Binding) -> Option<Binding> {
        if MANY <= known.len() && known.iter().all(|it| it.what != new.what) {
            new.what = Err(Doubt::too_many_globs());
        }
        let same = |it: &&mut Binding| match (&it.what, &new.what) {
            (Ok(one), Ok(other)) => one == other,
            (Err(one), Err(other)) => one.rank() == other.rank(),
            _ => false,
        };
        match known.iter_mut().find(same) {
            Some(known) if self.world.narrower(new.reach, known.reach) == new.reach => return None,
            Some(known) => known.reach = new.reach,
            None => known.push(new.clone()),
        }
        Some(new)
    }

    fn pass_on(&self, module: ModuleId, binding: &Binding, queue: &mut Queue) {
        for id in &self.imports.globs.importers[module] {
            if self.world.sees(id.0, binding.reach) {
                queue.push_back((id.0, self.through(*id, binding.clone())));
            }
        }
    }

    /// A binding as a glob hands it on.
    fn through(&self, (module, index): GlobId, binding: Binding) -> Binding {
        let here = &self.world.modules[module];
        let glob = &here.globs[index];
        let reach = self.world.narrower(self.world.reach(module, &glob.vis), binding.reach);
        let what = match binding.what {
            _ if glob.cfg == Cfg::Depends => {
                let why = format!("whether {} imports it depends on a `cfg`", here.file);
                Err(Doubt { glob: binding.what.err().and_then(|it| it.glob), ..Doubt::from(why) })
            }
            what => what,
        };
        Binding { what, reach }
    }

    /// Where a name starts that is handed on.
    fn sources(&self, name: &str, space: Space) -> Queue {
        let globs = &self.imports.globs;
        self.imports.counts_globs(globs.enums.len() + globs.foreign.len() + globs.uncertain.len());
        let mut res = Queue::new();
        let mut bring = |id: GlobId, binding: Binding| {
            res.push_back((id.0, self.through(id, binding)));
        };
        for (id, item) in &globs.enums {
            if let Some(it) = self.outside(*id, &GlobTarget::Enum(*item), name, space) {
                bring(*id, it);
            }
        }
        for (path, ids) in &globs.foreign {
            let leads = GlobTarget::Foreign(path.clone());
            // What one of them imports, or may import, all do.
            for id in ids {
                let Some(it) = self.outside(*id, &leads, name, space) else { break };
                bring(*id, it);
            }
        }
        for id in &globs.uncertain {
            let leads = globs.targets.get(id);
            if let Some(it) = leads.and_then(|it| self.outside(*id, it, name, space)) {
                bring(*id, it);
            }
        }
        let modules = self.imports.by_name.get(name).into_iter().flatten();
        let unseen = self.imports.macros.iter().chain(&self.imports.broken);
        for module in modules.chain(unseen).filter(|it| !globs.importers[**it].is_empty()) {
            for binding in self.here(*module, name, space) {
                self.pass_on(*module, &binding, &mut res);
            }
        }
        res
    }

    /// The items and imports of a module under a name, without its globs.
    fn own_of(&self, module: ModuleId, name: &str, space: Space) -> Vec<OwnBinding> {
        let modules = self.imports.by_name.get(name);
        match modules.is_some_and(|it| it.binary_search(&module).is_ok()) {
            true => self.own_bindings(module, name, space, Reader::Code),
            false => Vec::new(),
        }
    }

    /// What a module itself declares under a name, or may declare; nothing where its globs may import it.
    fn here(&self, module: ModuleId, name: &str, space: Space) -> Vec<Binding> {
        let file = &self.world.modules[module].file;
        let own = self.own_of(module, name, space);
        let is_undecided = own.iter().all(|it| is_open(&it.0));
        let mut res: Vec<Binding> = own
            .into_iter()
            .map(|(found, reach)| {
                let what = found.map_err(|miss| match miss {
                    Miss::Doubt(why) | Miss::Perhaps(why) => why,
                    Miss::Nothing | Miss::Unreachable => {
                        format!("what {file} imports under this name is not found").into()
                    }
                });
                Binding { what, reach }
            })
            .collect();
        if is_undecided && let Some(why) = self.why_hidden(module, name, space) {
            let why = if res.is_empty() { why.into() } else { Doubt::open() };
            res.push(Binding { what: Err(why), reach: Reach::All });
        }
        res
    }

    /// What a name is in something that is no module of the project.
    fn outside(
        &self,
        (module, index): GlobId,
        leads: &GlobTarget,
        name: &str,
        space: Space,
    ) -> Option<Binding> {
        let what = match leads {
            GlobTarget::Enum(item) if space != Space::Macros && self.has_variant(*item, name) => {
                Ok(Named::Member(*item, name.to_owned()))
            }
            GlobTarget::Enum(_) | GlobTarget::Module(_) => return None,
            GlobTarget::Foreign(path) => {
                let whole = self.foreign_path(path, name);
                if foreign::is_known(&self.world.kubernetes, &whole) {
                    Ok(Named::Foreign(whole))
                } else if foreign::is_known_without(&self.world.kubernetes, path, name) {
                    return None;
                } else {
                    let parts = &self.world.modules[module].globs[index].path.parts;
                    let why = format!("`use {}::*` may import another `{name}`", parts.join("::"));
                    Err(Doubt { glob: Some(path.clone()), ..Doubt::from(why) })
                }
            }
            GlobTarget::Uncertain(why) => Err(why.clone()),
        };
        Some(Binding { what, reach: Reach::All })
    }

    fn has_variant(&self, item: ItemId, name: &str) -> bool {
        let item = &self.world.items[item];
        let ItemKind::Data(input) = &item.kind else { return false };
        let syn::Data::Enum(it) = &input.data else { return false };
        let features = self.world.features(item.module);
        it.variants.iter().any(|it| {
            plain(&it.ident) == name
                && cfg::settle(&it.attrs, features).is_ok_and(|it| it.cfg != Cfg::No)
        })
    }
}

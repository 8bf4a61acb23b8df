//! Names that `use …::*` imports, one name at a time, into every module at once.
//!
//! A name starts where it is declared and is passed on to those that import everything from there, so that rings of
//! globs cost no more than chains, and a name that is not used costs nothing.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::globs::{GlobId, GlobTarget};
use super::imports::PathReader;
use super::own_names::OwnBinding;
use super::{Doubt, Lookup, Miss, Named, Space, is_open};
use crate::builtin::names as foreign;
use crate::cargo::cfg::{self, Cfg};
use crate::text::unraw_name;
use crate::tree::Reach;
use crate::tree::{ItemId, ItemKind, ModuleId};

/// The limit of different bindings that one name is followed as.
const MANY: usize = 8;
/// The limit of bindings that are cached.
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
    pub fn forget_name(&mut self, name: &str, space: Space) {
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
        let all = self.propagate_name(name, space);
        let mut bindings = all.get(&module).cloned().unwrap_or_default();
        for index in &self.imports.globs.ends[module] {
            let id = (module, *index);
            match self.imports.globs.targets.get(&id) {
                Some(GlobTarget::Module(of)) => {
                    let mut found = self.declared_bindings(*of, name, space);
                    // The module's own globs may decide a name that is not certain otherwise.
                    if !found.iter().any(Binding::is_decided) {
                        found.extend(all.get(of).into_iter().flatten().cloned());
                    }
                    let seen = found
                        .into_iter()
                        .filter(|binding| self.world.can_see(module, binding.reach));
                    bindings.extend(seen.map(|binding| self.pass_through_glob(id, binding)));
                }
                Some(leads) => {
                    let found = self.binding_outside(id, leads, name, space);
                    bindings.extend(found.map(|binding| self.pass_through_glob(id, binding)));
                }
                None => {}
            }
        }
        bindings
    }

    fn propagate_name(&self, name: &str, space: Space) -> Rc<Bindings> {
        let key = (name.to_owned(), space);
        if let Some(known) = self.imports.cache.borrow().known.get(&key) {
            return known.clone();
        }
        let mut bindings = Bindings::new();
        let mut size = 0;
        let mut queue = self.starting_points(name, space);
        while let Some((module, binding)) = queue.pop_front() {
            let own = self.own_of(module, name, space);
            let what = match self.by_macro(module, name, space) {
                _ if own.iter().all(|binding| is_open(&binding.0)) && !own.is_empty() => {
                    Err(Doubt::of_cycle())
                }
                _ if !own.is_empty() => continue,
                Some(why) => Err(why.into()),
                None => binding.what,
            };
            let binding = Binding { what, ..binding };
            if let Some(news) = self.note_binding(bindings.entry(module).or_default(), binding) {
                size += 1;
                self.pass_on(module, &news, &mut queue);
            }
        }
        let bindings = Rc::new(bindings);
        let mut cache = self.imports.cache.borrow_mut();
        cache.size += size;
        if cache.size > KEPT {
            *cache = Cache { size, ..Cache::default() };
        }
        cache.known.insert(key, bindings.clone());
        bindings
    }

    /// The part of a binding that a module did not have yet.
    fn note_binding(&self, known: &mut Vec<Binding>, mut new: Binding) -> Option<Binding> {
        if MANY <= known.len() && known.iter().all(|binding| binding.what != new.what) {
            new.what = Err(Doubt::too_many_globs());
        }
        let same = |it: &&mut Binding| match (&it.what, &new.what) {
            (Ok(one), Ok(other)) => one == other,
            (Err(one), Err(other)) => one.rank() == other.rank(),
            _ => false,
        };
        match known.iter_mut().find(same) {
            Some(known) if self.world.narrower_reach(new.reach, known.reach) == new.reach => {
                return None;
            }
            Some(known) => known.reach = new.reach,
            None => known.push(new.clone()),
        }
        Some(new)
    }

    fn pass_on(&self, module: ModuleId, binding: &Binding, queue: &mut Queue) {
        for id in &self.imports.globs.importers[module] {
            if self.world.can_see(id.0, binding.reach) {
                queue.push_back((id.0, self.pass_through_glob(*id, binding.clone())));
            }
        }
    }

    /// A binding as a glob hands it on.
    fn pass_through_glob(&self, (module, index): GlobId, binding: Binding) -> Binding {
        let here = &self.world.modules[module];
        let glob = &here.globs[index];
        let reach =
            self.world.narrower_reach(self.world.reach_of(module, &glob.vis), binding.reach);
        let what = match binding.what {
            _ if glob.cfg == Cfg::Depends => {
                let why = format!("whether {} imports it depends on a `cfg`", here.file);
                Err(Doubt {
                    glob: binding.what.err().and_then(|doubt| doubt.glob),
                    ..Doubt::from(why)
                })
            }
            what => what,
        };
        Binding { what, reach }
    }

    /// Returns where a name starts that is handed on.
    fn starting_points(&self, name: &str, space: Space) -> Queue {
        let globs = &self.imports.globs;
        self.imports.counts_globs(globs.enums.len() + globs.foreign.len() + globs.uncertain.len());
        let mut queue = Queue::new();
        let mut bring = |id: GlobId, binding: Binding| {
            queue.push_back((id.0, self.pass_through_glob(id, binding)));
        };
        for (id, item) in &globs.enums {
            if let Some(it) = self.binding_outside(*id, &GlobTarget::Enum(*item), name, space) {
                bring(*id, it);
            }
        }
        for (path, ids) in &globs.foreign {
            let leads = GlobTarget::Foreign(path.clone());
            // Modules in a ring of globs import the same names.
            for id in ids {
                let Some(it) = self.binding_outside(*id, &leads, name, space) else { break };
                bring(*id, it);
            }
        }
        for id in &globs.uncertain {
            let leads = globs.targets.get(id);
            if let Some(it) =
                leads.and_then(|target| self.binding_outside(*id, target, name, space))
            {
                bring(*id, it);
            }
        }
        let modules = self.imports.by_name.get(name).into_iter().flatten();
        let unseen = self.imports.macros.iter().chain(&self.imports.broken);
        for module in modules.chain(unseen).filter(|module| !globs.importers[**module].is_empty()) {
            for binding in self.declared_bindings(*module, name, space) {
                self.pass_on(*module, &binding, &mut queue);
            }
        }
        queue
    }

    /// The items and imports of a module under a name, without its globs.
    fn own_of(&self, module: ModuleId, name: &str, space: Space) -> Vec<OwnBinding> {
        let modules = self.imports.by_name.get(name);
        if modules.is_some_and(|modules| modules.binary_search(&module).is_ok()) {
            self.own_bindings(module, name, space, PathReader::Code)
        } else {
            Vec::new()
        }
    }

    /// Returns what a module itself declares under a name, or may declare; nothing where its globs may import it.
    fn declared_bindings(&self, module: ModuleId, name: &str, space: Space) -> Vec<Binding> {
        let file = &self.world.modules[module].file;
        let own = self.own_of(module, name, space);
        let is_undecided = own.iter().all(|binding| is_open(&binding.0));
        let mut bindings: Vec<Binding> = own
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
            let why = if bindings.is_empty() { why.into() } else { Doubt::of_cycle() };
            bindings.push(Binding { what: Err(why), reach: Reach::All });
        }
        bindings
    }

    /// Returns what a name is in something that is no module of the project.
    fn binding_outside(
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
        let features = self.world.features_of(item.module);
        it.variants.iter().any(|variant| {
            unraw_name(&variant.ident) == name
                && cfg::resolve_cfgs(&variant.attrs, features)
                    .is_ok_and(|settled| settled.cfg != Cfg::No)
        })
    }
}

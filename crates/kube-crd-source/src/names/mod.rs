//! Resolves paths: to an item of the project, a type of the language, or something from another crate.
//!
//! Imports are solved once, before the first path is looked up. Never guesses: a name that a macro, an unknown
//! `cfg` or a foreign `use …::*` may declare is a [`Miss`].

mod blocks;
mod calls;
mod glob_names;
mod globs;
mod imports;
pub mod known_macros;
mod needs;
mod own_names;
mod solver;
mod unknown;
mod unread_macros;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use crate::builtin::kubernetes::Kubernetes;
use crate::builtin::names as foreign;
use crate::cargo::Extern;
use crate::tree::{ItemId, ItemKind, ModuleId, Path, World};
pub use globs::GlobTarget;
use imports::{Imports, LookupRead, PathReader};
use needs::Needs;
use own_names::Own;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Item(ItemId),
    Module(ModuleId),
    /// By its whole path, e.g. `std::option::Option` or `k8s_openapi::api::core::v1::Pod`.
    Foreign(String),
    /// A variant of an enum, or an associated function of a type, of the project.
    Member(ItemId, String),
}

/// Why a path names nothing for certain; completes "`T` cannot be resolved: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    Nothing,
    /// It is imported or private, and its target cannot be reached; it names nothing else either.
    Unreachable,
    /// Something that is not read may declare it.
    Perhaps(Doubt),
    Doubt(Doubt),
}

/// Why a name is not certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    why: Rc<str>,
    /// The module of another crate that a `use …::*` takes everything from, where that is the reason.
    glob: Option<String>,
    /// It depends on an import whose target is not decided yet; never once all imports are solved.
    is_open: bool,
}

impl Doubt {
    fn of_cycle() -> Self {
        Self { why: "an import depends on itself".into(), glob: None, is_open: true }
    }

    fn too_many_globs() -> Self {
        "too many `use …::*` import it".to_owned().into()
    }

    /// Returns the order of doubts: the greatest decides. Other crates' globs leave crates their names, macros do not.
    fn rank(&self) -> (bool, bool) {
        (self.is_open, self.glob.is_none())
    }
}

impl From<String> for Doubt {
    fn from(why: String) -> Self {
        Self { why: why.into(), glob: None, is_open: false }
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Types,
    Values,
    /// Macros and derives.
    Macros,
}

const SPACES: [Space; 3] = [Space::Types, Space::Values, Space::Macros];

type Resolution = Result<Named, Miss>;

/// Returns whether it depends on an import that is not decided.
fn is_open(found: &Resolution) -> bool {
    matches!(found, Err(Miss::Doubt(why) | Miss::Perhaps(why)) if why.is_open)
}

/// The names of all source that was read.
pub struct Names {
    world: World,
    /// The types of k8s-openapi that the project has.
    pub kubernetes: Kubernetes,
    /// The targets of all imports, once a path was looked up.
    imports: OnceCell<Imports>,
    needs: RefCell<Needs>,
}

impl Deref for Names {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Names {
    pub fn new(world: World, kubernetes: Kubernetes) -> Self {
        Self { world, kubernetes, imports: OnceCell::new(), needs: RefCell::default() }
    }

    /// The world, to add to it: imports are solved anew.
    pub fn world_mut(&mut self) -> &mut World {
        self.imports.take();
        &mut self.world
    }

    fn solved_imports(&self) -> &Imports {
        self.imports.get_or_init(|| Imports::solve(self))
    }

    /// The target of the path of an import, in the space of types.
    pub fn resolve_import(&self, from: ModuleId, path: &Path) -> Resolution {
        Lookup { world: self, imports: self.solved_imports() }.resolve_path(
            from,
            path,
            Space::Types,
            PathReader::Early,
        )
    }

    /// The globs of a module, each with its path and its target.
    pub fn glob_targets(&self, module: ModuleId) -> impl Iterator<Item = (&Path, &GlobTarget)> {
        let targets = &self.solved_imports().globs.targets;
        let globs = self.modules[module].globs.iter().enumerate();
        globs.filter_map(move |(index, glob)| Some((&glob.path, targets.get(&(module, index))?)))
    }

    pub fn resolve_path(&self, from: ModuleId, path: &Path, space: Space) -> Resolution {
        if self.crates[self.modules[from].krate].old {
            let why = "its package is of edition 2015, which is not supported".to_owned();
            return Err(Miss::Doubt(why.into()));
        }
        let imports = self.solved_imports();
        let by = if space == Space::Macros { PathReader::Early } else { PathReader::Code };
        let found = Lookup { world: self, imports }.resolve_path(from, path, space, by);
        if let (Ok(Named::Foreign(path)), Space::Values) = (&found, space) {
            self.note_value(path);
        }
        found.map_err(|miss| match miss {
            Miss::Perhaps(why) => Miss::Doubt(why),
            miss => miss,
        })
    }
}

/// Lookups by the imports, as far as those are solved.
struct Lookup<'a> {
    world: &'a Names,
    imports: &'a Imports,
}

impl Lookup<'_> {
    /// `by` is what has this path: an import does not lead to itself.
    fn resolve_path(
        &self,
        from: ModuleId,
        path: &Path,
        space: Space,
        by: PathReader,
    ) -> Resolution {
        let Some((last, front)) = path.parts.split_last() else { return Err(Miss::Nothing) };
        if front.is_empty() {
            return self.resolve_first(from, path, last, space, by);
        }
        let found = self.resolve_front(from, path, front, by)?;
        self.resolve_member(&found, last, space, from, by)
    }

    /// The target of a path without its last name.
    fn resolve_front(
        &self,
        from: ModuleId,
        path: &Path,
        front: &[String],
        by: PathReader,
    ) -> Resolution {
        let Some((first, middle)) = front.split_first() else { return Err(Miss::Nothing) };
        let first = self.resolve_first(from, path, first, Space::Types, by)?;
        middle.iter().try_fold(first, |found, part| {
            self.resolve_member(&found, part, Space::Types, from, by)
        })
    }

    fn resolve_first(
        &self,
        from: ModuleId,
        path: &Path,
        name: &str,
        space: Space,
        by: PathReader,
    ) -> Resolution {
        match name {
            "crate" | "self" | "super" => self.module_word(from, name),
            _ if path.global => self.extern_(from, name).ok_or(Miss::Nothing),
            _ => self.resolve_lexically(from, name, space, by),
        }
    }

    fn module_word(&self, from: ModuleId, word: &str) -> Resolution {
        let found = match word {
            "self" => Some(from),
            "super" => self.world.modules[from].parent,
            _ => Some(self.world.root_module(from)),
        };
        found.map(Named::Module).ok_or(Miss::Nothing)
    }

    /// A crate by the name that this one knows it by.
    fn extern_(&self, from: ModuleId, name: &str) -> Option<Named> {
        let root = self.world.root_module(from);
        // `extern crate a as b` in the root of a crate names it everywhere in there.
        let renamed = self.world.modules[root].types.get(name).into_iter().flatten();
        let renamed = renamed.filter_map(|id| match &self.world.items[*id].kind {
            ItemKind::ExternCrate(it) => Some(it.as_str()),
            _ => None,
        });
        match renamed.last().unwrap_or(name) {
            "self" => Some(Named::Module(root)),
            name => self.find_crate(from, name),
        }
    }

    fn find_crate(&self, from: ModuleId, name: &str) -> Option<Named> {
        match self.world.crates[self.world.modules[from].krate].externs.get(name) {
            Some(Extern::ItemLocation(root)) => Some(Named::Module(*self.world.roots.get(root)?)),
            Some(Extern::Elsewhere(name)) => Some(Named::Foreign(name.clone())),
            None if matches!(name, "std" | "core" | "alloc") => {
                Some(Named::Foreign("std".to_owned()))
            }
            None => {
                self.world.note_unknown_crate(self.world.modules[from].krate, name);
                None
            }
        }
    }

    /// A name as code in `from` sees it: the module's own, then crates, the prelude, the language.
    fn resolve_lexically(
        &self,
        from: ModuleId,
        name: &str,
        space: Space,
        by: PathReader,
    ) -> Resolution {
        let krate = || (space == Space::Types).then(|| self.extern_(from, name)).flatten();
        // In imports and in paths of macros, rustc takes a glob, or what a macro declares, and a crate of one name for
        // ambiguous: only what is written shadows a crate.
        if by != PathReader::Code
            && matches!(self.declared_under(from, name, space, from, by), Own::No)
            && let Some(found) = krate()
        {
            return Ok(found);
        }
        let perhaps = match self.resolve_inside(from, name, space, from, by) {
            // `use anyhow::anyhow` imports a macro, and leaves the crate its name.
            Ok(Named::Foreign(path))
                if space == Space::Types && path == format!("{name}::{name}") =>
            {
                None
            }
            Err(Miss::Nothing) => None,
            // A crate that only a macro may declare is none whose macros are known.
            Err(Miss::Perhaps(why))
                if by == PathReader::Early && space == Space::Types && why.glob.is_none() =>
            {
                None
            }
            Err(Miss::Perhaps(why)) => Some(why),
            found => return found,
        };
        match (krate(), perhaps) {
            (Some(found), None) => Ok(found),
            // If another crate exports a name that is a crate's own, it is that crate.
            (Some(found), Some(why)) if why.glob.is_some() => Ok(found),
            (_, Some(why)) => Err(Miss::Perhaps(why)),
            (None, None) => foreign::prelude_path(name).map(Named::Foreign).ok_or(Miss::Nothing),
        }
    }

    fn resolve_member(
        &self,
        of: &Named,
        name: &str,
        space: Space,
        from: ModuleId,
        by: PathReader,
    ) -> Resolution {
        match of {
            Named::Module(module) if matches!(name, "self" | "super") => {
                self.module_word(*module, name)
            }
            Named::Module(module) => self.resolve_inside(*module, name, space, from, by),
            Named::Foreign(path) => Ok(Named::Foreign(self.foreign_path(path, name))),
            Named::Item(item) => match &self.world.items[*item].kind {
                ItemKind::Data(_) => Ok(Named::Member(*item, name.to_owned())),
                ItemKind::Alias(_) => match self.alias_target(*item)? {
                    // A chain of aliases has an end, which is none.
                    Named::Item(end)
                        if matches!(self.world.items[end].kind, ItemKind::Alias(_)) =>
                    {
                        Err(Miss::Nothing)
                    }
                    target => self.resolve_member(&target, name, space, from, by),
                },
                _ => Err(Miss::Nothing),
            },
            Named::Member(..) => Err(Miss::Nothing),
        }
    }

    /// The target of an alias, through as many as there are; an alias where they form a ring.
    fn alias_target(&self, alias: ItemId) -> Resolution {
        let (mut at, mut seen) = (alias, BTreeSet::new());
        while let ItemKind::Alias(alias) = &self.world.items[at].kind {
            if !seen.insert(at) {
                break;
            }
            let path = path_of(&alias.ty).filter(|_| alias.generics.params.is_empty());
            let Some(path) = path else {
                return Err(Miss::Doubt("it goes through a type alias".to_owned().into()));
            };
            match self.resolve_path(
                self.world.items[at].module,
                &path,
                Space::Types,
                PathReader::Code,
            )? {
                Named::Item(next) => at = next,
                found => return Ok(found),
            }
        }
        Ok(Named::Item(at))
    }

    /// A name inside a module, as `from` may see it: what is defined or imported there, then its globs.
    fn resolve_inside(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        from: ModuleId,
        by: PathReader,
    ) -> Resolution {
        let is_open = match self.declared_under(module, name, space, from, by) {
            Own::Is(found) => return found,
            Own::Open => true,
            Own::No => false,
        };
        if !self.world.modules[module].globs.is_empty() {
            self.imports.note_read(|| LookupRead::Globs(name.to_owned()));
        }
        let (mut sure, mut perhaps) = (Vec::new(), None);
        for it in self.glob_bindings(module, name, space) {
            match it.what {
                _ if !self.world.can_see(from, it.reach) => {}
                Ok(named) if sure.contains(&named) => {}
                Ok(named) => sure.push(named),
                Err(why) if perhaps.as_ref().is_some_and(|it: &Doubt| why.rank() <= it.rank()) => {}
                Err(why) => perhaps = Some(why),
            }
        }
        let hidden = self.why_hidden(module, name, space).map(Doubt::from);
        let perhaps = match perhaps {
            Some(why) if why.is_open => Some(why),
            perhaps => hidden.or(perhaps),
        };
        match (&sure[..], perhaps) {
            ([], None) => Err(Miss::Nothing),
            _ if is_open => Err(Miss::Perhaps(Doubt::of_cycle())),
            ([], Some(why)) => Err(Miss::Perhaps(why)),
            // A macro's item shadows one that a glob imports.
            ([_], _) if let Some(why) = self.by_macro(module, name, space) => {
                Err(Miss::Doubt(why.into()))
            }
            ([one], _) => Ok(one.clone()),
            _ => {
                let file = &self.world.modules[module].file;
                Err(Miss::Doubt(format!("more than one `use …::*` in {file} imports it").into()))
            }
        }
    }
}

fn path_of(ty: &syn::Type) -> Option<Path> {
    match ty {
        syn::Type::Path(it) if it.qself.is_none() => Some(Path::from(&it.path)),
        _ => None,
    }
}

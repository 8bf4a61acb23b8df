//! What a kind is called: by its attribute, and by the paths that lead code to the struct kube generates.
//!
//! Looks at names only, and not at what kube's derive generates.

use std::collections::BTreeMap;

use crate::attributes::summary::Summary;
use crate::cargo::cfg::Cfg;
use crate::kind::{Crate, Kind, Reach, RustPath, Target};
use crate::names::{Named, Space};
use crate::schema::Crd;
use crate::tree::{Item, ItemId, Kind as ItemKind, ModuleId, Path};
use crate::types::Types;
use crate::types::derives::Derived;

/// Names the kinds of a world.
pub struct Namer<'a> {
    world: &'a Types,
    /// The item of the struct that kube generates, by that of the struct it is generated from.
    roots: BTreeMap<ItemId, ItemId>,
    /// Whether each module can be named from other crates.
    open: Vec<bool>,
    /// The crates, as they are shown to callers.
    crates: &'a [Crate],
}

impl<'a> Namer<'a> {
    /// `crates` are those of the world, in its order.
    pub fn new(world: &'a Types, crates: &'a [Crate]) -> Self {
        let mut roots = BTreeMap::new();
        let mut public = vec![false; world.modules.len()];
        for (id, item) in world.items.iter().enumerate() {
            match item.kind {
                ItemKind::Root(spec) => drop(roots.entry(spec).or_insert(id)),
                ItemKind::Module(module) => public[module] |= is_public(&item.vis),
                _ => {}
            }
        }
        let mut open: Vec<bool> = Vec::new();
        // A module is listed after the one around it.
        for (id, module) in world.modules.iter().enumerate() {
            open.push(module.parent.is_none_or(|it| public[id] && open[it]));
        }
        Self { world, roots, open, crates }
    }

    /// The kind that a struct with `#[kube(…)]` declares.
    pub fn kind(&self, spec: ItemId, crd: Crd) -> Kind {
        let item = &self.world.items[spec];
        let attribute = Summary::of(self.world, spec);
        let root = self.roots.get(&spec).copied();
        let name = match root {
            Some(root) => &self.world.items[root].name,
            None => attribute.root.as_ref().or(attribute.kind.as_ref()).unwrap_or(&item.name),
        };
        let derived = self.world.derives_trait(spec, "kube::CustomResource");
        let sure = item.cfg == Cfg::Yes && matches!(derived, Ok(Derived::Yes));
        let own = || [self.parts(item.module), vec![raw(name)]].concat();
        let (reach, path) = match root.filter(|_| sure) {
            Some(root) => self.find(root).unwrap_or_else(|| (Reach::Hidden, own())),
            None => (Reach::Unknown, own()),
        };
        Kind {
            name: name.clone(),
            group: attribute.group,
            version: attribute.version,
            kind: attribute.kind,
            place: self.world.place_of(spec),
            rust_path: RustPath {
                krate: self.crates[self.world.modules[item.module].krate].clone(),
                path,
                reach,
                kube_core: attribute.kube_core,
                serde_json: attribute.serde_json,
            },
            storage: attribute.storage,
            crd,
        }
    }

    /// The path to a struct by which most code can name it: through the module that declares it, or another that
    /// shows it again.
    fn find(&self, root: ItemId) -> Option<(Reach, Vec<String>)> {
        let world = self.world;
        let (module, name) = (world.items[root].module, &world.items[root].name);
        let krate = world.modules[module].krate;
        let path = |module: ModuleId| [self.parts(module), vec![raw(name)]].concat();
        let public = |it: &ModuleId| self.open[*it] && self.shows(*it, root);
        let others = || {
            let all = (0..world.modules.len()).filter(move |it| *it != module);
            all.filter(move |it| world.modules[*it].krate == krate && self.may_name(*it, name))
        };
        if public(&module) {
            return Some((Reach::Public, path(module)));
        }
        // Only libraries are named from other crates.
        if world.crates[krate].target == Target::Library
            && let Some(found) = others().filter(public).find(|it| self.names(*it, root))
        {
            return Some((Reach::Public, path(found)));
        }
        let top = *world.roots.get(&world.crates[krate].root)?;
        let mut all = std::iter::once(module).chain(others().filter(|it| self.names(*it, root)));
        let found = all.find(|it| self.sees(top, *it, root))?;
        Some((Reach::Crate, path(found)))
    }

    /// The names of the modules from the crate's root to this one.
    fn parts(&self, module: ModuleId) -> Vec<String> {
        self.world.modules[module].path.split("::").skip(1).map(raw).collect()
    }

    /// Whether a module has this name, or shows all names of another module.
    fn may_name(&self, module: ModuleId, name: &str) -> bool {
        let module = &self.world.modules[module];
        module.types.contains_key(name) || !module.globs.is_empty()
    }

    /// Whether an item's name leads to it in a module.
    fn names(&self, module: ModuleId, root: ItemId) -> bool {
        self.leads(module, &[], root)
    }

    /// Whether the root module of a crate can name an item through a module.
    fn sees(&self, top: ModuleId, module: ModuleId, root: ItemId) -> bool {
        let parts = self.world.modules[module].path.split("::").skip(1);
        let parts: Vec<&str> = ["crate"].into_iter().chain(parts).collect();
        self.leads(top, &parts, root)
    }

    fn leads(&self, from: ModuleId, through: &[&str], root: ItemId) -> bool {
        let item = &self.world.items[root];
        let parts = through.iter().map(|it| (*it).to_owned()).chain([item.name.clone()]).collect();
        let path = Path { global: false, parts, span: item.span };
        self.world.resolve(from, &path, Space::Types) == Ok(Named::Item(root))
    }

    /// Whether a module shows an item to other crates: its own `pub` item, or by a `pub use`.
    fn shows(&self, module: ModuleId, root: ItemId) -> bool {
        let item = &self.world.items[root];
        if item.module == module {
            return is_public(&item.vis);
        }
        let here = &self.world.modules[module];
        let mut named = here.types.get(&item.name).into_iter().flatten();
        let imported = |it: &Item| matches!(it.kind, ItemKind::Use(_)) && is_public(&it.vis);
        named.any(|it| imported(&self.world.items[*it]))
            || here.globs.iter().any(|it| is_public(&it.vis))
    }
}

fn is_public(vis: &syn::Visibility) -> bool {
    matches!(vis, syn::Visibility::Public(_))
}

/// A name as code writes it: a keyword needs `r#`.
fn raw(name: &str) -> String {
    match syn::parse_str::<syn::Ident>(name) {
        Ok(_) => name.to_owned(),
        Err(_) => format!("r#{name}"),
    }
}

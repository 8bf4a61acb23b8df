//! The names of a kind: by its attribute, and by the path of the struct that kube generates.
//!
//! Looks at names only, and not at what kube's derive generates.

use std::collections::{BTreeMap, BTreeSet};

use crate::attributes::summary::{Summary, may_be_on};
use crate::cargo::cfg::{self, Cfg};
use crate::kind::{Crate, Kind, RustPath};
use crate::schema::Crd;
use crate::text::FieldPlaces;
use crate::tree::{Item, ItemId, ItemKind, World};
use crate::types::Types;
use crate::types::derives::Derived;

/// The features that the conditions of each kind name, and those of the modules around it.
pub fn kind_features(world: &World) -> BTreeSet<BTreeSet<String>> {
    let of_kind = |item: &Item| {
        let ItemKind::Data(input) = &item.kind else { return None };
        if !may_be_on(&input.attrs) || !world.is_selected(item.module) {
            return None;
        }
        let around = world
            .enclosing_modules(item.module)
            .flat_map(|module| world.modules[module].features.clone());
        Some(around.chain(cfg::named_features(&input.attrs)).collect())
    };
    world.items.iter().filter_map(of_kind).collect()
}

/// Names the kinds of a world.
pub struct Namer<'a> {
    world: &'a Types,
    /// The item of the struct that kube generates, by that of the struct it is generated from.
    roots: BTreeMap<ItemId, ItemId>,
    /// The crates, as they are shown to callers.
    crates: &'a [Crate],
}

impl<'a> Namer<'a> {
    /// `crates` are those of the world, in its order.
    pub fn new(world: &'a Types, crates: &'a [Crate]) -> Self {
        let mut roots = BTreeMap::new();
        for (id, item) in world.items.iter().enumerate() {
            if let ItemKind::Root(spec) = item.kind {
                roots.entry(spec).or_insert(id);
            }
        }
        Self { world, roots, crates }
    }

    /// The kind that a struct with `#[kube(…)]` declares.
    pub fn build_kind(&self, spec: ItemId, crd: Crd, field_places: FieldPlaces) -> Kind {
        let item = &self.world.items[spec];
        let attribute = Summary::from_struct(self.world, spec);
        let root = self.roots.get(&spec).copied();
        let name = match root {
            Some(root) => &self.world.items[root].name,
            None => attribute.root.as_ref().or(attribute.kind.as_ref()).unwrap_or(&item.name),
        }
        .clone();
        let derived = self.world.derives_trait(spec, "kube::CustomResource");
        let module = &self.world.modules[item.module];
        let modules = module.path.split("::").skip(1).map(str::to_owned);
        Kind {
            name: name.clone(),
            group: attribute.group,
            version: attribute.version,
            kind: attribute.kind,
            namespaced: attribute.namespaced,
            place: self.world.place_of(spec),
            rust_path: RustPath {
                krate: self.crates[module.krate].clone(),
                path: modules.chain([name.clone()]).collect(),
            },
            is_certain: root.is_some()
                && item.cfg == Cfg::Yes
                && matches!(derived, Ok(Derived::Yes)),
            storage: attribute.storage,
            crd,
            field_places,
            field_types: BTreeMap::new(),
            null_fields: BTreeSet::new(),
            unreadable: BTreeMap::new(),
        }
    }
}

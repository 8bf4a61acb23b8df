//! The kinds that the source declares, read or not: by which path code can name them.
//!
//! Looks at names only. What kube's derive would make of a struct is not asked here.

use super::attributes::{self, kube};
use super::cfg::{self, Cfg};
use super::derives::Derived;
use super::names::{Named, Space};
use super::world::{ItemId, Kind, ModuleId, Path, World};
use crate::model::{Declared, Place, Reach, Storage, Target};

/// Every kind of the project, in the order of the files.
pub fn declared(world: &World) -> Vec<Declared> {
    let mut res: Vec<Declared> = Vec::new();
    for (root, item) in world.items.iter().enumerate() {
        let Kind::Root(spec) = item.kind else { continue };
        if !world.is_wanted(item.module) {
            continue;
        }
        let custom = world.derived(spec, "kube::CustomResource");
        if item.cfg == Cfg::Yes && matches!(custom, Ok(Derived::Yes)) {
            res.extend(one(world, root, spec));
        }
    }
    res.sort_by(|one, other| one.place.cmp(&other.place));
    res
}

/// The types at these paths, which begin with the name of a crate here; and the paths that do not.
pub fn said(world: &World, paths: &[String]) -> (Vec<Declared>, Vec<String>) {
    let (mut res, mut unknown) = (Vec::new(), Vec::new());
    for text in paths {
        let path: Option<syn::Path> = syn::parse_str(text).ok();
        let plain = |it: &syn::Path| it.segments.iter().all(|it| it.arguments.is_none());
        let parts: Vec<String> = (path.filter(plain).into_iter())
            .flat_map(|it| it.segments)
            .map(|it| it.ident.to_string())
            .collect();
        let crates =
            world.crates.iter().filter(|it| it.selected && Some(&it.name) == parts.first());
        // A library and a program may have one name: what others can name is in the library.
        let krate = crates.min_by_key(|it| it.target != Target::Library);
        let (Some(krate), [_, path @ .., name]) = (krate, &parts[..]) else {
            unknown.push(text.clone());
            continue;
        };
        res.push(Declared {
            place: Place { path: krate.root.clone(), line: 1, column: 1 },
            name: name.clone(),
            root: krate.root.clone(),
            krate: krate.name.clone(),
            folder: krate.folder.clone(),
            target: krate.target,
            features: Vec::new(),
            path: path.iter().chain([name]).cloned().collect(),
            reach: Reach::Said,
            storage: Storage::Unsaid,
            kube_core: String::new(),
            serde_json: String::new(),
        });
    }
    (res, unknown)
}

fn one(world: &World, root: ItemId, spec: ItemId) -> Option<Declared> {
    let item = &world.items[root];
    let krate = world.modules[item.module].krate;
    let top = *world.roots.get(&world.crates[krate].root)?;
    let own: Vec<String> = way(world, item.module)?;
    // By the module that declares it, or by one that shows it again.
    let mut ways = vec![(item.module, own)];
    let finds = |module: ModuleId| {
        let path = Path { global: false, parts: vec![item.name.clone()], span: item.span };
        world.resolve(module, &path, Space::Types) == Ok(Named::Item(root))
    };
    for module in (0..world.modules.len()).filter(|it| world.modules[*it].krate == krate) {
        if module != item.module && finds(module) {
            ways.extend(way(world, module).map(|it| (module, it)));
        }
    }
    let seen = |(_, way): &&(ModuleId, Vec<String>)| {
        let parts = ["crate"].into_iter().map(str::to_owned).chain(way.iter().cloned());
        let path = Path {
            global: false,
            parts: parts.chain([item.name.clone()]).collect(),
            span: item.span,
        };
        world.resolve(top, &path, Space::Types) == Ok(Named::Item(root))
    };
    let public =
        ways.iter().find(|(module, _)| open(world, *module) && shows(world, *module, root));
    let (reach, way) = match (public, ways.iter().find(seen)) {
        (Some((_, way)), _) => (Reach::Public, way),
        (None, Some((_, way))) => (Reach::Crate, way),
        (None, None) => (Reach::Hidden, &ways[0].1),
    };
    let mut path: Vec<String> = way.iter().map(|it| raw(it)).collect();
    path.push(raw(&item.name));
    let (kube_core, serde_json, storage) = written(world, spec);
    Some(Declared {
        place: world.place_of(spec),
        name: item.name.clone(),
        root: world.crates[krate].root.clone(),
        krate: world.crates[krate].name.clone(),
        folder: world.crates[krate].folder.clone(),
        features: Vec::new(),
        target: world.crates[krate].target,
        path,
        reach,
        storage,
        kube_core,
        serde_json,
    })
}

/// The modules from the crate's root to this one, by their names.
fn way(world: &World, module: ModuleId) -> Option<Vec<String>> {
    let mut parts = world.modules[module].path.split("::");
    parts.next()?;
    Some(parts.map(str::to_owned).collect())
}

/// Whether every module on the way to this one is `pub`.
fn open(world: &World, module: ModuleId) -> bool {
    let Some(parent) = world.modules[module].parent else { return true };
    let is = |it: &crate::world::Item| matches!(it.kind, Kind::Module(to) if to == module);
    let public =
        world.items.iter().any(|it| is(it) && matches!(it.vis, syn::Visibility::Public(_)));
    public && open(world, parent)
}

/// Whether a module shows an item to other crates: its own `pub` item, or a `pub use`.
fn shows(world: &World, module: ModuleId, root: ItemId) -> bool {
    let item = &world.items[root];
    let public = |vis: &syn::Visibility| matches!(vis, syn::Visibility::Public(_));
    if item.module == module {
        return public(&item.vis);
    }
    let here = &world.modules[module];
    let named = here.types.get(&item.name).into_iter().flatten();
    let imported = |it: &ItemId| {
        matches!(world.items[*it].kind, Kind::Use(_)) && public(&world.items[*it].vis)
    };
    { named }.any(imported) || here.globs.iter().any(|it| public(&it.vis))
}

/// Where the code has kube's core and serde_json: `crates(kube_core = "…", serde_json = "…")`, or as kube takes it;
/// and what it says of being stored.
fn written(world: &World, spec: ItemId) -> (String, String, Storage) {
    let mut res = ("::kube::core".to_owned(), "::serde_json".to_owned(), Storage::Unsaid);
    let Kind::Data(input) = &world.items[spec].kind else { return res };
    let features = world.features(world.items[spec].module);
    let Ok(settled) = cfg::settle(&input.attrs, features) else { return res };
    for meta in attributes::metas(&settled.attrs, "kube").unwrap_or_default() {
        if meta.path().is_ident("storage") {
            res.2 = match kube::flag(&meta) {
                Ok(true) => Storage::Yes,
                Ok(false) => Storage::No,
                Err(_) => Storage::Unsaid,
            };
        }
        if !meta.path().is_ident("crates") {
            continue;
        }
        for it in attributes::list(&meta).unwrap_or_default() {
            let Ok(path) = kube::path(&it) else { continue };
            let text = super::types::text(&path);
            match attributes::name_of(&it).as_str() {
                "kube_core" => res.0 = text,
                "serde_json" => res.1 = text,
                _ => {}
            }
        }
    }
    res
}

/// A name as code writes it: a keyword needs `r#`.
fn raw(name: &str) -> String {
    match syn::parse_str::<syn::Ident>(name) {
        Ok(_) => name.to_owned(),
        Err(_) => format!("r#{name}"),
    }
}

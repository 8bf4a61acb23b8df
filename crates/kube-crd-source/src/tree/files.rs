//! A crate's files read into modules and items: what each declares, imports and re-exports.

use syn::{Item as Syntax, spanned::Spanned as _};

use super::attribute_macros;
use super::folder::Folder;
use super::macros::{Call, Rules, RulesId};
use super::world::{Glob, Impl, Item, Kind, Module, ModuleId, Path, World, place};
use crate::cargo::Krate;
use crate::cargo::cfg::{self, Cfg};
use crate::text::meta::{metas, name_of, string};
use crate::text::sources::Texts;
use crate::text::{Place, Problem, SourcePath, plain, syntax, text};

/// Reads more crates into a world.
pub fn load(world: &mut World, texts: &Texts<'_>, crates: Vec<Krate>, problems: &mut Vec<Problem>) {
    let before = world.crates.len();
    world.crates.extend(crates);
    let mut files = Files { files: texts, problems, macros: Vec::new() };
    for krate in before..world.crates.len() {
        let Krate { root, name, cfg, .. } = &world.crates[krate];
        let root = root.clone();
        let module = Module::new(krate, None, name.clone(), root.clone(), *cfg);
        let module = world.add_module(module);
        world.roots.insert(root.clone(), module);
        files.macros.clear();
        files.open(world, module, &Folder::of(&root, true), &[root]);
    }
}

pub struct Files<'a> {
    pub files: &'a Texts<'a>,
    pub problems: &'a mut Vec<Problem>,
    /// The `macro_rules!` above, in the order of the text.
    pub macros: Vec<(String, RulesId)>,
}

/// The way out of kinds that only a macro knows.
pub const UNTOLD: &str = "write the kinds out, or name each to the compiled code: `operator-rs generate crds --compile --type my_crate::v1::Kind`";

impl Files<'_> {
    pub fn tell(&mut self, place: Place, message: String, hint: Option<&str>) {
        self.problems.push(Problem {
            field_path: Vec::new(),
            place,
            message,
            hint: hint.map(str::to_owned),
        });
    }

    /// A kind that a macro makes is not left out without a word.
    fn kinds_unread(&mut self, place: Place, attr: &syn::Attribute) {
        let name = text(attr.path());
        let message = format!("`#[{name}]` may declare kinds here, and is not expanded");
        self.tell(place, message, Some(UNTOLD));
    }

    /// Reads the file of a module. `way` is the files that lead here, this one last.
    pub fn open(
        &mut self,
        world: &mut World,
        module: ModuleId,
        folder: &Folder,
        way: &[SourcePath],
    ) {
        let file = world.modules[module].file.clone();
        self.read(world, module, &file, folder, way);
    }

    /// Reads a file into a module.
    pub fn read(
        &mut self,
        world: &mut World,
        module: ModuleId,
        file: &SourcePath,
        folder: &Folder,
        way: &[SourcePath],
    ) {
        let Some(text) = self.files.get(file) else {
            world.modules[module].broken = Some(format!("{file} cannot be read"));
            return;
        };
        match syntax::file(&text) {
            Err(error) => {
                let message = format!("does not parse: {error}");
                self.tell(place(file, error.span()), message, None);
                world.modules[module].broken = Some(format!("{file} does not parse"));
            }
            Ok(syntax) => {
                world.add_source(&syntax, file);
                match cfg::settle(&syntax.attrs, world.features(module)) {
                    Ok(settled) => {
                        let here = &mut world.modules[module];
                        here.cfg = here.cfg.and(settled.cfg);
                        self.items(world, module, syntax.items, folder, way);
                    }
                    Err(error) => self.tell(place(file, error.span()), error.to_string(), None),
                }
            }
        }
    }

    pub fn items(
        &mut self,
        world: &mut World,
        module: ModuleId,
        items: Vec<Syntax>,
        folder: &Folder,
        way: &[SourcePath],
    ) {
        for item in items {
            if let Err(error) = self.item(world, module, item, folder, way) {
                let place = world.place(module, error.span());
                self.tell(place, error.to_string(), None);
            }
        }
    }

    fn item(
        &mut self,
        world: &mut World,
        module: ModuleId,
        item: Syntax,
        folder: &Folder,
        way: &[SourcePath],
    ) -> syn::Result<()> {
        let settled = cfg::settle(attributes(&item), world.features(module))?;
        let cfg = settled.cfg.and(world.modules[module].cfg);
        if cfg == Cfg::No {
            return Ok(());
        }
        let new = |ident: &syn::Ident, vis: &syn::Visibility, kind: Kind| Item {
            module,
            name: plain(ident),
            span: ident.span(),
            cfg,
            vis: vis.clone(),
            kind,
        };
        if let Some(attr) = attribute_macros::of_item(&item, &settled.attrs) {
            if matches!(item, Syntax::Mod(_)) && attribute_macros::may_make_kinds(&item) {
                let place = world.place(module, attr.span());
                self.kinds_unread(place, attr);
            }
            let changed = Call::attribute(attr.path(), &item);
            world.modules[module].macros.push(changed);
            return Ok(());
        }
        if let Syntax::Struct(it) = &item
            && let Some(attr) = settled.attrs.iter().find(|it| attribute_macros::makes_versions(it))
            && attribute_macros::may_make_kinds(&item)
        {
            let place = world.place(module, it.ident.span());
            self.kinds_unread(place, attr);
        }
        match item {
            Syntax::Struct(it) => self.data(world, new, it.into()),
            Syntax::Enum(it) => self.data(world, new, it.into()),
            Syntax::Type(it) => {
                let (ident, vis) = (it.ident.clone(), it.vis.clone());
                world.add(new(&ident, &vis, Kind::Alias(Box::new(it))), true, false);
            }
            Syntax::Fn(it) => {
                let (ident, vis) = (it.sig.ident.clone(), it.vis.clone());
                world.add(new(&ident, &vis, Kind::Fn(Box::new(it))), false, true);
            }
            Syntax::Const(it) => {
                let (ident, vis) = (it.ident.clone(), it.vis.clone());
                world.add(new(&ident, &vis, Kind::Const(Box::new(it))), false, true);
            }
            Syntax::Static(it) => {
                let (ident, vis) = (it.ident.clone(), it.vis.clone());
                world.add(new(&ident, &vis, Kind::Static(Box::new(it))), false, true);
            }
            Syntax::Trait(it) => {
                let (ident, vis) = (it.ident.clone(), it.vis.clone());
                world.add(new(&ident, &vis, Kind::Trait(Box::new(it))), true, false);
            }
            Syntax::Union(it) => {
                world.add(new(&it.ident, &it.vis, Kind::Other("a union")), true, false);
            }
            Syntax::ExternCrate(it) => {
                let name = it.rename.as_ref().map_or(&it.ident, |(_, name)| name);
                let kind = Kind::ExternCrate(plain(&it.ident));
                if it.attrs.iter().any(|it| it.path().is_ident("macro_use")) {
                    let krate = world.modules[module].krate;
                    world.macro_uses.insert((krate, plain(&it.ident)));
                }
                world.add(new(name, &it.vis, kind), true, false);
            }
            Syntax::Use(it) => {
                let path =
                    Path { global: it.leading_colon.is_some(), parts: Vec::new(), span: it.span() };
                uses(world, module, &it.tree, path, &it.vis, cfg);
            }
            Syntax::Mod(it) => {
                let it = syn::ItemMod { attrs: settled.attrs, ..it };
                let doubtful = settled.doubtful.iter().any(|it| it.path().is_ident("path"));
                self.mod_(world, module, it, (cfg, doubtful), folder, way);
            }
            Syntax::Macro(it) if it.mac.path.is_ident("include") => {
                self.include(world, module, &it, cfg, way);
            }
            Syntax::Macro(it) => self.macro_(world, module, &it),
            Syntax::Impl(it) => {
                let trait_ = it.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                let trait_ = trait_.map(|it| plain(&it.ident));
                world.impls.push(Impl { module, trait_, syntax: it });
            }
            _ => {}
        }
        Ok(())
    }

    /// A macro that stands where items stand: its definition, or a call.
    fn macro_(&mut self, world: &mut World, module: ModuleId, it: &syn::ItemMacro) {
        let krate = world.modules[module].krate;
        if let Some(rules) = Rules::new(it, module, krate) {
            self.macros.push((rules.name.clone(), world.rules.len()));
            world.rules.push(rules);
            return;
        }
        let name = it.mac.path.get_ident().map(plain);
        let above = self.macros.iter().rev().find(|(it, _)| Some(it) == name.as_ref());
        world.modules[module].macros.push(Call::new(it, above.map(|it| it.1)));
    }

    fn data(
        &mut self,
        world: &mut World,
        new: impl Fn(&syn::Ident, &syn::Visibility, Kind) -> Item,
        input: syn::DeriveInput,
    ) {
        let root = root_name(&input);
        let (ident, vis) = (input.ident.clone(), input.vis.clone());
        let values = matches!(&input.data, syn::Data::Struct(it) if !matches!(it.fields, syn::Fields::Named(_)));
        let data = world.add(new(&ident, &vis, Kind::Data(Box::new(input))), true, values);
        if let Some(root) = root {
            world.add(new(&root, &vis, Kind::Root(data)), true, false);
        }
    }
}

fn uses(
    world: &mut World,
    module: ModuleId,
    tree: &syn::UseTree,
    mut path: Path,
    vis: &syn::Visibility,
    cfg: Cfg,
) {
    let (name, ident) = match tree {
        syn::UseTree::Path(it) => {
            path.parts.push(plain(&it.ident));
            return uses(world, module, &it.tree, path, vis, cfg);
        }
        syn::UseTree::Group(it) => {
            for tree in &it.items {
                uses(world, module, tree, path.clone(), vis, cfg);
            }
            return;
        }
        syn::UseTree::Glob(_) => {
            world.modules[module].globs.push(Glob { path, vis: vis.clone(), cfg });
            return;
        }
        syn::UseTree::Name(it) => (&it.ident, &it.ident),
        syn::UseTree::Rename(it) => (&it.rename, &it.ident),
    };
    // `use a::b::{self}` names `b`.
    let mut local = plain(name);
    if ident == "self" && !path.parts.is_empty() {
        if name == "self" {
            local = path.parts.last().cloned().unwrap_or_default();
        }
    } else {
        path.parts.push(plain(ident));
    }
    if local == "_" {
        return;
    }
    path.span = ident.span();
    let span = name.span();
    let kind = Kind::Use(path);
    world.add(Item { module, name: local, span, cfg, vis: vis.clone(), kind }, true, true);
}

pub fn attributes(item: &Syntax) -> &[syn::Attribute] {
    match item {
        Syntax::Const(it) => &it.attrs,
        Syntax::Enum(it) => &it.attrs,
        Syntax::ExternCrate(it) => &it.attrs,
        Syntax::Fn(it) => &it.attrs,
        Syntax::Impl(it) => &it.attrs,
        Syntax::Macro(it) => &it.attrs,
        Syntax::Mod(it) => &it.attrs,
        Syntax::Static(it) => &it.attrs,
        Syntax::Struct(it) => &it.attrs,
        Syntax::Trait(it) => &it.attrs,
        Syntax::Type(it) => &it.attrs,
        Syntax::Union(it) => &it.attrs,
        Syntax::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The name of the struct that `#[derive(CustomResource)]` makes, as far as the attributes tell it: that derive
/// alone reads `#[kube(…)]`, by whatever name it was imported.
fn root_name(input: &syn::DeriveInput) -> Option<syn::Ident> {
    let mut kind = None;
    for meta in metas(&input.attrs, "kube").ok()? {
        let name = name_of(&meta);
        if name == "root" || (name == "kind" && kind.is_none()) {
            kind = Some(string(&meta).ok()?);
            if name == "root" {
                break;
            }
        }
    }
    kind?.parse().ok()
}

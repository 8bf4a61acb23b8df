//! Items: what each declares, imports and re-exports.

use syn::Item as Syntax;
use syn::spanned::Spanned as _;

use super::attribute_macros::{self, attribute_macros, macros_in_impl};
use super::blocks::block_items;
use super::files::{Files, ItemLocation};
use super::macros::{Call, Rules};
use super::world::{Glob, Impl, Item, ItemKind, ModuleId, Path, World};
use crate::cargo::cfg::{self, Cfg};
use crate::text::meta::{name_of, parse_metas, string_of};
use crate::text::unraw_name;

/// The module of an item, and whether the item is there.
#[derive(Clone, Copy)]
struct Declaring {
    module: ModuleId,
    cfg: Cfg,
}

impl Declaring {
    fn new_item(self, ident: &syn::Ident, vis: &syn::Visibility, kind: ItemKind) -> Item {
        let Self { module, cfg } = self;
        Item { module, name: unraw_name(ident), span: ident.span(), cfg, vis: vis.clone(), kind }
    }
}

impl Files<'_> {
    pub fn read_item(
        &mut self,
        world: &mut World,
        here: ItemLocation<'_>,
        item: Syntax,
    ) -> syn::Result<()> {
        let module = here.module;
        let settled = cfg::resolve_cfgs(attributes_of(&item), world.features_of(module))?;
        let cfg = settled.cfg.and(world.modules[module].cfg);
        if cfg == Cfg::No {
            self.note_left_out(world, here, &item);
            return Ok(());
        }
        self.check_for_kinds(world, module, &item, &settled.attrs);
        let in_blocks = block_items(&item, module);
        world.block_items.extend(in_blocks.items);
        self.read_block_files(world, here, in_blocks.files);
        let omitted = in_blocks.omitted;
        world.omitted_calls.extend(omitted.iter().map(|place| (module, *place)));
        let macros = attribute_macros(module, &item, &settled, world.items.len(), &omitted);
        world.attribute_macros.extend(macros);
        if let Syntax::Impl(block) = &item {
            let macros = macros_in_impl(module, block, world.features_of(module), &omitted);
            world.attribute_macros.extend(macros);
        }
        if let Some(attr) = attribute_macros::of_item(&item, &settled.attrs) {
            let call = Call::of_attribute(attr.path(), &item);
            world.modules[module].macros.push(call);
            return Ok(());
        }
        match item {
            Syntax::Mod(it) => {
                let features = cfg::named_features(&it.attrs);
                let it = syn::ItemMod { attrs: settled.attrs, ..it };
                let is_path = |it: &syn::Meta| it.path().is_ident("path");
                let doubtful = settled.doubtful.iter().any(is_path);
                let child = world.modules.len();
                self.read_module(world, here, it, (cfg, doubtful));
                world.modules[child].features.extend(features);
            }
            Syntax::Macro(it) if self.is_include(&it) => {
                self.read_include(world, here, &it, settled.cfg == Cfg::Yes);
            }
            Syntax::Macro(it) => match self.modules_of_automod(world, here, &it) {
                Some(modules) => {
                    let modules = modules.into_iter().map(Syntax::Mod).collect();
                    self.read_items(world, here, modules);
                }
                None => self.read_macro(world, Declaring { module, cfg }, &it),
            },
            item => declare_item(world, Declaring { module, cfg }, item),
        }
        Ok(())
    }

    /// A macro at the place of an item: a definition, or a call.
    fn read_macro(&mut self, world: &mut World, here: Declaring, it: &syn::ItemMacro) {
        let Declaring { module, cfg } = here;
        let krate = world.modules[module].krate;
        if let Some(rules) = Rules::new(it, module, krate) {
            // One that may not be there leaves in doubt which of its name is called.
            let id = (cfg == Cfg::Yes).then_some(world.rules.len());
            self.macros.push((rules.name.clone(), id));
            world.rules.push(rules);
            return;
        }
        let name = it.mac.path.get_ident().map(unraw_name);
        let above = self.macros.iter().rev().find(|(it, _)| Some(it) == name.as_ref());
        world.modules[module].macros.push(Call::new(it, above.and_then(|entry| entry.1)));
    }
}

fn declare_item(world: &mut World, here: Declaring, item: Syntax) {
    match item {
        Syntax::Struct(it) => declare_data(world, here, it.into()),
        Syntax::Enum(it) => declare_data(world, here, it.into()),
        Syntax::Type(it) => {
            let (ident, vis) = (it.ident.clone(), it.vis.clone());
            world.add_item(here.new_item(&ident, &vis, ItemKind::Alias(Box::new(it))), true, false);
        }
        Syntax::Fn(it) => {
            let (ident, vis) = (it.sig.ident.clone(), it.vis.clone());
            world.add_item(here.new_item(&ident, &vis, ItemKind::Fn(Box::new(it))), false, true);
        }
        Syntax::Const(it) => {
            let (ident, vis) = (it.ident.clone(), it.vis.clone());
            world.add_item(here.new_item(&ident, &vis, ItemKind::Const(Box::new(it))), false, true);
        }
        Syntax::Static(it) => {
            let (ident, vis) = (it.ident.clone(), it.vis.clone());
            world.add_item(here.new_item(&ident, &vis, ItemKind::Static), false, true);
        }
        Syntax::Trait(it) => {
            let (ident, vis) = (it.ident.clone(), it.vis.clone());
            world.add_item(here.new_item(&ident, &vis, ItemKind::Trait(Box::new(it))), true, false);
        }
        Syntax::Union(it) => {
            world.add_item(here.new_item(&it.ident, &it.vis, ItemKind::Union), true, false);
        }
        Syntax::ExternCrate(it) => {
            let name = it.rename.as_ref().map_or(&it.ident, |(_, name)| name);
            if it.attrs.iter().any(|attr| attr.path().is_ident("macro_use")) {
                let krate = world.modules[here.module].krate;
                world.macro_uses.insert((krate, unraw_name(&it.ident)));
            }
            let kind = ItemKind::ExternCrate(unraw_name(&it.ident));
            world.add_item(here.new_item(name, &it.vis, kind), true, false);
        }
        Syntax::Use(it) => {
            let path =
                Path { global: it.leading_colon.is_some(), parts: Vec::new(), span: it.span() };
            declare_imports(world, here, &it.tree, path, &it.vis);
        }
        Syntax::Impl(mut it) => {
            while let syn::Type::Paren(syn::TypeParen { elem, .. })
            | syn::Type::Group(syn::TypeGroup { elem, .. }) = *it.self_ty
            {
                it.self_ty = elem;
            }
            let trait_ = it.trait_.as_ref().and_then(|(path, _)| path.segments.last());
            let trait_ = trait_.map(|segment| unraw_name(&segment.ident));
            world.impls.push(Impl { module: here.module, trait_, syntax: it });
        }
        Syntax::ForeignMod(block) => {
            block.items.iter().for_each(|item| declare_foreign(world, here, item));
        }
        item => world.modules[here.module].macros.push(Call::not_understood(&item)),
    }
}

/// An item of an `extern` block, which has no value that is known.
fn declare_foreign(world: &mut World, here: Declaring, item: &syn::ForeignItem) {
    let (ident, vis) = match item {
        syn::ForeignItem::Fn(function) => (&function.sig.ident, &function.vis),
        syn::ForeignItem::Static(value) => (&value.ident, &value.vis),
        other => {
            world.modules[here.module].macros.push(Call::not_understood(other));
            return;
        }
    };
    world.add_item(here.new_item(ident, vis, ItemKind::Static), false, true);
}

/// A struct or an enum, and the struct that kube generates for it.
fn declare_data(world: &mut World, here: Declaring, input: syn::DeriveInput) {
    let root = root_name(&input);
    let (ident, vis) = (input.ident.clone(), input.vis.clone());
    let is_value = match &input.data {
        syn::Data::Struct(it) => !matches!(it.fields, syn::Fields::Named(_)),
        syn::Data::Enum(_) | syn::Data::Union(_) => false,
    };
    let data = world.add_item(
        here.new_item(&ident, &vis, ItemKind::Data(Box::new(input))),
        true,
        is_value,
    );
    if let Some(root) = root {
        world.add_item(here.new_item(&root, &vis, ItemKind::Root(data)), true, false);
    }
}

fn declare_imports(
    world: &mut World,
    here: Declaring,
    tree: &syn::UseTree,
    mut path: Path,
    vis: &syn::Visibility,
) {
    let (name, ident) = match tree {
        syn::UseTree::Path(it) => {
            path.parts.push(unraw_name(&it.ident));
            return declare_imports(world, here, &it.tree, path, vis);
        }
        syn::UseTree::Group(it) => {
            it.items.iter().for_each(|tree| declare_imports(world, here, tree, path.clone(), vis));
            return;
        }
        syn::UseTree::Glob(_) => {
            let glob = Glob { path, vis: vis.clone(), cfg: here.cfg };
            world.modules[here.module].globs.push(glob);
            return;
        }
        syn::UseTree::Name(it) => (&it.ident, &it.ident),
        syn::UseTree::Rename(it) => (&it.rename, &it.ident),
    };
    // `use a::b::{self}` names `b`.
    let mut local = unraw_name(name);
    if ident == "self" && !path.parts.is_empty() {
        if name == "self" {
            local = path.parts.last().cloned().unwrap_or_default();
        }
    } else {
        path.parts.push(unraw_name(ident));
    }
    if local == "_" {
        world.modules[here.module].anonymous_imports.push(path);
    } else {
        path.span = ident.span();
        let item = here.new_item(name, vis, ItemKind::Use(path));
        world.add_item(Item { name: local, ..item }, true, true);
    }
}

fn attributes_of(item: &Syntax) -> &[syn::Attribute] {
    match item {
        Syntax::Const(it) => &it.attrs,
        Syntax::Enum(it) => &it.attrs,
        Syntax::ExternCrate(it) => &it.attrs,
        Syntax::Fn(it) => &it.attrs,
        Syntax::ForeignMod(it) => &it.attrs,
        Syntax::Impl(it) => &it.attrs,
        Syntax::Macro(it) => &it.attrs,
        Syntax::Mod(it) => &it.attrs,
        Syntax::Static(it) => &it.attrs,
        Syntax::Struct(it) => &it.attrs,
        Syntax::Trait(it) => &it.attrs,
        Syntax::TraitAlias(it) => &it.attrs,
        Syntax::Type(it) => &it.attrs,
        Syntax::Union(it) => &it.attrs,
        Syntax::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The name of the struct that `#[derive(CustomResource)]` generates, as far as the attributes show it: that
/// derive alone reads `#[kube(…)]`, by whatever name it was imported.
fn root_name(input: &syn::DeriveInput) -> Option<syn::Ident> {
    let mut kind = None;
    for meta in parse_metas(&input.attrs, "kube").ok()? {
        let name = name_of(&meta);
        if name == "root" || (name == "kind" && kind.is_none()) {
            kind = Some(string_of(&meta).ok()?);
            if name == "root" {
                break;
            }
        }
    }
    kind?.parse().ok()
}

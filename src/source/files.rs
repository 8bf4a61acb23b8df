//! A crate's files read into modules and items: what each declares, imports and re-exports.

use syn::{Item as Syntax, spanned::Spanned as _};

use super::cfg::{self, Cfg};
use super::expand::Work;
use super::inert;
use super::library::Texts;
use super::macros::Macro;
use super::syntax;
use super::world::{Glob, Impl, Item, Kind, ModuleId, Path, World, place, plain};
use crate::model::{Place, Problem, SourcePath};

pub struct Files<'a> {
    pub files: &'a Texts<'a>,
    pub problems: &'a mut Vec<Problem>,
    pub macros: Work,
}

impl Files<'_> {
    fn tell(&mut self, place: Place, message: String, hint: Option<&str>) {
        self.problems.push(Problem {
            way: Vec::new(),
            place,
            message,
            hint: hint.map(str::to_owned),
        });
    }

    /// Parses the file of a module. `way` is the files that lead here, this one last.
    pub fn open(&mut self, world: &mut World, module: ModuleId, way: &[SourcePath]) {
        let file = world.modules[module].file.clone();
        let Some(text) = self.files.get(&file) else { return };
        match syntax::file(&text) {
            Err(error) => {
                let message = format!("does not parse: {error}");
                self.tell(place(&file, error.span()), message, None);
                world.modules[module].broken = true;
            }
            Ok(syntax) => {
                world.source(&syntax, &file);
                let folder = folder(&file, way.len() == 1);
                self.items(world, module, syntax.items, &folder, way);
            }
        }
    }

    pub fn items(
        &mut self,
        world: &mut World,
        module: ModuleId,
        items: Vec<Syntax>,
        folder: &str,
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
        folder: &str,
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
        if let Some(attr) = inert::changing(&item, &settled.attrs) {
            let changed = Macro::attribute(attr.path(), &item);
            world.modules[module].macros.push(changed);
            return Ok(());
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
            Syntax::Mod(it) => self.mod_(world, module, it, cfg, folder, way),
            Syntax::Macro(it) => self.macro_(world, module, it, cfg, folder, way),
            Syntax::Impl(mut it) => {
                self.impl_items(world, module, &mut it);
                let trait_ = it.trait_.as_ref().and_then(|(path, _)| path.segments.last());
                let trait_ = trait_.map(|it| plain(&it.ident));
                world.impls.push(Impl { module, trait_, syntax: it });
            }
            _ => {}
        }
        Ok(())
    }

    fn data(
        &mut self,
        world: &mut World,
        new: impl Fn(&syn::Ident, &syn::Visibility, Kind) -> Item,
        input: syn::DeriveInput,
    ) {
        let root = super::attributes::kube::root_name(&input);
        let (ident, vis) = (input.ident.clone(), input.vis.clone());
        let values = matches!(&input.data, syn::Data::Struct(it) if !matches!(it.fields, syn::Fields::Named(_)));
        let data = world.add(new(&ident, &vis, Kind::Data(Box::new(input))), true, values);
        if let Some(root) = root {
            world.add(new(&root, &vis, Kind::Root(data)), true, false);
        }
    }

    fn mod_(
        &mut self,
        world: &mut World,
        module: ModuleId,
        it: syn::ItemMod,
        cfg: Cfg,
        folder: &str,
        way: &[SourcePath],
    ) {
        let name = plain(&it.ident);
        let here = &world.modules[module];
        let (krate, file) = (here.krate, here.file.clone());
        let path = format!("{}::{name}", here.path);
        let place = place(&file, it.ident.span());
        let below = match &it.content {
            Some(_) => file.clone(),
            None => match self.file_of(&it, &name, &file, folder) {
                Ok(Some(file)) => file,
                // What is not there may not be needed.
                Ok(None) if cfg == Cfg::Depends => return,
                Ok(None) => {
                    let message = format!("module `{name}` has no file");
                    let hint = format!("add `{folder}{name}.rs`, or take the line out");
                    return self.tell(place, message, Some(&hint));
                }
                Err(message) => return self.tell(place, message, None),
            },
        };
        let child = world.module(krate, Some(module), path, below.clone(), cfg);
        world.add(
            Item {
                module,
                name: name.clone(),
                span: it.ident.span(),
                cfg,
                vis: it.vis.clone(),
                kind: Kind::Module(child),
            },
            true,
            false,
        );
        let above = self.macros.scope.clone();
        world.modules[child].scope = above.clone();
        match it.content {
            Some((_, items)) => {
                self.items(world, child, items, &format!("{folder}{name}/"), way);
            }
            None if way.contains(&below) => {
                let message = format!("module `{name}` is in a file that holds it: `{below}`");
                self.tell(place, message, None);
            }
            None => {
                let way: Vec<SourcePath> = way.iter().cloned().chain([below]).collect();
                self.open(world, child, &way);
            }
        }
        if it.attrs.iter().any(|it| it.path().is_ident("macro_use")) {
            world.modules[module].scope = self.macros.scope.clone();
        } else {
            self.macros.scope = above;
        }
    }

    /// The file of `mod name;`: `#[path]`, `name.rs` or `name/mod.rs`.
    fn file_of(
        &self,
        it: &syn::ItemMod,
        name: &str,
        file: &SourcePath,
        folder: &str,
    ) -> Result<Option<SourcePath>, String> {
        let there = |path: String| -> Option<SourcePath> {
            path.parse().ok().filter(|it| self.files.contains_key(it))
        };
        if let Some(attr) = it.attrs.iter().find(|it| it.path().is_ident("path")) {
            let syn::Meta::NameValue(syn::MetaNameValue {
                value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }),
                ..
            }) = &attr.meta
            else {
                return Err(format!("the path of module `{name}` is no string"));
            };
            let beside = file.parent().map_or_else(
                || path.value().parse().ok(),
                |folder| folder.join(&path.value()).ok(),
            );
            return Ok(beside.filter(|it| self.files.contains_key(it)));
        }
        match (there(format!("{folder}{name}.rs")), there(format!("{folder}{name}/mod.rs"))) {
            (Some(one), Some(other)) => {
                Err(format!("module `{name}` has two files: `{one}` and `{other}`"))
            }
            (one, other) => Ok(one.or(other)),
        }
    }
}

/// Where the modules of a file are: beside `lib.rs`, `main.rs` and `mod.rs`, otherwise in a folder of its name.
fn folder(file: &SourcePath, root: bool) -> String {
    let beside = file.parent().map_or_else(String::new, |it| format!("{it}/"));
    match file.name() {
        "mod.rs" => beside,
        _ if root => beside,
        name => format!("{beside}{}/", name.trim_end_matches(".rs")),
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
            world.imports.take();
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

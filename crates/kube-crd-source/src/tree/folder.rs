//! Which file a `mod name;` or an `include!` means.

use syn::spanned::Spanned as _;

use super::files::Files;
use super::macros::Call;
use super::world::{Item, Kind, Module, ModuleId, World};
use crate::cargo::Cfg;
use crate::text::{SourcePath, below, plain};

/// Where the files of the modules are that a place in a file declares.
#[derive(Clone)]
pub struct Folder {
    /// Of those that are found by their names.
    names: String,
    /// Of those that say their `#[path]`.
    paths: String,
}

impl Folder {
    /// Of what stands in a file: beside it where it owns its folder, otherwise in a folder of its name.
    pub fn of(file: &SourcePath, owner: bool) -> Self {
        let paths = file.parent().map_or_else(String::new, |it| it.to_string());
        let names = match file.name() {
            "mod.rs" => paths.clone(),
            _ if owner => paths.clone(),
            name => below(&paths, name.strip_suffix(".rs").unwrap_or(name)),
        };
        Self { names, paths }
    }

    /// Of what stands in a module in there that is written in braces.
    fn inner(&self, name: &str, path: Option<&str>) -> Self {
        let names = match path {
            Some(path) => below(&self.paths, path),
            None => below(&self.names, name),
        };
        Self { paths: names.clone(), names }
    }
}

/// What is known of a module's file.
enum Found {
    File(SourcePath),
    /// Why there is none, and the way out.
    Not(String, Option<String>),
}

impl Files<'_> {
    /// A module; `doubtful` where a `#[path]` may be there or not.
    pub fn mod_(
        &mut self,
        world: &mut World,
        module: ModuleId,
        it: syn::ItemMod,
        (cfg, doubtful): (Cfg, bool),
        folder: &Folder,
        way: &[SourcePath],
    ) {
        let name = plain(&it.ident);
        let span = it.ident.span();
        let path = it.attrs.iter().find(|it| it.path().is_ident("path"));
        let written = path.and_then(|it| string(it.meta.require_name_value().ok()?));
        let here = &world.modules[module];
        let (krate, file) = (here.krate, here.file.clone());
        let whole = format!("{}::{name}", here.path);
        let found = match &it.content {
            Some(_) => Found::File(file),
            None if doubtful => {
                let why = format!("where module `{name}` is depends on a `cfg_attr`");
                Found::Not(why, Some("take the condition away".to_owned()))
            }
            None if path.is_some() && written.is_none() => {
                Found::Not(format!("the path of module `{name}` is no string"), None)
            }
            None => self.file_of(&name, written.as_deref(), folder),
        };
        let file = match &found {
            Found::File(file) => file.clone(),
            Found::Not(..) => here.file.clone(),
        };
        let child = world.add_module(Module::new(krate, Some(module), whole, file, cfg));
        let (vis, kind) = (it.vis.clone(), Kind::Module(child));
        world.add(Item { module, name: name.clone(), span, cfg, vis, kind }, true, false);
        let above = self.macros.len();
        match (found, it.content) {
            (Found::Not(why, hint), _) => {
                // What is not there may not be needed.
                if cfg == Cfg::Yes && !doubtful {
                    self.tell(world.place(module, span), why.clone(), hint.as_deref());
                }
                world.modules[child].broken = Some(why);
            }
            (_, Some((_, items))) => {
                let folder = folder.inner(&name, written.as_deref());
                self.items(world, child, items, &folder, way);
            }
            (Found::File(file), None) if way.contains(&file) => {
                let message = format!("module `{name}` is in a file that holds it: `{file}`");
                self.tell(world.place(module, span), message.clone(), None);
                world.modules[child].broken = Some(message);
            }
            (Found::File(file), None) => {
                let folder = Folder::of(&file, written.is_some());
                let way: Vec<SourcePath> = way.iter().cloned().chain([file]).collect();
                self.open(world, child, &folder, &way);
            }
        }
        if !it.attrs.iter().any(|it| it.path().is_ident("macro_use")) {
            self.macros.truncate(above);
        }
    }

    /// The file of `mod name;`: by its `#[path]`, `name.rs` or `name/mod.rs`.
    fn file_of(&self, name: &str, path: Option<&str>, folder: &Folder) -> Found {
        let there = |path: String| -> Option<SourcePath> {
            path.parse().ok().filter(|it| self.files.contains_key(it))
        };
        let (first, second) = match path {
            Some(path) => (below(&folder.paths, path), None),
            None => (
                below(&folder.names, &format!("{name}.rs")),
                Some(below(&folder.names, &format!("{name}/mod.rs"))),
            ),
        };
        let absolute = path.is_some_and(|it| it.starts_with('/'));
        let one = there(first.clone()).filter(|_| !absolute);
        match (one, second.and_then(there)) {
            (Some(one), Some(other)) => {
                Found::Not(format!("module `{name}` has two files: `{one}` and `{other}`"), None)
            }
            (Some(file), None) | (None, Some(file)) => Found::File(file),
            (None, None) => Found::Not(
                format!("module `{name}` has no file"),
                Some(format!("add `{first}`, or take the line out")),
            ),
        }
    }

    /// `include!("…")` where items stand; what else it is given is a macro that may define anything.
    pub fn include(
        &mut self,
        world: &mut World,
        module: ModuleId,
        it: &syn::ItemMacro,
        cfg: Cfg,
        way: &[SourcePath],
    ) {
        let unseen = |world: &mut World, why: &str| {
            world.modules[module].macros.push(Call::unknown(it, why));
        };
        let place = world.place(module, it.mac.path.span());
        let beside = place.path.parent().map_or_else(String::new, |it| it.to_string());
        let path = match it.mac.parse_body::<syn::LitStr>() {
            Ok(path) if !path.value().starts_with('/') => path,
            Ok(_) => {
                return unseen(world, "the file is outside");
            }
            Err(_) => {
                return unseen(world, "the file is made when the project is built");
            }
        };
        let file: Option<SourcePath> = below(&beside, &path.value()).parse().ok();
        match file.filter(|it| self.files.contains_key(it)) {
            Some(file) if way.contains(&file) => {
                self.tell(place, format!("`{file}` includes itself"), None);
                unseen(world, "it includes itself");
            }
            Some(file) => {
                let folder = Folder::of(&file, true);
                let way: Vec<SourcePath> = way.iter().cloned().chain([file.clone()]).collect();
                let outer = world.modules[module].cfg;
                world.modules[module].cfg = cfg;
                self.read(world, module, &file, &folder, &way);
                world.modules[module].cfg = outer;
            }
            None => {
                if cfg == Cfg::Yes {
                    let hint = "add the file, or take the line out";
                    self.tell(place, format!("there is no file `{}`", path.value()), Some(hint));
                }
                unseen(world, "there is no such file");
            }
        }
    }
}

fn string(meta: &syn::MetaNameValue) -> Option<String> {
    match &meta.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Some(it.value()),
        _ => None,
    }
}

//! Modules, in braces or in files of their own.

use super::files::{Files, ItemLocation};
use super::included::UnreadPlace;
use super::world::{Item, ItemKind, Module, World};
use crate::cargo::Cfg;
use crate::text::sources::{OUTSIDE_HINT, outside_message};
use crate::text::{SourcePath, below, unraw_name};

/// The folders of the modules that are declared at a place in a file.
pub struct Folder {
    /// The folder of those that are found by their names.
    names: String,
    /// The folder of those with a `#[path]`.
    pub(super) paths: String,
}

impl Folder {
    /// Returns the folder of a file's modules: its own folder if it owns that, otherwise one of its name.
    pub fn of_file(file: &SourcePath, owner: bool) -> Self {
        let paths = file.parent().map_or_else(String::new, |path| path.to_string());
        let names = match file.name() {
            "mod.rs" => paths.clone(),
            _ if owner => paths.clone(),
            name => below(&paths, name.strip_suffix(".rs").unwrap_or(name)),
        };
        Self { names, paths }
    }

    /// For a module in braces.
    fn inner_folder(&self, name: &str, path: Option<&str>) -> Self {
        let names = match path {
            Some(path) => below(&self.paths, path),
            None => below(&self.names, name),
        };
        Self { paths: names.clone(), names }
    }
}

/// Why a module has no file, and how to mend that.
struct NoFile {
    why: String,
    hint: Option<String>,
}

impl Files<'_> {
    /// Reads a module; `doubtful` where a `#[path]` may be there or not.
    pub fn read_module(
        &mut self,
        world: &mut World,
        here: ItemLocation<'_>,
        it: syn::ItemMod,
        (cfg, doubtful): (Cfg, bool),
    ) {
        let (name, span) = (unraw_name(&it.ident), it.ident.span());
        let path = it.attrs.iter().find(|attr| attr.path().is_ident("path"));
        let path_text = path.and_then(|attr| string_value(attr.meta.require_name_value().ok()?));
        let module = &world.modules[here.module];
        let own_file = match &it.content {
            // A module in braces can declare modules with files, which are found by its path.
            _ if doubtful => Err(NoFile {
                why: format!("where module `{name}` is depends on a `cfg_attr`"),
                hint: Some("remove the condition".to_owned()),
            }),
            Some(_) => Ok(None),
            None if path.is_some() && path_text.is_none() => Err(NoFile {
                why: format!("the path of module `{name}` is not a string"),
                hint: None,
            }),
            None => self.file_of(&name, path_text.as_deref(), here).map(Some),
        };
        let file = own_file.as_ref().ok().cloned().flatten();
        let file = file.unwrap_or_else(|| module.file.clone());
        let child = Module::new(
            module.krate,
            Some(here.module),
            format!("{}::{name}", module.path),
            file,
            cfg,
        );
        let child = world.add_module(child);
        let (vis, kind) = (it.vis.clone(), ItemKind::Module(child));
        let item = Item { module: here.module, name: name.clone(), span, cfg, vis, kind };
        world.add_item(item, true, false);
        let above = self.macros.len();
        match (own_file, it.content) {
            (Err(NoFile { why, hint }), _) => {
                // A doubtful module may not be needed if its file is missing.
                if doubtful {
                    world.unread.push(UnreadPlace::of_file(here.module, span, why.clone()));
                } else if cfg == Cfg::Yes {
                    self.report_problem(
                        world.place_in(here.module, span),
                        why.clone(),
                        hint.as_deref(),
                    );
                }
                world.modules[child].broken = Some(why);
            }
            (Ok(Some(file)), _) => {
                let folder = Folder::of_file(&file, path_text.is_some());
                let parents: Vec<SourcePath> = here.parents.iter().cloned().chain([file]).collect();
                self.read_file(
                    world,
                    ItemLocation { module: child, folder: &folder, parents: &parents },
                );
            }
            (Ok(None), content) => {
                let folder = here.folder.inner_folder(&name, path_text.as_deref());
                let items = content.map(|content| content.1).unwrap_or_default();
                self.read_items(
                    world,
                    ItemLocation { module: child, folder: &folder, ..here },
                    items,
                );
            }
        }
        if !it.attrs.iter().any(|attr| attr.path().is_ident("macro_use")) {
            self.macros.truncate(above);
        }
    }

    /// Notes the file of a module that a `cfg` leaves out: a build with other features has it.
    pub fn note_left_out(&self, world: &mut World, here: ItemLocation<'_>, item: &syn::Item) {
        let syn::Item::Mod(it @ syn::ItemMod { content: None, .. }) = item else { return };
        let path = it.attrs.iter().find(|attr| attr.path().is_ident("path"));
        let path = path.and_then(|attr| string_value(attr.meta.require_name_value().ok()?));
        if let Ok(file) = self.file_of(&unraw_name(&it.ident), path.as_deref(), here) {
            world.beside.push((here.module, file));
        }
    }

    /// The file of `mod name;`: by its `#[path]`, `name.rs` or `name/mod.rs`.
    fn file_of(
        &self,
        name: &str,
        path: Option<&str>,
        here: ItemLocation<'_>,
    ) -> Result<SourcePath, NoFile> {
        let folder = here.folder;
        let existing = |path: String| -> Option<SourcePath> {
            path.parse().ok().filter(|path| self.texts.contains_key(path))
        };
        let (first, second) = match path {
            Some(path) => (below(&folder.paths, path), None),
            None => (
                below(&folder.names, &format!("{name}.rs")),
                Some(below(&folder.names, &format!("{name}/mod.rs"))),
            ),
        };
        if !self.texts.allows_path(&first) {
            return Err(NoFile {
                why: outside_message(&first),
                hint: Some(OUTSIDE_HINT.to_owned()),
            });
        }
        let is_absolute = path.is_some_and(|path| path.starts_with('/'));
        let one = existing(first.clone()).filter(|_| !is_absolute);
        match (one, second.and_then(existing)) {
            (Some(one), Some(other)) => Err(NoFile {
                why: format!("module `{name}` has two files: `{one}` and `{other}`"),
                hint: None,
            }),
            (Some(file), None) | (None, Some(file)) if here.parents.contains(&file) => {
                Err(NoFile {
                    why: format!("module `{name}` would be in a file that contains it: `{file}`"),
                    hint: None,
                })
            }
            (Some(file), None) | (None, Some(file)) => Ok(file),
            (None, None) => Err(NoFile {
                why: format!("module `{name}` has no file"),
                hint: Some(format!("add `{first}`, or remove the line")),
            }),
        }
    }
}

pub fn string_value(meta: &syn::MetaNameValue) -> Option<String> {
    match &meta.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Some(it.value()),
        _ => None,
    }
}

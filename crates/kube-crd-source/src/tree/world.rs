//! Crates, modules and items as data, before any name is looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{LineColumn, Span};

use super::attribute_macros::AttributeMacro;
use super::blocks::BlockItem;
use super::bodies::{self, OmittedBodies};
use super::included::{IncludedFiles, UnreadPlace};
use super::macros::{Call, Rules};
use super::source_file::UnparsedItem;
use crate::cargo::{Cfg, Features, Krate};
use crate::text::{Place, SourcePath, unraw_name};

/// Limit of the items of one name in a module: conditions may choose one of several imports.
const MOST_OF_ONE_NAME: usize = 64;

pub type ModuleId = usize;
pub type ItemId = usize;

/// All source that was read.
#[derive(Default)]
pub struct World {
    pub crates: Vec<Krate>,
    pub modules: Vec<Module>,
    pub items: Vec<Item>,
    /// The root module of each crate, by the crate's root file.
    pub roots: BTreeMap<SourcePath, ModuleId>,
    pub impls: Vec<Impl>,
    /// Items and calls in blocks that may have an effect outside of them.
    pub block_items: Vec<BlockItem>,
    /// Bodies of functions that are left out and call macros: their modules and the places of their braces.
    pub omitted_calls: Vec<(ModuleId, LineColumn)>,
    /// The bodies that are left out, by the file that their lines are counted in.
    bodies: BTreeMap<SourcePath, Vec<Rc<OmittedBodies>>>,
    /// The derives and attribute macros at all items.
    pub attribute_macros: Vec<AttributeMacro>,
    /// Every `macro_rules!`.
    pub rules: Vec<Rules>,
    /// Files that belong to modules which have another file: included ones, and those of modules that a `cfg` leaves
    /// out.
    pub beside: Vec<(ModuleId, SourcePath)>,
    pub included: IncludedFiles,
    /// Included files that are not read.
    pub unread: Vec<UnreadPlace>,
    /// The texts that `include_str!` names, or why there is none. Each is read once a value needs it.
    pub included_texts: BTreeMap<SourcePath, Result<Rc<str>, String>>,
    /// `#[macro_use] extern crate`: the crate, and the name it uses.
    pub macro_uses: BTreeSet<(usize, String)>,
    /// The modules whose kinds are selected; all where it is empty.
    pub selection: Vec<String>,
    /// The first words of paths into crates from elsewhere that are not on crates.io, whatever their names are.
    pub unpublished: BTreeSet<String>,
    /// The first words of paths into crates from elsewhere that are for procedural macros: they have no traits.
    pub macro_crates: BTreeSet<String>,
    /// Why a crate from elsewhere cannot be read, by the first word of paths into it.
    pub absent: BTreeMap<String, Absent>,
}

/// Why a crate cannot be read, and what helps.
pub struct Absent {
    pub why: String,
    pub hint: String,
}

pub struct Module {
    pub krate: usize,
    pub parent: Option<ModuleId>,
    /// The path that `module_path!()` gives.
    pub path: String,
    pub file: SourcePath,
    pub cfg: Cfg,
    /// The Cargo features that its `cfg` predicates name.
    pub features: BTreeSet<String>,
    /// Why what is in it is not known; completes "…, and may define it".
    pub broken: Option<String>,
    /// Structs, enums, aliases, modules, imports.
    pub types: BTreeMap<String, Vec<ItemId>>,
    /// Functions, constants, imports.
    pub values: BTreeMap<String, Vec<ItemId>>,
    pub globs: Vec<Glob>,
    /// Imports of traits for their methods alone: `use a::B as _`.
    pub anonymous_imports: Vec<Path>,
    /// Calls that may declare names here.
    pub macros: Vec<Call>,
}

pub struct Item {
    pub module: ModuleId,
    pub name: String,
    pub span: Span,
    pub cfg: Cfg,
    pub vis: syn::Visibility,
    pub kind: ItemKind,
}

pub enum ItemKind {
    /// A struct or an enum.
    Data(Box<syn::DeriveInput>),
    Alias(Box<syn::ItemType>),
    Fn(Box<syn::ItemFn>),
    Const(Box<syn::ItemConst>),
    Static,
    Trait(Box<syn::ItemTrait>),
    Module(ModuleId),
    Use(Path),
    ExternCrate(String),
    /// The struct that `#[derive(CustomResource)]` generates for this item.
    Root(ItemId),
    Union,
}

#[derive(Clone, Debug)]
pub struct Path {
    /// Starts with `::`.
    pub global: bool,
    pub parts: Vec<String>,
    pub span: Span,
}

pub struct Glob {
    pub path: Path,
    pub vis: syn::Visibility,
    pub cfg: Cfg,
}

/// `impl Trait for Type`, or `impl Type` where there is no trait.
pub struct Impl {
    pub module: ModuleId,
    pub trait_: Option<String>,
    pub syntax: syn::ItemImpl,
}

impl World {
    pub(super) fn add_module(&mut self, module: Module) -> ModuleId {
        self.modules.push(module);
        self.modules.len() - 1
    }

    pub(super) fn add_item(&mut self, item: Item, types: bool, values: bool) -> ItemId {
        let id = self.items.len();
        let module = &mut self.modules[item.module];
        let is_use = matches!(item.kind, ItemKind::Use(_));
        if is_use && module.types.get(&item.name).is_some_and(|all| all.len() >= MOST_OF_ONE_NAME) {
            let (file, name) = (&module.file, &item.name);
            module.broken =
                Some(format!("{file} imports `{name}` more than {MOST_OF_ONE_NAME} times"));
            return id;
        }
        if types {
            module.types.entry(item.name.clone()).or_default().push(id);
        }
        if values {
            module.values.entry(item.name.clone()).or_default().push(id);
        }
        self.items.push(item);
        id
    }

    pub(super) fn add_bodies(&mut self, file: &SourcePath, bodies: Rc<OmittedBodies>) {
        if !bodies.is_empty() {
            self.bodies.entry(file.clone()).or_default().push(bodies);
        }
    }

    /// Adds items of a module that cannot be parsed.
    pub(super) fn add_unparsed(&mut self, module: ModuleId, items: &[UnparsedItem]) {
        for item in items {
            let why = format!("cannot be parsed: {}", item.error);
            self.unread.push(UnreadPlace { module, span: item.error.span(), why, is_item: true });
            self.modules[module].macros.push(Call::of_unparsed(item));
        }
    }

    /// The bodies that are left out in the file of a module.
    pub fn omitted_bodies(&self, module: ModuleId) -> &[Rc<OmittedBodies>] {
        self.bodies.get(&self.modules[module].file).map_or(&[], Vec::as_slice)
    }

    /// The statements of a function of a module. Its body is parsed now if it was left out.
    pub fn statements_of<'w>(
        &'w self,
        module: ModuleId,
        block: &'w syn::Block,
    ) -> syn::Result<&'w [syn::Stmt]> {
        if !bodies::is_omitted(block) {
            return Ok(&block.stmts);
        }
        let place = block.brace_token.span.open().start();
        let mut omitted = self.omitted_bodies(module).iter();
        match omitted.find_map(|bodies| bodies.block(place)) {
            Some(Ok(block)) => Ok(&block.stmts),
            Some(Err(error)) => Err(error.clone()),
            // `_` is no statement that has a value.
            None => Ok(&block.stmts),
        }
    }

    pub fn features_of(&self, module: ModuleId) -> &Features {
        &self.crates[self.modules[module].krate].features
    }

    /// The item of the struct that `#[derive(CustomResource)]` generates for a struct.
    pub fn root_of(&self, spec: ItemId) -> Option<ItemId> {
        self.items.iter().position(|item| matches!(item.kind, ItemKind::Root(of) if of == spec))
    }

    /// The place of a span in the code of a module.
    pub fn place_in(&self, module: ModuleId, span: Span) -> Place {
        self.included.place_in(&self.modules[module].file, span)
    }

    /// The place of an item's name.
    pub fn place_of(&self, item: ItemId) -> Place {
        self.place_in(self.items[item].module, self.items[item].span)
    }
}

impl Module {
    pub fn new(
        krate: usize,
        parent: Option<ModuleId>,
        path: String,
        file: SourcePath,
        cfg: Cfg,
    ) -> Self {
        Self {
            krate,
            parent,
            path,
            file,
            cfg,
            features: BTreeSet::new(),
            broken: None,
            types: BTreeMap::new(),
            values: BTreeMap::new(),
            globs: Vec::new(),
            anonymous_imports: Vec::new(),
            macros: Vec::new(),
        }
    }
}

impl From<&syn::Path> for Path {
    fn from(path: &syn::Path) -> Self {
        use syn::spanned::Spanned as _;
        Self {
            global: path.leading_colon.is_some(),
            parts: path.segments.iter().map(|segment| unraw_name(&segment.ident)).collect(),
            span: path.span(),
        }
    }
}

pub fn place_in(file: &SourcePath, span: Span) -> Place {
    place_at(file, span.start())
}

pub fn place_at(file: &SourcePath, start: LineColumn) -> Place {
    Place { path: file.clone(), line: start.line, column: start.column + 1 }
}

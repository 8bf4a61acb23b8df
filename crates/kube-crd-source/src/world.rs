//! Files → crates → modules → items: everything that has a name, before any name is looked up.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;

use super::builtin::kubernetes::Kubernetes;
use super::cfg::Cfg;
use super::crates::Krate;
use super::expand::{MadeItems, Rules, Scope, Work};
use super::files::Files;
use super::folder::Folder;
use super::foreign;
use super::library::Texts;
use super::macros::Macro;
use super::names::Imports;
use super::outside::Included;
use super::packages::Features;
#[cfg(test)]
use super::versions;
use super::versions::Behaviour;
use crate::model::{Place, Problem, SourcePath};

pub type ModuleId = usize;
pub type ItemId = usize;

/// All the source of the project.
#[derive(Default)]
pub struct World {
    pub crates: Vec<Krate>,
    pub modules: Vec<Module>,
    pub items: Vec<Item>,
    /// The root module of each crate, by the crate's root file.
    pub roots: BTreeMap<SourcePath, ModuleId>,
    pub impls: Vec<Impl>,
    /// The types of k8s-openapi that this project has.
    pub kubernetes: Kubernetes,
    /// What the locked versions of kube and schemars do.
    pub behaviour: Behaviour,
    /// The modules whose kinds are wanted; where there is none, all.
    pub only: Vec<String>,
    /// Files that code takes in as texts.
    pub included: Included,
    /// Whether the lock lets serde_json keep the order of maps (`preserve_order`).
    pub keeps_order: bool,
    /// Every `macro_rules!`.
    pub rules: Vec<Rules>,
    /// What macros made of items.
    pub made: Vec<MadeItems>,
    /// How many tokens macros have made.
    pub spent: std::cell::Cell<usize>,
    /// `#[macro_use] extern crate`: the crate, and the name it uses.
    pub macro_uses: BTreeSet<(usize, String)>,
    /// The files, by what their spans call them.
    sources: BTreeMap<String, SourcePath>,
    /// Crates from elsewhere, by their first words, that were met, and that names led into.
    met: RefCell<BTreeSet<String>>,
    wanted: RefCell<BTreeSet<String>>,
    /// Names that no crate is known by: the crate that says so, and the name.
    sought: RefCell<BTreeSet<(usize, String)>>,
    /// Why a crate from elsewhere cannot be read, by its first word.
    pub absent: BTreeMap<String, String>,
    /// Where every import leads, once it was asked for.
    pub imports: std::cell::OnceCell<Imports>,
    /// How many types were gone through for one.
    pub type_steps: std::cell::Cell<usize>,
    /// What the aliases without parameters stand for, of those that were looked at.
    pub aliases: std::cell::RefCell<BTreeMap<ItemId, std::rc::Rc<super::types::Type>>>,
}

pub struct Module {
    pub krate: usize,
    pub parent: Option<ModuleId>,
    /// As `module_path!()` gives it.
    pub path: String,
    pub file: SourcePath,
    pub cfg: Cfg,
    /// Why what is in it is not known; completes "…, and may define it".
    pub broken: Option<String>,
    /// Structs, enums, aliases, modules, imports.
    pub types: BTreeMap<String, Vec<ItemId>>,
    /// Functions, constants, imports.
    pub values: BTreeMap<String, Vec<ItemId>>,
    pub globs: Vec<Glob>,
    /// Those that may define what is not known.
    pub macros: Vec<Macro>,
    /// The macros that may be called by name alone.
    pub scope: Scope,
}

pub struct Item {
    pub module: ModuleId,
    pub name: String,
    pub span: Span,
    pub cfg: Cfg,
    pub vis: syn::Visibility,
    pub kind: Kind,
}

pub enum Kind {
    /// A struct or an enum.
    Data(Box<syn::DeriveInput>),
    Alias(Box<syn::ItemType>),
    Fn(Box<syn::ItemFn>),
    Const(Box<syn::ItemConst>),
    Static(Box<syn::ItemStatic>),
    Trait(Box<syn::ItemTrait>),
    Module(ModuleId),
    Use(Path),
    ExternCrate(String),
    /// What `#[derive(CustomResource)]` makes of the struct beside it.
    Root(ItemId),
    /// A union: has a name, is no type that we read.
    Other(&'static str),
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
    /// A project in a map.
    #[cfg(test)]
    pub fn new(files: &BTreeMap<SourcePath, String>, problems: &mut Vec<Problem>) -> Self {
        let texts = Texts::new(files);
        let members = super::workspace::members(&texts, problems);
        let request = super::Request::default();
        let packages = super::packages::Packages::new(&texts, &members, &request, problems);
        let crates = match members.is_empty() {
            true => super::crates::bare(&texts),
            false => super::crates::crates(&packages),
        };
        Self::with(&texts, crates, versions::behaviour(&packages), problems)
    }

    pub fn with(
        texts: &Texts<'_>,
        crates: Vec<Krate>,
        behaviour: Behaviour,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let mut res = Self { behaviour, ..Self::default() };
        res.load(texts, crates, problems);
        res
    }

    /// Reads more crates.
    pub fn load(&mut self, texts: &Texts<'_>, crates: Vec<Krate>, problems: &mut Vec<Problem>) {
        let (before, items) = (self.crates.len(), self.items.len());
        self.crates.extend(crates);
        self.aliases.take();
        let mut files = Files { files: texts, problems, macros: Work::default() };
        for krate in before..self.crates.len() {
            let (root, name) = (self.crates[krate].root.clone(), self.crates[krate].name.clone());
            let cfg = self.crates[krate].cfg;
            let module = self.module(krate, None, name, root.clone(), cfg);
            self.roots.insert(root.clone(), module);
            files.macros.scope = Scope::default();
            files.open(self, module, &Folder::of(&root, true), &[root]);
        }
        files.open_pending(self);
        self.add_smart_defaults(items);
        self.add_displays(items);
    }

    /// Notes that a path from elsewhere was met. Its crate is read if what it is met for is refused.
    pub fn meet(&self, path: &str) {
        let word = path.split("::").next().unwrap_or(path);
        if !foreign::is_table(word) {
            self.met.borrow_mut().insert(word.to_owned());
        }
    }

    /// Notes a name that may be that of a library which is not called as its package is.
    pub fn seek(&self, krate: usize, name: &str) {
        if foreign::prelude(name).is_none() {
            self.sought.borrow_mut().insert((krate, name.to_owned()));
        }
    }

    pub fn take_sought(&self) -> BTreeSet<(usize, String)> {
        self.sought.take()
    }

    /// Notes that the meaning of a path from elsewhere is needed.
    pub fn want(&self, path: &str) {
        let word = path.split("::").next().unwrap_or(path);
        if !foreign::is_table(word) {
            self.wanted.borrow_mut().insert(word.to_owned());
        }
    }

    /// The same of globs that a doubt is about.
    pub fn want_globs(&self, why: &str) {
        self.globs_of(why).for_each(|path| self.want(path));
    }

    fn globs_of(&self, why: &str) -> impl Iterator<Item = &str> {
        let all = self.imports.get().into_iter().flat_map(|it| it.foreign_globs(self));
        let told = move |written: &str| why.contains(&format!("`use {written}::*`"));
        all.filter(move |(_, written)| told(written)).map(|(path, _)| path)
    }

    /// Whether one of those globs is of a crate that is not on this machine.
    pub fn has_absent_glob(&self, why: &str) -> bool {
        let first = |path: &str| path.split("::").next().unwrap_or(path).to_owned();
        self.globs_of(why).any(|path| self.absent.contains_key(&first(path)))
    }

    /// Something is refused: what was met may say more of it.
    pub fn want_what_was_met(&self) {
        self.wanted.borrow_mut().append(&mut self.met.borrow_mut());
    }

    /// What names led into since this was asked last.
    pub fn take_wanted(&self) -> BTreeSet<String> {
        self.wanted.take()
    }

    pub(super) fn module(
        &mut self,
        krate: usize,
        parent: Option<ModuleId>,
        path: String,
        file: SourcePath,
        cfg: Cfg,
    ) -> ModuleId {
        self.imports.take();
        self.modules.push(Module {
            krate,
            parent,
            path,
            file,
            cfg,
            broken: None,
            types: BTreeMap::new(),
            values: BTreeMap::new(),
            globs: Vec::new(),
            macros: Vec::new(),
            scope: Scope::default(),
        });
        self.modules.len() - 1
    }

    pub fn features(&self, module: ModuleId) -> &Features {
        &self.crates[self.modules[module].krate].features
    }

    /// Whether the kinds of a module are wanted.
    pub fn is_wanted(&self, module: ModuleId) -> bool {
        let all = self.only.is_empty();
        self.crates[self.modules[module].krate].selected
            && (all || self.only.iter().any(|it| self.is_in(module, it)))
    }

    /// Whether a module is another, or below it: `a::b`, with or without the crate before it.
    fn is_in(&self, module: ModuleId, other: &str) -> bool {
        let path = &self.modules[module].path;
        let below = |path: &str, other: &str| {
            let rest = path.strip_prefix(other);
            rest.is_some_and(|it| it.is_empty() || it.starts_with("::"))
        };
        let own = path.split_once("::").map_or("", |(_, own)| own);
        below(path, other) || below(own, other.strip_prefix("crate::").unwrap_or(other))
    }

    /// Modules that were asked for and are not there.
    pub fn unknown_modules(&self) -> Vec<String> {
        let found = |name: &str| {
            (0..self.modules.len())
                .any(|it| self.crates[self.modules[it].krate].selected && self.is_in(it, name))
        };
        self.only.iter().filter(|it| !found(it)).cloned().collect()
    }

    pub fn place(&self, module: ModuleId, span: Span) -> Place {
        // What a macro made stands where the macro was written.
        place(self.sources.get(&span.file()).unwrap_or(&self.modules[module].file), span)
    }

    pub(super) fn source(&mut self, syntax: &syn::File, file: &SourcePath) {
        use syn::spanned::Spanned as _;
        let first = syntax.items.first().map(|it| it.span().file());
        self.sources.extend(first.map(|it| (it, file.clone())));
    }

    /// The place of an item's name.
    pub fn place_of(&self, item: ItemId) -> Place {
        self.place(self.items[item].module, self.items[item].span)
    }

    pub(super) fn add(&mut self, item: Item, types: bool, values: bool) -> ItemId {
        self.imports.take();
        let id = self.items.len();
        let module = &mut self.modules[item.module];
        if types {
            module.types.entry(item.name.clone()).or_default().push(id);
        }
        if values {
            module.values.entry(item.name.clone()).or_default().push(id);
        }
        self.items.push(item);
        id
    }
}

pub fn place(file: &SourcePath, span: Span) -> Place {
    let start = span.start();
    Place { path: file.clone(), line: start.line, column: start.column + 1 }
}

/// An identifier without `r#`.
pub fn plain(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

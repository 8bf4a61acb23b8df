//! Resolves the names of types in a file: its imports and aliases are replaced by what they stand for.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{File, Ident, Item, Type, UseTree, visit::Visit, visit_mut::VisitMut};

/// Types that every file can name.
const PRELUDE: &[&str] = &[
    "Box", "Option", "Result", "String", "Vec", "bool", "char", "f32", "f64", "i128", "i16", "i32",
    "i64", "i8", "isize", "str", "u128", "u16", "u32", "u64", "u8", "usize",
];

/// The maximum depth of aliases of aliases.
const DEPTH: usize = 16;

/// The names that a file declares or imports.
#[derive(Default)]
pub struct FileNames {
    /// The module of the file.
    home: Vec<String>,
    /// The names that it declares.
    own: BTreeSet<String>,
    /// The path or the type that a name stands for.
    meanings: BTreeMap<String, TokenStream>,
    modules: BTreeSet<String>,
    globs: BTreeSet<String>,
    /// True if macros may declare more names.
    has_macros: bool,
}

impl FileNames {
    pub fn from_file(file: &File, home: &[&str]) -> Self {
        let home = home.iter().map(ToString::to_string).collect();
        let own = declared_names(file).map(ToString::to_string).collect();
        let mut names = Self { home, own, ..Self::default() };
        for item in &file.items {
            match item {
                Item::Use(it) => names.import_tree(&it.tree, &mut Vec::new()),
                Item::Type(it) if it.generics.params.is_empty() => {
                    names.meanings.insert(it.ident.to_string(), it.ty.to_token_stream());
                }
                Item::Mod(it) => {
                    names.modules.insert(it.ident.to_string());
                }
                Item::Macro(it) => names.has_macros |= it.ident.is_none(),
                _ => {}
            }
        }
        names
    }

    fn import_tree(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        let name = match tree {
            UseTree::Path(it) => {
                path.push(it.ident.to_string());
                self.import_tree(&it.tree, path);
                path.pop();
                return;
            }
            UseTree::Group(it) => {
                return it.items.iter().for_each(|item| self.import_tree(item, path));
            }
            UseTree::Glob(_) => {
                self.globs.insert(path.join("::"));
                return;
            }
            UseTree::Name(it) => (&it.ident, &it.ident),
            UseTree::Rename(it) => (&it.ident, &it.rename),
        };
        let mut full = path.clone();
        if name.0 != "self" {
            full.push(name.0.to_string());
        }
        let known = if name.1 == "self" { path.last().cloned() } else { Some(name.1.to_string()) };
        // `use serde;` imports what the name means anyway.
        if let (Some(known), true, Ok(meaning)) = (known, full.len() > 1, full.join("::").parse()) {
            self.meanings.insert(known, meaning);
        }
    }

    /// Returns a type without the imports and aliases of this file. What the file declares has no path.
    pub fn resolve(&self, ty: &Type) -> Type {
        let res = self.resolve_tokens(ty.to_token_stream(), DEPTH);
        let mut res = syn::parse2(res).unwrap_or_else(|_| ty.clone());
        OwnPathRemover(self).visit_type_mut(&mut res);
        res
    }

    fn resolve_tokens(&self, stream: TokenStream, depth: usize) -> TokenStream {
        let mut res = TokenStream::new();
        let mut is_first = true;
        for token in stream {
            let is_colon = matches!(&token, TokenTree::Punct(it) if it.as_char() == ':');
            match token {
                TokenTree::Ident(it) if is_first && depth > 0 => {
                    match self.meanings.get(&it.to_string()) {
                        Some(meaning) => {
                            res.extend(self.resolve_tokens(meaning.clone(), depth - 1))
                        }
                        None => res.extend([TokenTree::Ident(it)]),
                    }
                }
                TokenTree::Group(it) => {
                    let inner = self.resolve_tokens(it.stream(), depth);
                    res.extend([TokenTree::Group(proc_macro2::Group::new(it.delimiter(), inner))]);
                }
                it => res.extend([it]),
            }
            is_first = !is_colon;
        }
        res
    }

    /// Returns whether a resolved type means the same in the file of the other version, which has the same tokens for
    /// it.
    pub fn is_shared(&self, ty: &Type, other: &Self) -> bool {
        let mut visitor = SharedPathCheck { names: self, has_same_globs: true, res: true };
        let globs = self.globs.iter().chain(&other.globs);
        visitor.has_same_globs = self.globs == other.globs
            && !self.has_macros
            && !other.has_macros
            && !{ globs }.any(|glob| self.is_relative(glob.split("::").next().unwrap_or_default()));
        visitor.visit_type(ty);
        visitor.names = other;
        visitor.visit_type(ty);
        visitor.res
    }

    /// Returns whether a path that begins with this name leads to a place beside the file or in it.
    fn is_relative(&self, first: &str) -> bool {
        first == "super" || first == "self" || self.modules.contains(first)
    }
}

/// Returns the names that a file declares.
pub fn declared_names(file: &File) -> impl Iterator<Item = &Ident> {
    file.items.iter().filter_map(|item| match item {
        Item::Struct(it) => Some(&it.ident),
        Item::Enum(it) => Some(&it.ident),
        Item::Type(it) => Some(&it.ident),
        Item::Const(it) => Some(&it.ident),
        Item::Fn(it) => Some(&it.sig.ident),
        _ => None,
    })
}

/// Removes the path before the names that a file declares: it leads to the file or to its module, which exports them.
struct OwnPathRemover<'a>(&'a FileNames);

impl VisitMut for OwnPathRemover<'_> {
    fn visit_path_mut(&mut self, it: &mut syn::Path) {
        syn::visit_mut::visit_path_mut(self, it);
        let path: Vec<String> =
            it.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let Some((name, before)) = path.split_last() else { return };
        let is_home = before == ["self"] || before == ["super"] || before == self.0.home;
        if is_home && self.0.own.contains(name) {
            it.segments = it.segments.pop().into_iter().collect();
        }
    }
}

struct SharedPathCheck<'a> {
    names: &'a FileNames,
    has_same_globs: bool,
    res: bool,
}

impl<'ast> Visit<'ast> for SharedPathCheck<'_> {
    fn visit_path(&mut self, it: &'ast syn::Path) {
        if let Some(first) = it.segments.first() {
            let name = first.ident.to_string();
            let is_known = PRELUDE.contains(&&*name) || self.has_same_globs;
            self.res &= !self.names.is_relative(&name) && (it.segments.len() > 1 || is_known);
        }
        syn::visit::visit_path(self, it);
    }
}

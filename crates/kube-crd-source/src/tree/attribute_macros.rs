//! Attribute macros on items. These attributes leave an item as it is: those of the language and of tools,
//! those that derives read, and the few attribute macros that are known to.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::LineColumn;
use quote::ToTokens as _;
use syn::{Attribute, Meta};

use super::tokens::Tokens;
use super::world::{ItemId, ModuleId, Path};
use crate::cargo::Features;
use crate::cargo::cfg::{self, Settled};
use crate::text::{derive_paths, format_tokens};

/// A derive or an attribute macro at an item. It may declare further items in the item's module.
pub struct AttributeMacro {
    pub module: ModuleId,
    pub path: Path,
    /// The attribute as it is written, for messages.
    pub text: String,
    pub is_derive: bool,
    /// It is at a function or a constant of an `impl`, to which it may add others.
    pub is_in_impl: bool,
    pub item: DecoratedItem,
}

/// The item that an attribute macro gets.
#[derive(Clone)]
pub enum DecoratedItem {
    /// A struct or an enum.
    Data(ItemId),
    /// Every word of another item but for those in bodies that are left out, and the places of these.
    Words(Rc<BTreeSet<String>>, Rc<[LineColumn]>),
}

/// Attributes of the language, and of the derives that are read here.
pub const LANGUAGE: &[&str] = &[
    "derive",
    "serde",
    "schemars",
    "kube",
    "x_kube",
    "validate",
    "garde",
    "doc",
    "allow",
    "warn",
    "deny",
    "expect",
    "forbid",
    "non_exhaustive",
    "must_use",
    "deprecated",
    "repr",
    "automatically_derived",
    "default",
    "cfg",
    "cfg_attr",
    "cfg_eval",
    "path",
    "macro_use",
    "macro_export",
    "inline",
    "cold",
    "track_caller",
    "no_mangle",
    "export_name",
    "link_section",
    "used",
    "recursion_limit",
    "no_std",
    "no_implicit_prelude",
    "feature",
    "debugger_visualizer",
    "test",
    "global_allocator",
    "type_length_limit",
];

/// Attributes of derives alone: without a derive, an attribute of such a name is a macro.
pub const OF_DERIVES: &[&str] = &["garde", "kube", "schemars", "serde", "validate", "x_kube"];

/// Attribute macros that only add to their item.
pub const ADDING: &[&str] = &[
    "async_trait::async_trait",
    "derive_where::derive_where",
    "mutants::skip",
    "optfield::optfield",
    "pyo3::pyclass",
    "pyo3::prelude::pyclass",
    "tracing::instrument",
    "typeshare::typeshare",
];

pub const TOOLS: &[&str] = &["rustfmt", "clippy", "diagnostic", "miri", "rustdoc"];

/// The paths of all derives and attribute macros at an item, each with whether it is a derive. An attribute that
/// depends on a condition counts; those of the language and of tools do not, nor does `#[versioned]`, which is a problem
/// where it stands.
fn macro_paths(settled: &Settled) -> Vec<(syn::Path, bool)> {
    let metas = || settled.attrs.iter().map(|attr| &attr.meta).chain(&settled.doubtful);
    let has_derive = metas().any(|meta| meta.path().is_ident("derive"));
    let is_macro =
        |meta: &Meta| !is_of_language_or_tool(meta) || !has_derive && is_of_derives(meta.path());
    let mut paths = Vec::new();
    for meta in metas() {
        if meta.path().is_ident("derive") {
            paths.extend(derive_paths(meta).into_iter().map(|path| (path, true)));
        } else if is_macro(meta) && !is_named_versioned(meta.path()) {
            paths.push((meta.path().clone(), false));
        }
    }
    paths
}

fn is_of_derives(path: &syn::Path) -> bool {
    path.get_ident().is_some_and(|name| OF_DERIVES.iter().any(|known| name == known))
}

/// Returns whether an attribute in a block may be a macro. One under a condition may be any.
pub fn may_be_macro(meta: &Meta) -> bool {
    let path = meta.path();
    !is_of_language_or_tool(meta) || path.is_ident("cfg_attr") || is_of_derives(path)
}

pub fn is_of_language_or_tool(meta: &Meta) -> bool {
    let first = meta.path().segments.first();
    meta.path().get_ident().is_some_and(|name| LANGUAGE.iter().any(|known| name == known))
        || first.is_some_and(|first| TOOLS.iter().any(|tool| first.ident == tool))
}

/// Returns the derives and attribute macros at an item. `data` is the id that the item is about to get, if it is a
/// struct or an enum; `omitted` are the places of its bodies that are left out.
pub fn attribute_macros(
    module: ModuleId,
    item: &syn::Item,
    settled: &Settled,
    data: ItemId,
    omitted: &[LineColumn],
) -> Vec<AttributeMacro> {
    let paths = macro_paths(settled);
    if paths.is_empty() {
        return Vec::new();
    }
    let item = match item {
        syn::Item::Struct(_) | syn::Item::Enum(_) => DecoratedItem::Data(data),
        other => DecoratedItem::of_words(other, omitted),
    };
    paths
        .into_iter()
        .map(|(path, is_derive)| AttributeMacro::new(module, &path, is_derive, item.clone()))
        .collect()
}

/// Returns the attribute macros at the items of an `impl`.
pub fn macros_in_impl(
    module: ModuleId,
    block: &syn::ItemImpl,
    features: &Features,
    omitted: &[LineColumn],
) -> Vec<AttributeMacro> {
    let attributes = |item: &syn::ImplItem| match item {
        syn::ImplItem::Const(it) => it.attrs.clone(),
        syn::ImplItem::Fn(it) => it.attrs.clone(),
        syn::ImplItem::Type(it) => it.attrs.clone(),
        _ => Vec::new(),
    };
    // A condition that cannot be read is a problem where the item is needed.
    let settled =
        block.items.iter().filter_map(|item| cfg::resolve_cfgs(&attributes(item), features).ok());
    let paths: Vec<_> = settled.flat_map(|settled| macro_paths(&settled)).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let item = DecoratedItem::of_words(block, omitted);
    let in_impl = |path: &syn::Path| AttributeMacro {
        is_in_impl: true,
        ..AttributeMacro::new(module, path, false, item.clone())
    };
    paths.iter().map(|(path, _)| in_impl(path)).collect()
}

impl DecoratedItem {
    fn of_words(item: &impl quote::ToTokens, omitted: &[LineColumn]) -> Self {
        Self::Words(Rc::new(Tokens::of_arguments(item.to_token_stream()).words), omitted.into())
    }
}

impl AttributeMacro {
    fn new(module: ModuleId, path: &syn::Path, is_derive: bool, item: DecoratedItem) -> Self {
        let written = format_tokens(path);
        let text =
            if is_derive { format!("#[derive({written})]") } else { format!("#[{written}]") };
        Self { module, path: Path::from(path), text, is_derive, is_in_impl: false, item }
    }
}

/// The attribute macro on a module, an `impl`, an alias or a constant that may replace it.
pub fn of_item<'a>(item: &syn::Item, attrs: &'a [Attribute]) -> Option<&'a Attribute> {
    use syn::Item;
    if !matches!(item, Item::Mod(_) | Item::Impl(_) | Item::Type(_) | Item::Const(_)) {
        return None;
    }
    attrs.iter().find(|attr| {
        let last = attr
            .path()
            .segments
            .last()
            .map(|segment| segment.ident.to_string())
            .unwrap_or_default();
        !is_of_language_or_tool(&attr.meta) && !is_adding(&last)
    })
}

/// Returns whether an attribute macro of this name only adds to its item. Where the name is imported from is not known
/// yet.
pub fn is_adding(name: &str) -> bool {
    let last_name = |path: &str| path.rsplit("::").next() == Some(name);
    ADDING.iter().any(|path| last_name(path))
}

/// Returns whether an item under an attribute macro may become a kind.
pub fn may_declare_kinds_of(item: &syn::Item) -> bool {
    fn mentions_crd(tokens: proc_macro2::TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(it) => it == "crd" || it == "CustomResource",
            proc_macro2::TokenTree::Group(it) => mentions_crd(it.stream()),
            _ => false,
        })
    }
    mentions_crd(item.to_token_stream())
}

/// Returns whether an attribute is `#[versioned]`, which generates a type for each version of a struct.
pub fn is_versioned(attr: &Attribute) -> bool {
    is_named_versioned(attr.path())
}

fn is_named_versioned(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == "versioned")
}

//! Attribute macros on items. These attributes leave an item as it is: those of the language and of tools,
//! those that derives read, and the few attribute macros that are known to.

use syn::Attribute;

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

/// The attribute macro on a module, an `impl`, an alias or a constant that may replace it.
pub fn of_item<'a>(item: &syn::Item, attrs: &'a [Attribute]) -> Option<&'a Attribute> {
    use syn::Item;
    if !matches!(item, Item::Mod(_) | Item::Impl(_) | Item::Type(_) | Item::Const(_)) {
        return None;
    }
    // By the last name: what is imported is not known yet.
    let adds = |name: &str| ADDING.iter().any(|it| it.ends_with(&format!("::{name}")));
    attrs.iter().find(|it| {
        let path = it.path();
        let known = |it: &syn::Ident| LANGUAGE.iter().any(|name| it == name);
        let tool =
            path.segments.first().is_some_and(|it| TOOLS.iter().any(|name| it.ident == name));
        let last = path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        !path.get_ident().is_some_and(known) && !tool && !adds(&last)
    })
}

/// Whether an item under an attribute macro may become a kind.
pub fn may_declare_kinds_of(item: &syn::Item) -> bool {
    use quote::ToTokens as _;
    fn says(tokens: proc_macro2::TokenStream) -> bool {
        tokens.into_iter().any(|it| match it {
            proc_macro2::TokenTree::Ident(it) => it == "crd" || it == "CustomResource",
            proc_macro2::TokenTree::Group(it) => says(it.stream()),
            _ => false,
        })
    }
    says(item.to_token_stream())
}

/// Whether an attribute is `#[versioned]`, which generates a type for each version of a struct.
pub fn is_versioned(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|it| it.ident == "versioned")
}

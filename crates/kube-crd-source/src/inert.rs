//! Which attributes leave what they stand on as it is: those of the language and of tools, those that derives
//! read, and of attribute macros the few that are known for certain.

use syn::Attribute;

use super::names::{Miss, Named, Space};
use super::world::{ModuleId, Path, World};

/// Attributes of the language, and of the derives that are read here.
const LANGUAGE: &[&str] = &[
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

/// Attribute macros that only add to what they stand on.
const ADDING: &[&str] = &[
    "async_trait::async_trait",
    "derive_where::derive_where",
    "mutants::skip",
    "optfield::optfield",
    "pyo3::pyclass",
    "pyo3::prelude::pyclass",
    "tracing::instrument",
    "typeshare::typeshare",
];

const TOOLS: &[&str] = &["rustfmt", "clippy", "diagnostic", "miri", "rustdoc"];

impl World {
    /// Whether an attribute leaves alone what it stands on. `derives` says that a derive of another crate stands
    /// there too, which may have it as its own.
    pub fn leaves_alone(&self, module: ModuleId, attr: &Attribute, derives: bool) -> bool {
        let path = Path::from(attr.path());
        let first = path.parts.first().map_or("", String::as_str);
        if TOOLS.contains(&first) {
            return true;
        }
        let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if LANGUAGE.contains(&name.as_str()) {
            return true;
        }
        match self.resolve(module, &path, Space::Types) {
            Ok(Named::Foreign(found)) if ADDING.contains(&found.as_str()) => true,
            // The name of a crate is no attribute: a derive has one of that name.
            Ok(Named::Foreign(found)) => derives && !name.is_empty() && !found.contains("::"),
            // What nothing imports is a derive's own.
            Err(Miss::Nothing) => {
                let imported = self.modules[module].values.contains_key(&name);
                derives && !name.is_empty() && !imported && !self.uses_macros(module)
            }
            _ => false,
        }
    }

    /// Whether every name in the crate may be a macro of another: `#[macro_use] extern crate`.
    fn uses_macros(&self, module: ModuleId) -> bool {
        let krate = self.modules[module].krate;
        self.macro_uses.iter().any(|(by, _)| *by == krate)
    }
}

/// The attribute macro on a module, an `impl`, an alias or a constant that may make anything of it.
pub fn changing<'a>(item: &syn::Item, attrs: &'a [Attribute]) -> Option<&'a Attribute> {
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

/// Whether what an attribute macro makes of an item may be a kind.
pub fn may_make_kinds(item: &syn::Item) -> bool {
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

/// Whether an attribute is the one that makes a type of each version of a struct.
pub fn makes_versions(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|it| it.ident == "versioned")
}

/// Whether a derive is one whose attributes are all known: one of the language, of serde, schemars or kube.
pub fn is_known_derive(path: &syn::Path) -> bool {
    const KNOWN: &[&str] = &[
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "Eq",
        "PartialEq",
        "Ord",
        "PartialOrd",
        "Hash",
        "Serialize",
        "Deserialize",
        "JsonSchema",
        "CustomResource",
        "KubeSchema",
    ];
    path.segments.last().is_some_and(|it| KNOWN.iter().any(|name| it.ident == name))
}

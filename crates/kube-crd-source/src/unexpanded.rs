//! Macros that are not expanded and that are not known: each may declare kinds, though nothing in its text says so.

use syn::spanned::Spanned as _;

use crate::cargo::cfg;
use crate::names::known_macros::{DERIVES_OF_STD, declares_no_kinds};
use crate::names::{Miss, Named, Space};
use crate::text::Place;
use crate::tree::attribute_macros::{LANGUAGE, TOOLS};
use crate::tree::{ItemKind, ModuleId, Path};
use crate::types::Types;
use crate::types::derives::derive_paths;

/// The places of unknown macros in selected modules: calls, derives and attributes.
pub fn unknown_macros(types: &Types) -> Vec<Place> {
    let selected = |module: &ModuleId| types.is_selected(*module);
    let modules = (0..types.modules.len()).filter(selected);
    let calls = modules.flat_map(|module| {
        types.unknown_calls(module).map(move |call| types.place(module, call.span))
    });
    let attributes =
        types.items.iter().filter(|item| types.is_selected(item.module)).flat_map(|item| {
            let attributes = match &item.kind {
                ItemKind::Data(input) => &input.attrs[..],
                ItemKind::Fn(function) => &function.attrs[..],
                _ => &[],
            };
            let paths = macro_paths(types, item.module, attributes).into_iter();
            let unknown =
                paths.filter(|(path, is_derive)| !is_known(types, item.module, path, *is_derive));
            unknown.map(|(path, _)| types.place(item.module, path.span())).collect::<Vec<_>>()
        });
    let mut places: Vec<Place> = calls.chain(attributes).collect();
    places.sort();
    places.dedup();
    places
}

/// The paths of the macros that attributes call, each with whether it is a derive. What depends on a condition is there.
fn macro_paths(
    types: &Types,
    module: ModuleId,
    attributes: &[syn::Attribute],
) -> Vec<(syn::Path, bool)> {
    // A condition that cannot be read is a problem already.
    let Ok(settled) = cfg::settle(attributes, types.features(module)) else { return Vec::new() };
    let metas = settled.attrs.iter().map(|attribute| &attribute.meta).chain(&settled.doubtful);
    let mut paths = Vec::new();
    for meta in metas {
        let path = meta.path();
        let first = path.segments.first();
        if path.is_ident("derive") {
            paths.extend(derive_paths(meta).into_iter().map(|path| (path, true)));
        } else if !path.get_ident().is_some_and(|name| LANGUAGE.iter().any(|it| name == it))
            && !first.is_some_and(|first| TOOLS.iter().any(|tool| first.ident == tool))
        {
            paths.push((path.clone(), false));
        }
    }
    paths
}

fn is_known(types: &Types, module: ModuleId, path: &syn::Path, is_derive: bool) -> bool {
    // The derives of std need no import. Whatever makes one of them doubtful is in the list itself.
    let is_of_std =
        || path.get_ident().is_some_and(|name| DERIVES_OF_STD.iter().any(|it| name == it));
    match types.resolve(module, &Path::from(path), Space::Macros) {
        Ok(Named::Foreign(found)) => declares_no_kinds(&found),
        // A helper attribute of a derive is not imported.
        Err(Miss::Nothing) => is_of_std() || !is_derive && path.get_ident().is_some(),
        _ => is_of_std(),
    }
}

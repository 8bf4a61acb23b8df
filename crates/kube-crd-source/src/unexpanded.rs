//! Macros that are not expanded and that are not known: each may declare kinds, though nothing in its text says so.

use std::collections::BTreeMap;

use syn::spanned::Spanned as _;

use crate::names::{Named, Space};
use crate::text::{Place, Problem, format_tokens};
use crate::tree::{Impl, Path};
use crate::types::Types;

/// The places of unknown macros in selected modules: calls, derives and attributes, also in blocks.
pub fn unknown_macros(types: &Types) -> Vec<Place> {
    let modules = (0..types.modules.len()).filter(|module| types.is_selected(*module));
    let mut places: Vec<Place> = modules
        .flat_map(|module| {
            let spans = types.unknown_macros(module).map(|found| found.span);
            let in_blocks = types.unknown_macros_in_blocks(module).map(|found| found.span);
            spans.chain(in_blocks).map(move |span| types.place_in(module, span))
        })
        .collect();
    places.sort();
    places.dedup();
    places
}

/// A note for each `CustomResourceExt` of kube that is written by hand in a selected module: it gives a CRD without the
/// derive.
pub fn notes_of_written_kinds(types: &Types) -> Vec<Problem> {
    let is_of_kind = |imp: &&Impl| {
        let Some((path, _)) = &imp.syntax.trait_ else { return false };
        const TRAIT: &str = "CustomResourceExt";
        match types.resolve_path(imp.module, &Path::from(path), Space::Types) {
            Ok(Named::Foreign(name)) => name.ends_with(&format!("::{TRAIT}")),
            Ok(_) => false,
            Err(_) => path.segments.last().is_some_and(|segment| segment.ident == TRAIT),
        }
    };
    let written = types.impls.iter().filter(|imp| types.is_selected(imp.module));
    let note = |imp: &Impl| {
        let place = types.place_in(imp.module, imp.syntax.self_ty.span());
        let name = format_tokens(&imp.syntax.self_ty);
        let message =
            format!("the `CustomResourceExt` of `{name}` is written by hand: its CRD is left out");
        Problem { is_note: true, ..Problem::new(place, message).with_rule("unread-source") }
    };
    written.filter(is_of_kind).map(note).collect()
}

/// A note for each unknown macro in a selected module, at its first place: one that is called at the place of an item,
/// and of others those of the project or of crates that are not published.
pub fn notes_of_calls(types: &Types) -> Vec<Problem> {
    let modules = (0..types.modules.len()).filter(|module| types.is_selected(*module));
    let mut first_places: BTreeMap<String, Place> = BTreeMap::new();
    let mut add = |text: String, place: Place| {
        let first = first_places.entry(text).or_insert_with(|| place.clone());
        if place < *first {
            *first = place;
        }
    };
    for module in modules {
        // Calls that look as if they declared kinds are reported as problems.
        let calls = types.unknown_macros(module).filter(|found| {
            (found.text.ends_with('!') || found.effect.runs_unread_code())
                && !found.effect.may_declare_kinds()
        });
        calls.for_each(|call| add(format!("`{}`", call.text), types.place_in(module, call.span)));
        let in_blocks = types.unknown_macros_in_blocks(module);
        for found in in_blocks.filter(|found| !found.effect.may_declare_kinds()) {
            let name = found.macro_name.as_ref().filter(|name| *name != "macro_rules");
            let text = name.map_or("a macro in a block".to_owned(), |name| format!("`{name}!`"));
            add(text, types.place_in(module, found.span));
        }
    }
    let note = |(text, place)| {
        let message = format!("{text} is not expanded: kinds that it declares are left out");
        Problem { is_note: true, ..Problem::new(place, message).with_rule("unread-source") }
    };
    first_places.into_iter().map(note).collect()
}

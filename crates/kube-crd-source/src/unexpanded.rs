//! Macros that are not expanded and that are not known: each may declare kinds, though nothing in its text says so.

use std::collections::BTreeMap;

use crate::text::{Place, Problem};
use crate::types::Types;

/// The places of unknown macros in selected modules: calls, derives and attributes, also in blocks.
pub fn unknown_macros(types: &Types) -> Vec<Place> {
    let modules = (0..types.modules.len()).filter(|module| types.is_selected(*module));
    let mut places: Vec<Place> = modules
        .flat_map(|module| {
            let spans = types.unknown_macros(module).map(|found| found.span);
            let in_blocks = types.unknown_macros_in_blocks(module);
            spans.chain(in_blocks).map(move |span| types.place(module, span))
        })
        .collect();
    places.sort();
    places.dedup();
    places
}

/// A note for each unknown macro that is called at the place of an item in a selected module, at its first call.
pub fn notes_of_calls(types: &Types) -> Vec<Problem> {
    let modules = (0..types.modules.len()).filter(|module| types.is_selected(*module));
    let mut first_calls: BTreeMap<&str, Place> = BTreeMap::new();
    for module in modules {
        // What looks as if it declared kinds is a problem.
        let calls = types
            .unknown_macros(module)
            .filter(|found| found.text.ends_with('!') && !found.effect.may_declare_kinds());
        for call in calls {
            let place = types.place(module, call.span);
            let first = first_calls.entry(&call.text).or_insert_with(|| place.clone());
            if place < *first {
                *first = place;
            }
        }
    }
    let note = |(text, place)| {
        let message = format!("`{text}` is not expanded: kinds that it declares are left out");
        Problem { is_note: true, ..Problem::new(place, message).with_rule("unread-source") }
    };
    first_calls.into_iter().map(note).collect()
}

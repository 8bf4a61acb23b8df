//! Macros that are not expanded and that are not known: each may declare kinds, though nothing in its text says so.

use crate::text::Place;
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

//! What no other rule is about: formats, CEL rules, list types, the schemas inside of `oneOf`, and so on.

use super::{Change, shown};
use crate::compatibility::normal::Keywords;

/// Names every keyword that differs and that no other rule handles.
pub fn check(old: &Keywords, new: &Keywords, handled: impl Fn(&str) -> bool) -> Option<Change> {
    let mut keywords: Vec<&String> = old.keys().chain(new.keys()).collect();
    keywords.retain(|it| !handled(it) && old.get(*it) != new.get(*it));
    keywords.sort();
    keywords.dedup();
    if keywords.is_empty() {
        return None;
    }
    let each = keywords.iter().map(|it| {
        format!("`{it}` changed from {} to {}", shown(old.get(*it)), shown(new.get(*it)))
    });
    let names: Vec<String> = keywords.iter().map(|it| format!("`{it}`")).collect();
    Some(Change::new(
        each.collect::<Vec<_>>().join(", "),
        format!(
            "keep {} as before, or review the change and allow it: `--allow unhandled`",
            names.join(", ")
        ),
    ))
}

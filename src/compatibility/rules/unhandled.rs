//! What no other rule covers: formats, CEL rules, list types, schemas inside `oneOf`, and so on.

use super::{Change, shown};
use crate::{
    compatibility::normal::{self, Keywords},
    yaml::Value,
};

/// Names every keyword that differs and that no other rule handles.
pub fn check(old: &Keywords, new: &Keywords, handled: impl Fn(&str) -> bool) -> Option<Change> {
    let rest: Vec<&str> = normal::keywords().collect();
    let differs = |it: &&str| !handled(it) && old.get(*it) != new.get(*it);
    let keywords: Vec<&str> = rest.iter().copied().filter(differs).collect();
    if keywords.is_empty() {
        return None;
    }
    let value = |it: &str| old.get(it).filter(|_| !handled(it)).cloned();
    let runs: Vec<&[&str]> = rest.split(differs).collect();
    let last = runs.len() - 1;
    let context = runs.iter().enumerate().flat_map(|(at, run)| beside(run, at == 0, at == last));
    let context: Vec<Option<Value>> = context.map(value).collect();
    let each = keywords.iter().map(|it| {
        format!("`{it}` changed from {} to {}", shown(old.get(*it)), shown(new.get(*it)))
    });
    let names: Vec<String> = keywords.iter().map(|it| format!("`{it}`")).collect();
    let remedy = format!(
        "keep {} as before, or review the change and allow it: `--allow unhandled`",
        names.join(", ")
    );
    Some(Change { context, ..Change::new(each.collect::<Vec<_>>().join(", "), remedy) })
}

/// The unchanged keywords that a diff by crdify shows as context: up to two before and after each changed one. Where served versions disagree, crdify compares the texts of such diffs.
fn beside<'a>(run: &'a [&'a str], is_first: bool, is_last: bool) -> impl Iterator<Item = &'a str> {
    const SHOWN: usize = 2;
    let before = if is_first { 0 } else { SHOWN.min(run.len()) };
    let behind = if is_last { 0 } else { SHOWN.min(run.len() - before) };
    // A single one is not left out.
    let hidden = match run.len() - before - behind {
        1 => 0,
        many => many,
    };
    let shown = move |at: usize| at < before || before + hidden <= at;
    run.iter().enumerate().filter(move |it| shown(it.0)).map(|it| *it.1)
}

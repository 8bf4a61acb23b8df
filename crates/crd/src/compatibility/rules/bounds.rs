//! Bounds of a number, a length or a size. A bound may become looser, but not tighter.

use std::cmp::Ordering;

use super::{Change, Pair};
use crate::compatibility::Policy;
use go_data::yaml::Value;

pub fn check_maximum(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    tightened_bound(pair, "lowered", Ordering::Less)
}

pub fn check_minimum(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    tightened_bound(pair, "raised", Ordering::Greater)
}

/// Reports a bound that is new, or that compares to the old one as `tighter`.
fn tightened_bound(pair: &Pair<'_>, verb: &str, tighter: Ordering) -> Option<Change> {
    let Pair { keyword, old, new } = pair;
    let new = (*new)?;
    let Some(old) = old else {
        return Some(Change::new(
            format!("`{keyword}` {new} was added"),
            format!("leave `{keyword}` out, and check the value in the controller"),
        ));
    };
    (compare_numbers(new, old) == Some(tighter)).then(|| {
        Change::new(
            format!("`{keyword}` was {verb} from {old} to {new}"),
            format!("keep `{keyword}` at {old}"),
        )
        .with_values(old.to_string(), new.to_string())
    })
}

/// Compares two numbers: integers exactly, since a float would round them.
fn compare_numbers(one: &Value, other: &Value) -> Option<Ordering> {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

//! The values that a field accepts, and its default.

use super::{Change, Pair, json, list, plain};
use crate::compatibility::{Effect, Policy};
use go_data::yaml::Value;

pub fn default(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let change = match (pair.old, pair.new) {
        (None, Some(new)) => Change::new(
            format!("default `{new}` was added"),
            "leave the field without a default, and apply the value in the controller",
        ),
        (Some(old), None) => {
            Change::new(format!("default `{old}` was removed"), format!("keep the default `{old}`"))
        }
        (Some(old), Some(new)) => Change::new(
            format!("default changed from `{old}` to `{new}`"),
            format!("keep the default `{old}`"),
        )
        .between(format!("`{old}`"), format!("`{new}`")),
        (None, None) => return None,
    };
    Some(change.with(Effect::Widens))
}

pub fn enumeration(pair: &Pair<'_>, policy: &Policy) -> Option<Change> {
    let (old, new) = (items(pair.old), items(pair.new));
    let removed: Vec<&Value> = without(&old, &new);
    let added: Vec<&Value> = without(&new, &old);
    if old.is_empty() && !new.is_empty() {
        return Some(Change::new(
            format!("only {} are allowed now; before, any value was", list(added, json)),
            "leave the field open, and check the value in the controller",
        ));
    }
    if !removed.is_empty() {
        // Without a list, every value is allowed.
        let effect = if new.is_empty() { Effect::Widens } else { Effect::Narrows };
        let change = Change::new(
            format!("the values {} are no longer allowed", list(removed.iter().copied(), json)),
            format!("keep the values {}", list(removed, json)),
        );
        return Some(change.with(effect));
    }
    (!added.is_empty() && !policy.enum_values_may_be_added).then(|| {
        Change::new(
            format!("the values {} are now allowed as well", list(added, json)),
            "add values in a new version of the kind, or allow it if clients accept values that they do not know: `--allow enum`",
        )
        .with(Effect::Widens)
    })
}

pub fn nullable(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    Some(match pair.new {
        Some(_) => Change::new(
            "the field may be null now",
            "do not allow null: leaving the field out has the same meaning",
        )
        .with(Effect::Widens),
        None => Change::new("the field may no longer be null", "keep the field nullable"),
    })
}

pub fn required(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let (old, new) = (items(pair.old), items(pair.new));
    let added = without(&new, &old);
    (!added.is_empty()).then(|| {
        Change::new(
            format!("{} became required", list(added.iter().copied(), plain)),
            format!("make {} optional: `Option<…>`, or `#[serde(default)]`", list(added, plain)),
        )
    })
}

fn items(value: Option<&Value>) -> Vec<&Value> {
    value.and_then(Value::as_array).into_iter().flatten().collect()
}

/// The values that are missing in the others, sorted, without duplicates.
fn without<'a>(these: &[&'a Value], others: &[&Value]) -> Vec<&'a Value> {
    let mut res: Vec<&Value> = these.iter().copied().filter(|it| !others.contains(it)).collect();
    res.sort_by_key(|it| it.to_string());
    res.dedup();
    res
}

//! The values that a field accepts, and its default.

use super::{Change, Pair, format_list, quoted_json, quoted_text};
use crate::compatibility::{Effect, Policy};
use go_data::yaml::Value;

pub fn check_default(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
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
        .with_values(format!("`{old}`"), format!("`{new}`")),
        (None, None) => return None,
    };
    Some(change.with_effect(Effect::Widens))
}

pub fn check_enum(pair: &Pair<'_>, policy: &Policy) -> Option<Change> {
    let (old, new) = (items_of(pair.old), items_of(pair.new));
    let removed: Vec<&Value> = missing_values(&old, &new);
    let added: Vec<&Value> = missing_values(&new, &old);
    if old.is_empty() && !new.is_empty() {
        return Some(Change::new(
            format!(
                "only {} are allowed now; before, any value was",
                format_list(added, quoted_json)
            ),
            "leave the field open, and check the value in the controller",
        ));
    }
    if !removed.is_empty() {
        // Without a list, every value is allowed.
        let effect = if new.is_empty() { Effect::Widens } else { Effect::Narrows };
        let change = Change::new(
            format!(
                "the values {} are no longer allowed",
                format_list(removed.iter().copied(), quoted_json)
            ),
            format!("keep the values {}", format_list(removed, quoted_json)),
        );
        return Some(change.with_effect(effect));
    }
    (!added.is_empty() && !policy.enum_values_may_be_added).then(|| {
        Change::new(
            format!("the values {} are now allowed as well", format_list(added, quoted_json)),
            "add values in a new version of the kind, or allow it if clients accept values that they do not know: `--allow enum`",
        )
        .with_effect(Effect::Widens)
    })
}

pub fn check_nullable(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    Some(match pair.new {
        Some(_) => Change::new(
            "the field may be null now",
            "do not allow null: leaving the field out has the same meaning",
        )
        .with_effect(Effect::Widens),
        None => Change::new("the field may no longer be null", "keep the field nullable"),
    })
}

pub fn check_required(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let (old, new) = (items_of(pair.old), items_of(pair.new));
    let added = missing_values(&new, &old);
    (!added.is_empty()).then(|| {
        Change::new(
            format!("{} became required", format_list(added.iter().copied(), quoted_text)),
            format!(
                "make {} optional: `Option<…>`, or `#[serde(default)]`",
                format_list(added, quoted_text)
            ),
        )
    })
}

fn items_of(value: Option<&Value>) -> Vec<&Value> {
    value.and_then(Value::as_array).into_iter().flatten().collect()
}

/// The values that are missing in the others, sorted, without duplicates.
fn missing_values<'a>(these: &[&'a Value], others: &[&Value]) -> Vec<&'a Value> {
    let mut missing: Vec<&Value> =
        these.iter().copied().filter(|value| !others.contains(value)).collect();
    missing.sort_by_key(|value| value.to_string());
    missing.dedup();
    missing
}

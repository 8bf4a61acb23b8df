//! Keywords whose value is a string: any change counts.

use super::{Change, Pair, quoted_text};
use crate::compatibility::{Effect, Policy};
use go_data::yaml::Value;

pub fn check_description(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let remedy = match pair.old {
        Some(_) => {
            "keep the description, or allow the change if the meaning stays: `--allow description`"
        }
        None => "allow the change if the meaning stays: `--allow description`",
    };
    Some(changed_text(pair, remedy).with_effect(Effect::Widens))
}

pub fn check_pattern(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let remedy = match pair.old {
        Some(old) => format!("keep the pattern {}", quoted_text(old)),
        None => "leave the pattern out, and check the value in the controller".to_owned(),
    };
    let effect = if pair.new.is_some() { Effect::Narrows } else { Effect::Widens };
    Some(changed_text(pair, &remedy).with_effect(effect))
}

pub fn check_type(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let is_number = |kind: Option<&Value>| kind.is_some_and(|kind| kind == "number");
    let widens = pair.old.is_some_and(|kind| kind == "integer") && is_number(pair.new);
    let effect = if widens { Effect::Widens } else { Effect::Narrows };
    Some(changed_text(pair, "keep the type, and add a field of the other type").with_effect(effect))
}

fn changed_text(pair: &Pair<'_>, remedy: &str) -> Change {
    let keyword = pair.keyword;
    let what = match (pair.old.map(quoted_text), pair.new.map(quoted_text)) {
        (Some(old), Some(new)) => {
            let what = format!("{keyword} changed from {old} to {new}");
            return Change::new(what, remedy).with_values(old, new);
        }
        (Some(old), None) => format!("{keyword} {old} was removed"),
        (None, new) => format!("{keyword} {} was added", new.unwrap_or_default()),
    };
    Change::new(what, remedy)
}

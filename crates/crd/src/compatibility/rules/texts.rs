//! Keywords whose value is a string: any change counts.

use super::{Change, Pair, plain};
use crate::compatibility::{Effect, Policy};
use go_data::yaml::Value;

pub fn description(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let remedy = match pair.old {
        Some(_) => {
            "keep the description, or allow the change if the meaning stays: `--allow description`"
        }
        None => "allow the change if the meaning stays: `--allow description`",
    };
    Some(changed(pair, remedy).with(Effect::Widens))
}

pub fn pattern(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let remedy = match pair.old {
        Some(old) => format!("keep the pattern {}", plain(old)),
        None => "leave the pattern out, and check the value in the controller".to_owned(),
    };
    let effect = if pair.new.is_some() { Effect::Narrows } else { Effect::Widens };
    Some(changed(pair, &remedy).with(effect))
}

pub fn type_(pair: &Pair<'_>, _: &Policy) -> Option<Change> {
    let is_number = |it: Option<&Value>| it.is_some_and(|it| it == "number");
    let widens = pair.old.is_some_and(|it| it == "integer") && is_number(pair.new);
    let effect = if widens { Effect::Widens } else { Effect::Narrows };
    Some(changed(pair, "keep the type, and add a field of the other type").with(effect))
}

fn changed(pair: &Pair<'_>, remedy: &str) -> Change {
    let keyword = pair.keyword;
    let what = match (pair.old.map(plain), pair.new.map(plain)) {
        (Some(old), Some(new)) => {
            let what = format!("{keyword} changed from {old} to {new}");
            return Change::new(what, remedy).between(old, new);
        }
        (Some(old), None) => format!("{keyword} {old} was removed"),
        (None, new) => format!("{keyword} {} was added", new.unwrap_or_default()),
    };
    Change::new(what, remedy)
}

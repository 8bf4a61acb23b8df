//! Reports changes that no other rule covers: formats, CEL rules, list types, schemas inside `oneOf`, and so on.

use super::{Change, format_value};
use crate::compatibility::{
    Effect,
    normal::{self, Keywords},
};
use go_data::yaml::Value;

/// Names every keyword that differs and that no other rule handles.
pub fn check_unhandled(
    old: &Keywords,
    new: &Keywords,
    handled: impl Fn(&str) -> bool,
) -> Option<Change> {
    let rest: Vec<&str> = normal::keyword_names().collect();
    let differs = |keyword: &&str| !handled(keyword) && old.get(*keyword) != new.get(*keyword);
    let keywords: Vec<&str> = rest.iter().copied().filter(differs).collect();
    if keywords.is_empty() {
        return None;
    }
    let effects = keywords
        .iter()
        .map(|keyword| effect_of_change(keyword, old.get(*keyword), new.get(*keyword)));
    // The worst first.
    let effects: Vec<Effect> = effects.collect();
    let worst = [Effect::Loses, Effect::Narrows, Effect::Requests];
    let effect = worst.into_iter().find(|worst| effects.contains(worst)).unwrap_or(Effect::Widens);
    let value = |keyword: &str| old.get(keyword).filter(|_| !handled(keyword)).cloned();
    let runs: Vec<&[&str]> = rest.split(differs).collect();
    let last = runs.len() - 1;
    let context =
        runs.iter().enumerate().flat_map(|(at, run)| context_keywords(run, at == 0, at == last));
    let context: Vec<Option<Value>> = context.map(value).collect();
    let each = keywords.iter().map(|keyword| {
        format!(
            "`{keyword}` changed from {} to {}",
            format_value(old.get(*keyword)),
            format_value(new.get(*keyword))
        )
    });
    let names: Vec<String> = keywords.iter().map(|keyword| format!("`{keyword}`")).collect();
    let remedy = format!(
        "keep {} as before, or review the change and allow it: `--allow unhandled`",
        names.join(", ")
    );
    let change = Change::new(each.collect::<Vec<_>>().join(", "), remedy);
    Some(Change { context, effect, ..change })
}

/// Returns the effect of the change of one keyword. A keyword without a row narrows the schema where it is set.
fn effect_of_change(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> Effect {
    let items = |list: Option<&Value>| list.and_then(Value::as_array).cloned().unwrap_or_default();
    let (olds, news) = (items(old), items(new));
    let has_all =
        |these: &[Value], others: &[Value]| others.iter().all(|other| these.contains(other));
    let if_not = |widens: bool, effect: Effect| if widens { Effect::Widens } else { effect };
    match keyword {
        "id" | "$schema" | "title" | "externalDocs" | "example" => Effect::Widens,
        // Neither is read when OLM validates the objects that are stored.
        "x-kubernetes-validations" => {
            let rules =
                |rules: &[Value]| rules.iter().map(|rule| rule["rule"].clone()).collect::<Vec<_>>();
            if_not(has_all(&rules(&olds), &rules(&news)), Effect::Requests)
        }
        "x-kubernetes-list-type" | "x-kubernetes-map-type" | "x-kubernetes-list-map-keys" => {
            Effect::Requests
        }
        "x-kubernetes-preserve-unknown-fields" => if_not(new.is_some(), Effect::Loses),
        // Findings about the schema itself say what is in it.
        "additionalProperties" => match (old, new) {
            (Some(Value::Object(_)), Some(Value::Object(_))) | (_, Some(Value::Bool(true))) => {
                Effect::Widens
            }
            (Some(_), None | Some(Value::Bool(false))) => Effect::Loses,
            (None | Some(Value::Bool(false)), Some(_)) => Effect::Widens,
            _ => Effect::Narrows,
        },
        "allOf" => if_not(has_all(&olds, &news), Effect::Narrows),
        "anyOf" => if_not(new.is_none() || old.is_some() && has_all(&news, &olds), Effect::Narrows),
        "x-kubernetes-int-or-string" => if_not(new.is_some(), Effect::Narrows),
        _ => if_not(new.is_none(), Effect::Narrows),
    }
}

#[test]
fn a_removed_keyword_allows_more() {
    use go_data::yaml::json;
    let check = |keyword: &str, old: Value, new: Value, expected: Effect| {
        let [old, new] = [old, new].map(|value| Some(value).filter(|value| !value.is_null()));
        assert_eq!(effect_of_change(keyword, old.as_ref(), new.as_ref()), expected, "{keyword}");
    };
    check("format", json!("date"), Value::Null, Effect::Widens);
    check("format", Value::Null, json!("date"), Effect::Narrows);
    check("multipleOf", json!(2), json!(4), Effect::Narrows);
    check("anyOf", json!([1]), json!([1, 2]), Effect::Widens);
    check("anyOf", Value::Null, json!([1]), Effect::Narrows);
    check("allOf", json!([1, 2]), json!([1]), Effect::Widens);
    check("allOf", json!([1]), json!([1, 2]), Effect::Narrows);
    let rule = |rule: &str, message: &str| json!({ "rule": rule, "message": message });
    let key = "x-kubernetes-validations";
    check(key, json!([rule("a", "x"), rule("b", "")]), json!([rule("a", "y")]), Effect::Widens);
    check(key, Value::Null, json!([rule("a", "")]), Effect::Requests);
    check("additionalProperties", json!({}), Value::Null, Effect::Loses);
    check("additionalProperties", json!({}), json!(true), Effect::Widens);
    check("additionalProperties", json!(true), json!({}), Effect::Narrows);
    check("x-kubernetes-preserve-unknown-fields", json!(true), Value::Null, Effect::Loses);
}

/// Returns the unchanged keywords that a diff by crdify shows as context: up to two before and after each changed one.
/// crdify compares the texts of two diffs when it looks for differences between served versions.
fn context_keywords<'a>(
    run: &'a [&'a str],
    is_first: bool,
    is_last: bool,
) -> impl Iterator<Item = &'a str> {
    const SHOWN: usize = 2;
    let before = if is_first { 0 } else { SHOWN.min(run.len()) };
    let after = if is_last { 0 } else { SHOWN.min(run.len() - before) };
    // A single one is not left out.
    let hidden = match run.len() - before - after {
        1 => 0,
        many => many,
    };
    let shown = move |at: usize| at < before || at >= before + hidden;
    run.iter().enumerate().filter(move |entry| shown(entry.0)).map(|entry| *entry.1)
}

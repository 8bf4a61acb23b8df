//! Predicts what an API server will report about a CRD. Each warning has the place of its kind.
//!
//! The rules are those of apiextensions-apiserver 0.36. No lint changes a CRD.

mod empty_lists;
mod formats;
mod rules;
mod size;
mod structural;

pub use size::shorten;

use crate::manifests::{Manifest, Version, versions};
use crate::model::{Operator, Problem};
use crate::yaml::Value;

/// A fault in a schema: its field path, such as `spec.size`, and its cause.
struct Fault {
    at: String,
    message: String,
    hint: &'static str,
}

/// All warnings, ordered by the places of their kinds.
pub fn lints(operator: &Operator, crds: &[Manifest]) -> Vec<Problem> {
    let mut res: Vec<Problem> = versions(operator).flat_map(|it| of_version(&it)).collect();
    res.extend(size::lints(operator, crds));
    res.extend(empty_lists::lints(operator));
    res.sort();
    res
}

fn of_version(version: &Version<'_>) -> Vec<Problem> {
    let Some(schema) = version.schema() else { return Vec::new() };
    let mut faults = structural::faults(&schema);
    faults.extend(formats::faults(&schema));
    // The API server checks rules only where the schema itself is valid.
    faults.extend(rules::faults(&schema));
    let describe = |it: Fault| {
        let Fault { at, message, hint } = it;
        let at = if at.is_empty() { "the resource itself".to_owned() } else { format!("`{at}`") };
        let message = format!("{} {}: {at} {message}", version.kind(), version.name());
        Problem::new(version.place().clone(), message).with_hint(hint)
    };
    faults.into_iter().map(describe).collect()
}

/// The path of a value one level further down.
fn below(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}

/// Calls `f` with a schema and every schema in it, each with its path from the top.
fn walk(at: &str, schema: &Value, f: &mut impl FnMut(&str, &Value)) {
    f(at, schema);
    let Value::Object(map) = schema else { return };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(properties)) => {
                properties.iter().for_each(|(name, it)| walk(&below(at, name), it, f));
            }
            ("items", Value::Object(_)) => walk(&format!("{at}[]"), value, f),
            ("additionalProperties", Value::Object(_)) => walk(&format!("{at}.*"), value, f),
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(list)) => {
                list.iter().for_each(|it| walk(at, it, f));
            }
            ("not", Value::Object(_)) => walk(at, value, f),
            _ => {}
        }
    }
}

/// The faults without duplicates.
fn once(mut faults: Vec<Fault>) -> Vec<Fault> {
    let mut seen = std::collections::BTreeSet::new();
    faults.retain(|it| seen.insert((it.at.clone(), it.message.clone())));
    faults
}

fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn says(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests;

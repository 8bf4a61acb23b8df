//! The operator's description from the CSV base, completed from Cargo.toml.

use super::super::{
    Input,
    explanation::{Field, Journal},
    words,
};
use go_data::yaml::{Map, Value, json};

pub fn spec(base: &Value, input: &Input, journal: &mut Journal) -> Map<String, Value> {
    let mut res = base.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
    // The lists of webhooks and CRDs are generated again; an empty value counts as none.
    res.retain(|key, it| !is_empty(it) || key == "selector" && it.is_object());
    let cargo = input.cargo;
    let mut offer = |field: &str, value: Value, from: &str| {
        if !is_empty(&value) && !res.contains_key(field) {
            record(journal, &format!("spec.{field}"), &value, from);
            res.insert(field.to_owned(), value);
        }
    };
    offer("displayName", json!(words::title(input.package.as_str())), "the name of the package");
    offer("description", json!(cargo.description), CARGO);
    offer("keywords", json!(cargo.keywords), CARGO);
    offer("maintainers", maintainers(&cargo.authors), CARGO);
    let links = [("Homepage", &cargo.homepage), ("Source code", &cargo.repository)];
    let links = links.into_iter().filter(|(_, url)| !url.is_empty());
    offer("links", links.map(|(name, url)| json!({ "name": name, "url": url })).collect(), CARGO);
    res
}

pub fn annotations(base: &Value, input: &Input, journal: &mut Journal) -> Map<String, Value> {
    let annotations = base.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut res = annotations.cloned().unwrap_or_default();
    let created_at = input.created_at.as_deref().unwrap_or_default();
    for (key, value, from) in
        [("repository", input.cargo.repository.as_str(), CARGO), ("createdAt", created_at, EPOCH)]
    {
        if !value.is_empty() && !res.contains_key(key) {
            record(journal, &format!("metadata.annotations.{key}"), &json!(value), from);
            res.insert(key.to_owned(), json!(value));
        }
    }
    res
}

pub const CARGO: &str = "Cargo.toml";
const EPOCH: &str = "SOURCE_DATE_EPOCH";

pub fn record(journal: &mut Journal, name: &str, value: &Value, from: &str) {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let field = Field { name: name.to_owned(), value, from: from.to_owned() };
    journal.explanation.fields.push(field);
}

/// From Cargo's `Name <mail>`: OperatorHub rejects a maintainer without an address.
fn maintainers(authors: &[String]) -> Value {
    let authors = authors.iter().filter_map(|it| it.trim().strip_suffix('>')?.split_once('<'));
    authors.map(|(name, email)| json!({ "name": name.trim(), "email": email.trim() })).collect()
}

pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

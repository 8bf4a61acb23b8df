//! The operator's description from the CSV base, completed from Cargo.toml.

use super::super::{Input, words};
use go_data::yaml::{Map, Value, json};

pub fn complete_spec(base: &Value, input: &Input) -> Map<String, Value> {
    let mut spec = base.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
    // The lists of webhooks and CRDs are generated again; an empty value counts as none.
    spec.retain(|key, value| !is_empty(value) || key == "selector" && value.is_object());
    let cargo = input.cargo;
    let mut offer = |field: &str, value: Value| {
        if !is_empty(&value) && !spec.contains_key(field) {
            spec.insert(field.to_owned(), value);
        }
    };
    offer("displayName", json!(words::display_name(input.package.as_str())));
    offer("description", json!(cargo.description));
    offer("keywords", json!(cargo.keywords));
    offer("maintainers", parse_maintainers(&cargo.authors));
    let links = [("Homepage", &cargo.homepage), ("Source code", &cargo.repository)];
    let links = links.into_iter().filter(|(_, url)| !url.is_empty());
    offer("links", links.map(|(name, url)| json!({ "name": name, "url": url })).collect());
    spec
}

pub fn complete_annotations(base: &Value, input: &Input) -> Map<String, Value> {
    let annotations = base.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut completed = annotations.cloned().unwrap_or_default();
    let created_at = input.created_at.as_deref().unwrap_or_default();
    for (key, value) in [("repository", input.cargo.repository.as_str()), ("createdAt", created_at)]
    {
        if !value.is_empty() && !completed.contains_key(key) {
            completed.insert(key.to_owned(), json!(value));
        }
    }
    completed
}

/// From Cargo's `Name <mail>`: OperatorHub rejects a maintainer without an address.
fn parse_maintainers(authors: &[String]) -> Value {
    let authors =
        authors.iter().filter_map(|author| author.trim().strip_suffix('>')?.split_once('<'));
    authors.map(|(name, email)| json!({ "name": name.trim(), "email": email.trim() })).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

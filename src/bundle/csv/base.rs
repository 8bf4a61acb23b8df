//! What the base says of the operator, and Cargo.toml for what the base leaves open.

use super::super::{Input, Refusals, object, words};
use crate::yaml::{Map, Value, json};

/// Every field of `spec` that a ClusterServiceVersion has.
const FIELDS: &[&str] = &[
    "annotations",
    "apiservicedefinitions",
    "cleanup",
    "customresourcedefinitions",
    "description",
    "displayName",
    "icon",
    "install",
    "installModes",
    "keywords",
    "labels",
    "links",
    "maintainers",
    "maturity",
    "minKubeVersion",
    "nativeAPIs",
    "provider",
    "relatedImages",
    "release",
    "replaces",
    "selector",
    "skips",
    "version",
    "webhookdefinitions",
];

/// A field that OLM does not know would be lost without a word when the CSV is installed.
pub fn check(base: &Value, refusals: &mut Refusals) {
    let spec = base.get("spec").and_then(Value::as_object);
    for field in spec.into_iter().flat_map(Map::keys) {
        if FIELDS.contains(&field.as_str()) {
            continue;
        }
        let near = FIELDS.iter().find(|it| it.eq_ignore_ascii_case(field));
        let hint = match near {
            Some(near) => format!("write it `{near}`"),
            None => format!("the fields of `spec` are {}", FIELDS.join(", ")),
        };
        refusals.push(
            format!("{}: OLM knows no field `spec.{field}`", object::title(base)),
            format!("in the CSV base under config/manifests/bases, {hint}"),
        );
    }
}

pub fn spec(base: &Value, input: &Input) -> Map<String, Value> {
    let mut res = base.get("spec").and_then(Value::as_object).cloned().unwrap_or_default();
    // The former webhook list and CRDs are made anew; an empty value is as good as none.
    res.retain(|_, it| !is_empty(it));
    let cargo = input.cargo;
    let mut offer = |field: &str, value: Value| {
        if !is_empty(&value) {
            res.entry(field).or_insert(value);
        }
    };
    offer("displayName", json!(words::title(input.package.as_str())));
    offer("description", json!(cargo.description));
    offer("keywords", json!(cargo.keywords));
    offer("maintainers", maintainers(&cargo.authors));
    let links = [("Homepage", &cargo.homepage), ("Source code", &cargo.repository)];
    let links = links.into_iter().filter(|(_, url)| !url.is_empty());
    offer("links", links.map(|(name, url)| json!({ "name": name, "url": url })).collect());
    // OLM's own default, and not worth a line.
    if res.get("cleanup").is_some_and(|it| *it == json!({ "enabled": false })) {
        res.remove("cleanup");
    }
    res
}

pub fn annotations(base: &Value, input: &Input) -> Map<String, Value> {
    let annotations = base.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut res = annotations.cloned().unwrap_or_default();
    if !input.cargo.repository.is_empty() {
        res.entry("repository").or_insert(json!(input.cargo.repository));
    }
    if let Some(created_at) = &input.created_at {
        res.entry("createdAt").or_insert(json!(created_at));
    }
    res
}

/// Cargo's `Name <mail>`; a name alone is no maintainer that OperatorHub takes.
fn maintainers(authors: &[String]) -> Value {
    let authors = authors.iter().filter_map(|it| it.trim().strip_suffix('>')?.split_once('<'));
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

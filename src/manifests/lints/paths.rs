//! JSON paths of `#[kube(…)]` that lead to no field. API servers accept them: the column stays empty, and the scale
//! subresource has no replicas.

use super::place_of;
use crate::manifests::Version;
use crate::project::Problem;
use go_data::{
    kubernetes::{self, Reader},
    yaml::{Value, json},
};

pub fn lints(version: &Version<'_>) -> Vec<Problem> {
    let Some(schema) = version.schema() else { return Vec::new() };
    let columns = version.own.additional_printer_columns.iter().flatten().enumerate();
    let columns = columns.map(|(at, column)| {
        let pointer = format!("/additionalPrinterColumns/{at}");
        (pointer, format!("the printer column `{}`", column.name), column.json_path.as_str())
    });
    let subresources = version.own.subresources.as_ref();
    let scale =
        subresources.and_then(|subresource| subresource.scale.as_ref()).map(|subresource| {
            let selector = subresource.label_selector_path.as_deref();
            [
                Some(subresource.spec_replicas_path.as_str()),
                Some(subresource.status_replicas_path.as_str()),
                selector,
            ]
        });
    // Without the dot, an API server refuses these.
    let scale = scale.into_iter().flatten().flatten().filter(|path| path.starts_with('.'));
    let scale = scale
        .map(|path| ("/subresources/scale".to_owned(), "the subresource `scale`".to_owned(), path));
    let problem = |(pointer, what, path): (String, String, &str)| {
        let wrong = check_path(&schema, path)?;
        let message = format!(
            "{} {}: {what} has the path `{path}`, and {}",
            version.kind(),
            version.name(),
            wrong.why
        );
        let hint = match wrong.near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use the path of a field, with its names in JSON".to_owned(),
        };
        let problem = Problem::new(place_of(version, &pointer), message).with_hint(hint);
        Some(problem.with_rule("field-path"))
    };
    columns.chain(scale).filter_map(problem).collect()
}

/// Why a path leads to no field, and the nearest name that exists.
#[derive(Debug, PartialEq)]
struct UnresolvedPath {
    why: String,
    near: Option<String>,
}

/// Returns why a path leads to no field, as far as the schema says which fields there are.
fn check_path(schema: &Value, path: &str) -> Option<UnresolvedPath> {
    let path = path.trim_start();
    let inside = path.strip_prefix(['$', '@']).unwrap_or(path);
    if !inside.starts_with(['.', '[']) {
        let why = "has no dot before the first name".to_owned();
        let bare = inside.trim_matches(['{', '}']).trim_start_matches('.');
        return Some(UnresolvedPath { why, near: Some(format!(".{bare}")) });
    }
    find_lost_step(schema, inside, "", true)
}

/// Returns the first step of a path below `parent` that leads to no field.
fn find_lost_step(here: &Value, path: &str, parent: &str, is_root: bool) -> Option<UnresolvedPath> {
    if let Some(list) = path.strip_prefix('[') {
        let (inside, rest) = split_bracket(list)?;
        let items = here.get("items").filter(|value| value.is_object())?;
        let parent = format!("{parent}[*]");
        let compared = inside.strip_prefix('?').unwrap_or_default().split('@').skip(1);
        let compared =
            compared.filter_map(|text| find_lost_step(items, plain_prefix(text), &parent, false));
        return compared.chain(find_lost_step(items, rest, &parent, false)).next();
    }
    let rest = path.strip_prefix('.')?;
    let (name, rest) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
    let is = |key: &str| here.get(key) == Some(&Value::Bool(true));
    let implied: &[&str] = if is_root || is("x-kubernetes-embedded-resource") {
        &["apiVersion", "kind", "metadata"]
    } else {
        &[]
    };
    // An odd name may be quoted, escaped, or a wildcard.
    let is_plain = !name.is_empty() && plain_prefix(&format!(".{name}")).len() == name.len() + 1;
    if is("x-kubernetes-preserve-unknown-fields") || !is_plain {
        return None;
    }
    if implied.contains(&name) {
        return (name == "metadata").then(|| in_metadata(rest, parent)).flatten();
    }
    let fields = here.get("properties").and_then(Value::as_object);
    let next =
        fields.and_then(|field| field.get(name)).or_else(|| here.get("additionalProperties"));
    let Some(next) = next else {
        let names = fields.into_iter().flatten().map(|pair| pair.0.as_str());
        let near = diagnostics::find_nearest(name, names.chain(implied.iter().copied()));
        return Some(no_field(parent, name, near));
    };
    find_lost_step(next, rest, &format!("{parent}.{name}"), false)
}

/// Returns the first step of a path below an object's metadata that leads to no field.
fn in_metadata(path: &str, parent: &str) -> Option<UnresolvedPath> {
    let name = plain_prefix(path).split('.').nth(1)?;
    let read = kubernetes::decode_type("meta.ObjectMeta", &json!({ name: null }), Reader::Server);
    let unknown = read.unknown.first()?;
    Some(no_field(&format!("{parent}.metadata"), name, unknown.nearest()))
}

fn no_field(parent: &str, name: &str, near: Option<&str>) -> UnresolvedPath {
    let near = near.map(|near| format!("{parent}.{near}"));
    UnresolvedPath { why: format!("there is no field `{parent}.{name}`"), near }
}

/// Returns the content of a bracket, and the rest of the path.
fn split_bracket(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return Some((&text[..at], &text[at + 1..])),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns the beginning of a path that is dots and plain names.
fn plain_prefix(path: &str) -> &str {
    let is_other = |c: char| !c.is_alphanumeric() && !"_-.".contains(c);
    &path[..path.find(is_other).unwrap_or(path.len())]
}

#[test]
fn paths_are_followed_as_far_as_the_schema_goes() {
    let text = json!({ "type": "string" });
    let condition = json!({ "type": "object", "properties": { "type": text, "status": text } });
    let object = |fields: Value| json!({ "type": "object", "properties": fields });
    let mut embedded = object(json!({ "spec": object(json!({ "a": text })) }));
    embedded["x-kubernetes-embedded-resource"] = true.into();
    let schema = object(json!({
        "spec": object(json!({
            "size": { "type": "integer" },
            "map": { "type": "object", "additionalProperties": object(json!({ "a": text })) },
            "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            "template": embedded,
        })),
        "status": object(json!({ "conditions": { "type": "array", "items": condition } })),
    }));
    let check = |path: &str, expected: Option<(&str, &str)>| {
        let found =
            check_path(&schema, path).map(|wrong| (wrong.why, wrong.near.unwrap_or_default()));
        let expected = expected.map(|(why, near)| (why.to_owned(), near.to_owned()));
        assert_eq!(found, expected, "{path}");
    };
    for path in [
        ".spec.size",
        "$.spec.size",
        " @.spec.size",
        ".metadata.creationTimestamp",
        ".metadata.labels.a\\.b/c",
        ".metadata.ownerReferences[0].nam",
        ".spec.map.key.a",
        ".spec.map[\"a key\"].b",
        ".spec.any.thing[0].b",
        ".spec.template.metadata.name",
        ".spec.template.spec.a",
        ".spec.*",
        "..size",
        ".status.conditions[0].status",
        ".status.conditions[*].type",
        ".status.conditions[-1:].type",
        ".status.conditions[?(@.type==\"a ] .b\")].status",
        ".status.conditions",
    ] {
        check(path, None);
    }
    let none = |field: &str| format!("there is no field `{field}`");
    for (path, field, near) in [
        (".spec.sice", ".spec.sice", ".spec.size"),
        (".spec.size.b", ".spec.size.b", ""),
        (".spec.map.key.bb", ".spec.map.key.bb", ""),
        (".metdata.name", ".metdata", ".metadata"),
        (".metadata.creationTimestam", ".metadata.creationTimestam", ".metadata.creationTimestamp"),
        (".spec.template.spek", ".spec.template.spek", ".spec.template.spec"),
        (".status.conditions.type", ".status.conditions.type", ""),
        (
            ".status.conditions[0].stats",
            ".status.conditions[*].stats",
            ".status.conditions[*].status",
        ),
        (
            ".status.conditions[?(@.typ==\"Ready\")].status",
            ".status.conditions[*].typ",
            ".status.conditions[*].type",
        ),
    ] {
        check(path, Some((&none(field), near)));
    }
    check("spec.size", Some(("has no dot before the first name", ".spec.size")));
    check("{.spec.size}", Some(("has no dot before the first name", ".spec.size")));
}

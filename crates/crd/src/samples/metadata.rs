//! Checks `apiVersion`, `kind` and `metadata`, of a sample and of objects within it.

use crate::{
    expression,
    keyword::flag,
    structural::{FieldPath, Findings},
};
use go_data::{kubernetes, yaml::Value};

const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const LABEL: &str = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";
const KIND: &str = "^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$";

/// Checks the metadata of an object at its top as an API server does.
pub fn check_metadata(object: &Value, findings: &mut Findings) {
    let path = FieldPath::default().key("metadata");
    let metadata = object.get("metadata").unwrap_or(&Value::Null);
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, prefix) = (text("name"), text("generateName"));
    if name.is_empty() && prefix.is_empty() {
        findings.blocking(&path.key("name"), "is required, but missing");
    } else if !name.is_empty() && (name.len() > 253 || !has_match(name, SUBDOMAIN)) {
        findings.fault(&path.key("name"), "must be a DNS subdomain: a-z, 0-9, `-` and `.`");
    }
    check_fields(metadata, &path, findings);
}

/// Checks the metadata of objects that are embedded in a sample.
pub fn check_embedded(schema: &Value, value: &Value, path: &FieldPath, findings: &mut Findings) {
    match value {
        Value::Object(map) => {
            if flag(schema, "x-kubernetes-embedded-resource") {
                for key in ["apiVersion", "kind"] {
                    match map.get(key) {
                        None => findings.blocking(&path.key(key), "is required, but missing"),
                        Some(Value::String(it)) if key == "kind" && !has_match(it, KIND) => {
                            findings.fault(&path.key(key), "must be the name of a kind");
                        }
                        Some(Value::String(it))
                            if !it.is_empty() && it.matches('/').count() < 2 => {}
                        Some(_) => findings.fault(&path.key(key), "must be a group and a version"),
                    }
                }
                if let Some(metadata) = map.get("metadata") {
                    let path = path.key("metadata");
                    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
                    if name.contains(['/', '%']) || matches!(name, "." | "..") {
                        findings.fault(&path.key("name"), "must be valid as a part of a URL");
                    }
                    check_fields(metadata, &path, findings);
                }
            }
            let properties = schema.get("properties");
            let others = schema.get("additionalProperties").filter(|values| values.is_object());
            for (key, value) in map {
                if let Some(schema) =
                    properties.and_then(|properties| properties.get(key)).or(others)
                {
                    check_embedded(schema, value, &path.key(key), findings);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (at, item) in items.iter().enumerate() {
                check_embedded(schema, item, &path.item(at), findings);
            }
        }
        _ => {}
    }
}

fn check_fields(metadata: &Value, path: &FieldPath, findings: &mut Findings) {
    let decoded = kubernetes::decode_metadata(metadata);
    for field in decoded.unknown {
        findings.fault(&path.key(&field.path), "unknown field");
    }
    for fault in decoded.faults {
        findings.fault(path, fault.message);
    }
    for map in ["labels", "annotations"] {
        for (key, value) in metadata.get(map).and_then(Value::as_object).into_iter().flatten() {
            let path = path.key(map).key(key);
            let (prefix, name) =
                key.split_once('/').map_or((None, key.as_str()), |parts| (Some(parts.0), parts.1));
            let is_name = !name.is_empty() && name.len() <= 63 && has_match(name, LABEL);
            // Annotations may have any letters in upper case.
            let prefix = prefix.map(|prefix| {
                if map == "annotations" { prefix.to_lowercase() } else { prefix.to_owned() }
            });
            if !is_name
                || prefix.is_some_and(|prefix| prefix.len() > 253 || !has_match(&prefix, SUBDOMAIN))
            {
                findings.fault(&path, "must have a qualified name as its key");
            }
            let value = value.as_str().unwrap_or_default();
            if map == "labels" && (value.len() > 63 || !has_match(value, LABEL)) {
                findings.fault(
                    &path,
                    "must have at most 63 characters: letters, digits, `-`, `_` and `.`",
                );
            }
        }
    }
}

fn has_match(text: &str, pattern: &str) -> bool {
    expression::is_match(pattern, text) == Some(true)
}

//! `selectableFields` of a CRD's version: each leads to one plain field of the schema.

use super::of;
use go_data::yaml::Value;

/// The maximum number that Kubernetes accepts.
const MOST: usize = 8;

/// What is wrong with them, in the words of Kubernetes; `field` is where they stand.
pub fn faults(version: &Value, field: &str) -> Vec<String> {
    let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    let mut res = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (at, selectable) in of::list(version, "/selectableFields").iter().enumerate() {
        let field = format!("{field}[{at}].jsonPath");
        let path = of::text(selectable, "/jsonPath");
        if path.is_empty() {
            res.push(format!("{field}: Required value"));
            continue;
        }
        let invalid = |why: &str| format!("{field}: Invalid value: {path:?}: {why}");
        let found = match found(schema, path) {
            Ok(found) => found,
            Err(why) => {
                res.push(invalid(&format!("is an invalid path: {why}")));
                continue;
            }
        };
        if path == ".metadata" || path.starts_with(".metadata.") {
            res.push(invalid("must not point to fields in metadata"));
        }
        if !matches!(of::text(found, "/type"), "string" | "boolean" | "integer") {
            res.push(invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            ));
        }
        if seen.contains(&path) {
            res.push(format!("{field}: Duplicate value: {path:?}"));
        } else {
            seen.push(path);
        }
    }
    if MOST < seen.len() {
        res.push(format!("{field}: Too many: {}: must have at most {MOST} items", seen.len()));
    }
    res
}

/// The schema at a path such as `.spec.size`.
pub fn found<'a>(schema: &'a Value, path: &str) -> Result<&'a Value, String> {
    let Some(names) = path.strip_prefix('.') else {
        let word = path.split(['.', '[']).next().filter(|it| !it.is_empty()).unwrap_or(path);
        return Err(format!("expected [ or . but got: {word}"));
    };
    let mut at = schema;
    for name in names.split('.') {
        if name.contains('[') {
            return Err("array notation is not allowed".to_owned());
        }
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        at = match (at.get("properties"), at.get("additionalProperties")) {
            (Some(properties), _) => properties.get(name),
            (None, below) => below,
        }
        .ok_or("does not refer to a valid field")?;
    }
    Ok(at)
}

//! A CRD as API servers hold it: they drop what is empty, where its Go type says `omitempty`.

use go_data::yaml::{Map, Value};

/// The fields of a schema that are dropped where they are empty, or false.
const OF_SCHEMAS: &[&str] = &[
    "allOf",
    "anyOf",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
];

/// A CRD without what API servers drop.
pub fn held(crd: &Value) -> Value {
    let mut res = crd.clone();
    drop_empty(&mut res["metadata"], &["annotations", "labels"]);
    drop_empty(&mut res["spec"]["names"], &["categories", "listKind", "shortNames", "singular"]);
    for version in res["spec"]["versions"].as_array_mut().into_iter().flatten() {
        drop_empty(version, &["additionalPrinterColumns", "deprecated", "selectableFields"]);
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            clean(schema);
        }
    }
    res
}

/// A schema, and all in it.
fn clean(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    for (name, value) in fields.iter_mut() {
        match (name.as_str(), value) {
            ("items" | "additionalItems" | "additionalProperties" | "not", one) => clean(one),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.iter_mut().for_each(clean),
            ("properties" | "patternProperties" | "definitions", Value::Object(all)) => {
                all.iter_mut().for_each(|it| clean(it.1));
            }
            _ => {}
        }
    }
    drop_empty(schema, OF_SCHEMAS);
}

fn drop_empty(of: &mut Value, names: &[&str]) {
    let Value::Object(fields) = of else { return };
    let is_empty = |it: &Value| match it {
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.is_empty(),
        Value::String(it) => it.is_empty(),
        it => *it == Value::Bool(false),
    };
    let kept = std::mem::take(fields).into_iter();
    *fields = kept
        .filter(|(name, it)| !names.contains(&name.as_str()) || !is_empty(it))
        .collect::<Map<_, _>>();
}

#[test]
fn what_is_empty_is_dropped_where_its_type_says_so() {
    use go_data::yaml::json;
    let crd = |names: Value, column: Value, schema: Value| {
        json!({
            "metadata": { "name": "caches.example.com" },
            "spec": { "names": names, "versions": [
                { "additionalPrinterColumns": column, "schema": { "openAPIV3Schema": schema } },
            ] },
        })
    };
    let full = crd(
        json!({ "kind": "Cache", "categories": [], "shortNames": ["c"] }),
        json!([]),
        json!({
            "required": [],
            "properties": {
                "required": { "default": { "required": [] }, "nullable": false, "items": { "enum": [] } },
                "status": { "additionalProperties": false, "x-kubernetes-preserve-unknown-fields": false },
            },
        }),
    );
    let mut expected = crd(
        json!({ "kind": "Cache", "shortNames": ["c"] }),
        json!(null),
        json!({
            "properties": {
                "required": { "default": { "required": [] }, "items": {} },
                "status": { "additionalProperties": false, "x-kubernetes-preserve-unknown-fields": false },
            },
        }),
    );
    if let Value::Object(version) = &mut expected["spec"]["versions"][0] {
        version.remove("additionalPrinterColumns");
    }
    assert_eq!(held(&full), expected);
}

//! Finds fields that API servers do not know: they ignore them, and `kubectl apply` refuses them.

use super::{Refusal, SchemaFault, child_path};
use go_data::{
    kubernetes::{self, Reader, UnknownField},
    yaml::{Value, pointer},
};

const CORRECT: &str =
    "correct the name, or remove the field: API servers ignore it, and `kubectl apply` refuses it";

pub fn find_unknown_fields(crd: &Value) -> Vec<Refusal> {
    let decoded =
        kubernetes::decode_type("apiextensions.CustomResourceDefinition", crd, Reader::Server);
    decoded.unknown.into_iter().map(|unknown| refusal_of_field(crd, unknown)).collect()
}

fn refusal_of_field(crd: &Value, field: UnknownField) -> Refusal {
    let suggestion = field.suggestion();
    let UnknownField { inside, name, .. } = field;
    let what = format!("has the field `{name}`, which API servers do not know{suggestion}");
    let pointer = kubernetes::format_pointer(&inside);
    let [spec, versions, at, schema, v3, steps @ ..] = &inside[..] else {
        return refusal_outside_of_schemas(pointer, &inside, &what);
    };
    if [spec, versions, schema, v3] != ["spec", "versions", "schema", "openAPIV3Schema"] {
        return refusal_outside_of_schemas(pointer, &inside, &what);
    }
    let version = pointer::text(crd, &format!("/spec/versions/{at}/name")).to_owned();
    let at = schema_path(steps);
    let place = if at.is_empty() { "the schema".to_owned() } else { format!("`{at}`") };
    let message = format!("the version `{version}`: {place} {what}");
    Refusal {
        pointer,
        message,
        version: Some(SchemaFault { name: version, at, what, hint: CORRECT }),
    }
}

fn refusal_outside_of_schemas(pointer: String, inside: &[String], what: &str) -> Refusal {
    let place = if inside.is_empty() { "it".to_owned() } else { format!("`{}`", inside.join(".")) };
    Refusal { pointer, message: format!("{place} {what}"), version: None }
}

/// Returns the field path of the schema at these steps below that of a version.
fn schema_path(steps: &[String]) -> String {
    let (mut path, mut steps) = (String::new(), steps.iter());
    while let Some(step) = steps.next() {
        match step.as_str() {
            "properties" | "patternProperties" | "definitions" | "dependencies" => {
                path = steps.next().map_or(path.clone(), |name| child_path(&path, name));
            }
            "items" => path += "[]",
            "additionalProperties" => path = child_path(&path, "*"),
            _ => {}
        }
    }
    path
}

#[test]
fn fields_are_known_in_one_spelling_only() {
    use go_data::yaml::json;
    let check = |crd: Value, expected: &[&str]| {
        let found: Vec<String> =
            find_unknown_fields(&crd).into_iter().map(|refusal| refusal.message).collect();
        assert_eq!(found, expected);
    };
    let schema = |property: Value| {
        let schema =
            json!({ "properties": { "a": { "items": { "properties": { "b": property } } } } });
        let version = json!({ "name": "v1", "schema": { "openAPIV3Schema": schema } });
        json!({ "kind": "CustomResourceDefinition", "spec": { "versions": [version] } })
    };
    check(schema(json!({ "minLength": 1, "default": { "minlength": 1 } })), &[]);
    check(
        schema(json!({ "minlength": 1 })),
        &[
            "the version `v1`: `a[].b` has the field `minlength`, which API servers do not know; did you mean `minLength`?",
        ],
    );
    check(
        schema(json!({ "x-kubernetes-validation": [] })),
        &[
            "the version `v1`: `a[].b` has the field `x-kubernetes-validation`, which API servers do not know; did you mean `x-kubernetes-validations`?",
        ],
    );
    check(
        schema(json!({ "x-kubernetes-validations": [{ "rule": "true", "mesage": "no" }] })),
        &[
            "the version `v1`: `a[].b` has the field `mesage`, which API servers do not know; did you mean `message`?",
        ],
    );
    check(
        schema(json!({ "additionalProperties": { "oneOf": [{ "unheardOf": 1 }] } })),
        &["the version `v1`: `a[].b.*` has the field `unheardOf`, which API servers do not know"],
    );
    check(
        json!({ "spec": { "names": { "shortnames": ["a"] } }, "specs": {} }),
        &[
            "`spec.names` has the field `shortnames`, which API servers do not know; did you mean `shortNames`?",
            "it has the field `specs`, which API servers do not know; did you mean `spec`?",
        ],
    );
}

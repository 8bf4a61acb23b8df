//! Fields that API servers do not know: they ignore them, and `kubectl apply` refuses them.

use super::{InSchema, Refusal, below};
use go_data::{
    kubernetes::{self, Reader, Unknown},
    yaml::{Value, pointer as of},
};

const CORRECT: &str =
    "correct the name, or remove the field: API servers ignore it, and `kubectl apply` refuses it";

pub fn fields(crd: &Value) -> Vec<Refusal> {
    let all = kubernetes::read_as("apiextensions.CustomResourceDefinition", crd, Reader::Server);
    all.unknown.into_iter().map(|it| refusal(crd, it)).collect()
}

fn refusal(crd: &Value, field: Unknown) -> Refusal {
    let suggestion = field.suggestion();
    let Unknown { inside, name, .. } = field;
    let what = format!("has the field `{name}`, which API servers do not know{suggestion}");
    let pointer = kubernetes::pointer(&inside);
    let [spec, versions, at, schema, v3, steps @ ..] = &inside[..] else {
        return outside(pointer, &inside, &what);
    };
    if [spec, versions, schema, v3] != ["spec", "versions", "schema", "openAPIV3Schema"] {
        return outside(pointer, &inside, &what);
    }
    let version = of::text(crd, &format!("/spec/versions/{at}/name")).to_owned();
    let at = path(steps);
    let place = if at.is_empty() { "the schema".to_owned() } else { format!("`{at}`") };
    let message = format!("the version `{version}`: {place} {what}");
    Refusal { pointer, message, version: Some(InSchema { name: version, at, what, hint: CORRECT }) }
}

fn outside(pointer: String, inside: &[String], what: &str) -> Refusal {
    let place = if inside.is_empty() { "it".to_owned() } else { format!("`{}`", inside.join(".")) };
    Refusal { pointer, message: format!("{place} {what}"), version: None }
}

/// The field path of the schema at these steps below that of a version.
fn path(steps: &[String]) -> String {
    let (mut res, mut steps) = (String::new(), steps.iter());
    while let Some(step) = steps.next() {
        match step.as_str() {
            "properties" | "patternProperties" | "definitions" | "dependencies" => {
                res = steps.next().map_or(res.clone(), |name| below(&res, name));
            }
            "items" => res += "[]",
            "additionalProperties" => res = below(&res, "*"),
            _ => {}
        }
    }
    res
}

#[test]
fn fields_are_known_in_one_spelling_only() {
    use go_data::yaml::json;
    let check = |crd: Value, expected: &[&str]| {
        let found: Vec<String> = fields(&crd).into_iter().map(|it| it.message).collect();
        assert_eq!(found, expected);
    };
    let schema = |it: Value| {
        let schema = json!({ "properties": { "a": { "items": { "properties": { "b": it } } } } });
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

use super::{FieldPath, Findings, Texts, conform, undeclared_in_apply, validate};
use serde_json::{Value, json};

const ABSENT: &str = "absent";

/// Returns the value that a server stores in a field with this schema, and the fields that strict validation refuses.
fn stored(schema: &Value, value: Value) -> (Value, Vec<String>) {
    let root = json!({ "type": "object", "properties": { "f": schema } });
    let mut object = json!({ "f": value });
    let unknown = conform(&mut object, &root);
    (object.get("f").cloned().unwrap_or(json!(ABSENT)), unknown)
}

#[track_caller]
fn check(schema: &Value, value: Value, expected: Value, unknown: &[&str]) {
    let unknown: Vec<_> = unknown.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(stored(schema, value), (expected, unknown));
}

// The expectations are the answers of kube-apiserver 1.36.

#[test]
fn objects_in_a_map_of_any_values_are_emptied() {
    let any = json!({ "type": "object", "additionalProperties": true });
    check(&any, json!({ "a": { "b": 1 } }), json!({ "a": {} }), &["f.a.b"]);
    let nested = json!({ "a": [{ "b": 1 }], "c": 1, "d": [1, [{ "e": 1 }]], "n": null });
    let emptied = json!({ "a": [{}], "c": 1, "d": [1, [{}]], "n": null });
    check(&any, nested, emptied, &["f.a[0].b", "f.d[1][0].e"]);
    let keeps = json!({ "type": "object", "additionalProperties": true, "x-kubernetes-preserve-unknown-fields": true });
    check(&keeps, json!({ "a": { "b": 1 } }), json!({ "a": {} }), &["f.a.b"]);
    let mended = json!({ "type": "object", "additionalProperties": { "x-kubernetes-preserve-unknown-fields": true } });
    let nested = json!({ "a": { "b": { "c": 1 } }, "d": [{ "e": 1 }], "n": null });
    check(&mended, nested, json!({ "a": { "b": { "c": 1 } }, "d": [{ "e": 1 }] }), &[]);
}

#[test]
fn what_keeps_unknown_fields_prunes_within_the_fields_that_it_declares() {
    let keeps = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": { "a": { "type": "object", "properties": { "b": { "type": "string" } } } } });
    let value = json!({ "a": { "b": "x", "c": 1 }, "z": { "y": { "x": 1 } } });
    check(&keeps, value, json!({ "a": { "b": "x" }, "z": { "y": { "x": 1 } } }), &["f.a.c"]);
    let list = json!({ "type": "array", "x-kubernetes-preserve-unknown-fields": true,
        "items": { "type": "object", "properties": { "a": { "type": "object" } } } });
    check(&list, json!([{ "z": { "y": 1 }, "a": { "q": 1 } }]), json!([{ "z": { "y": 1 }, "a": {} }]), &["f[0].a.q"]);
    let any = json!({ "x-kubernetes-preserve-unknown-fields": true });
    check(&any, json!([{ "a": { "b": 1 } }]), json!([{ "a": { "b": 1 } }]), &[]);
}

#[test]
fn an_embedded_resource_keeps_its_type_and_metadata() {
    let embedded = json!({ "type": "object", "x-kubernetes-embedded-resource": true, "properties": { "spec": { "type": "object" } } });
    let resource = json!({ "apiVersion": "v1", "kind": "A", "metadata": { "name": "a" }, "spec": { "y": 1 }, "q": 1 });
    let kept = json!({ "apiVersion": "v1", "kind": "A", "metadata": { "name": "a" }, "spec": {} });
    check(&embedded, resource, kept, &["f.q", "f.spec.y"]);
}

#[test]
fn a_null_stays_or_goes_or_becomes_the_default() {
    let text = |more: Value| {
        let mut schema = json!({ "type": "string" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    check(&text(json!({})), json!(null), json!(ABSENT), &[]);
    check(&text(json!({ "default": "x" })), json!(null), json!("x"), &[]);
    check(&text(json!({ "default": "x", "nullable": true })), json!(null), json!(null), &[]);
    check(&json!({ "x-kubernetes-preserve-unknown-fields": true }), json!(null), json!(ABSENT), &[]);
    let map = |values: Value| json!({ "type": "object", "additionalProperties": values });
    check(&map(text(json!({}))), json!({ "a": null }), json!({}), &[]);
    check(&map(text(json!({ "default": "d" }))), json!({ "a": null, "b": "x" }), json!({ "a": "d", "b": "x" }), &[]);
    let list = |items: Value| json!({ "type": "array", "items": items });
    check(&list(text(json!({}))), json!([null]), json!([null]), &[]);
    check(&list(text(json!({ "default": "d" }))), json!([null]), json!(["d"]), &[]);
    let nested = json!({ "type": "object", "default": {}, "properties": { "x": { "type": "integer", "default": 3 } } });
    check(&nested, json!(null), json!({ "x": 3 }), &[]);
}

#[test]
fn server_side_apply_refuses_unknown_fields_of_objects_with_declared_fields() {
    let fields = json!({ "type": "object", "properties": { "a": { "type": "object" } } });
    let check = |schema: Value, value: Value, expected: &[&str]| {
        let root = json!({ "type": "object", "properties": { "f": schema } });
        assert_eq!(undeclared_in_apply(&json!({ "f": value }), &root), expected, "{schema}");
    };
    check(fields.clone(), json!({ "b": 1 }), &["f.b"]);
    check(fields.clone(), json!({ "a": { "b": 1 } }), &[]);
    check(json!({ "type": "array", "items": fields }), json!([{ "b": 1 }]), &["f[0].b"]);
    check(json!({ "type": "object", "additionalProperties": fields }), json!({ "k": { "b": 1 } }), &["f.k.b"]);
    check(json!({ "type": "object", "additionalProperties": true }), json!({ "k": { "b": 1 } }), &[]);
    let keeps =
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": { "k": fields } });
    check(keeps, json!({ "k": { "b": 1 }, "l": { "b": 1 } }), &[]);
}

/// The faults of a value of a field.
fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut findings = Findings::default();
    let texts = Texts { matches: |_, _| None, has_format: |_, _| None };
    validate(schema, value, &FieldPath::default().key("f"), texts, &mut findings);
    findings.faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect()
}

#[test]
fn an_enum_refuses_null_even_if_it_is_nullable_and_lists_null() {
    let schema = |values: Value| json!({ "type": "string", "nullable": true, "enum": values });
    assert_eq!(faults(&schema(json!(["A", "B"])), &json!(null)), ["f must be one of `A`, `B`"]);
    assert_eq!(faults(&schema(json!(["A", null])), &json!(null)), ["f must be one of `A`, `null`"]);
    let alternatives = json!({ "type": "string", "nullable": true, "oneOf": [{ "enum": ["A"] }, { "enum": ["B"] }] });
    assert_eq!(faults(&alternatives, &json!(null)), [""; 0]);
    assert_eq!(
        faults(&json!({ "type": "integer" }), &json!(u64::MAX)),
        ["f must be of type integer, and is of type number"]
    );
}

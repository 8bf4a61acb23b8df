use serde_json::json;

use super::{Fault, conditions, formats, free_form, nulls, unreadable};
use crd::definition::structural;
use go_data::yaml::Value;

/// A root with this one field, `spec.it`.
fn root(it: Value) -> Value {
    json!({ "type": "object", "properties": { "spec": { "type": "object", "properties": { "it": it } } } })
}

#[track_caller]
fn check(found: Vec<Fault>, expected: &[&str]) {
    let found: Vec<String> = found.iter().map(|it| format!("{} {}", it.at, it.message)).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn structure(it: Value, expected: &[&str]) {
    check(structural::check_schema(&root(it)), expected);
}

#[test]
fn crds_that_an_api_server_accepts_cause_no_warning() {
    structure(json!({ "type": "string" }), &[]);
    structure(
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        &[],
    );
    structure(json!({ "x-kubernetes-preserve-unknown-fields": true }), &[]);
    structure(json!({ "type": "object", "additionalProperties": { "type": "string" } }), &[]);
    structure(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "oneOf": [{ "required": ["a"] }] }),
        &[],
    );
    structure(
        json!({ "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": { "type": "object", "required": ["k"], "properties": { "k": { "type": "string" } } } }),
        &[],
    );
}

#[test]
fn schemas_that_an_api_server_rejects_are_reported_with_their_path() {
    structure(json!({}), &["spec.it has no type"]);
    structure(json!({ "$ref": "#/x" }), &["spec.it is recursive, which a CRD cannot express"]);
    structure(json!({ "type": "array", "items": [{ "type": "string" }] }), &["spec.it is a tuple"]);
    structure(json!({ "type": "array", "items": {} }), &["spec.it[] has no type"]);
    structure(
        json!({ "type": "object", "additionalProperties": { "type": "null" } }),
        &["spec.it.* can only be null"],
    );
    structure(
        json!({ "type": "object", "patternProperties": { "a": { "type": "string" } } }),
        &["spec.it is a map whose keys must match a pattern (`patternProperties`)"],
    );
    structure(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": { "type": "string" } }),
        &["spec.it has both `properties` and `additionalProperties`"],
    );
    structure(
        json!({ "type": "object", "anyOf": [{ "type": "object", "properties": { "a": {} } }] }),
        &[
            "spec.it has `type` inside of `allOf`, `anyOf`, `oneOf` or `not`, where it is not allowed",
        ],
    );
    let mut root = root(json!({ "type": "string" }));
    root["allOf"] = json!([{ "properties": { "spec": { "properties": { "a": {} } } } }]);
    check(
        structural::check_schema(&root),
        &["spec.a is only described within one of several alternatives"],
    );
    structure(
        json!({ "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": { "type": "object", "properties": { "k": { "type": "string" } } } }),
        &["spec.it is merged by the key `k`, which may be left out"],
    );
    check(structural::check_schema(&json!({ "type": "string" })), &[" is not an object"]);
}

#[test]
fn formats_are_reported_once_each() {
    let of = |format: &str| json!({ "type": "integer", "format": format });
    let schema = root(json!({ "type": "object", "properties": {
        "a": of("uint32"), "b": of("uint32"), "c": of("int64"), "d": { "type": "string", "format": "date-time" },
    } }));
    let expected = "spec.it.a has the format `uint32`, unknown to API servers, which will warn, as `spec.it.b`";
    check(formats::faults(&schema), &[expected]);
}

#[test]
fn conditions_without_a_key_are_reported() {
    let text = json!({ "type": "string" });
    let list = |list_type: &str| {
        let items = json!({ "type": "object", "properties": { "type": text, "status": text } });
        let conditions =
            json!({ "type": "array", "items": items, "x-kubernetes-list-type": list_type });
        let inner = json!({ "type": "object", "properties": { "conditions": conditions } });
        json!({ "type": "object", "properties": { "status": {
            "type": "object",
            "properties": { "conditions": conditions, "parents": { "type": "array", "items": inner } },
        } } })
    };
    let places =
        |schema: &Value| conditions::faults(schema).into_iter().map(|it| it.at).collect::<Vec<_>>();
    assert_eq!(places(&list("atomic")), ["status.conditions", "status.parents[].conditions"]);
    assert!(places(&list("map")).is_empty());
    // These are no conditions.
    let mut other = list("atomic");
    other["properties"]["status"]["properties"]["conditions"]["items"] = text.clone();
    assert_eq!(places(&other), ["status.parents[].conditions"]);
}

#[test]
fn maps_of_free_form_values_are_reported_with_the_extension_that_keeps_them() {
    let any = json!({ "type": "object", "additionalProperties": true });
    let schema = root(json!({ "type": "object", "properties": {
        "map": any,
        "kept": { "type": "object", "additionalProperties": { "x-kubernetes-preserve-unknown-fields": true } },
        "list": { "type": "array", "items": any },
        "maps": { "type": "object", "additionalProperties": any },
    } }));
    let found = free_form::findings(&schema).into_iter().map(|it| (it.path, it.hint));
    let extension = |path: &str, extension: &str| {
        (format!("spec.it.{path}"), format!("keep them with `#[schemars(extend({extension}))]`"))
    };
    const KEEPS: &str = r#"{"x-kubernetes-preserve-unknown-fields":true}"#;
    let map = format!(r#""additionalProperties" = {KEEPS}"#);
    let inner = format!(r#"{{"additionalProperties":{KEEPS},"type":"object"}}"#);
    let expected = [
        extension("list[]", &format!(r#""items" = {inner}"#)),
        extension("map", &map),
        extension("maps.*", &format!(r#""additionalProperties" = {inner}"#)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn nulls_that_an_api_server_refuses_are_reported() {
    let mode = json!({ "type": "string", "enum": ["A", "B"], "nullable": true });
    let schema = json!({ "type": "object", "required": ["needed"], "properties": {
        "mode": mode,
        "other": mode,
        "text": { "type": "string", "nullable": true },
        "dropped": { "type": "string", "enum": ["A"] },
        "either": { "type": "string", "nullable": true, "oneOf": [{ "enum": ["A"] }, { "enum": ["B"] }] },
        "needed": { "type": "string" },
        "modes": { "type": "array", "items": mode },
    } });
    let null_fields =
        ["mode", "text", "dropped", "either", "needed", "modes"].map(|it| vec![it.to_owned()]);
    let found = nulls::findings(&schema, &null_fields.into()).into_iter();
    let leave_out = "leave it out: `#[serde(skip_serializing_if = \"Option::is_none\")]`";
    let expected = [
        "mode is written as `null` if it is `None`, which API servers refuse: it must be one of `A`, `B`",
        leave_out,
        "modes[] is written as `null` for `None`, which API servers refuse: it must be one of `A`, `B`",
        "use a type that is never `null` in place of the `Option`",
        "needed is required, but written as `null` if it is `None`: API servers remove the `null`, and refuse the object",
        "add `#[serde(default)]`, or remove `Option`",
    ];
    let found = found.flat_map(|it| [format!("{} {}", it.path, it.message), it.hint]);
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn the_pattern_for_durations_accepts_what_the_type_reads_and_writes_and_nothing_else() {
    let hint = unreadable_hint("string", "kube_core::Duration", json!("soon"));
    let pattern = hint.split('"').nth(1).expect("a pattern");
    let schema = json!({ "type": "string", "pattern": pattern });
    let read = ["0", "0s", "90s", "1h30m", "-5m", "+1.5h", "100ms", "1us", "1µs", "99999999999h"];
    let refused = ["soon", "", "5", "1d", "s", "1s-5s", ".", "9999999999999999h", "1 s", "1s\n"];
    for text in read {
        let duration: kube_core::Duration = text.parse().expect("a duration");
        for text in [text.to_owned(), duration.to_string()] {
            assert!(crd::samples::is_accepted(&schema, &json!(text)), "{text}");
        }
    }
    for text in refused {
        assert!(!crd::samples::is_accepted(&schema, &json!(text)), "{text}");
    }
}

#[test]
fn values_that_a_limit_of_the_schema_refuses_are_readable() {
    let schemas = [
        json!({ "type": "string", "pattern": "^[0-9]+s$" }),
        json!({ "type": "string", "enum": ["5s", "10s"] }),
        json!({ "type": "string", "format": "date-time" }),
        json!({ "type": "string", "x-kubernetes-validations": [{ "rule": "self.endsWith('s')" }] }),
        json!({ "type": "integer", "minimum": 0, "maximum": 5 }),
    ];
    for schema in schemas {
        let found = unreadable::findings(
            &root(schema),
            &unreadable_at("kube_core::Duration", json!("soon")),
        );
        assert_eq!(found, []);
    }
}

fn unreadable_at(type_path: &'static str, value: Value) -> crate::project::Unreadable {
    let field = ["spec", "it"].map(str::to_owned).to_vec();
    [(field, crate::project::UnreadValues { type_path, values: vec![value] })].into()
}

#[track_caller]
fn unreadable_hint(json_type: &str, type_path: &'static str, value: Value) -> String {
    let schema = root(json!({ "type": json_type }));
    let mut found = unreadable::findings(&schema, &unreadable_at(type_path, value));
    found.pop().expect("a finding").hint
}

use super::*;

fn writer<'a>(manager: &str, apply: bool, reset: &'a [&'a str]) -> Writer<'a> {
    let subresource = String::new();
    let manager = Manager { apply, name: manager.into(), api_version: "v1".into(), subresource };
    Writer { resource: "deployments.apps", manager, reset, declared: None, versions: None, now: "now" }
}

fn apply(live: &Value, manager: &str, config: Value) -> Value {
    writer(manager, true, &["status"]).apply(live, config, true).unwrap()
}

fn pod(containers: Value) -> Value {
    json!({ "metadata": { "name": "a" }, "spec": { "template": { "spec": { "containers": containers } } } })
}

fn containers(object: &Value) -> Value {
    object["spec"]["template"]["spec"]["containers"].clone()
}

#[test]
fn fields_are_written_as_the_real_server_writes_them() {
    let object = apply(
        &json!({ "metadata": {} }),
        "op",
        json!({
            "metadata": { "name": "a", "labels": { "l": "1" }, "finalizers": ["x.y/z"],
                "ownerReferences": [{ "uid": "u", "name": "o" }] },
            "spec": { "selector": { "matchLabels": { "a": "b" } }, "template": { "spec": {
                "initContainers": [],
                "containers": [{ "name": "c", "args": [], "ports": [{ "containerPort": 80 }], "securityContext": {} }],
            } } },
            "status": { "replicas": 1 },
        }),
    );
    let fields = object["metadata"]["managedFields"][0]["fieldsV1"].to_string();
    let metadata = r#""f:metadata":{"f:finalizers":{"v:\"x.y/z\"":{}},"f:labels":{"f:l":{}},"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}"#;
    let ports = r#""f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}"#;
    let container = format!(r#"{{".":{{}},"f:args":{{}},"f:name":{{}},{ports},"f:securityContext":{{}}}}"#);
    let containers = format!(r#""f:containers":{{"k:{{\"name\":\"c\"}}":{container}}}"#);
    let spec = format!(r#""f:spec":{{"f:selector":{{}},"f:template":{{"f:spec":{{{containers}}}}}}}"#);
    assert_eq!(fields, format!("{{{metadata},{spec}}}"));
}

#[test]
fn what_is_no_longer_applied_goes_unless_others_own_it() {
    let env = |list: &[&str]| list.iter().map(|it| json!({ "name": it, "value": "1" })).collect::<Vec<_>>();
    let object = apply(&json!({ "metadata": {} }), "op", pod(json!([{ "name": "c", "env": env(&["A", "B"]) }])));
    let mut edited = object.clone();
    let list = edited["spec"]["template"]["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    list.push(json!({ "name": "X", "value": "y" }));
    let object = writer("kubectl", false, &["status"]).update(&object, edited, false).unwrap();
    let object = apply(&object, "op", pod(json!([{ "name": "c", "env": env(&["B"]) }])));
    let names: Vec<_> = containers(&object)[0]["env"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["B", "X"]);
    assert_eq!(containers(&apply(&object, "op", pod(json!([])))), Value::Null, "an item goes with its last owner");
}

#[test]
fn a_change_by_somebody_else_takes_the_field() {
    let object = apply(&json!({ "metadata": {} }), "op", json!({ "spec": { "replicas": 1, "paused": true } }));
    let mut edited = object.clone();
    edited["spec"]["replicas"] = json!(3);
    let object = writer("kubectl", false, &["status"]).update(&object, edited, false).unwrap();
    let entries = Entries::of_object(&object);
    assert_eq!(entries.0[0].fields.paths(), [".spec.paused"]);
    assert_eq!(entries.0[1].fields.paths(), [".spec.replicas"]);
    let mine = json!({ "spec": { "replicas": 1, "paused": true } });
    let refused = writer("op", true, &["status"]).apply(&object, mine, false).unwrap_err();
    assert_eq!(refused.message, "Apply failed with 1 conflict: conflict with \"kubectl\" using v1: .spec.replicas");
}

#[test]
fn containers_keep_the_order_of_the_applier() {
    let object = apply(&json!({ "metadata": {} }), "op", pod(json!([{ "name": "b" }, { "name": "c" }])));
    let object = apply(&object, "inject", pod(json!([{ "name": "side" }])));
    let object = apply(&object, "op", pod(json!([{ "name": "a" }, { "name": "c" }, { "name": "b" }])));
    let names: Vec<_> = containers(&object).as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["a", "c", "side", "b"], "as a real server orders them");
}

#[test]
fn the_lists_of_a_custom_resource_are_merged_as_its_crd_says() {
    let string = json!({ "type": "string" });
    let item =
        json!({ "type": "object", "properties": { "name": string, "port": { "type": "integer", "default": 80 } } });
    let list = |kind: Option<&str>| {
        let mut list = json!({ "type": "array", "items": item });
        if let Some(kind) = kind {
            list["x-kubernetes-list-type"] = kind.into();
            list["x-kubernetes-list-map-keys"] = json!(["name", "port"]);
        }
        list
    };
    let spec = json!({ "type": "object", "properties": { "plain": list(None), "keyed": list(Some("map")),
        "set": { "type": "array", "items": string, "x-kubernetes-list-type": "set" },
        "whole": { "type": "object", "x-kubernetes-map-type": "atomic" } } });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let apply = |live: &Value, manager: &str, spec: Value| {
        let writer =
            Writer { resource: "things.test.dev", declared: Some(&schema), ..writer(manager, true, &["status"]) };
        writer.apply(live, json!({ "spec": spec }), true).unwrap()
    };
    let of = |name: &str| json!({ "plain": [{ "name": name }], "keyed": [{ "name": name }], "set": [name], "whole": { name: "1" } });
    let object = apply(&apply(&json!({ "metadata": {} }), "one", of("a")), "two", of("b"));
    let both = json!({ "plain": [{ "name": "b" }], "keyed": [{ "name": "b" }, { "name": "a" }], "set": ["b", "a"],
        "whole": { "b": "1" } });
    let sorted = |it: &Value| {
        let mut it = it.clone();
        for list in ["keyed", "set"] {
            it[list].as_array_mut().unwrap().sort_by_key(Value::to_string);
        }
        it
    };
    assert_eq!(sorted(&object["spec"]), sorted(&both));
    let fields = object["metadata"]["managedFields"].to_string();
    assert!(fields.contains(r#""k:{\"name\":\"a\",\"port\":80}":{".":{},"f:name":{}}"#), "{fields}");
}

use super::*;

fn writer<'a>(manager: &str, apply: bool, reset: &'a [&'a str]) -> Writer<'a> {
    let subresource = String::new();
    let manager = Manager { apply, name: manager.into(), api_version: "v1".into(), subresource };
    Writer { resource: "deployments.apps", kind: "Deployment", name: "a", manager, reset, now: "now" }
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
    let object = writer("kubectl", false, &["status"]).update(&object, edited, false);
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
    let object = writer("kubectl", false, &["status"]).update(&object, edited, false);
    let entries = Entries::read(&object);
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

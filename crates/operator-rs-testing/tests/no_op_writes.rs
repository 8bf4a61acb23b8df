//! Writes without an effect: they change neither the resource version nor the times of the field managers, and no watch
//! gets an event. Each write is sent twice, in different seconds, since field managers have times in seconds.

use kube::Client;
use operator_rs_testing::Cluster;
use serde_json::{Value, json};
use std::time::Duration;

const CONFIGS: &str = "/api/v1/namespaces/default/configmaps/a";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments/a";
/// A custom resource whose CRD is registered.
const TEAMS: &str = "/apis/test.dev/v1/namespaces/default/teams/a";
/// A custom resource without its CRD.
const THINGS: &str = "/apis/test.dev/v1/namespaces/default/things/a";

fn crd() -> Value {
    let conditions = json!({ "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        "items": { "type": "object", "required": ["type"], "properties": {
            "type": { "type": "string" }, "status": { "type": "string" }, "reason": { "type": "string" },
            "message": { "type": "string" }, "lastTransitionTime": { "type": "string", "format": "date-time" } } } });
    let schema = json!({ "type": "object", "properties": {
        "spec": { "type": "object", "properties": {
            "size": { "type": "integer", "nullable": true },
            "mode": { "type": "string", "default": "fast" },
            "names": { "type": "array", "items": { "type": "string" } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } } } },
        "status": { "type": "object", "properties": {
            "phase": { "type": "string" }, "endpoint": { "type": "string", "nullable": true },
            "conditions": conditions } } } });
    json!({ "metadata": { "name": "teams.test.dev" }, "spec": {
        "group": "test.dev", "scope": "Namespaced", "names": { "plural": "teams", "kind": "Team" },
        "versions": [{ "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
            "schema": { "openAPIV3Schema": schema } }] } })
}

/// The object that a path names, with these fields.
fn object(path: &str, fields: &Value) -> Value {
    let (api_version, kind) = match path {
        CONFIGS => ("v1", "ConfigMap"),
        DEPLOYMENTS => ("apps/v1", "Deployment"),
        TEAMS => ("test.dev/v1", "Team"),
        _ => ("test.dev/v1", "Thing"),
    };
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "a" } });
    for (name, value) in fields.as_object().unwrap() {
        match name.as_str() {
            "metadata" => object["metadata"].as_object_mut().unwrap().extend(value.as_object().unwrap().clone()),
            name => object[name] = value.clone(),
        }
    }
    object
}

async fn send(client: &Client, method: &str, path: &str, content_type: &str, body: &Value) -> Value {
    let request = http::Request::builder().method(method).uri(path).header("content-type", content_type);
    let sent = client.request::<Value>(request.body(body.to_string().into_bytes()).unwrap()).await;
    sent.unwrap_or_else(|why| panic!("{method} {path}: {why}: {body}"))
}

async fn apply(client: &Client, manager: &str, path: &str, body: &Value) -> Value {
    let path = format!("{path}?fieldManager={manager}&force=true");
    send(client, "PATCH", &path, "application/apply-patch+yaml", body).await
}

/// A write that is sent twice.
#[derive(Clone, Debug)]
enum Write {
    Apply(Value),
    Patch(&'static str, Value),
    /// The object is read, and written as it is.
    Replace,
}

async fn write(client: &Client, path: &str, write: &Write) -> Value {
    match write {
        Write::Apply(body) => apply(client, "test", path, body).await,
        Write::Patch(kind, body) => send(client, "PATCH", path, &format!("application/{kind}-patch+json"), body).await,
        Write::Replace => {
            let read = client.request::<Value>(http::Request::get(path).body(vec![]).unwrap()).await.unwrap();
            send(client, "PUT", path, "application/json", &read).await
        }
    }
}

/// Applies the object with these fields if there are any, sends a write to it or to a subresource, and sends it again.
async fn repeat(path: &str, fields: Value, subresource: &str, repeated: Write) -> Option<String> {
    let cluster = Cluster::default().with_crds(&[crd()]);
    let client = cluster.client();
    if !fields.is_null() {
        apply(&client, "test", path, &object(path, &fields)).await;
    }
    let target = format!("{path}{subresource}");
    let first = write(&client, &target, &repeated).await;
    let version = cluster.latest_resource_version();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let second = write(&client, &target, &repeated).await;
    let is_same = cluster.latest_resource_version() == version && first == second;
    (!is_same).then(|| format!("{target} {fields} {repeated:?}:\n  {first}\n  {second}"))
}

fn applies() -> Vec<(&'static str, Value, &'static str, Write)> {
    let template = json!({ "metadata": {}, "spec": { "containers": [{ "name": "a", "resources": {}, "env": [],
        "ports": [{ "containerPort": 80 }], "securityContext": {} }], "volumes": [{ "name": "v", "emptyDir": {} }],
        "securityContext": {} } });
    let spec = json!({ "replicas": 1, "strategy": {}, "selector": { "matchLabels": {} }, "template": template });
    // The owner is the CRD: the object of an owner that does not exist would be deleted.
    let owner = json!([{ "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "name": "teams.test.dev", "uid": "00000000-0000-4000-8000-000000000001" }]);
    let metadata = json!({ "labels": { "a": "b" }, "finalizers": ["a/b"], "creationTimestamp": null,
        "ownerReferences": owner });
    let all = [
        (CONFIGS, json!({ "data": { "x": "1" }, "metadata": metadata })),
        (CONFIGS, json!({ "data": {}, "metadata": { "labels": {}, "annotations": null } })),
        (DEPLOYMENTS, json!({ "spec": spec, "status": {} })),
        (TEAMS, json!({ "spec": {} })),
        (TEAMS, json!({ "spec": { "size": null, "names": [], "labels": {} }, "metadata": metadata })),
        (TEAMS, json!({ "spec": { "size": 1 }, "status": null })),
        (TEAMS, json!({ "spec": { "size": 1 }, "status": { "phase": "Ready" } })),
        (THINGS, json!({ "spec": { "size": 1 } })),
        (THINGS, json!({ "spec": { "size": null, "names": [], "labels": {} }, "metadata": metadata })),
        (THINGS, json!({ "spec": null, "status": null })),
        (THINGS, json!({ "spec": {}, "status": { "phase": "Ready" } })),
    ];
    all.into_iter().map(|(path, fields)| (path, Value::Null, "", Write::Apply(object(path, &fields)))).collect()
}

/// The status that most operators write.
fn status() -> Value {
    let condition = json!({ "type": "Ready", "status": "True", "reason": "A", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z" });
    json!({ "status": { "phase": "Ready", "conditions": [condition] } })
}

fn patches() -> Vec<(&'static str, Value, &'static str, Write)> {
    let mut all = Vec::new();
    for (path, fields) in [
        (CONFIGS, json!({ "data": { "x": "1" } })),
        (DEPLOYMENTS, json!({ "spec": { "replicas": 1 } })),
        (TEAMS, json!({ "spec": { "size": 1 } })),
        (THINGS, json!({ "spec": { "size": 1 } })),
    ] {
        let mut add = |subresource, write| all.push((path, fields.clone(), subresource, write));
        add("", Write::Replace);
        add("", Write::Patch("merge", json!({})));
        add("", Write::Patch("merge", fields.clone()));
        add("", Write::Patch("merge", json!({ "spec": { "absent": null }, "data": { "absent": null } })));
        add("", Write::Patch("merge", json!({ "metadata": { "annotations": { "absent": null }, "labels": null } })));
        add("", Write::Patch("json", json!([{ "op": "test", "path": "/metadata/name", "value": "a" }])));
        if path == CONFIGS || path == DEPLOYMENTS {
            add("", Write::Patch("strategic-merge", fields.clone()));
            add("", Write::Patch("strategic-merge", json!({ "metadata": { "annotations": { "absent": null } } })));
        }
        if path != CONFIGS {
            add("/status", Write::Replace);
            add("/status", Write::Patch("merge", status()));
            add("/status", Write::Patch("merge", json!({ "status": { "endpoint": null, "conditions": [] } })));
            add("/status", Write::Apply(object(path, &status())));
        }
    }
    all
}

async fn check(cases: Vec<(&'static str, Value, &'static str, Write)>) {
    let all = cases.into_iter().map(|(path, fields, subresource, write)| repeat(path, fields, subresource, write));
    let changed: Vec<String> = futures::future::join_all(all).await.into_iter().flatten().collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[tokio::test]
async fn a_repeated_apply_changes_nothing() {
    check(applies()).await;
}

#[tokio::test]
async fn a_repeated_patch_or_update_changes_nothing() {
    check(patches()).await;
}

#[tokio::test]
async fn another_field_manager_changes_the_object_once() {
    for path in [CONFIGS, DEPLOYMENTS, TEAMS, THINGS] {
        let cluster = Cluster::default().with_crds(&[crd()]);
        let (client, body) = (cluster.client(), object(path, &json!({ "metadata": { "labels": { "a": "b" } } })));
        apply(&client, "one", path, &body).await;
        let one = cluster.latest_resource_version();
        apply(&client, "two", path, &body).await;
        let two = cluster.latest_resource_version();
        assert_eq!(two, one + 1, "{path}: the field manager is new");
        tokio::time::sleep(Duration::from_millis(1100)).await;
        for manager in ["one", "two"] {
            apply(&client, manager, path, &body).await;
            assert_eq!(cluster.latest_resource_version(), two, "{path}: {manager}");
        }
    }
}

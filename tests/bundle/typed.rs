//! What operator-sdk reads into Go's types, and we as it does.

use serde_json::{Value, json};

use super::{CSV, bundle, made, object, objects, oracle::check};
use crate::support;

fn manager(objects: &mut [Value]) -> &mut Value {
    &mut object(objects, "Deployment", "manager")["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn quantities_and_numbers_are_written_as_go_writes_them() {
    let mut objects = objects();
    let manager = manager(&mut objects);
    manager["resources"] = json!({
        "limits": { "cpu": "1000m", "memory": "1024Mi", "ephemeral-storage": 1e9 },
        "requests": { "cpu": 0.5, "memory": "0.1Gi" },
    });
    manager["args"] = json!([1, 1.5, true, null, 1e6, "a!:,b"]);
    manager["env"] = json!([{ "name": "A", "value": 1 }, { "name": "B", "value": null }]);
    manager["ports"] = json!([{ "containerPort": 8443.0, "name": "https" }]);
    object(&mut objects, "Deployment", "manager")["metadata"]["labels"] =
        json!({ "a": null, "b": true, "c": 1.0 });
    check("quantities", &objects);
}

#[test]
fn fields_match_in_any_case_and_unknown_ones_are_dropped() {
    let mut objects = objects();
    let manager = manager(&mut objects);
    manager["ImagePullPolicy"] = json!("Always");
    manager["startupprobe"] = json!({ "httpget": { "Path": "/healthz", "port": 8081 } });
    manager["imagePullPolicies"] = json!(1);
    let spec = &mut object(&mut objects, "ClusterServiceVersion", "")["spec"];
    spec["provider"] = json!({ "name": "A", "foo": "b" });
    spec["maintainers"] = json!([{ "name": "A", "email": "a@example.com", "phone": "1" }]);
    spec["displayname"] = json!("Another");
    spec["release"] = json!("1");
    object(&mut objects, "CustomResourceDefinition", "")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        ["Title"] = json!("T");
    check("any-case", &objects);
    let (_, output) = bundle("any-case", &objects, &[]);
    let output = support::said(&output);
    for path in [
        "(apps/v1): `spec.template.spec.containers[0].imagePullPolicies`",
        "(operators.coreos.com/v1alpha1): `spec.maintainers[0].phone`",
        "(operators.coreos.com/v1alpha1): `spec.provider.foo`",
        "(operators.coreos.com/v1alpha1): `spec.release`",
    ] {
        assert!(output.contains(&format!("{path} is left out of the bundle")), "{path}\n{output}");
    }
}

#[test]
fn fields_are_left_out_as_go_leaves_them_out() {
    let mut objects = objects();
    let spec = &mut object(&mut objects, "Deployment", "manager")["spec"]["template"]["spec"];
    spec["volumes"] = json!([
        null,
        { "name": "a", "emptyDir": { "sizeLimit": "1024Ki" } },
        { "name": "b", "ephemeral": { "volumeClaimTemplate": { "spec": { "accessModes": null } } } },
        { "name": "c", "configMap": { "items": [{ "key": "a" }] } },
    ]);
    spec["affinity"] = json!({ "nodeAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1 }] } });
    let role = object(&mut objects, "ClusterRole", "manager-role");
    role["rules"]
        .as_array_mut()
        .expect("a list")
        .push(json!({ "verbs": ["get"], "apiGroups": [null], "resources": [null, "pods"], "resourceNames": null }));
    objects.push(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "bare", "labels": null }, "spec": { "ports": [{ "port": 80 }] },
    }));
    check("left-out", &objects);
}

#[test]
fn webhooks_without_ports_are_those_of_go() {
    let mut objects = objects();
    let labels =
        object(&mut objects, "Deployment", "manager")["spec"]["template"]["metadata"]["labels"]
            .clone();
    objects.push(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "webhook", "namespace": "memcached-operator-system" },
        "spec": { "ports": [{ "port": 443 }], "selector": labels },
    }));
    let webhook = |kind: &str, path: &str| {
        let service =
            json!({ "name": "webhook", "namespace": "memcached-operator-system", "path": path });
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"), "metadata": { "name": "it" },
            "webhooks": [{
                "name": "a.kb.io", "sideEffects": "None", "admissionReviewVersions": [], "namespaceSelector": {}, "matchConditions": null,
                "clientConfig": { "service": service },
            }],
        })
    };
    objects.extend([webhook("Validating", "/v"), webhook("Mutating", "/m")]);
    check("ports", &objects);
}

#[test]
fn the_base_is_the_one_of_the_package() {
    let mut objects = objects();
    let mut other = object(&mut objects, "ClusterServiceVersion", "").clone();
    other["metadata"]["name"] = json!("another.v0.0.0");
    other["spec"]["displayName"] = json!("Another");
    objects.insert(0, other);
    check("base-of-another", &objects);
    let files = made("base-of-another", &objects, &[]);
    assert_ne!(files[CSV]["spec"]["displayName"], "Another");
}

/// operator-sdk leaves these out in silence.
#[test]
fn objects_that_are_left_out_are_named() {
    let mut objects = objects();
    for (version, kind) in [
        ("apps/v1", "StatefulSet"),
        ("networking.k8s.io/v1", "Ingress"),
        ("monitoring.coreos.com/v1", "PodMonitor"),
        ("v1", "Namespace"),
        ("cache.example.com/v1alpha1", "Memcache"),
        ("cache.example.com/v1", "Memcached"),
        ("serving.knative.dev/v1", "Service"),
    ] {
        objects
            .push(json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "other" } }));
    }
    let binding = object(&mut objects, "RoleBinding", "leader-election-rolebinding");
    binding["subjects"][0]["namespace"] = json!("elsewhere");
    let service = json!({ "name": "absent", "namespace": "a", "path": "/convert" });
    object(&mut objects, "CustomResourceDefinition", "")["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
    });
    let service = json!({ "name": "memcached-operator-controller-manager-metrics-service", "namespace": "a", "port": 8443 });
    objects.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": { "name": "it" },
        "webhooks": [{
            "name": "v.kb.io", "namespaceSelector": { "matchLabels": { "a": "b" } }, "matchConditions": [{ "name": "a", "expression": "true" }],
            "sideEffects": "None", "admissionReviewVersions": ["v1"], "clientConfig": { "service": service },
        }],
    }));
    check("named", &objects);
    let (_, output) = bundle("named", &objects, &[]);
    let output = support::said(&output);
    for warning in [
        "`StatefulSet/other` (apps/v1) is left out of the bundle: OLM installs only Deployments",
        "`Ingress/other` (networking.k8s.io/v1) is left out of the bundle",
        "`PodMonitor/other` (monitoring.coreos.com/v1) is left out of the bundle",
        "`Namespace/other` (v1) is left out of the bundle",
        "`Memcache/other` (cache.example.com/v1alpha1) is left out of the bundle",
        "`Memcached/other` (cache.example.com/v1) is left out of the bundle: its CRD does not serve its version",
        "`Service/other` (serving.knative.dev/v1) is in the bundle, but OLM does not install the kind Service of this group",
        "of the namespace `elsewhere`: in the bundle, the operator's",
        "its conversion webhook is left out of the CSV",
        "the webhook `v.kb.io`: its `namespaceSelector` is left out of the bundle",
        "the webhook `v.kb.io`: its `matchConditions` is left out of the bundle",
    ] {
        assert!(output.contains(warning), "{warning}\n{output}");
    }
}

/// operator-sdk does not decode a ConfigMap, and takes a number for a string; API servers do, and OLM does not.
#[test]
fn what_olm_cannot_decode_is_no_bundle() {
    let mut objects = objects();
    objects.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": 1 } }));
    let (_, output) = bundle("undecodable", &objects, &[]);
    let output = support::said(&output);
    let expected = "`ConfigMap/a` (v1): `data.a` is the number `1`, and must be a string";
    assert!(output.contains(expected), "{output}");
    objects.pop();
    let files = made("undecodable-diff", &objects, &[]);
    let dir = support::folder("undecodable-diff");
    let mut csv = files[CSV].clone();
    csv["spec"]["displayName"] = json!(1);
    std::fs::write(dir.join("bundle").join(CSV), csv.to_string()).expect("it is ours");
    let output = support::said(&support::operator_rs(&dir, "bundle diff bundle bundle"));
    let expected = "`spec.displayName` is the number `1`, and must be a string";
    assert!(output.contains("olm-undecodable") && output.contains(expected), "{output}");
}

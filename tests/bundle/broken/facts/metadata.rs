//! Of annotations, and of the metadata of another object.

use serde_json::{Value, json};

use super::super::breaks::{ANNOTATIONS, MAP};
use super::{Fact, texts};

pub fn metadata() -> Vec<Fact> {
    let key = |it: &str| match it {
        "mediatype" => "/annotations/operators.operatorframework.io.bundle.mediatype.v1",
        "manifests" => "/annotations/operators.operatorframework.io.bundle.manifests.v1",
        "metadata" => "/annotations/operators.operatorframework.io.bundle.metadata.v1",
        "channels" => "/annotations/operators.operatorframework.io.bundle.channels.v1",
        _ => "/annotations/operators.operatorframework.io.bundle.channel.default.v1",
    };
    vec![
        (ANNOTATIONS, key("mediatype"), texts(&["registry+v1", "plain", "helm", "", "registry"])),
        (
            ANNOTATIONS,
            key("manifests"),
            texts(&[
                "manifests",
                "./manifests",
                "manifests//",
                "other/",
                "",
                ".",
                "metadata/",
                "../manifests",
                "a/../manifests/",
                "/manifests",
            ]),
        ),
        (ANNOTATIONS, key("metadata"), texts(&["other/", ""])),
        (
            ANNOTATIONS,
            key("channels"),
            vec![json!(""), json!("a,b"), json!(1), json!(["a"]), Value::Null, json!("RAW:yes")],
        ),
        (ANNOTATIONS, key("default"), vec![json!(""), json!("a"), Value::Null, json!("RAW:1.0")]),
        (
            ANNOTATIONS,
            "/annotations",
            vec![json!({}), Value::Null, json!([]), json!("a"), json!({ "a": "b" })],
        ),
        (ANNOTATIONS, "/Annotations", vec![json!({ "a": "b" })]),
        (
            ANNOTATIONS,
            "/annotations/a",
            vec![json!({}), json!([]), json!(1), json!("RAW:no"), json!("RAW:2023-11-14")],
        ),
        (ANNOTATIONS, "/dependencies", vec![json!([{ "type": "a" }])]),
        (
            MAP,
            "/kind",
            texts(&[
                "PodMonitor",
                "Deployment",
                "",
                "NetworkPolicy",
                "ServiceAccount",
                "Secret",
                "Role",
                "PriorityClass",
                "PodDisruptionBudget",
            ]),
        ),
        (
            MAP,
            "/apiVersion",
            texts(&[
                "policy/v1beta1",
                "",
                "rbac.authorization.k8s.io/v1beta1",
                "scheduling.k8s.io/v1beta1",
                "a/b/c",
            ]),
        ),
        (MAP, "/metadata/name", texts(&["", "A B", "memcached-operator-controller-manager"])),
        (MAP, "/metadata/namespace", texts(&["a", ""])),
        (MAP, "/metadata/generateName", texts(&["a"])),
        (MAP, "/metadata/generation", vec![json!(-1), json!(1), json!("a")]),
        (
            MAP,
            "/metadata/labels",
            vec![
                json!({ "a b": "c" }),
                json!({ "a": "c d" }),
                json!({ "a b": 1 }),
                json!({ "a": null }),
                json!([]),
                json!({ "a b": null }),
            ],
        ),
        (
            MAP,
            "/metadata/annotations",
            vec![json!({ "a/b/c": "d" }), json!({ "A": "d" }), json!({ "a b": 1 })],
        ),
        (
            MAP,
            "/metadata/finalizers",
            vec![
                json!(["a"]),
                json!(["a b"]),
                json!(["a b", 1]),
                json!(["orphan", "foregroundDeletion"]),
            ],
        ),
        (
            MAP,
            "/metadata/ownerReferences",
            vec![
                json!([{}]),
                json!([{ "apiVersion": "v1", "kind": "A", "name": "a", "uid": "a" }]),
                json!([{ "apiVersion": "v1", "kind": "Event", "name": "a", "uid": "a" }]),
                json!(["a"]),
            ],
        ),
        (MAP, "/metadata/managedFields", vec![json!([{ "operation": "Apply" }]), json!([{}])]),
    ]
}

//! Random objects and JSON patches of the kinds that are requested.

use serde_json::{Value, json};

use crate::random::Random;

/// A kind that is requested.
#[derive(Clone, Copy)]
pub struct Target {
    pub api_version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    pub status: bool,
    /// Random fields besides the metadata.
    pub fields: fn(&mut Random) -> Value,
    /// A random JSON patch.
    pub steps: fn(&mut Random) -> Value,
}

pub const TARGETS: &[Target] = &[WIDGET, CONFIG, GADGET, SECRET, LEASE];

const WIDGET: Target = Target {
    api_version: "test.dev/v1",
    kind: "Widget",
    plural: "widgets",
    namespaced: true,
    status: true,
    fields: |r| {
        let mut res = json!({});
        if !r.one_in(8) {
            res["spec"] = widget_spec(r);
        }
        res
    },
    steps: |r| {
        let spec = widget_spec(r);
        r.pick(&[
            json!([{ "op": "add", "path": "/spec", "value": spec }]),
            json!([{ "op": "replace", "path": "/spec/size", "value": 3 }]),
            json!([{ "op": "replace", "path": "/spec/name", "value": "new" }]),
            json!([{ "op": "replace", "path": "/spec/template/image", "value": "new" }]),
            json!([{ "op": "remove", "path": "/spec/tags" }]),
            json!([{ "op": "remove", "path": "/spec/members/0" }]),
            json!([{ "op": "test", "path": "/spec/size", "value": 1 }, { "op": "add", "path": "/spec/name", "value": "t" }]),
            json!([{ "op": "add", "path": "/spec/args/-", "value": "z" }]),
            json!([{ "op": "remove", "path": "/metadata/finalizers" }]),
            json!([{ "op": "test", "path": "/metadata/finalizers", "value": null },
                { "op": "add", "path": "/metadata/finalizers", "value": ["test.dev/a"] }]),
            json!([{ "op": "copy", "from": "/spec/name", "path": "/spec/note" }]),
            json!([{ "op": "move", "from": "/spec/name", "path": "/spec/note" }]),
        ])
    },
};

const GADGET: Target = Target {
    api_version: "test.dev/v1",
    kind: "Gadget",
    plural: "gadgets",
    namespaced: false,
    status: false,
    fields: |r| {
        let mut res = json!({ "spec": { "size": r.below(3) } });
        if r.one_in(2) {
            res["spec"]["name"] = r.pick(&["x", "y"]).into();
        }
        if r.one_in(4) {
            res["status"] = json!({ "phase": r.pick(&["A", "B"]) });
        }
        res
    },
    steps: |_| json!([{ "op": "replace", "path": "/spec/size", "value": 2 }]),
};

const CONFIG: Target = Target {
    api_version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    namespaced: true,
    status: false,
    fields: |r| match r.below(8) {
        0 => json!({}),
        1 => json!({ "data": {} }),
        _ => json!({ "data": words(r) }),
    },
    steps: |r| {
        r.pick(&[
            json!([{ "op": "add", "path": "/data/a", "value": "9" }]),
            json!([{ "op": "remove", "path": "/data/b" }]),
            json!([{ "op": "remove", "path": "/data" }]),
            json!([{ "op": "remove", "path": "/metadata/finalizers/0" }]),
            json!([{ "op": "add", "path": "/metadata/labels", "value": { "l": "x" } }]),
        ])
    },
};

const SECRET: Target = Target {
    api_version: "v1",
    kind: "Secret",
    plural: "secrets",
    namespaced: true,
    status: false,
    fields: |r| {
        let mut res = json!({ "type": "Opaque" });
        if !r.one_in(4) {
            res["data"] = r.pick(&[json!({ "a": "eA==" }), json!({ "a": "eQ==", "b": "eA==" }), json!({})]);
        }
        res
    },
    steps: |_| json!([{ "op": "add", "path": "/data/a", "value": "eg==" }]),
};

const LEASE: Target = Target {
    api_version: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    namespaced: true,
    status: false,
    fields: |r| {
        let mut spec = json!({ "holderIdentity": r.pick(&["a", "b"]), "leaseDurationSeconds": 10 + r.below(3) });
        if r.one_in(2) {
            spec["renewTime"] = "2026-01-02T03:04:05.678901Z".into();
        }
        json!({ "spec": spec })
    },
    steps: |_| json!([{ "op": "replace", "path": "/spec/holderIdentity", "value": "c" }]),
};

/// A map of strings.
fn words(r: &mut Random) -> Value {
    let mut res = json!({});
    for key in ["a", "b", "c"] {
        if r.one_in(2) {
            res[key] = r.pick(&["1", "2", ""]).into();
        }
    }
    res
}

/// Some of the items, in some order.
fn some(r: &mut Random, mut of: Vec<Value>) -> Value {
    let mut res = Vec::new();
    while !of.is_empty() && !r.one_in(3) {
        res.push(of.swap_remove(r.below(of.len())));
    }
    res.into()
}

fn widget_spec(r: &mut Random) -> Value {
    let mut spec = json!({});
    for _ in 0..r.below(5) {
        match r.below(12) {
            0 => spec["size"] = (1 + r.below(3)).into(),
            1 => spec["name"] = r.pick(&["x", "y"]).into(),
            2 => spec["note"] = r.pick(&[Value::Null, "n".into(), "m".into()]),
            3 => spec["tags"] = some(r, vec!["s".into(), "t".into(), "u".into()]),
            4 => spec["args"] = some(r, vec!["-a".into(), "-b".into(), "-a".into()]),
            5 => spec["marks"] = words(r),
            6 => spec["selector"] = r.pick(&[json!({ "app": "x" }), json!({ "app": "y", "tier": "db" }), json!({})]),
            7 | 8 => {
                let mut all = Vec::new();
                for name in ["a", "b", "c"] {
                    let mut it = json!({ "name": name });
                    if r.one_in(2) {
                        it["role"] = r.pick(&["lead", "member"]).into();
                    }
                    if r.one_in(3) {
                        it["limits"] = r.pick(&[json!({ "cpu": "1" }), json!({ "memory": "2" }), json!({})]);
                    }
                    all.push(it);
                }
                spec["members"] = some(r, all);
            }
            9 => {
                let mut all = Vec::new();
                for (port, protocol) in [(80, None), (80, Some("UDP")), (81, Some("TCP"))] {
                    let mut it = json!({ "port": port });
                    if let Some(protocol) = protocol {
                        it["protocol"] = protocol.into();
                    }
                    if r.one_in(2) {
                        it["name"] = r.pick(&["p", "q"]).into();
                    }
                    all.push(it);
                }
                spec["ports"] = some(r, all);
            }
            10 => {
                spec["template"] = r.pick(&[
                    json!({ "image": "i" }),
                    json!({ "image": "j", "env": { "A": { "value": "1" } } }),
                    json!({ "env": { "A": { "from": "x" }, "B": { "value": "2" } } }),
                    json!({ "env": {} }),
                    json!({}),
                ]);
            }
            _ => {
                spec["raw"] =
                    r.pick(&[json!({ "x": [1, 2] }), json!({ "y": { "z": null } }), json!({ "x": [{ "name": "a" }] })])
            }
        }
    }
    spec
}

pub fn status(r: &mut Random) -> Value {
    let mut res = json!({});
    if r.one_in(2) {
        res["phase"] = r.pick(&["Ready", "Failed"]).into();
    }
    if r.one_in(2) {
        res["observedGeneration"] = r.below(3).into();
    }
    if r.one_in(2) {
        let condition = |name: &str, r: &mut Random| {
            json!({ "type": name, "status": r.pick(&["True", "False"]), "reason": "R", "message": r.pick(&["", "m"]),
                "lastTransitionTime": "2026-01-01T00:00:00Z" })
        };
        let all = ["Ready", "Degraded", "Progressing"].map(|it| condition(it, r));
        res["conditions"] = some(r, all.into());
    }
    res
}

pub fn metadata(r: &mut Random, name: &str) -> Value {
    let mut meta = json!({ "name": name });
    for key in ["labels", "annotations"] {
        if r.one_in(3) {
            meta[key] = r.pick(&[json!({ "l": "x" }), json!({ "l": "y", "m": "z" }), json!({ "m": "z" }), json!({})]);
        }
    }
    if r.one_in(5) {
        meta["finalizers"] =
            r.pick(&[json!(["test.dev/a"]), json!(["test.dev/a", "test.dev/b"]), json!(["test.dev/b"])]);
    }
    if r.one_in(12) {
        meta["ownerReferences"] = json!([{ "apiVersion": "test.dev/v1", "kind": "Gadget", "name": "g",
            "uid": r.pick(&["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"]),
            "controller": true, "blockOwnerDeletion": r.one_in(2) }]);
    }
    meta
}

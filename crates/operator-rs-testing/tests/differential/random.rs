//! Random requests: each is data, so that a failing sequence can be shortened.

use serde_json::{Value, json};

/// One request. In its path and its body, `NS` is the namespace of the sequence, `@uid/…`, `@rv/…` and `@old/…` are the
/// uid, the last version and the first version of an object as the server has answered them.
#[derive(Clone, Debug)]
pub struct Step {
    pub method: &'static str,
    pub path: String,
    pub content: &'static str,
    pub body: Value,
}

/// xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut it = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            it.below(2);
        }
        it
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// A kind that is requested.
#[derive(Clone, Copy)]
pub struct Target {
    pub api_version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    pub status: bool,
    /// Random fields besides the metadata.
    fields: fn(&mut Random) -> Value,
    /// A random JSON patch.
    steps: fn(&mut Random) -> Value,
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

fn status(r: &mut Random) -> Value {
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

fn metadata(r: &mut Random, name: &str) -> Value {
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

pub const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const PATCH: &str = "application/json-patch+json";

/// Where the objects of a kind are.
pub fn collection(target: &Target) -> String {
    let root = if target.api_version.contains('/') { "apis" } else { "api" };
    let namespace = if target.namespaced { "namespaces/NS/" } else { "" };
    format!("/{root}/{}/{namespace}{}", target.api_version, target.plural)
}

pub fn step(r: &mut Random) -> Step {
    let target = &TARGETS[[0, 0, 0, 0, 1, 1, 2, 3, 4][r.below(9)]];
    let all = collection(target);
    let letter = r.pick(&["a", "a", "a", "b"]);
    let name = if target.namespaced { letter.to_owned() } else { format!("NS-{letter}") };
    let path = format!("{all}/{name}");
    let to_status = (target.status && r.one_in(4)) || r.one_in(30);
    let sub = if to_status { "/status" } else { "" };
    let manager = r.pick(&["one", "one", "two", "three"]);
    let mut query = format!("fieldManager={manager}");
    if r.one_in(12) {
        query += "&dryRun=All";
    }
    let mut object = (target.fields)(r);
    object["apiVersion"] = target.api_version.into();
    object["kind"] = target.kind.into();
    object["metadata"] = metadata(r, &name);
    if target.status && (to_status || r.one_in(8)) {
        object["status"] = status(r);
    }
    if to_status && r.one_in(2) {
        object.as_object_mut().expect("it is one").remove("spec");
    }
    let identity = |r: &mut Random, object: &mut Value, often: bool| {
        match r.below(if often { 6 } else { 30 }) {
            0 => object["metadata"]["resourceVersion"] = format!("@old{path}").into(),
            1 if !often => object["metadata"]["resourceVersion"] = format!("@rv{path}").into(),
            1 => {}
            _ if often => object["metadata"]["resourceVersion"] = format!("@rv{path}").into(),
            _ => {}
        }
        match r.below(20) {
            0 => object["metadata"]["uid"] = format!("@uid{path}").into(),
            1 => object["metadata"]["uid"] = "00000000-0000-0000-0000-00000000dead".into(),
            _ => {}
        }
    };
    let of = |method, path: String, content, body| Step { method, path, content, body };
    match r.below(24) {
        0..=2 => {
            if r.one_in(6) {
                let meta = object["metadata"].as_object_mut().expect("it is one");
                meta.remove("name");
                meta.insert("generateName".into(), format!("{name}-gen-").into());
            }
            if r.one_in(15) {
                object["metadata"]["namespace"] = "other".into();
            }
            if r.one_in(15) {
                object["metadata"]["resourceVersion"] = "1".into();
            }
            of("POST", format!("{all}?{query}"), JSON, object)
        }
        3..=8 => {
            identity(r, &mut object, false);
            if r.one_in(2) {
                query += "&force=true";
            }
            if r.one_in(4) {
                object["metadata"].as_object_mut().expect("it is one").remove("name");
            }
            of("PATCH", format!("{path}{sub}?{query}"), APPLY, object)
        }
        9..=11 => {
            identity(r, &mut object, true);
            of("PUT", format!("{path}{sub}?{query}"), JSON, object)
        }
        12..=13 => {
            let mut object = object;
            object.as_object_mut().expect("it is one").retain(|it, _| !["apiVersion", "kind"].contains(&it.as_str()));
            if r.one_in(4) {
                let gone = r.pick(&["spec", "data", "status"]);
                object[gone] = Value::Null;
            }
            identity(r, &mut object, false);
            of("PATCH", format!("{path}{sub}?{query}"), MERGE, object)
        }
        14 => {
            object["metadata"].as_object_mut().expect("it is one").remove("name");
            of("PATCH", format!("{path}{sub}?{query}"), STRATEGIC, object)
        }
        15..=16 => of("PATCH", format!("{path}{sub}?{query}"), PATCH, (target.steps)(r)),
        17..=18 => {
            let mut options = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
            if r.one_in(3) {
                options["propagationPolicy"] = r.pick(&["Background", "Foreground", "Orphan"]).into();
            }
            match r.below(8) {
                0 => options["preconditions"] = json!({ "uid": format!("@uid{path}") }),
                1 => options["preconditions"] = json!({ "resourceVersion": format!("@old{path}") }),
                2 => options["preconditions"] = json!({ "uid": "00000000-0000-0000-0000-00000000dead" }),
                3 => options["preconditions"] = json!({ "resourceVersion": format!("@rv{path}") }),
                4 => options["dryRun"] = json!(["All"]),
                _ => {}
            }
            of("DELETE", path, JSON, options)
        }
        19 if target.namespaced => {
            of("DELETE", format!("{all}?labelSelector=l%3D{}", r.pick(&["x", "y"])), JSON, Value::Null)
        }
        20 if target.namespaced => {
            let selector = r.pick(&[
                "",
                "l%3Dx",
                "l%21%3Dx",
                "l",
                "%21l",
                "l+in+%28x%2Cy%29",
                "l+notin+%28x%29",
                "m%3Dz%2Cl",
                "l%3Dx%2C",
                "+l+%3D+x+",
                "l%3D%3D",
                "l%3Da+b",
                "in",
                "l+in+%28%29",
                "l%3Ex",
                "l%3E1",
                "-l",
                "l%3D-",
            ]);
            let fields = r.pick(&[
                "",
                "",
                "metadata.name%3Da",
                "metadata.name%21%3Da",
                "metadata.namespace%3DNS",
                "spec.size%3D1",
                "type%3DOpaque",
                "metadata.name",
                "metadata.name%3D",
            ]);
            let limit = r.pick(&["", "&limit=1"]);
            of("GET", format!("{all}?labelSelector={selector}&fieldSelector={fields}{limit}"), JSON, Value::Null)
        }
        _ => of("GET", format!("{path}{sub}"), JSON, Value::Null),
    }
}

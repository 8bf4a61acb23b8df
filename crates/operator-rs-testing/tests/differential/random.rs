//! Random requests: each is data, so that a failing sequence can be shortened.

use serde_json::{Map, Value, json};

use crate::kinds::{TARGETS, Target, metadata, status};

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

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
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
    let draft = Draft::random(r);
    match r.below(24) {
        0..=2 => draft.create(r),
        3..=8 => draft.apply(r),
        9..=11 => draft.update(r),
        12..=13 => draft.merge(r),
        14 => draft.strategic(),
        15..=16 => draft.patch(r),
        17..=18 => draft.delete(r),
        19 if draft.target.namespaced => {
            let path = format!("{}?labelSelector=l%3D{}", draft.all, r.pick(&["x", "y"]));
            Step { method: "DELETE", path, content: JSON, body: Value::Null }
        }
        20 if draft.target.namespaced => draft.list(r),
        _ => {
            let path = format!("{}{}", draft.path, draft.sub);
            Step { method: "GET", path, content: JSON, body: Value::Null }
        }
    }
}

/// The parts of a request, before its verb is known.
struct Draft {
    target: &'static Target,
    /// The path of all objects of its kind.
    all: String,
    name: String,
    path: String,
    /// The subresource.
    sub: &'static str,
    query: String,
    object: Value,
}

impl Draft {
    fn random(r: &mut Random) -> Self {
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
        if target.api_version == "test.dev/v1" {
            // A real server stores empty maps in the metadata of a custom resource, but does not return them. Whether
            // the next write changes the resource version then depends on the clock.
            let is_empty = |it: &Value| it.as_object().is_some_and(Map::is_empty);
            object["metadata"].as_object_mut().expect("it is one").retain(|_, it| !is_empty(it));
        }
        if target.status && (to_status || r.one_in(8)) {
            object["status"] = status(r);
        }
        if to_status && r.one_in(2) {
            object.as_object_mut().expect("it is one").remove("spec");
        }
        Self { target, all, name, path, sub, query, object }
    }

    /// Lets the object name a version or a uid: in updates often, otherwise seldom.
    fn identify(&mut self, r: &mut Random, often: bool) {
        let (path, meta) = (&self.path, &mut self.object["metadata"]);
        match r.below(if often { 6 } else { 30 }) {
            0 => meta["resourceVersion"] = format!("@old{path}").into(),
            1 if !often => meta["resourceVersion"] = format!("@rv{path}").into(),
            1 => {}
            _ if often => meta["resourceVersion"] = format!("@rv{path}").into(),
            _ => {}
        }
        match r.below(20) {
            0 => meta["uid"] = format!("@uid{path}").into(),
            1 => meta["uid"] = "00000000-0000-0000-0000-00000000dead".into(),
            _ => {}
        }
    }

    /// A write of the object.
    fn write(self, method: &'static str, content: &'static str) -> Step {
        let path = format!("{}{}?{}", self.path, self.sub, self.query);
        Step { method, path, content, body: self.object }
    }

    fn meta(&mut self) -> &mut Map<String, Value> {
        self.object["metadata"].as_object_mut().expect("it is one")
    }

    fn create(mut self, r: &mut Random) -> Step {
        if r.one_in(6) {
            let prefix = format!("{}-gen-", self.name);
            self.meta().remove("name");
            self.meta().insert("generateName".into(), prefix.into());
        }
        if r.one_in(15) {
            self.object["metadata"]["namespace"] = "other".into();
        }
        if r.one_in(15) {
            self.object["metadata"]["resourceVersion"] = "1".into();
        }
        Step { method: "POST", path: format!("{}?{}", self.all, self.query), content: JSON, body: self.object }
    }

    fn apply(mut self, r: &mut Random) -> Step {
        self.identify(r, false);
        if r.one_in(2) {
            self.query += "&force=true";
        }
        if r.one_in(4) {
            self.meta().remove("name");
        }
        self.write("PATCH", APPLY)
    }

    fn update(mut self, r: &mut Random) -> Step {
        self.identify(r, true);
        self.write("PUT", JSON)
    }

    fn merge(mut self, r: &mut Random) -> Step {
        let object = self.object.as_object_mut().expect("it is one");
        object.retain(|it, _| !["apiVersion", "kind"].contains(&it.as_str()));
        if r.one_in(4) {
            let gone = r.pick(&["spec", "data", "status"]);
            self.object[gone] = Value::Null;
        }
        self.identify(r, false);
        self.write("PATCH", MERGE)
    }

    fn strategic(mut self) -> Step {
        self.meta().remove("name");
        self.write("PATCH", STRATEGIC)
    }

    fn patch(mut self, r: &mut Random) -> Step {
        self.object = (self.target.steps)(r);
        self.write("PATCH", PATCH)
    }

    fn delete(self, r: &mut Random) -> Step {
        let path = self.path;
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
        Step { method: "DELETE", path, content: JSON, body: options }
    }

    fn list(self, r: &mut Random) -> Step {
        const LABELS: [&str; 18] = [
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
        ];
        const FIELDS: [&str; 9] = [
            "",
            "",
            "metadata.name%3Da",
            "metadata.name%21%3Da",
            "metadata.namespace%3DNS",
            "spec.size%3D1",
            "type%3DOpaque",
            "metadata.name",
            "metadata.name%3D",
        ];
        let (labels, fields, limit) = (r.pick(&LABELS), r.pick(&FIELDS), r.pick(&["", "&limit=1"]));
        let path = format!("{}?labelSelector={labels}&fieldSelector={fields}{limit}", self.all);
        Step { method: "GET", path, content: JSON, body: Value::Null }
    }
}

//! Random changes of CRDs, and a table of schemas: `crds diff` says of each what a real API server says of the update. `SEED` and `CASES` choose
//! them.

use std::{collections::BTreeSet, env, fs};

use serde_json::{Value, json};

use crate::{
    place,
    random::Random,
    server::{JSON, Server},
    support,
};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The rules by which the API server refuses an update.
const REFUSED: [&str; 5] =
    ["immutable", "scope", "storageVersionRemoval", "storedVersionRemoval", "invalid"];

#[tokio::test]
async fn what_the_api_server_refuses_is_breaking_and_nothing_else_is_called_refused() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let number = |name: &str, default: u64| {
        env::var(name).ok().map_or(default, |it| it.parse().expect("it is a number"))
    };
    let (seed, cases) = (number("SEED", 1), number("CASES", 120));
    let mut pairs = Vec::new();
    for case in 0..cases {
        let mut random = Random::of(seed, &format!("case {case}"));
        let old = crd(&mut random, case);
        let mut new = old.clone();
        for _ in 0..=random.below(2) {
            CHANGES[random.below(CHANGES.len())](&mut random, &mut new);
        }
        pairs.push((old, new));
    }
    for (case, text) in (cases..).zip(SCHEMAS) {
        let old = crd(&mut Random::of(seed, text), case);
        let mut new = old.clone();
        *field(&mut new, "any") = serde_json::from_str(text).expect("it is JSON");
        pairs.push((old, new));
    }
    for (old, _) in &pairs {
        let answer = server.ask("POST", PATH, JSON, old.clone()).await.expect("the server answers");
        assert_eq!(answer.code, 201, "SEED={seed}: {old} {answer:?}");
    }
    let mut refused = BTreeSet::new();
    for (old, new) in &pairs {
        let path = format!("{PATH}/{}", name(old));
        let is = |it: &Value| it.to_string().contains(r#""status":"True","type":"Established""#);
        let found = server.until(&path, 60, "established", is).await;
        let mut new = new.clone();
        new["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"].clone();
        let answer = server.ask("PUT", &format!("{path}?dryRun=All"), JSON, new).await;
        let answer = answer.expect("the server answers");
        if answer.code != 200 {
            assert_eq!(answer.code, 422, "{answer:?}");
            refused.insert((name(old), answer.body["message"].to_string()));
        }
        server.delete(&path).await;
    }
    let messages = refused.clone();
    let refused: BTreeSet<String> = refused.into_iter().map(|it| it.0).collect();
    let ours = ours(&pairs);
    let difference: Vec<_> = refused.symmetric_difference(&ours).collect();
    let told: Vec<_> = messages.iter().filter(|it| difference.contains(&&it.0)).collect();
    assert!(difference.is_empty(), "SEED={seed}: {difference:?}\n{told:#?}");
    let many = pairs.len() / 6;
    assert!((many..pairs.len() - many).contains(&refused.len()), "{} refused", refused.len());
}

/// `rules.json` has rules that an API server accepts and refuses; the unit tests compare them with what we say.
#[tokio::test]
async fn rules_are_accepted_and_refused_as_the_table_has_it() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let table: Value = serde_json::from_str(include_str!("rules.json")).expect("it is JSON");
    let path = format!("{PATH}?dryRun=All");
    for (of, expected) in [("accepted", 201), ("unchecked", 201), ("refused", 422), ("missed", 422)]
    {
        for rule in table[of].as_array().expect("a list") {
            let mut crd = crd(&mut Random::of(1, "rules"), 0);
            let mut spec = table["schema"].clone();
            spec["x-kubernetes-validations"] = json!([{ "rule": rule, "message": "no" }]);
            let schema = json!({ "type": "object", "properties": { "spec": spec } });
            for version in versions(&mut crd) {
                version["schema"]["openAPIV3Schema"] = schema.clone();
            }
            let answer = server.ask("POST", &path, JSON, crd).await.expect("the server answers");
            assert_eq!(answer.code, expected, "{of}: {rule} {answer:?}");
        }
    }
}

/// `costs.json` has rules with what they cost, and schemas that are refused for it or not; the unit tests compare them
/// with our estimates.
#[tokio::test]
async fn rules_are_refused_for_their_cost_as_the_table_has_it() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let table: Value = serde_json::from_str(include_str!("costs.json")).expect("it is JSON");
    let mut cases = Vec::new();
    for row in table["rules"].as_array().expect("a list") {
        let mut spec = table["schema"].clone();
        spec["x-kubernetes-validations"] = json!([{ "rule": row[0], "message": "no" }]);
        cases.push((spec, row[1].as_u64().expect("a cost") > 10_000_000));
    }
    for row in table["schemas"].as_array().expect("a list") {
        cases.push((row[0].clone(), row[1].as_bool().expect("a verdict")));
    }
    for (spec, is_refused) in cases {
        let mut crd = crd(&mut Random::of(1, "costs"), 0);
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        for version in versions(&mut crd) {
            version["schema"]["openAPIV3Schema"] = schema.clone();
        }
        let path = format!("{PATH}?dryRun=All");
        let answer = server.ask("POST", &path, JSON, crd).await.expect("the server answers");
        let expected = if is_refused { 422 } else { 201 };
        assert_eq!(answer.code, expected, "{} {answer:?}", spec["x-kubernetes-validations"]);
        let says_so = answer.body.to_string().contains("exceed");
        assert_eq!(says_so, is_refused, "{answer:?}");
    }
}

/// `decoded.json` has objects and a change of each: one that an API server can decode or not, or a field that it does not
/// know. The unit tests compare them with what we read.
#[tokio::test]
async fn objects_are_decoded_as_the_table_has_it() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let table: Value = serde_json::from_str(include_str!("decoded.json")).expect("it is JSON");
    for case in table["cases"].as_array().expect("a list") {
        let at = |index: usize| case[index].as_str().unwrap_or_default();
        let base = &table["objects"][at(0)];
        let mut object = base["object"].clone();
        let (parent, key) = at(1).rsplit_once('/').expect("a pointer");
        match object.pointer_mut(parent).expect("it is there") {
            Value::Array(items) => {
                items.insert(key.parse().expect("a number"), case[2].clone());
            }
            parent => parent[key] = case[2].clone(),
        }
        let path = base["path"].as_str().expect("a path");
        let path = format!("{path}?dryRun=All&fieldValidation=Strict");
        // As YAML, as people write it: JSON is YAML.
        let answer = server.ask("POST", &path, "application/yaml", object).await;
        let answer = answer.expect("the server answers");
        let (code, says_unknown) = match at(3) {
            "good" | "lost" => (201, false),
            "wrong" => (400, false),
            _ => (400, true),
        };
        assert_eq!(answer.code, code, "{case} {answer:?}");
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert_eq!(message.contains("unknown field"), says_unknown, "{case} {message}");
        if at(3) == "lost" {
            assert!(
                answer.body["spec"].is_object() && answer.body.pointer(at(1)).is_none(),
                "{case}"
            );
        }
    }
}

/// `updates.json` has objects, changes, and whether an API server refuses each; the unit tests compare them with ours.
#[tokio::test]
async fn updates_are_refused_as_the_table_has_it() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let table: Value = serde_json::from_str(include_str!("updates.json")).expect("it is JSON");
    for (at, case) in table.as_array().expect("a list").iter().enumerate() {
        let (path, name) = (case["path"].as_str().expect("a path"), format!("case{at}"));
        let mut old = case["old"].clone();
        old["metadata"]["name"] = json!(name);
        let answer = server.ask("POST", path, JSON, old.clone()).await.expect("the server answers");
        assert_eq!(answer.code, 201, "{old} {answer:?}");
        let mut new = old.clone();
        let patch = case["patch"].as_object().expect("a map").clone();
        new.as_object_mut().expect("a map").extend(patch);
        let at = format!("{path}/{name}?dryRun=All");
        // Controllers write to it, too: then it is sent again.
        let answer = loop {
            let live = server.get(&format!("{path}/{name}")).await.expect("it exists");
            new["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            let answer =
                server.ask("PUT", &at, JSON, new.clone()).await.expect("the server answers");
            if answer.code != 409 {
                break answer;
            }
        };
        let is_refused = case["refused"].as_array().is_some_and(|it| !it.is_empty());
        assert_eq!(answer.code, if is_refused { 422 } else { 200 }, "{new} {answer:?}");
        server.delete(&format!("{path}/{name}")).await;
    }
}

/// The CRDs of which `crds diff` says that the API server refuses the update; by every policy, that is breaking.
fn ours(pairs: &[(Value, Value)]) -> BTreeSet<String> {
    let dir = support::fresh("deploy/crd-updates");
    let list = |of: fn(&(Value, Value)) -> &Value| {
        json!({ "kind": "List", "items": pairs.iter().map(of).collect::<Vec<_>>() }).to_string()
    };
    fs::write(dir.join("old.json"), list(|it| &it.0)).expect("the folder is ours");
    fs::write(dir.join("new.json"), list(|it| &it.1)).expect("the folder is ours");
    let refused = ["crdify", "olmv0", "olmv1", "olm"].map(|policy| {
        let output = support::command(support::BINARY, &dir)
            .args(["crds", "diff", "old.json", "--to", "new.json", "--output", "json"])
            .args(["--policy", policy])
            .output()
            .expect("the binary starts");
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", support::said(&output)));
        let findings = report["findings"].as_array().expect("a list").iter();
        let breaking = findings.filter(|it| it["severity"] == "error");
        let is_refused =
            |it: &&Value| REFUSED.iter().any(|rule| it["rule"] == *rule) && it["field"].is_null();
        let crd = |it: &Value| it["crd"].as_str().expect("a name").to_owned();
        breaking.filter(is_refused).map(crd).collect::<BTreeSet<_>>()
    });
    assert!(refused.iter().all(|it| *it == refused[0]), "the policies differ");
    refused[0].clone()
}

fn name(crd: &Value) -> String {
    crd["metadata"]["name"].as_str().expect("it has a name").to_owned()
}

/// A CRD that the API server accepts.
fn crd(random: &mut Random, case: u64) -> Value {
    let (plural, kind) = (format!("case{case}s"), format!("Case{case}"));
    let group = *random.pick(&["diffs.example.com", "diffs.example.com", "diffs.k8s.io"]);
    let mut versions: Vec<Value> = ["v1", "v1beta1", "v1alpha1"][..=random.below(3)]
        .iter()
        .map(|it| version(random, it))
        .collect();
    let stored = random.below(versions.len());
    versions[stored]["storage"] = json!(true);
    let names = json!({ "plural": plural, "kind": kind, "shortNames": [format!("c{case}")] });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            "annotations": { "api-approved.kubernetes.io": random.pick(&["https://k8s.io/a", "unapproved"]) },
        },
        "spec": {
            "group": group,
            "scope": random.pick(&["Namespaced", "Cluster"]),
            "names": names,
            "versions": versions,
        },
    })
}

fn version(random: &mut Random, name: &str) -> Value {
    let fields = json!({
        "size": { "type": "integer", "minimum": 0 },
        "mode": { "type": "string", "enum": ["a", "b"], "default": "a" },
        "ports": {
            "type": "array",
            "items": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        "any": { "x-kubernetes-int-or-string": true },
        "labels": { "type": "object", "additionalProperties": { "type": "string" } },
    });
    let spec = json!({ "type": "object", "properties": fields });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let mut res = json!({
        "name": name,
        "served": true,
        "storage": false,
        "schema": { "openAPIV3Schema": schema },
    });
    if random.one_in(2) {
        res["subresources"] = json!({ "status": {} });
    }
    res
}

type Change = fn(&mut Random, &mut Value);

/// Changes of which some are refused, some of them only of some CRDs.
const CHANGES: &[Change] = &[
    |_, crd| crd["spec"]["names"]["kind"] = json!("Other"),
    |_, crd| crd["spec"]["names"]["plural"] = json!("others"),
    |_, crd| crd["spec"]["names"]["listKind"] = json!("Others"),
    |_, crd| crd["spec"]["names"]["singular"] = json!("other"),
    |_, crd| crd["spec"]["names"]["shortNames"] = json!(["o"]),
    |_, crd| crd["spec"]["names"]["categories"] = json!(["all"]),
    |_, crd| crd["spec"]["group"] = json!("other.example.com"),
    |random, crd| crd["spec"]["scope"] = json!(random.pick(&["Namespaced", "Cluster"])),
    |random, crd| crd["spec"]["preserveUnknownFields"] = json!(random.one_in(2)),
    |_, crd| crd["spec"]["conversion"] = json!({ "strategy": "None" }),
    |_, crd| {
        let client = json!({ "service": { "namespace": "a", "name": "b" } });
        let webhook = json!({ "clientConfig": client, "conversionReviewVersions": ["v1"] });
        crd["spec"]["conversion"] = json!({ "strategy": "Webhook", "webhook": webhook });
    },
    |random, crd| {
        let value = *random.pick(&["", "unapproved, later", "nonsense", "https://k8s.io/b"]);
        crd["metadata"]["annotations"]["api-approved.kubernetes.io"] = json!(value);
    },
    |_, crd| crd["metadata"]["labels"] = json!({ "a": "b" }),
    |random, crd| {
        let versions = versions(crd);
        let at = random.below(versions.len());
        let gone = versions.remove(at);
        match versions.first_mut() {
            Some(first) if gone["storage"] == true => first["storage"] = json!(true),
            Some(_) => {}
            None => {
                versions.push(gone);
                versions[0]["name"] = json!("v2");
            }
        }
    },
    |random, crd| {
        let versions = versions(crd);
        let at = random.below(versions.len());
        versions
            .iter_mut()
            .enumerate()
            .for_each(|(it, version)| version["storage"] = json!(it == at));
    },
    |random, crd| {
        let mut version = version(random, "v3");
        version["served"] = json!(random.one_in(2));
        versions(crd).push(version);
    },
    |_, crd| versions(crd)[0]["served"] = json!(false),
    |_, crd| {
        versions(crd)[0]["additionalPrinterColumns"] =
            json!([{ "name": "Size", "type": "integer", "jsonPath": ".spec.size" }]);
    },
    |_, crd| versions(crd)[0]["selectableFields"] = json!([{ "jsonPath": ".spec.mode" }]),
    |_, crd| {
        let scale =
            json!({ "specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size" });
        versions(crd)[0]["subresources"] = json!({ "scale": scale });
    },
    |random, crd| {
        let name = *random.pick(&["v1", "V1", "v1beta1", "2"]);
        versions(crd)[0]["name"] = json!(name);
    },
    |_, crd| versions(crd)[0]["schema"] = Value::Null,
    |random, crd| {
        let paths = [".spec.size", "spec.size", ".status.a"];
        let scale = json!({ "specReplicasPath": random.pick(&paths), "statusReplicasPath": random.pick(&paths) });
        versions(crd)[0]["subresources"] = json!({ "status": {}, "scale": scale });
    },
    |_, crd| versions(crd)[0]["schema"]["openAPIV3Schema"]["nullable"] = json!(true),
    |_, crd| versions(crd)[0]["schema"]["openAPIV3Schema"]["maxProperties"] = json!(5),
    |_, crd| *field(crd, "size") = json!({ "type": "string" }),
    |_, crd| field(crd, "mode")["enum"] = json!(["a"]),
    |_, crd| field(crd, "size")["x-kubernetes-validations"] = json!([{ "rule": "self < 5" }]),
    |_, crd| field(crd, "labels")["maxProperties"] = json!(5),
];

/// Schemas for a field, of which most are refused.
const SCHEMAS: &[&str] = &[
    r#"{}"#,
    r#"{"type": "string", "default": "x"}"#,
    r#"{"type": "string", "default": 1}"#,
    r#"{"type": "string", "default": "x", "enum": ["a"]}"#,
    r#"{"type": "integer", "default": 1.0}"#,
    r#"{"type": "integer", "default": 1.5}"#,
    r#"{"type": "object", "default": {"a": 1}}"#,
    r#"{"type": "object", "default": {"a": 1}, "x-kubernetes-preserve-unknown-fields": true}"#,
    r#"{"type": "object", "default": {}, "properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
    r#"{"type": "object", "default": {"a": 1}, "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "array", "default": ["a", "a"], "items": {"type": "string"}, "x-kubernetes-list-type": "set"}"#,
    r#"{"type": "string", "default": "b", "x-kubernetes-validations": [{"rule": "self == 'a'"}]}"#,
    r#"{"type": "string", "format": "date", "default": "today"}"#,
    r#"{"type": "string", "nullable": true, "default": null}"#,
    r#"{"type": "null"}"#,
    r#"{"type": "text"}"#,
    r#"{"type": "array"}"#,
    r#"{"type": "array", "items": {}}"#,
    r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#,
    r#"{"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"}"#,
    r#"{"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}"#,
    r#"{"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"}"#,
    r#"{"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]}"#,
    r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}"#,
    r#"{"type": "array", "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "a"]}"#,
    r#"{"type": "object", "x-kubernetes-list-type": "atomic"}"#,
    r#"{"type": "object", "x-kubernetes-map-type": "atomic"}"#,
    r#"{"type": "object", "x-kubernetes-map-type": "loose"}"#,
    r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": false}"#,
    r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}"#,
    r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true}"#,
    r#"{"type": "object", "patternProperties": {"a": {"type": "string"}}}"#,
    r#"{"type": "object", "definitions": {"a": {"type": "string"}}}"#,
    r#"{"type": "object", "dependencies": {"a": ["b"]}}"#,
    r#"{"type": "object", "id": "a"}"#,
    r##"{"$ref": "#/a"}"##,
    r#"{"type": "object", "x-kubernetes-embedded-resource": true}"#,
    r#"{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}"#,
    r#"{"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}"#,
    r#"{"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}"#,
    r#"{"type": "integer", "anyOf": [{"type": "integer"}, {"type": "string"}]}"#,
    r#"{"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 0}]}"#,
    r#"{"type": "integer", "not": {"description": "no", "minimum": 1}}"#,
    r#"{"type": "object", "allOf": [{"required": ["a"]}]}"#,
    r#"{"type": "object", "allOf": [{"properties": {"a": {"minLength": 1}}}]}"#,
    r#"{"type": "string", "pattern": "["}"#,
    r#"{"type": "string", "pattern": "(?=a)"}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": ""}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self.size("}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "message": " "}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "reason": "Nonsense"}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "optionalOldSelf": true}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'", "fieldPath": ".b"}]}"#,
    r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self"}]}"#,
];

fn versions(crd: &mut Value) -> &mut Vec<Value> {
    crd["spec"]["versions"].as_array_mut().expect("a list")
}

/// A field of the spec, in the first version.
fn field<'a>(crd: &'a mut Value, name: &str) -> &'a mut Value {
    let schema = &mut versions(crd)[0]["schema"]["openAPIV3Schema"];
    &mut schema["properties"]["spec"]["properties"][name]
}

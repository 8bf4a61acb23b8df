//! `--explain` beside the bundle that is written: every object is explained once, and what the explanation says of the
//! bundle is what a reader of its own finds there. `random.rs` and `public.rs` compare more of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Output,
};

use serde_json::{Value, json};

use super::{CSV, bundle, files, made, object, objects};
use crate::support;

type Files = BTreeMap<String, Value>;
/// Values as JSON.
type Set = BTreeSet<String>;

/// The explanation of a bundle that is written, after it was compared with the bundle.
pub fn explained(name: &str, objects: &[Value], words: &[&str]) -> (Value, Files) {
    let (dir, output) = bundle(name, objects, &[words, &["--explain=json"]].concat());
    assert!(output.status.success(), "{name}: {}", support::said(&output));
    compared(&dir, &output, objects).unwrap_or_else(|it| panic!("{name}: {it}"))
}

/// Where the two differ, or the explanation and the files.
pub fn compared(dir: &Path, output: &Output, objects: &[Value]) -> Result<(Value, Files), String> {
    let explanation: Value =
        serde_json::from_slice(&output.stdout).map_err(|it| format!("stdout: {it}"))?;
    let files = files(&dir.join("bundle"));
    let same = |what: &str, said: &Set, found: &Set| match said == found {
        true => Ok(()),
        false => Err(format!("{what}: explained {said:#?}, found {found:#?}")),
    };
    let entries = explanation["objects"].as_array().ok_or("no objects")?;
    if entries.len() != objects.len() {
        return Err(format!("{} objects, {} entries", objects.len(), entries.len()));
    }
    let mut said: BTreeMap<&str, Set> = BTreeMap::new();
    for (entry, object) in entries.iter().zip(objects) {
        for (key, given) in [
            ("kind", &object["kind"]),
            ("name", &object["metadata"]["name"]),
            ("namespace", &object["metadata"]["namespace"]),
        ] {
            if given.is_string() && entry[key] != *given {
                return Err(format!("{entry:#} is of {object}"));
            }
        }
        let places = entry["places"].as_array().ok_or("no places")?;
        let is_silent = entry["notes"].as_array().is_none_or(Vec::is_empty);
        if entry["leftOut"] != json!(places.is_empty()) || places.is_empty() && is_silent {
            return Err(format!("{entry:#} has neither a place nor a reason"));
        }
        for place in places {
            if let Some(path) = place["file"].as_str() {
                let file = files.get(path).ok_or_else(|| format!("{path} is not there"))?;
                let is = ["kind", "apiVersion"].iter().all(|it| file[*it] == entry[*it]);
                if !is || file["metadata"]["name"] != entry["name"] {
                    return Err(format!("{path} is not {entry:#}"));
                }
                said.entry("files").or_default().insert(place["file"].to_string());
                continue;
            }
            let field = place["csv"].as_str().ok_or("a place without a field")?;
            let item = match field {
                "spec.customresourcedefinitions.owned" => json!([entry["name"], place["item"]]),
                "metadata.annotations.alm-examples" => json!([entry["kind"], entry["name"]]),
                _ => place["item"].clone(),
            };
            said.entry(field).or_default().insert(item.to_string());
            if let Some(through) = place["with"].as_str() {
                let is = |it: &&Value| through == reference(it);
                let mut others = entries.iter().filter(is);
                let back = |it: &Value| {
                    let places = it["places"].as_array().into_iter().flatten();
                    places.clone().any(|it| {
                        it["csv"] == place["csv"]
                            && it["item"] == place["item"]
                            && it["with"] == json!(reference(entry))
                    })
                };
                if !others.any(back) {
                    return Err(format!("{through} does not give {entry:#}"));
                }
            }
        }
    }
    let is_csv = |it: &(&String, &Value)| it.1["kind"] == "ClusterServiceVersion";
    let (csv_path, csv) = files.iter().find(is_csv).ok_or("no CSV")?;
    let all = |pointer: &str, item: &dyn Fn(&Value) -> Value| -> Set {
        let list = csv.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().map(|it| item(it).to_string()).collect()
    };
    let empty = Set::new();
    for (field, key) in [
        ("spec.install.spec.deployments", "name"),
        ("spec.install.spec.permissions", "serviceAccountName"),
        ("spec.install.spec.clusterPermissions", "serviceAccountName"),
        ("spec.webhookdefinitions", "generateName"),
    ] {
        let found = all(&format!("/{}", field.replace('.', "/")), &|it| it[key].clone());
        same(field, said.get(field).unwrap_or(&empty), &found)?;
    }
    let field = "spec.customresourcedefinitions.owned";
    let found =
        all("/spec/customresourcedefinitions/owned", &|it| json!([it["name"], it["version"]]));
    same(field, said.get(field).unwrap_or(&empty), &found)?;
    let field = "metadata.annotations.alm-examples";
    let examples = csv["metadata"]["annotations"]["alm-examples"].as_str().ok_or("no examples")?;
    let examples: Vec<Value> = serde_json::from_str(examples).map_err(|it| it.to_string())?;
    let name = |it: &Value| it["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let found = examples.iter().map(|it| json!([it["kind"], name(it)]).to_string()).collect();
    same(field, said.get(field).unwrap_or(&empty), &found)?;
    let others = explanation["notGenerated"].as_array().into_iter().flatten();
    let others: Vec<&str> = others.filter_map(Value::as_str).collect();
    let is_file = |it: &&String| {
        *it != csv_path && !it.starts_with("metadata/") && !others.contains(&it.as_str())
    };
    let found = files.keys().filter(is_file).map(|it| json!(it).to_string()).collect();
    same("files", said.get("files").unwrap_or(&empty), &found)?;

    let images = explanation["images"].as_array().ok_or("no images")?;
    let images = images.iter().filter(|it| !it["relatedImage"].is_null());
    let images = images.map(|it| json!([it["relatedImage"], it["image"]]).to_string()).collect();
    let found = all("/spec/relatedImages", &|it| {
        json!([it["name"].as_str().unwrap_or(""), it["image"].as_str().unwrap_or("")])
    });
    same("images", &images, &found)?;
    let annotations = explanation["annotations"].as_array().into_iter().flatten();
    let annotations = annotations.map(|it| json!([it["name"], it["value"]]).to_string()).collect();
    let found = files["metadata/annotations.yaml"]["annotations"].as_object().into_iter().flatten();
    same(
        "annotations",
        &annotations,
        &found.map(|(key, it)| json!([key, it]).to_string()).collect(),
    )?;
    let sizes = explanation["sizes"].as_array().into_iter().flatten();
    let sizes = sizes.map(|it| json!([it["path"], it["plain"]]).to_string()).collect();
    let tree = support::tree(&dir.join("bundle"));
    let found = tree.iter().filter(|it| it.0.starts_with("manifests/"));
    same("sizes", &sizes, &found.map(|(path, it)| json!([path, it.len()]).to_string()).collect())?;
    warnings(&support::said(output), entries)?;
    Ok((explanation, files))
}

/// `Kind namespace/name`
fn reference(entry: &Value) -> String {
    let [kind, namespace, name] =
        ["kind", "namespace", "name"].map(|it| entry[it].as_str().unwrap_or_default());
    match namespace {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}

/// What is left out with a warning is left out in the explanation, too.
fn warnings(said: &str, entries: &[Value]) -> Result<(), String> {
    for line in said.lines().filter_map(|it| it.strip_prefix("warning: ")) {
        let Some((title, reason)) = line.split_once(" is left out of the bundle: ") else {
            continue;
        };
        let named = title.split_once('`').and_then(|it| it.1.split_once("` ("));
        let Some((title, version)) = named else { continue };
        // A field of an object, or the whole object.
        let note = match version.split_once("): ") {
            Some((_, field)) => format!("{field} is left out of the bundle: {reason}"),
            None => reason.to_owned(),
        };
        let is = |it: &Value| {
            let [kind, name] = ["kind", "name"].map(|key| it[key].as_str().unwrap_or_default());
            let has = |notes: &Vec<Value>| notes.contains(&json!(note));
            title == format!("{kind}/{name}") && it["notes"].as_array().is_some_and(has)
        };
        if !entries.iter().any(is) {
            return Err(format!("not explained: {line}"));
        }
    }
    Ok(())
}

/// The entry of the object of this kind whose name ends so.
pub fn entry<'a>(explanation: &'a Value, kind: &str, end: &str) -> &'a Value {
    let is =
        |it: &&Value| it["kind"] == kind && it["name"].as_str().unwrap_or_default().ends_with(end);
    let entries = explanation["objects"].as_array().expect("a list");
    entries.iter().find(is).unwrap_or_else(|| panic!("no {kind} `…{end}`"))
}

/// Where an object is, in short.
pub fn places(entry: &Value) -> Vec<String> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let place = |it: &Value| match it["file"].as_str() {
        Some(file) => file.to_owned(),
        None => format!("{} {} {}", text(&it["csv"]), text(&it["item"]), text(&it["with"])),
    };
    entry["places"].as_array().expect("a list").iter().map(place).collect()
}

#[test]
fn every_object_of_a_scaffolded_project_is_explained() {
    let (explanation, _) = explained("explained", &objects(), &[]);
    let left_out = explanation["objects"].as_array().expect("a list").iter();
    let left_out: Vec<&Value> =
        left_out.filter(|it| it["leftOut"] == true).map(|it| &it["kind"]).collect();
    assert_eq!(left_out, ["Namespace", "ServiceAccount"]);
    let origin = &entry(&explanation, "Namespace", "")["origin"];
    assert_eq!(*origin, json!({ "file": "objects.yaml", "line": 3 }));
}

pub const OPERATOR: &str = "memcached-operator-controller-manager";

pub fn account(name: &str) -> Value {
    json!({ "kind": "ServiceAccount", "name": name, "namespace": "memcached-operator-system" })
}

pub fn binding(kind: &str, name: &str, role: &str, subjects: Value) -> Value {
    let (role_kind, role) = role.split_once(' ').expect("a kind and a name");
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role }, "subjects": subjects,
    })
}

pub fn role(name: &str, rules: Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": name }, "rules": rules,
    })
}

#[test]
fn a_role_that_is_bound_twice_names_both_bindings() {
    let mut objects = objects();
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]);
    objects.push(role("shared", rules.clone()));
    objects.push(binding("RoleBinding", "one", "Role shared", json!([account(OPERATOR)])));
    objects.push(binding("RoleBinding", "two", "Role shared", json!([account(OPERATOR)])));
    let (explanation, files) = explained("explained-twice", &objects, &[]);
    let field = "spec.install.spec.permissions";
    assert_eq!(
        places(entry(&explanation, "Role", "shared")),
        [
            format!("{field} {OPERATOR} RoleBinding one"),
            format!("{field} {OPERATOR} RoleBinding two"),
        ]
    );
    // Both bindings give the same rules.
    let permissions = &files[CSV]["spec"]["install"]["spec"]["permissions"][0]["rules"];
    let given = permissions.as_array().expect("rules").iter().filter(|it| **it == rules[0]);
    assert_eq!(given.count(), 2);
}

#[test]
fn leftover_rbac_says_why() {
    let mut objects = objects();
    objects.push(role("unbound", json!([])));
    objects.push(role("idle", json!([])));
    objects.push(binding("RoleBinding", "idle", "Role idle", json!([account(OPERATOR)])));
    objects.push(binding("RoleBinding", "none", "Role idle", json!([])));
    let group = json!([{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "a" }]);
    objects.push(binding("ClusterRoleBinding", "group", "ClusterRole view", group));
    objects.push(json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "operand", "namespace": "memcached-operator-system" },
    }));
    let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }]);
    objects.push(role("operand", rules));
    // The other one is in the same namespace, wherever the operator is installed.
    let elsewhere =
        json!({ "kind": "ServiceAccount", "name": "operand", "namespace": "kube-system" });
    let subjects = json!([account("operand"), elsewhere]);
    objects.push(binding("RoleBinding", "operand", "Role operand", subjects));
    let (explanation, _) = explained("explained-leftover", &objects, &[]);
    let notes = entry(&explanation, "RoleBinding", "operand")["notes"].as_array().expect("a list");
    assert_eq!(notes.len(), 2, "{notes:?}");
    let home = notes[1].as_str().expect("a note");
    assert!(home.starts_with(
        "its subject `operand` is that of the namespace `memcached-operator-system`, so"
    ));
    assert!(home.contains("; with `--extra-service-accounts operand`, OLM creates the binding"));
    for (kind, name, is_left_out, note) in [
        ("Role", "unbound", false, "no binding here gives it to a service account of the operator"),
        ("Role", "idle", true, "it has no rules"),
        ("RoleBinding", "idle", true, "Role idle has no rules"),
        ("RoleBinding", "none", true, "it has no subjects"),
        (
            "ClusterRoleBinding",
            "group",
            false,
            "none of its subjects is a service account of the operator",
        ),
        ("ServiceAccount", "operand", false, "no Deployment uses it"),
        (
            "ServiceAccount",
            OPERATOR,
            true,
            "OLM creates the service accounts of the CSV's permissions",
        ),
    ] {
        let entry = entry(&explanation, kind, name);
        assert_eq!(entry["leftOut"], json!(is_left_out), "{kind} {name}");
        assert_eq!(entry["notes"], json!([note]), "{kind} {name}");
    }
}

#[test]
fn webhooks_and_what_a_csv_cannot_say_are_explained() {
    let mut objects = objects();
    let deployment = object(&mut objects, "Deployment", "manager");
    deployment["metadata"]["annotations"] = json!({ "example.com/reload": "yes" });
    let labels = deployment["spec"]["template"]["metadata"]["labels"].clone();
    objects.push(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "webhook-service" },
        "spec": { "ports": [{ "port": 443, "targetPort": 9443 }], "selector": labels },
    }));
    let service = json!({ "name": "webhook-service", "namespace": "a", "path": "/convert" });
    let webhook = json!({
        "name": "a.kb.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "clientConfig": { "service": service }, "namespaceSelector": { "matchLabels": { "a": "b" } },
        "rules": [{ "apiGroups": ["cache.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["memcacheds"] }],
    });
    // The same webhook twice is one webhook.
    for name in ["one", "two"] {
        objects.push(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": { "name": name }, "webhooks": [webhook],
        }));
    }
    objects.push(json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": { "name": "none" },
    }));
    let crd = object(&mut objects, "CustomResourceDefinition", "");
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
    });
    object(&mut objects, "ClusterServiceVersion", "")["spec"]["installModes"] =
        json!([{ "type": "AllNamespaces", "supported": true }]);
    for (version, kind) in [("cert-manager.io/v1", "Issuer"), ("apps/v1", "DaemonSet")] {
        objects.push(json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "it" } }));
    }
    let copy = objects[0].clone();
    objects.push(copy);
    let (explanation, _) = explained("explained-webhooks", &objects, &[]);
    let of = |kind: &str, end: &str| entry(&explanation, kind, end);
    for name in ["one", "two"] {
        let it = of("ValidatingWebhookConfiguration", name);
        assert_eq!(places(it), ["spec.webhookdefinitions a.kb.io "]);
        let note = it["notes"][0].as_str().expect("a note");
        assert!(note.starts_with("the webhook `a.kb.io`: its `namespaceSelector` is left out"));
    }
    assert_eq!(of("MutatingWebhookConfiguration", "")["notes"], json!(["it has no webhooks"]));
    let crd = places(of("CustomResourceDefinition", ""));
    assert!(crd.contains(&"spec.webhookdefinitions cmemcacheds.kb.io ".to_owned()), "{crd:?}");
    let service = &of("Service", "webhook-service")["notes"];
    assert_eq!(*service, json!(["OLM creates a Service of its own for the webhooks"]));
    assert_eq!(of("Issuer", "it")["notes"], json!(["OLM creates the certificates of webhooks"]));
    assert_eq!(
        of("DaemonSet", "it")["notes"],
        json!([
            "OLM installs only Deployments (apps/v1): convert it, or let the operator create it"
        ])
    );
    let deployment = of("Deployment", "manager")["notes"].to_string();
    assert!(deployment.contains("its annotation `example.com/reload` is left out of the bundle"));
    let last = explanation["objects"].as_array().and_then(|it| it.last()).expect("an entry");
    assert_eq!(last["notes"], json!(["an earlier object is equal to it"]));
}

#[test]
fn descriptors_say_where_they_are_from() {
    let mut objects = objects();
    let csv = object(&mut objects, "ClusterServiceVersion", "");
    csv["spec"]["customresourcedefinitions"] = json!({ "owned": [{
        "name": "memcacheds.cache.example.com", "version": "v1alpha1", "kind": "Memcached",
        "specDescriptors": [{ "path": "size", "displayName": "Pods" }],
    }] });
    let (explanation, _) = explained("explained-descriptors", &objects, &["--version", "1.2.3"]);
    let of_spec = &explanation["descriptors"][0];
    assert_eq!(of_spec["fromBase"], json!(["size"]));
    let of_schema = of_spec["fromSchema"].as_array().expect("a list");
    assert!(!of_schema.is_empty() && !of_schema.contains(&json!("size")), "{of_schema:?}");
    let version = json!({ "name": "spec.version", "value": "1.2.3", "from": "--version" });
    assert!(explanation["fields"].as_array().expect("a list").contains(&version));
}

#[test]
fn an_explanation_changes_nothing_of_the_bundle() {
    let (_, explained) = explained("explained-same", &objects(), &[]);
    assert_eq!(explained, made("unexplained", &objects(), &[]));
}

#[test]
fn a_bundle_that_is_too_large_is_explained_and_not_written() {
    let mut objects = objects();
    let mut state = 1u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'0' + (state >> 59) as u8)
    };
    for name in ["one", "two"] {
        let text: String = (0..800_000).map(|_| letter()).collect();
        objects.push(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "text": text },
        }));
    }
    let (dir, output) = bundle("explained-large", &objects, &["--explain=json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!dir.join("bundle").exists());
    let explanation: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let nearest = &explanation["limits"][0];
    let [size, most] = ["size", "most"].map(|it| nearest[it].as_u64().expect("a number"));
    assert!(most < size && most == 1 << 20, "{nearest}");
    assert!(
        support::said(&output).contains("maximum bundle compressed size with gzip size exceeded")
    );
}

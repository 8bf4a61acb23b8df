//! One good bundle, broken in many ways: operator-sdk and we have to agree on what is wrong with each.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

use super::{CSV, made, objects};
use crate::support;

type Files = BTreeMap<String, Value>;

pub const ANNOTATIONS: &str = "metadata/annotations.yaml";
pub const CRD: &str = "manifests/cache.example.com_memcacheds.yaml";

/// A CRD with a conversion webhook, and an annotation that asks cert-manager for its certificate.
pub fn with_cert_annotation(files: &mut Files) {
    let annotation = json!({ "cert-manager.io/inject-ca-from": "a/b" });
    set(files, CRD, "/metadata/annotations", annotation);
    let client = json!({ "service": { "name": "a", "namespace": "b" } });
    let webhook = json!({ "clientConfig": client, "conversionReviewVersions": ["v1"] });
    set(files, CRD, "/spec/conversion", json!({ "strategy": "Webhook", "webhook": webhook }));
}

/// Sets a value, or takes it away with null.
pub fn set(files: &mut Files, file: &str, pointer: &str, value: Value) {
    let file = files.get_mut(file).unwrap_or_else(|| panic!("no {file}"));
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a parent");
    let key = key.replace("~1", "/");
    match file.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
        Value::Object(map) if value.is_null() => drop(map.remove(&key)),
        Value::Object(map) => drop(map.insert(key, value)),
        Value::Array(list) => list[key.parse::<usize>().expect("a place")] = value,
        _ => panic!("{parent} is not a map"),
    }
}

/// Errors and warnings of operator-sdk, in their words.
fn theirs(sdk: &Path, dir: &Path) -> (Vec<String>, Vec<String>) {
    let output = support::command(sdk, dir)
        .args(["bundle", "validate", "bundle", "-o", "json-alpha1"])
        .output()
        .expect("operator-sdk starts");
    let report: Value = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        // It gives up before it validates.
        Err(_) => return (vec![support::said(&output)], Vec::new()),
    };
    let of = |type_: &str| {
        let outputs = report["outputs"].as_array().map_or(&[][..], Vec::as_slice);
        let some = outputs.iter().filter(|it| it["type"] == type_);
        some.map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    };
    (of("error"), of("warning"))
}

/// Ours, of the rules that operator-sdk has too.
fn ours(dir: &Path) -> (Vec<String>, Vec<String>) {
    let output = support::operator_rs(dir, "bundle validate --output json");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report in JSON");
    assert_eq!(report["valid"], output.status.success(), "{report:#}");
    let findings = report["findings"].as_array().expect("findings are a list");
    let of = |severity: &str| {
        let some = findings
            .iter()
            .filter(|it| it["severity"] == severity && it["origin"] == "operator-sdk");
        some.map(|it| it["message"].as_str().unwrap_or_default().to_owned()).collect()
    };
    (of("error"), of("warning"))
}

/// Breaks a good bundle; both tools have to find as many faults, and to use the same words.
fn check(name: &str, change: impl FnOnce(&mut Files)) {
    compare(name, change, true);
}

/// Breaks a good bundle in a way that Go cannot read; both tools have to find as many faults, in any words.
pub fn check_verdict(name: &str, change: impl FnOnce(&mut Files)) {
    compare(name, change, false);
}

fn compare(name: &str, change: impl FnOnce(&mut Files), words: bool) {
    let Some(sdk) = support::tool("operator-sdk") else { return };
    let mut files = made(&format!("verdict-{name}"), &objects(), &[]);
    change(&mut files);
    let dir = support::fresh(&format!("verdict-{name}"));
    let text = |(path, value): (String, Value)| {
        let text = match value {
            Value::String(text) => text,
            value => value.to_string(),
        };
        (format!("bundle/{path}"), text.into_bytes())
    };
    support::put(&files.into_iter().map(text).collect(), &dir);
    fs::create_dir_all(dir.join("bundle")).expect("the folder is ours");
    let (their_errors, their_warnings) = theirs(&sdk, &dir);
    let (our_errors, our_warnings) = ours(&dir);
    let all = format!(
        "{name}\ntheirs: {their_errors:#?} {their_warnings:#?}\nours: {our_errors:#?} {our_warnings:#?}"
    );
    assert_eq!(their_errors.is_empty(), our_errors.is_empty(), "{all}");
    assert_eq!(their_warnings.is_empty(), our_warnings.is_empty(), "{all}");
    if !words {
        return;
    }
    for (theirs, ours) in [(their_errors, our_errors), (their_warnings, our_warnings)] {
        for ours in ours {
            // They put a field or a value before what they say.
            let said = |theirs: &String| {
                let parts: Vec<&str> = ours.splitn(2, ": ").collect();
                theirs.contains(&ours) || parts.iter().all(|it| theirs.contains(it))
            };
            assert!(theirs.iter().any(said), "{ours}\n{all}");
        }
    }
}

#[test]
fn a_good_bundle_is_good() {
    check("good", |_| {});
}

#[test]
fn annotations_are_judged_alike() {
    let key = |it: &str| format!("/annotations/operators.operatorframework.io.bundle.{it}.v1");
    for it in ["mediatype", "manifests", "metadata", "package", "channels"] {
        check(&format!("without-{it}"), |files| set(files, ANNOTATIONS, &key(it), Value::Null));
    }
    check("no-channels", |files| set(files, ANNOTATIONS, &key("channels"), json!("")));
    check("no-default", |files| set(files, ANNOTATIONS, &key("channel.default"), json!("")));
    check("helm", |files| set(files, ANNOTATIONS, &key("mediatype"), json!("helm+v1")));
    check_verdict("number", |files| set(files, ANNOTATIONS, "/annotations/a", json!(4)));
    check_verdict("no-annotations", |files| drop(files.remove(ANNOTATIONS)));
}

#[test]
fn dependencies_are_judged_alike() {
    let depend = |name: &str, type_: &str, value: Value| {
        check(name, |files| {
            let dependencies = json!({ "dependencies": [{ "type": type_, "value": value }] });
            files.insert("metadata/dependencies.yaml".to_owned(), dependencies);
        });
    };
    depend("dep-good", "olm.package", json!({ "packageName": "a", "version": ">=1.0.0 <2.0.0" }));
    depend("dep-range", "olm.package", json!({ "packageName": "a", "version": "^1.0.0" }));
    depend("dep-wild", "olm.package", json!({ "packageName": "a", "version": "1.2.x" }));
    depend("dep-or", "olm.package", json!({ "packageName": "a", "version": "<1.0.0 || >= 2.0.0" }));
    depend("dep-short", "olm.package", json!({ "packageName": "a", "version": "1.2" }));
    depend("dep-empty", "olm.package", json!({ "packageName": "", "version": "" }));
    depend("dep-gvk", "olm.gvk", json!({ "group": "a", "kind": "", "version": "v1" }));
    depend("dep-type", "olm.other", json!({ "a": "b" }));
    depend("dep-number", "olm.package", json!({ "packageName": 1, "version": "1.0.0" }));
    depend("dep-label", "olm.label", json!({ "label": "" }));
    depend("dep-cel", "olm.constraint", json!({ "failureMessage": "a" }));
    depend("dep-rule", "olm.constraint", json!({ "cel": { "rule": "" } }));
}

#[test]
fn names_and_required_fields_of_the_csv_are_judged_alike() {
    let csv = |name: &str, pointer: &str, value: Value| {
        check(name, |files| set(files, CSV, pointer, value));
    };
    csv("name-capital", "/metadata/name", json!("Memcached.v0.0.1"));
    csv("name-long", "/metadata/name", json!(format!("{}.v0.0.1", "a".repeat(60))));
    csv("name-build", "/metadata/name", json!("memcached-operator.v0.0.1+1"));
    csv("replaces", "/spec/replaces", json!("a_b"));
    csv("no-display-name", "/spec/displayName", Value::Null);
    csv("no-install", "/spec/install", Value::Null);
    csv("no-strategy", "/spec/install/strategy", Value::Null);
    csv("no-deployments", "/spec/install/spec/deployments", Value::Null);
    csv("no-min-kube", "/spec/minKubeVersion", Value::Null);
    csv("min-kube", "/spec/minKubeVersion", json!("1.33"));
    csv("no-version", "/spec/version", Value::Null);
    csv("no-api-version", "/apiVersion", Value::Null);
    check("api-version-case", |files| {
        let csv = files.get_mut(CSV).and_then(Value::as_object_mut).expect("it is a map");
        let version = csv.remove("apiVersion").expect("it is there");
        csv.insert("ApiVersion".to_owned(), version);
    });
    csv("skip-range", "/metadata/annotations/olm.skiprange", json!("<1.0.0"));
    csv("properties", "/metadata/annotations/olm.properties", json!("[]"));
}

#[test]
fn install_modes_are_judged_alike() {
    let csv = |name: &str, value: Value| {
        check(name, |files| set(files, CSV, "/spec/installModes", value))
    };
    csv("modes-none", json!([]));
    csv("modes-false", json!([{ "type": "AllNamespaces", "supported": false }]));
    check("modes-conversion", |files| {
        let webhook = json!([{
            "type": "ConversionWebhook", "generateName": "a", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "conversionCRDs": ["memcacheds.cache.example.com"],
        }]);
        set(files, CSV, "/spec/webhookdefinitions", webhook);
    });
}

#[test]
fn examples_are_judged_alike() {
    let csv = |name: &str, value: Value| {
        check(name, |files| set(files, CSV, "/metadata/annotations/alm-examples", value));
    };
    csv("examples-none", Value::Null);
    csv("examples-empty", json!(""));
    csv("examples-empty-list", json!("[]"));
    csv("examples-json", json!("[{]"));
    csv("examples-map", json!("{\"kind\":\"Memcached\"}"));
    csv("examples-no-kind", json!("[{\"a\":1}]"));
    csv("examples-foreign", json!("[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}]"));
    check("examples-both", |files| {
        set(files, CSV, "/metadata/annotations/olm.examples", json!("[]"))
    });
    check("no-annotations-at-all", |files| set(files, CSV, "/metadata/annotations", json!({})));
}

#[test]
fn data_that_go_cannot_decode_is_an_error() {
    let csv = |name: &str, pointer: &str, value: Value| {
        check_verdict(name, |files| set(files, CSV, pointer, value));
    };
    csv("number-display-name", "/spec/displayName", json!(1));
    csv("type-display-name", "/spec/displayName", json!([1]));
    csv("type-keywords", "/spec/keywords", json!("a"));
    csv("short-version", "/spec/version", json!("v1.07"));
    csv("short-version-rc", "/spec/version", json!("1.0-rc1"));
    csv("type-version", "/spec/version", json!("one"));
    csv("type-supported", "/spec/installModes/0/supported", json!("yes"));
    csv("number-annotation", "/metadata/annotations/a", json!(1));
    csv("type-annotation", "/metadata/annotations/a", json!([1]));
    csv("type-maintainers", "/spec/maintainers", json!(["a"]));
    csv("type-replicas", "/spec/install/spec/deployments/0/spec/replicas", json!("1"));
    csv(
        "type-env",
        "/spec/install/spec/deployments/0/spec/template/spec/containers/0/env/0/value",
        json!(1),
    );
    let crd = |name: &str, pointer: &str, value: Value| {
        check_verdict(name, |files| set(files, CRD, pointer, value));
    };
    crd("type-served", "/spec/versions/0/served", json!("yes"));
    crd("type-short-names", "/spec/names/shortNames", json!("m"));
    crd("type-versions", "/spec/versions", json!({}));
    crd("type-priority", "/spec/versions/0/additionalPrinterColumns/0/priority", json!("1"));
    check_verdict("not-yaml", |files| {
        drop(files.insert("manifests/a.yaml".to_owned(), json!("a: [")))
    });
    check_verdict("no-kind", |files| {
        drop(files.insert("manifests/a.yaml".to_owned(), json!({ "a": 1 })))
    });
    check_verdict("hidden", |files| {
        drop(files.insert("manifests/.a.yaml".to_owned(), json!({ "a": 1 })))
    });
    check_verdict("folder", |files| {
        drop(files.insert("manifests/a/b.yaml".to_owned(), json!({ "a": 1 })))
    });
    check_verdict("two-csvs", |files| {
        drop(files.insert("manifests/a.yaml".to_owned(), files[CSV].clone()))
    });
    check_verdict("no-csv", |files| drop(files.remove(CSV)));
    check_verdict("no-metadata", |files| files.retain(|it, _| !it.starts_with("metadata/")));
    check_verdict("no-manifests", |files| files.retain(|it, _| !it.starts_with("manifests/")));
}

#[test]
fn crds_beside_the_csv_are_judged_alike() {
    check("crd-missing", |files| drop(files.remove(CRD)));
    check("crd-twice", |files| {
        drop(files.insert("manifests/a.yaml".to_owned(), files[CRD].clone()))
    });
    check("crd-unowned", |files| {
        set(files, CSV, "/spec/customresourcedefinitions/owned", json!([]))
    });
    check("crd-owned-version", |files| {
        set(files, CSV, "/spec/customresourcedefinitions/owned/0/version", json!("v1"));
    });
    check("crd-owned-name", |files| {
        set(files, CSV, "/spec/customresourcedefinitions/owned/0/name", json!("memcacheds"));
    });
    check_verdict("crd-beta", |files| {
        set(files, CRD, "/apiVersion", json!("apiextensions.k8s.io/v1alpha1"))
    });
}

#[test]
fn crds_are_judged_alike() {
    let crd = |name: &str, pointer: &str, value: Value| {
        check(name, |files| set(files, CRD, pointer, value))
    };
    let version = |it: &str| format!("/spec/versions/0/{it}");
    crd("crd-scope", "/spec/scope", json!("Universe"));
    crd("crd-no-scope", "/spec/scope", Value::Null);
    crd("crd-storage", &version("storage"), json!(false));
    crd("crd-version", &version("name"), json!("V1"));
    crd("crd-plural", "/spec/names/plural", json!("memcached"));
    crd("crd-no-singular", "/spec/names/singular", Value::Null);
    crd("crd-short", "/spec/names/shortNames", json!(["M"]));
    crd("crd-category", "/spec/names/categories", json!(["A"]));
    crd("crd-list-kind", "/spec/names/listKind", json!("Memcached"));
    crd("crd-preserve", "/spec/preserveUnknownFields", json!(true));
    crd("crd-column", &version("additionalPrinterColumns/0/type"), json!("text"));
    crd("crd-column-format", &version("additionalPrinterColumns/0/format"), json!("int8"));
    crd("crd-column-path", &version("additionalPrinterColumns/0/jsonPath"), json!("spec.size"));
    crd("crd-column-name", &version("additionalPrinterColumns/0/name"), json!(""));
    crd("crd-scale", &version("subresources/scale/specReplicasPath"), json!(".status.size"));
    crd("crd-scale-none", &version("subresources/scale/statusReplicasPath"), json!(""));
    crd("crd-selector", &version("subresources/scale/labelSelectorPath"), json!(".selector"));
    crd("crd-deprecation", &version("deprecationWarning"), json!("a"));
    crd("crd-conversion", "/spec/conversion", json!({ "strategy": "Webhook" }));
    crd("crd-strategy", "/spec/conversion", json!({ "strategy": "Other" }));
    crd("crd-namespace", "/metadata/namespace", json!("a"));
    crd("crd-label", "/metadata/labels", json!({ "a b": "c" }));
    crd("crd-annotation", "/metadata/annotations", json!({ "a/b/c": "c" }));
    let selectable = |paths: &[&str]| paths.iter().map(|it| json!({ "jsonPath": it })).collect();
    let field = version("selectableFields");
    crd("selectable", &field, selectable(&[".spec.size", ".spec.eviction", ".spec.tls"]));
    crd("selectable-twice", &field, selectable(&[".spec.size", ".spec.size"]));
    crd("selectable-nowhere", &field, selectable(&[".spec.other"]));
    crd("selectable-object", &field, selectable(&[".spec.resources"]));
    crd("selectable-list", &field, selectable(&[".status.nodes[0]"]));
    crd("selectable-bare", &field, selectable(&["spec.size"]));
    crd("selectable-empty", &field, selectable(&[""]));
    // What a schema says is left to the API server.
    crd("crd-schema", &version("schema/openAPIV3Schema/properties/spec/type"), json!("thing"));
}

#[test]
fn other_objects_are_judged_alike() {
    let add = |name: &str, object: Value| {
        check(name, |files| drop(files.insert("manifests/a.yaml".to_owned(), object)));
    };
    let of = |kind: &str, metadata: Value| json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata });
    add(
        "account",
        of("ServiceAccount", json!({ "name": "memcached-operator-controller-manager" })),
    );
    add("other-account", of("ServiceAccount", json!({ "name": "other" })));
    add("namespace-set", of("ConfigMap", json!({ "name": "a", "namespace": "b" })));
    add("nameless", of("ConfigMap", json!({})));
    add("unsupported", of("Namespace", json!({ "name": "a" })));
    add("pod-monitor", of("PodMonitor", json!({ "name": "a" })));
    add("label-value", of("ConfigMap", json!({ "name": "a", "labels": { "a": "b c" } })));
    add("label-key", of("ConfigMap", json!({ "name": "a", "labels": { "/a": "b" } })));
    add(
        "annotation-key",
        of("ConfigMap", json!({ "name": "a", "annotations": { "Example.com/a": "b", "-a": "" } })),
    );
    add("finalizer", of("ConfigMap", json!({ "name": "a", "finalizers": ["a b"] })));
}

/// operator-sdk passes over a service account that Go cannot read.
#[test]
fn an_account_with_a_number_is_judged_alike() {
    for (name, label) in [("number", json!(1.0)), ("flag", json!(true)), ("text", json!("a"))] {
        check_verdict(&format!("verdict-account-{name}"), |files| {
            let metadata = json!({ "name": "memcached-operator-controller-manager", "labels": { "app.kubernetes.io/version": label } });
            let account =
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata });
            files.insert("manifests/account.yaml".to_owned(), account);
        });
    }
}

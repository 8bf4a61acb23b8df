//! `bundle validate --fix`: each rule that is listed as fixable has a bundle that breaks it and is correct afterwards,
//! and what has two answers, or belongs to a generator, stays as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Value, json};

use super::{CSV, bundle, made, objects};
use crate::{
    support,
    verdicts::{ANNOTATIONS, CRD, set, with_cert_annotation},
};

pub type Files = BTreeMap<String, Value>;
/// A rule, its correction, and what breaks it.
type Fixture = (&'static str, &'static str, fn(&mut Files));

const ALL: &str = "default,operatorhub,capabilities,categories";

/// Puts a bundle with a change into a new directory. A text that is a file's whole content is written as it is.
pub fn put(name: &str, change: impl FnOnce(&mut Files)) -> std::path::PathBuf {
    static GOOD: std::sync::OnceLock<Files> = std::sync::OnceLock::new();
    let mut files = GOOD.get_or_init(|| made("fixes-good", &objects(), &[])).clone();
    change(&mut files);
    let dir = support::fresh(&format!("fixes-{name}"));
    let bytes = |it: &Value| match it {
        Value::String(text) => text.clone(),
        it => serde_yaml::to_string(it).expect("data is YAML"),
    };
    let files = files.iter().map(|(path, it)| (format!("bundle/{path}"), bytes(it).into_bytes()));
    support::put(&files.collect(), &dir);
    dir
}

/// The report of a run.
pub fn report(dir: &Path, words: &str) -> Value {
    let output =
        support::operator_rs(dir, &format!("bundle validate -o json --select {ALL} {words}"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", support::said(&output)))
}

pub fn rules(report: &Value, is_fixed: bool) -> BTreeSet<String> {
    let findings = report["findings"].as_array().expect("a list");
    let some = findings.iter().filter(|it| it.get("fixed").is_some() == is_fixed);
    some.map(|it| it["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

fn fixtures() -> Vec<Fixture> {
    const OWNED: &str = "/spec/customresourcedefinitions/owned/0/name";
    fn annotation(files: &mut Files, key: &str, value: Value) {
        set(files, CSV, &format!("/metadata/annotations/{key}"), value);
    }
    fn about_bundle(files: &mut Files, key: &str, value: Value) {
        let key = format!("/annotations/operators.operatorframework.io.bundle.{key}.v1");
        set(files, ANNOTATIONS, &key, value);
    }
    fn add(files: &mut Files, object: Value) {
        files.insert("manifests/added.yaml".to_owned(), object);
    }
    fn icon(files: &mut Files, icon: Value) {
        set(files, CSV, "/spec/icon", json!([icon]));
    }
    fn converting(files: &mut Files, crds: Value) {
        let webhook = json!([{ "type": "ConversionWebhook", "generateName": "c.kb.io", "deploymentName": "memcached-operator-controller-manager", "conversionCRDs": crds }]);
        set(files, CSV, "/spec/webhookdefinitions", webhook);
    }
    vec![
        (
            "fmt-annotation-missing",
            "added `operators.operatorframework.io.bundle.metadata.v1: metadata/`",
            |files| about_bundle(files, "metadata", Value::Null),
        ),
        ("fmt-mediatype", "changed `helm+v1` to `registry+v1`", |files| {
            about_bundle(files, "mediatype", json!("helm+v1"))
        }),
        ("fmt-channels-empty", "wrote `alpha`", |files| {
            about_bundle(files, "channel.default", json!(""))
        }),
        ("fmt-empty-file", "deleted the empty file", |files| {
            drop(files.insert("metadata/a.yaml".to_owned(), json!("\n")))
        }),
        ("fmt-hidden-file", "deleted the empty file", |files| {
            drop(files.insert("manifests/.keep".to_owned(), json!("")))
        }),
        ("obj-meta", "removed `metadata.namespace`: OLM chooses the namespace", |files| {
            add(
                files,
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "b" } }),
            );
        }),
        (
            "crd-invalid",
            "removed `metadata.namespace`: a CustomResourceDefinition has none",
            |files| set(files, CRD, "/metadata/namespace", json!("a")),
        ),
        (
            "bundle-crd-dup",
            "deleted `manifests/cache.example.com_memcacheds.yaml`: `manifests/added.yaml` is the same CRD",
            |files| add(files, files[CRD].clone()),
        ),
        ("bundle-sa", "deleted the file: OLM creates the service account", |files| {
            let name = "memcached-operator-controller-manager";
            add(
                files,
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name, "creationTimestamp": null, "labels": { "app.kubernetes.io/name": "a" } } }),
            );
        }),
        ("csv-annotation-case", "renamed `olm.skiprange` to `olm.skipRange`", |files| {
            annotation(files, "olm.skiprange", json!("<0.0.1"))
        }),
        ("csv-minkube-bad", "changed `v1.33` to `1.33.0`", |files| {
            set(files, CSV, "/spec/minKubeVersion", json!("v1.33"))
        }),
        ("csv-olm-properties", "moved the properties to metadata/properties.yaml", |files| {
            annotation(
                files,
                "olm.properties",
                json!("[{\"type\": \"a\", \"value\": {\"b\": 1}}]"),
            );
        }),
        ("csv-conversion-modes", "set `supported: false` for `OwnNamespace`", |files| {
            converting(files, json!(["memcacheds.cache.example.com"]));
            set(
                files,
                CSV,
                "/spec/installModes",
                json!([{ "type": "OwnNamespace", "supported": true }, { "type": "AllNamespaces", "supported": true }]),
            );
        }),
        ("olm-conversion-modes", "set `supported: false` for `OwnNamespace`", |files| {
            converting(files, json!([]));
            set(
                files,
                CSV,
                "/spec/installModes",
                json!([{ "type": "OwnNamespace", "supported": true }, { "type": "AllNamespaces", "supported": true }]),
            );
        }),
        ("olmv0-installmode-dup", "removed the duplicate", |files| {
            let mode = json!({ "type": "AllNamespaces", "supported": true });
            set(files, CSV, "/spec/installModes", json!([mode, mode, mode]));
        }),
        (
            "olm-owned-name",
            "changed `memcached.cache.example.com` to `memcacheds.cache.example.com`",
            |files| set(files, CSV, OWNED, json!("memcached.cache.example.com")),
        ),
        ("olmv0-skiprange-self", "changed `>=0.0.0` to `>=0.0.0 <0.0.1`", |files| {
            annotation(files, "olm.skipRange", json!(">=0.0.0"))
        }),
        (
            "olmv0-cert-annotation",
            "removed the annotation: OLM provides the certificate",
            |files| {
                converting(files, json!(["memcacheds.cache.example.com"]));
                with_cert_annotation(files);
            },
        ),
        ("cap-level", "changed `basic install` to `Basic Install`", |files| {
            annotation(files, "capabilities", json!("basic install"))
        }),
        (
            "cat-standard",
            "changed `Logging and Tracing, database` to `Logging & Tracing, Database`",
            |files| annotation(files, "categories", json!("Logging and Tracing, database")),
        ),
        ("hub-icon-data", "added `mediatype: image/svg+xml`", |files| {
            icon(files, json!({ "base64data": "PD94bWwgdmVyc2lvbj0iMS4wIj8+PHN2Zy8+" }))
        }),
        ("hub-icon-type", "changed `image/jpg` to `image/png`", |files| {
            icon(files, json!({ "base64data": "iVBORw0KGgo=", "mediatype": "image/jpg" }))
        }),
    ]
}

#[test]
fn every_fixable_rule_is_fixed_and_a_second_run_changes_nothing() {
    let mut tried = BTreeSet::new();
    for (rule, correction, change) in fixtures() {
        let dir = put(rule, change);
        let before = support::tree(&dir);
        let fixed = report(&dir, "--fix");
        let findings = fixed["findings"].as_array().expect("a list");
        let found = findings.iter().find(|it| it["rule"] == rule && it.get("fixed").is_some());
        assert_eq!(found.map(|it| &it["fixed"]), Some(&json!(correction)), "{rule}: {fixed:#}");
        assert!(!rules(&fixed, false).contains(rule), "{rule}: {fixed:#}");
        let after = support::tree(&dir);
        assert_ne!(before, after, "{rule}");
        let again = report(&dir, "--fix");
        assert_eq!(rules(&again, true), BTreeSet::new(), "{rule}: the second run");
        assert_eq!(rules(&again, false), rules(&fixed, false), "{rule}: the second run");
        assert_eq!(support::tree(&dir), after, "{rule}: the second run");
        tried.insert(rule.to_owned());
    }
    let listed = support::done(Path::new(env!("CARGO_TARGET_TMPDIR")), "bundle validate --list");
    let listed: BTreeSet<String> = listed
        .lines()
        .filter(|it| it.ends_with(" (fixable)"))
        .filter_map(|it| it.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
        .collect();
    assert_eq!(tried, listed);
}

/// YAML reads `1.30` as the number 1.3.
#[test]
fn an_oldest_kubernetes_without_quotes_is_corrected_if_its_number_is_exact() {
    for (version, expected) in
        [("1.33", "minKubeVersion: 1.33.0"), ("1.30", "minKubeVersion: 1.30")]
    {
        let dir = put("number", |files| {
            set(files, CSV, "/spec/minKubeVersion", json!("VERSION"));
            let text = serde_yaml::to_string(&files[CSV]).expect("data is YAML");
            files.insert(CSV.to_owned(), json!(text.replace("VERSION", version)));
        });
        report(&dir, "--fix");
        let text = fs::read_to_string(dir.join("bundle").join(CSV)).expect("it is there");
        assert!(text.lines().any(|it| it.trim() == expected), "{text}");
    }
}

/// What names no property says nothing.
#[test]
fn an_empty_annotation_of_properties_is_removed() {
    let dir = put("no-properties", |files| {
        set(files, CSV, "/metadata/annotations/olm.properties", json!("[]"));
    });
    let output = support::operator_rs(&dir, "bundle validate --fix");
    let said = support::said(&output);
    assert!(said.contains("removed the annotation: it names no property"), "{said}");
    assert!(!dir.join("bundle/metadata/properties.yaml").exists(), "{said}");
}

#[test]
fn what_has_two_answers_stays_as_it_is() {
    let check = |rule: &str, change: fn(&mut Files)| {
        let dir = put(&format!("two-{rule}"), change);
        let before = support::tree(&dir);
        let report = report(&dir, "--fix");
        assert!(rules(&report, false).contains(rule), "{rule}: the fixture breaks it");
        assert_eq!(rules(&report, true), BTreeSet::new(), "{rule}");
        assert_eq!(support::tree(&dir), before, "{rule}");
    };
    check("csv-annotation-case", |files| {
        set(files, CSV, "/metadata/annotations/olm.skiprange", json!("<0.0.1"));
        set(files, CSV, "/metadata/annotations/olm.skipRange", json!("<0.0.1"));
    });
    check("fmt-annotation-missing", |files| {
        set(
            files,
            ANNOTATIONS,
            "/annotations/operators.operatorframework.io.bundle.package.v1",
            Value::Null,
        );
    });
    check("fmt-channels-empty", |files| {
        set(
            files,
            ANNOTATIONS,
            "/annotations/operators.operatorframework.io.bundle.channels.v1",
            json!("a,b"),
        );
        set(
            files,
            ANNOTATIONS,
            "/annotations/operators.operatorframework.io.bundle.channel.default.v1",
            json!(""),
        );
    });
    check("fmt-empty-file", |files| {
        drop(files.insert("metadata/a.yaml".to_owned(), json!("# for later\n")));
    });
    check("bundle-crd-dup", |files| {
        let mut other = files[CRD].clone();
        other["metadata"]["labels"] = json!({ "a": "b" });
        files.insert("manifests/a.yaml".to_owned(), other);
    });
    check("bundle-sa", |files| {
        let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "memcached-operator-controller-manager" }, "imagePullSecrets": [{ "name": "a" }] });
        files.insert("manifests/a.yaml".to_owned(), account);
    });
    check("bundle-sa", |files| {
        // OLM creates the account of the permissions, not this one.
        set(files, CSV, "/spec/install/spec/permissions/0/serviceAccountName", json!("other"));
        set(
            files,
            CSV,
            "/spec/install/spec/clusterPermissions/0/serviceAccountName",
            json!("other"),
        );
        let name = "memcached-operator-controller-manager";
        let account =
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name } });
        files.insert("manifests/a.yaml".to_owned(), account);
    });
    check("csv-minkube-bad", |files| set(files, CSV, "/spec/minKubeVersion", json!(">=1.33")));
    check("csv-olm-properties", |files| {
        set(
            files,
            CSV,
            "/metadata/annotations/olm.properties",
            json!("[{\"type\": \"a\", \"value\": 1}]"),
        );
        files.insert("metadata/properties.yaml".to_owned(), json!({ "properties": [] }));
    });
    check("olmv0-installmode-dup", |files| {
        let mode = |it: bool| json!({ "type": "AllNamespaces", "supported": it });
        set(files, CSV, "/spec/installModes", json!([mode(true), mode(false)]));
    });
    check("olmv0-skiprange-self", |files| {
        set(files, CSV, "/metadata/annotations/olm.skipRange", json!("<1.0.0"));
    });
    check("cap-level", |files| {
        set(files, CSV, "/metadata/annotations/capabilities", json!("Level 1"))
    });
    check("cat-standard", |files| {
        set(files, CSV, "/metadata/annotations/categories", json!("database,Mine"));
    });
    check("hub-icon-type", |files| {
        set(files, CSV, "/spec/icon", json!([{ "base64data": "YQ==", "mediatype": "image/jpg" }]));
    });
    check("olmv0-cert-annotation", |files| {
        with_cert_annotation(files);
    });
}

/// A generated file is corrected where it is generated from.
#[test]
fn a_generated_file_is_not_edited() {
    let mut objects = objects();
    let csv = objects.iter_mut().find(|it| it["kind"] == "ClusterServiceVersion");
    csv.expect("it has a base")["metadata"]["annotations"]["capabilities"] = json!("basic install");
    let (dir, output) = bundle("fixes-generated", &objects, &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    fs::write(
        dir.join("bundle/manifests/a.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b # mine\n",
    )
    .expect("it is ours");
    let before = support::tree(&dir);
    let output = support::operator_rs(&dir, "bundle validate --fix --select default,capabilities");
    let said = support::said(&output);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("make the change in the ClusterServiceVersion in config/manifests/bases, then run `operator-rs bundle`"), "{said}");
    let mut after = support::tree(&dir);
    // What is beside the generated files is the user's.
    let edited = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n".to_vec();
    assert_eq!(
        after.insert(
            "bundle/manifests/a.yaml".to_owned(),
            before["bundle/manifests/a.yaml"].clone()
        ),
        Some(edited)
    );
    assert_eq!(after, before);
}

/// Nothing is written where one of the files cannot be.
#[test]
fn all_is_fixed_or_nothing() {
    let dir = put("link", |files| {
        set(files, CSV, "/spec/minKubeVersion", json!("1.33"));
        set(files, CRD, "/metadata/namespace", json!("a"));
    });
    let csv = dir.join("bundle").join(CSV);
    fs::rename(&csv, dir.join("bundle/csv.yaml")).expect("it is ours");
    std::os::unix::fs::symlink("../csv.yaml", &csv).expect("it is ours");
    let before = support::tree(&dir);
    let output = support::operator_rs(&dir, "bundle validate --fix");
    assert!(
        support::said(&output).contains("nothing is written through symlinks"),
        "{}",
        support::said(&output)
    );
    assert_eq!(support::tree(&dir), before);
}

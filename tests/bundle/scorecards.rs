//! `operator-rs scorecard` beside operator-sdk's own tests, which run here without pods: the same results in all three
//! formats, but for the log of two tests, which has Go's own text of a CRD and of a time.

use std::{collections::BTreeMap, fs, io::Write as _, path::Path, process::Stdio};

use serde_json::{Value, json};

use super::{CSV, made, objects};
use crate::{
    support,
    verdicts::{ANNOTATIONS, CRD, set},
};

type Files = BTreeMap<String, Value>;

/// What the oracle prints for this bundle.
fn theirs(tool: &Path, dir: &Path, format: &str) -> String {
    let mut child = support::command(tool, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let question = json!({ "dir": "bundle", "config": "config.yaml", "format": format });
    let mut stdin = child.stdin.take().expect("it is piped");
    writeln!(stdin, "{question}").expect("the oracle reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the oracle ends");
    serde_json::from_slice(&output.stdout).expect("the oracle prints a string")
}

fn ours(dir: &Path, format: &str) -> String {
    let output = support::operator_rs(dir, &format!("scorecard bundle -c config.yaml -o {format}"));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A TestList without logs; words of Go's parsers are cut, and what comes from a map is sorted.
fn normal(text: &str) -> Value {
    let mut list: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
    for item in list["items"].as_array_mut().expect("items are a list") {
        for result in item["status"]["results"].as_array_mut().into_iter().flatten() {
            let result = result.as_object_mut().expect("a result is a map");
            result.remove("log");
            let is_named = result.contains_key("name");
            let is_validation = result.get("name") == Some(&json!("olm-bundle-validation"));
            for key in ["errors", "suggestions"] {
                let Some(lines) = result.get_mut(key).and_then(Value::as_array_mut) else {
                    continue;
                };
                // The validators' own words are those of `verdicts.rs`, and a crash has none of ours.
                if is_validation || !is_named {
                    *lines = vec![json!("some")];
                }
                for it in lines.iter_mut() {
                    let text = it.as_str().expect("a line is a text");
                    let cut = text.split(" annotation: ").next().unwrap_or(text);
                    *it = json!(cut);
                }
                lines.sort_by_key(ToString::to_string);
            }
        }
    }
    list
}

fn check(name: &str, change: impl FnOnce(&mut Files)) {
    let Some(tool) = support::tool("scorecards") else { return };
    let mut files = made(&format!("scorecard-{name}"), &objects(), &[]);
    change(&mut files);
    let dir = support::fresh(&format!("scorecard-{name}"));
    let text =
        |(path, it): (String, Value)| (format!("bundle/{path}"), it.to_string().into_bytes());
    support::put(&files.into_iter().map(text).collect(), &dir);
    fs::write(dir.join("config.yaml"), CONFIG).expect("the folder is ours");
    let [theirs, ours] = [theirs(&tool, &dir, "json"), ours(&dir, "json")];
    let [their_list, our_list] = [normal(&theirs), normal(&ours)];
    assert_eq!(their_list, our_list, "{name}\n{theirs}\n{ours}");
}

/// Every built-in test, one with an own path for its output.
const CONFIG: &str = "\
apiversion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata:
  name: config
stages:
- parallel: true
  tests:
  - image: quay.io/operator-framework/scorecard-test:v1.42.3
    entrypoint: [scorecard-test, basic-check-spec]
    labels: {suite: basic, test: basic-check-spec-test}
  - image: quay.io/operator-framework/scorecard-test:v1.42.3
    entrypoint: [scorecard-test, olm-bundle-validation]
    labels: {suite: olm, test: olm-bundle-validation-test}
  - image: quay.io/operator-framework/scorecard-test:v1.42.3
    entrypoint: [scorecard-test, olm-crds-have-validation]
    storage: {spec: {mountPath: {path: /out}}}
  - image: localhost:5000/scorecard-test@sha256:0000
    uniqueID: one
    entrypoint: [scorecard-test, olm-crds-have-resources]
- tests:
  - image: scorecard-test
    entrypoint: [scorecard-test, olm-spec-descriptors]
    labels: {cluster-phase: \"a<b\"}
  - image: scorecard-test
    entrypoint: [scorecard-test, olm-status-descriptors]
";

fn examples(files: &mut Files, examples: &Value) {
    set(files, CSV, "/metadata/annotations/alm-examples", json!(examples.to_string()));
}

#[test]
fn results_are_those_of_operator_sdk() {
    let of = |spec: Value, status: Value| {
        let mut res = json!({ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": "a" } });
        for (key, value) in [("spec", spec), ("status", status)] {
            if !value.is_null() {
                res[key] = value;
            }
        }
        res
    };
    check("good", |_| {});
    check("no-spec", |files| examples(files, &json!([of(Value::Null, Value::Null)])));
    check("unknown", |files| {
        let two = [
            of(json!({ "size": 1, "x": 2, "y": 3 }), Value::Null),
            of(json!({ "z": 1 }), json!({ "w": 1 })),
        ];
        examples(files, &json!(two));
    });
    check("status", |files| {
        examples(files, &json!([of(json!({ "size": 1 }), json!({ "nodes": [] }))]))
    });
    check("spec-text", |files| examples(files, &json!([of(json!("a"), Value::Null)])));
    check("status-text", |files| examples(files, &json!([of(json!({}), json!("a"))])));
    check("other-group", |files| {
        examples(
            files,
            &json!([{ "apiVersion": "other/V1alpha1", "kind": "memcached", "metadata": { "name": "a" }, "spec": { "x": 1 } }]),
        );
    });
    check("odd-version", |files| {
        examples(
            files,
            &json!([{ "apiVersion": "a/b/c", "kind": "Memcached", "spec": { "x": 1 } }]),
        );
    });
    check("no-kind", |files| examples(files, &json!([{ "apiVersion": "v1" }])));
    check("no-list", |files| examples(files, &json!({ "kind": "A" })));
    check("null", |files| examples(files, &Value::Null));
    check("no-annotations", |files| set(files, CSV, "/metadata/annotations", Value::Null));
    check("resources", |files| {
        set(
            files,
            CSV,
            "/spec/customresourcedefinitions/owned/0/resources",
            json!([{ "kind": "Deployment", "name": "", "version": "v1" }]),
        );
    });
    check("no-descriptors", |files| {
        for it in ["specDescriptors", "statusDescriptors"] {
            set(files, CSV, &format!("/spec/customresourcedefinitions/owned/0/{it}"), Value::Null);
        }
        examples(files, &json!([of(json!({ "size": 1 }), json!({ "nodes": ["a"] }))]));
    });
    check("no-schema", |files| set(files, CRD, "/spec/versions/0/schema", Value::Null));
    check("empty-schema", |files| set(files, CRD, "/spec/versions/0/schema", json!({})));
    check("invalid", |files| set(files, CSV, "/spec/installModes", json!([])));
    check("unread", |files| set(files, CSV, "/spec/installModes", json!("a")));
    check("no-channels", |files| {
        set(
            files,
            ANNOTATIONS,
            "/annotations/operators.operatorframework.io.bundle.channels.v1",
            Value::Null,
        );
    });
    check("namespace", |files| {
        // What is wrong with other objects, operator-sdk's test does not see.
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "b" } });
        files.insert("manifests/map.yaml".to_owned(), map);
    });
}

/// The formats for people and for CI, where no test has a log of Go's.
#[test]
fn text_and_xunit_are_those_of_operator_sdk() {
    let Some(tool) = support::tool("scorecards") else { return };
    // One field without a descriptor: of several, Go tells in any order.
    let mut files = made("scorecard-formats", &objects(), &[]);
    let example = json!([{ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "spec": { "odd": 1 } }]);
    examples(&mut files, &example);
    let dir = support::folder("scorecard-formats");
    fs::write(dir.join("bundle").join(CSV), files[CSV].to_string()).expect("the folder is ours");
    let config: Vec<&str> = CONFIG.split("  - image").collect();
    let without_logs = [config[0], config[1], config[4], config[5], config[6]].join("  - image");
    fs::write(dir.join("config.yaml"), without_logs).expect("the folder is ours");
    for format in ["text", "xunit"] {
        let sorted = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            // Go's maps have no order, and a timestamp is none.
            if format == "text" {
                lines.sort();
            }
            lines
        };
        assert_eq!(sorted(theirs(&tool, &dir, format)), sorted(ours(&dir, format)), "{format}");
    }
}

#[test]
fn a_test_in_an_image_of_its_own_is_not_run_and_the_status_says_so() {
    made("scorecard-custom", &objects(), &[]);
    let dir = support::folder("scorecard-custom");
    let config = "stages:\n- tests:\n  - image: quay.io/example/custom:v1\n    entrypoint: [custom, all]\n    labels: {suite: custom}\n";
    fs::write(dir.join("config.yaml"), config).expect("the folder is ours");
    let output = support::operator_rs(&dir, "scorecard -c config.yaml -o json");
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = &list["items"][0]["status"]["results"][0];
    assert_eq!(output.status.code(), Some(1), "{list:#}");
    assert_eq!(result["state"], "error");
    let expected = "not run: `custom all` of the image quay.io/example/custom:v1 is not a built-in test; `operator-sdk scorecard` runs it on a cluster";
    assert_eq!(result["errors"][0], expected);
    // Where it is not selected, nothing is left to run.
    let output = support::operator_rs(&dir, "scorecard -c config.yaml -l suite=olm");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 tests selected\n");
    assert!(output.status.success());
    // As Go writes an empty list.
    let output = support::operator_rs(&dir, "scorecard -c config.yaml -l suite=olm -o json");
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(list.get("items"), Some(&Value::Null));
}

#[test]
fn the_path_of_the_configuration_is_cleaned() {
    made("scorecard-path", &objects(), &[]);
    let dir = support::folder("scorecard-path");
    let config = dir.join("bundle/tests/scorecard");
    fs::create_dir_all(&config).expect("the folder is ours");
    fs::write(config.join("config.yaml"), "stages: []\n").expect("the folder is ours");
    let annotations = dir.join("bundle").join(ANNOTATIONS);
    let text = fs::read_to_string(&annotations).expect("it is there");
    let prefix = "operators.operatorframework.io.test";
    let text = format!(
        "{text}  {prefix}.mediatype.v1: scorecard+v1\n  {prefix}.config.v1: ./tests/x/../scorecard/\n"
    );
    fs::write(annotations, text).expect("the folder is ours");
    let output = support::operator_rs(&dir, "scorecard --list");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 tests selected\n");
}

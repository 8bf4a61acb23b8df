//! What a report says of a finding: where it is, in the formats of other programs, and what was asked of registries.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};

use super::{CSV, bundle, made, objects, registry};
use crate::{support, verdicts::set};

fn report(dir: &Path, words: &str) -> Value {
    let output = support::operator_rs(dir, &format!("bundle validate {words}"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", support::said(&output)))
}

fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().expect("a list")
}

/// What SARIF 2.1.0 requires of a log, and code scanning of its results.
#[test]
fn sarif_has_what_its_schema_requires() {
    let dir = support::fresh("formats-sarif");
    let mut files = made("formats-sarif-good", &objects(), &[]);
    set(&mut files, CSV, "/spec/minKubeVersion", json!("1.33"));
    set(&mut files, CSV, "/spec/maintainers", json!([{ "name": "a" }]));
    set(&mut files, CSV, "/metadata/name", json!("A"));
    let files = files.into_iter().map(|(path, it)| (format!("a b/{path}"), it.to_string().into()));
    support::put(&files.collect(), &dir);
    let check = |folder: &str| {
        let output = support::command(support::BINARY, &dir)
            .args(["bundle", "validate", "-o", "sarif", "--select", "default,operatorhub"])
            .arg(folder)
            .output()
            .expect("the binary starts");
        let log: Value = serde_json::from_slice(&output.stdout).expect("a log is JSON");
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(
            (&driver["name"], &run["columnKind"]),
            (&json!("operator-rs"), &json!("unicodeCodePoints"))
        );
        let rules = driver["rules"].as_array().expect("a list");
        let ids: BTreeSet<&str> = rules.iter().filter_map(|it| it["id"].as_str()).collect();
        assert_eq!(ids.len(), rules.len(), "ids are unique");
        let results = run["results"].as_array().expect("a list");
        assert!(results.len() >= 3, "{log:#}");
        for it in results {
            let index = it["ruleIndex"].as_u64().and_then(|it| usize::try_from(it).ok());
            assert_eq!(it["ruleId"], rules[index.expect("a number")]["id"]);
            assert!(["error", "warning", "note"].contains(&it["level"].as_str().expect("a text")));
            assert!(it["message"]["text"].as_str().is_some_and(|it| !it.is_empty()));
            let place = &it["locations"][0]["physicalLocation"];
            let (artifact, region) = (&place["artifactLocation"], &place["region"]);
            let uri = artifact["uri"].as_str().expect("a text");
            match artifact["uriBaseId"].as_str() {
                Some(_) => assert!(uri.starts_with("a%20b/manifests/"), "{uri}"),
                None => assert!(uri.starts_with("file:///"), "{uri}"),
            }
            assert!(
                region["startLine"].as_u64() >= Some(1)
                    && region["startColumn"].as_u64() >= Some(1)
            );
            let prints = it["partialFingerprints"].as_object().expect("a map");
            assert!(prints.values().all(Value::is_string));
        }
    };
    check("a b");
    check(&dir.join("a b").display().to_string());
}

/// A field of the wrong type is reported in its own line.
#[test]
fn a_type_fault_has_its_line() {
    let check = |name: &str, pointer: &str, value: Value, expected: Option<&str>| {
        let dir = support::fresh(&format!("formats-{name}"));
        let mut files = made(&format!("formats-{name}-good"), &objects(), &[]);
        set(&mut files, CSV, pointer, value);
        let yaml = |it: &Value| serde_yaml::to_string(it).expect("data is YAML").into_bytes();
        let files = files.iter().map(|(path, it)| (format!("bundle/{path}"), yaml(it)));
        support::put(&files.collect(), &dir);
        let report = report(&dir, "-o json");
        let found = findings(&report).iter().find(|it| it["rule"] == "fmt-unreadable");
        let text = fs::read_to_string(dir.join("bundle").join(CSV)).expect("it is there");
        let line = found.and_then(|it| it["line"].as_u64()).and_then(|it| {
            text.lines().nth(usize::try_from(it).ok()?.checked_sub(1)?).map(str::trim)
        });
        assert_eq!(line, expected, "{report:#}");
        assert_eq!(found.is_some(), expected.is_some(), "{report:#}");
    };
    // operator-sdk takes a number for a text.
    check("number", "/metadata/annotations/a.b~1c", json!(1), None);
    check("list", "/metadata/annotations/a.b~1c", json!([1]), Some("a.b/c:"));
    check("deep", "/spec/installModes/0/supported", json!("maybe"), Some("- supported: maybe"));
}

/// The platforms of images as their registry has them, without docker or podman.
#[test]
fn platforms_are_asked_of_registries() {
    let store = support::fresh("formats-registry");
    let Some(registry) = registry::Registry::start(&store, &registry::Demands::default()) else {
        return;
    };
    let (source, output) = bundle("formats-source", &objects(), &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    let push = |name: &str, platforms: &str| {
        let image = format!("{}/{name}:v1", registry.address);
        let output =
            support::operator_rs(&source, &format!("bundle push {image} --platform {platforms}"));
        assert!(output.status.success(), "{}", support::said(&output));
        image
    };
    let manager = push("manager", "linux/amd64,linux/arm64");
    let operand = push("operand", "linux/amd64");
    let dir = support::fresh("formats-platforms");
    let mut files = made("formats-platforms-good", &objects(), &[]);
    set(
        &mut files,
        CSV,
        "/spec/install/spec/deployments/0/spec/template/spec/containers/0/image",
        json!(manager),
    );
    set(&mut files, CSV, "/spec/relatedImages", json!([{ "name": "operand", "image": operand }]));
    let labels = json!({ "operatorframework.io/arch.amd64": "supported", "operatorframework.io/arch.arm64": "supported" });
    set(&mut files, CSV, "/metadata/labels", labels);
    let files =
        files.into_iter().map(|(path, it)| (format!("bundle/{path}"), it.to_string().into()));
    support::put(&files.collect(), &dir);
    let rules = |words: &str| -> BTreeSet<String> {
        let report = report(&dir, &format!("-o json --select multiarch {words}"));
        let about = |it: &Value| {
            let image = ["manager", "operand"].iter().find(|name| {
                it["message"].as_str().is_some_and(|it| it.contains(&format!("/{name}:v1")))
            });
            format!("{} {}", it["rule"].as_str().unwrap_or_default(), image.unwrap_or(&""))
        };
        findings(&report).iter().map(about).collect()
    };
    let found = rules("");
    assert!(found.contains("ma-label-unsupported operand"), "{found:?}");
    assert!(!found.iter().any(|it| it.starts_with("ma-inspect")), "{found:?}");
    // Without a request, nothing is known of them.
    let unknown = ["ma-inspect manager", "ma-inspect operand"].map(str::to_owned);
    let found = rules("--offline");
    assert!(unknown.iter().all(|it| found.contains(it)), "{found:?}");
    assert!(!found.contains("ma-label-unsupported operand"), "{found:?}");
    drop(registry);
    let found = rules("");
    assert!(unknown.iter().all(|it| found.contains(it)), "{found:?}");
}

/// An image whose labels are not the annotations of its bundle.
#[test]
fn labels_of_an_image_are_compared_with_annotations() {
    let (dir, output) = bundle("formats-labels", &objects(), &["--channels", "stable"]);
    assert!(output.status.success(), "{}", support::said(&output));
    support::done(&dir, "bundle build --format docker --archive good.tar");
    fs::create_dir(dir.join("image")).expect("it is ours");
    // The configuration is named by its digest.
    let script = "cd image && tar xf ../good.tar && old=$(echo ?????????????*.json) && \
        sed -i 's/channels.v1\":\"stable\"/channels.v1\":\"fast\"/' $old && \
        new=$(sha256sum $old | cut -c1-64).json && mv $old $new && sed -i s/$old/$new/ manifest.json && \
        tar cf ../other.tar *";
    let output = support::command("sh", &dir).args(["-c", script]).output().expect("it starts");
    assert!(output.status.success(), "{}", support::said(&output));
    let mismatches = |archive: &str| -> Vec<String> {
        let report = report(&dir, &format!("{archive} -o json"));
        let all = findings(&report).iter().filter(|it| it["rule"] == "fmt-label-mismatch");
        all.map(|it| format!("{}: {}", it["line"], it["message"].as_str().unwrap_or_default()))
            .collect()
    };
    assert_eq!(mismatches("good.tar"), [""; 0]);
    let expected = "8: the image has the label \"operators.operatorframework.io.bundle.channels.v1\" with the value \"fast\", and the annotation is \"stable\"";
    assert_eq!(mismatches("other.tar"), [expected]);
}

#[test]
fn offline_no_image_of_a_registry_is_read() {
    let dir = support::fresh("formats-offline");
    let output = support::operator_rs(&dir, "bundle validate localhost:1/a/b:c --offline");
    let said = support::said(&output);
    let message = "`localhost:1/a/b:c` is an image in a registry, and `--offline` contacts none";
    assert!(!output.status.success() && said.contains(message), "{said}");
}

//! What `bundle validate --fix` leaves alone or keeps, and what it says: comments, guesses, other tools' rules.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    CSV, bundle,
    fixes::{Files, put, report, rules},
    objects,
};
use crate::{
    support,
    verdicts::{ANNOTATIONS, CRD, check_verdict, set},
};

const PROPERTIES: &str = "/metadata/annotations/olm.properties";

/// Changes a file as a text.
fn edit(files: &mut Files, path: &str, change: impl FnOnce(String) -> String) {
    let text = match &files[path] {
        Value::String(text) => text.clone(),
        it => serde_yaml::to_string(it).expect("data is YAML"),
    };
    let after = change(text.clone());
    assert_ne!(text, after, "{path}");
    files.insert(path.to_owned(), json!(after));
}

fn file(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join("bundle").join(path)).expect("it is there")
}

/// A finding whose correction would be a guess, lose a comment or change what other programs read.
fn stays(name: &str, rule: &str, change: impl FnOnce(&mut Files)) {
    let dir = put(&format!("kept-{name}"), change);
    let before = support::tree(&dir);
    let report = report(&dir, "--fix");
    assert!(rules(&report, false).contains(rule), "{name}: {report:#}");
    assert!(!rules(&report, true).contains(rule), "{name}: {report:#}");
    assert_eq!(support::tree(&dir), before, "{name}");
}

#[test]
fn comments_behind_a_tab_stay() {
    let dir = put("kept-tab", |files| {
        set(files, CSV, "/spec/minKubeVersion", json!("v1.33"));
        edit(files, CSV, |it| it.replace(": v1.33\n", ": v1.33\t# asked by Bob\n"));
    });
    assert!(rules(&report(&dir, "--fix"), true).contains("csv-minkube-bad"));
    let text = file(&dir, CSV);
    assert!(text.contains("  minKubeVersion: 1.33.0\t# asked by Bob\n"), "{text}");
}

#[test]
fn comments_are_not_removed_with_other_data() {
    stays("map", "csv-olm-properties", |files| {
        set(files, CSV, "/metadata/annotations", json!({ "olm.properties": "[]" }));
        edit(files, CSV, |it| it.replace("    olm.properties", "    # TODO\n    olm.properties"));
    });
    stays("mode", "olmv0-installmode-dup", |files| {
        let mode = json!({ "type": "AllNamespaces", "supported": true });
        set(files, CSV, "/spec/installModes", json!([mode, mode]));
        edit(files, CSV, |it| it.replace("type: AllNamespaces", "type: AllNamespaces # why"));
    });
    stays("cert", "olmv0-cert-annotation", |files| {
        let webhook = json!([{ "type": "ConversionWebhook", "generateName": "c.kb.io", "deploymentName": "memcached-operator-controller-manager", "conversionCRDs": ["memcacheds.cache.example.com"] }]);
        set(files, CSV, "/spec/webhookdefinitions", webhook);
        let modes = json!([{ "type": "AllNamespaces", "supported": true }]);
        set(files, CSV, "/spec/installModes", modes);
        let client = json!({ "service": { "name": "a", "namespace": "b" } });
        let webhook = json!({ "clientConfig": client, "conversionReviewVersions": ["v1"] });
        set(files, CRD, "/spec/conversion", json!({ "strategy": "Webhook", "webhook": webhook }));
        let annotations = json!({ "cert-manager.io/inject-ca-from": "a/b" });
        set(files, CRD, "/metadata/annotations", annotations);
        edit(files, CRD, |it| {
            it.replace("    cert-manager.io/", "    # other: annotation\n    cert-manager.io/")
        });
    });
}

/// Without its last entry, a map of JSON would end with a comma.
#[test]
fn json_stays_json() {
    stays("json", "obj-meta", |files| {
        let text = "{\n \"apiVersion\": \"v1\",\n \"kind\": \"ConfigMap\",\n \"metadata\": {\n  \"name\": \"a\",\n  \"namespace\": \"b\"\n }\n}\n";
        files.insert("manifests/a.json".to_owned(), json!(text));
    });
}

#[test]
fn properties_stay_where_catalogs_would_read_others() {
    let check = |name: &str, list: &str, file: Option<&str>| {
        stays(name, "csv-olm-properties", |files| {
            set(files, CSV, PROPERTIES, json!(list));
            let other = json!({ "properties": [{ "type": "b", "value": "c" }] });
            files.extend(file.map(|it| (it.to_owned(), other)));
        });
    };
    const ONE: &str = r#"[{"type": "a", "value": "x"}]"#;
    check("yml", ONE, Some("metadata/properties.yml"));
    check("other", ONE, Some("metadata/other.yaml"));
    check("big", r#"[{"type": "a", "value": [12345678901234567890123]}]"#, None);
    check("float", r#"[{"type": "a", "value": {"b": 1.50}}]"#, None);
    let package = r#"[{"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}}]"#;
    check("package", package, None);
    // Without annotations, operator-sdk has more to say.
    stays("only", "csv-olm-properties", |files| {
        set(files, CSV, "/metadata/annotations", json!({ "olm.properties": ONE }));
    });
}

#[test]
fn nothing_is_guessed() {
    stays("case", "csv-annotation-case", |files| {
        set(files, CSV, "/metadata/annotations/olm.skiprange", json!("<0.0.1"));
        set(files, CSV, "/metadata/annotations/Olm.SkipRange", json!(">=0.0.0 <0.0.1"));
    });
    stays("owned", "olm-owned-name", |files| {
        let owned =
            |name: &str| json!({ "kind": "Memcached", "version": "v1alpha1", "name": name });
        let all = ["memcached.cache.example.com", "memcacheds.cache.example.com"].map(owned);
        set(files, CSV, "/spec/customresourcedefinitions/owned", json!(all));
    });
}

/// operator-sdk passes over a service account that Go cannot read.
#[test]
fn an_account_with_a_number_is_judged_alike() {
    for (name, label) in [("number", json!(1.0)), ("flag", json!(true)), ("text", json!("a"))] {
        check_verdict(&format!("kept-account-{name}"), |files| {
            let metadata = json!({ "name": "memcached-operator-controller-manager", "labels": { "app.kubernetes.io/version": label } });
            let account =
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata });
            files.insert("manifests/account.yaml".to_owned(), account);
        });
    }
}

/// A file of a killed run makes operator-sdk fail.
#[test]
fn what_a_killed_run_has_left_is_seen() {
    stays("temporary", "fmt-hidden-file", |files| {
        drop(files.insert("manifests/.operator-rs.new-08cc45c31694bfe7-0".to_owned(), json!("")));
    });
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixes-kept-temporary");
    assert!(rules(&report(&dir, ""), false).contains("fmt-hidden-file"));
}

#[test]
fn only_what_is_gone_is_reported_as_fixed() {
    let dir = put("kept-dependency", |files| {
        let value = json!([{ "type": "olm.package.required", "value": { "packageName": "x", "versionRange": ">=1.0.0" } }]);
        set(files, CSV, PROPERTIES, json!(value.to_string()));
    });
    let report = report(&dir, "--fix");
    assert!(rules(&report, true).contains("csv-olm-properties"), "{report:#}");
    assert!(!rules(&report, true).contains("olmv1-dependencies"), "{report:#}");
    assert!(rules(&report, false).contains("olmv1-dependencies"), "{report:#}");
}

fn fixed<'a>(report: &'a Value, rule: &str) -> Vec<&'a Value> {
    let findings = report["findings"].as_array().expect("a list");
    findings.iter().filter(|it| it["rule"] == rule && it.get("fixed").is_some()).collect()
}

#[test]
fn every_finding_has_its_own_change() {
    const KEY: &str = "operators.operatorframework.io.bundle";
    let dir = put("kept-changes", |files| {
        for key in ["manifests", "mediatype"] {
            set(files, ANNOTATIONS, &format!("/annotations/{KEY}.{key}.v1"), Value::Null);
        }
    });
    let report = report(&dir, "--fix");
    let change = format!("added `{KEY}.mediatype.v1: registry+v1`");
    let found = fixed(&report, "fmt-mediatype");
    assert_eq!(found.first().map(|it| &it["fixed"]), Some(&json!(change)), "{report:#}");
}

/// The lines of what was corrected are those of the file before, whatever was removed above them.
#[test]
fn lines_are_those_of_the_old_file() {
    let dir = put("kept-lines", |files| {
        let mode = json!({ "type": "AllNamespaces", "supported": true });
        set(files, CSV, "/spec/installModes", json!(vec![mode; 30]));
        set(files, CSV, PROPERTIES, json!(r#"[{"type": "a", "value": 1}]"#));
        set(files, CSV, "/metadata/annotations/zz", json!("a"));
        set(files, CSV, "/spec/minKubeVersion", json!("v1.33"));
        set(files, CSV, "/metadata/annotations/categories", json!("database"));
    });
    let before = file(&dir, CSV);
    let report = report(&dir, "--fix");
    let lines: Vec<&str> = before.lines().collect();
    let starts = |rule: &str, start: &str, count: usize| {
        let found = fixed(&report, rule);
        assert_eq!(found.len(), count, "{rule}: {report:#}");
        for it in found {
            let line = it["line"].as_u64().expect("a line") as usize;
            assert_eq!(
                lines[line - 1].trim().trim_start_matches("- ").find(start),
                Some(0),
                "{rule} {line}"
            );
        }
    };
    starts("olmv0-installmode-dup", "type:", 29);
    starts("csv-minkube-bad", "minKubeVersion:", 1);
    starts("csv-olm-properties", "olm.properties:", 1);
    starts("cat-standard", "categories:", 1);
    assert_eq!(file(&dir, CSV).matches("type: AllNamespaces").count(), 1);
}

#[test]
fn a_preview_without_changes_reports_what_is_wrong() {
    let dir = put("kept-preview", |files| set(files, CSV, "/spec/minKubeVersion", json!(">=1.33")));
    for words in ["--fix --diff", "--fix --dry-run"] {
        let output = support::operator_rs(&dir, &format!("bundle validate {words}"));
        let said = support::said(&output);
        assert!(!output.status.success(), "{words}: {said}");
        assert!(said.contains("error[csv-minkube-bad]"), "{words}: {said}");
    }
}

/// Neither run could need the image.
#[test]
fn no_registry_is_asked_for_nothing() {
    let dir = support::fresh("kept-offline");
    let refused = |words: &str, message: &str| {
        let output =
            support::operator_rs(&dir, &format!("bundle validate localhost:1/a/b:c {words}"));
        let said = support::said(&output);
        assert!(!output.status.success() && said.contains(message), "{said}");
    };
    let message = "`localhost:1/a/b:c` is an image in a registry, and `--offline` contacts none";
    refused("--offline", message);
    let message = "`localhost:1/a/b:c` is an image, and `--fix` corrects a directory";
    refused("--fix", message);
    refused("--fix --offline", message);
}

#[test]
fn a_generated_file_that_was_edited_has_another_way_out() {
    let (dir, output) = bundle("kept-edited", &objects(), &[]);
    assert!(output.status.success(), "{}", support::said(&output));
    let path = dir.join("bundle").join(ANNOTATIONS);
    let text = fs::read_to_string(&path).expect("it is there");
    let edited = text.replace("mediatype.v1: registry+v1", "mediatype.v1: helm+v1");
    fs::write(&path, &edited).expect("it is ours");
    let said = support::said(&support::operator_rs(&dir, "bundle validate --fix"));
    let hint = "`--fix` does not edit generated files, and this one was edited since: `operator-rs bundle --force` generates it again";
    assert!(said.contains(hint), "{said}");
}

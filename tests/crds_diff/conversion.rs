//! Kinds whose versions the project converts: PROJECT lists the conversion, and neither the source nor the CRDs in files
//! have it.

use super::{IMPORTS, Repository, TARGET, cluster, support};
use serde_json::{Value, json};

const VERSIONS: &str = r#"
pub mod v1alpha1 {
    use super::*;
    #[derive(kube::CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Backup", namespaced, storage = true)]
    pub struct BackupSpec { pub first: String, pub second: String }
}
pub mod v1 {
    use super::*;
    #[derive(kube::CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "example.com", version = "v1", kind = "Backup", namespaced, storage = false)]
    pub struct BackupSpec { pub one: i64, pub other: i64 }
}
"#;

const PROJECT: &str = "
layout:
- rust.operator-rs.io/in-place/v1
projectName: a
domain: com
version: \"3\"
resources:
- api:
    crdVersion: v1
    namespaced: true
  group: example
  domain: com
  kind: Backup
  version: v1alpha1
  webhooks:
    conversion: true
    spoke:
    - v1
    webhookVersion: v1
";

/// A repository whose second commit adds a version that differs in every field.
fn repository(name: &str, converts: bool) -> Repository {
    let repository = Repository::new(name);
    let one = VERSIONS.split("pub mod v1 {").next().expect("a text has a beginning");
    repository.write("src/main.rs", &format!("{IMPORTS}{TARGET}{one}fn main() {{}}\n"));
    repository.commit("One version");
    repository.git(&["tag", "one"]);
    repository.write("src/main.rs", &format!("{IMPORTS}{TARGET}{VERSIONS}fn main() {{}}\n"));
    if converts {
        repository.write("PROJECT", PROJECT.trim_start());
    }
    support::done(&repository.0, "generate crds --output-dir crds");
    repository.commit("Two versions");
    repository.git(&["tag", "two"]);
    repository
}

#[test]
fn versions_that_the_project_converts_are_not_compared_with_each_other() {
    let repository = repository("converted", true);
    support::done(&repository.0, "generate crds --output-file all.yaml");
    for words in [
        &["one"][..],
        &["one", "--to", "two"],
        &["one", "--to", "two:crds"],
        &["one", "--to", "crds"],
        &["one", "--to", "all.yaml"],
        &["two", "--to", "crds"],
    ] {
        let output = repository.diff(words);
        let said = support::said(&output);
        assert!(said.starts_with("no breaking change from"), "{words:?}: {said}");
    }
    for words in ["docs", "schemas", "crds"] {
        let mut command = support::command(support::BINARY, &repository.0);
        let output = command.args(["generate", words, "--output-dir", words]).output();
        let said = support::said(&output.expect("the binary starts"));
        assert!(!said.contains("no conversion"), "{said}");
    }
    // A cluster says itself if it asks the operator to convert.
    let mut crd: Value =
        serde_json::from_str(&support::done(&repository.0, "generate crds --output json"))
            .expect("it is JSON");
    let mut crd = crd[0].take();
    let service = json!({ "name": "a", "namespace": "a", "path": "/convert" });
    let webhook =
        json!({ "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] });
    for (conversion, expected) in [
        (json!({ "strategy": "Webhook", "webhook": webhook }), "no breaking change from one"),
        (json!({ "strategy": "None" }), "no conversion is declared"),
    ] {
        crd["spec"]["conversion"] = conversion;
        repository.write("kubeconfig", &cluster::kubeconfig(crd.clone()));
        let said = support::said(&repository.diff(&[
            "one",
            "--to",
            "cluster",
            "--kubeconfig",
            "kubeconfig",
        ]));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_pair_of_versions_that_nothing_converts_has_one_line() {
    let repository = repository("unconverted", false);
    let said = support::said(&repository.diff(&["one"]));
    let line = "`v1alpha1` and `v1` differ in 3 fields (`^.spec`, `^.spec.first`, `^.spec.second`), by `required`, `type`; no conversion is declared\n  backups.example.com v1alpha1 -> v1\n";
    assert!(said.contains(line), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
    let verbose = support::said(&repository.diff(&["one", "--verbose"]));
    assert_eq!(verbose.matches("error[").count(), 3, "{verbose}");
    let all = repository.diff(&["one", "--output", "json"]);
    let all: Value = serde_json::from_slice(&all.stdout).expect("it is JSON");
    let is_pair = |it: &&Value| it["version"] == "v1alpha1 -> v1";
    let findings = all["findings"].as_array().expect("a list");
    assert!(findings.iter().filter(is_pair).count() >= 3, "{all:#}");
}

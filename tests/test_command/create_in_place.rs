//! `create api` in place: what it writes compiles beside the code of others, and does what a controller is for.

use std::{fs, path::Path};

use super::{
    alone, assets,
    support::{self, generated},
    test,
};

const CARGO: &str = r#"[package]
name = "caches"
version = "0.1.0"
edition = "2021"

[dependencies]
k8s-openapi = { version = "0.29", features = ["schemars", "v1_33"] }
kube = { version = "5", default-features = false, features = ["client", "derive", "ring", "rustls-tls"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
"#;

const MAIN: &str = r#"use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "shop.example.com", version = "v1", kind = "Shop")]
pub struct ShopSpec {
    pub size: i32,
}

#[tokio::main]
async fn main() -> Result<(), kube::Error> {
    let client = kube::Client::try_default().await?;
    println!("{}", client.default_namespace());
    Ok(())
}
"#;

/// The permissions that the comments ask for, and no more.
const MANIFESTS: &str = r#"apiVersion: v1
kind: ServiceAccount
metadata: {name: caches, namespace: default}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: caches, namespace: default}
spec:
  selector: {matchLabels: {app: caches}}
  template:
    metadata: {labels: {app: caches}}
    spec:
      serviceAccountName: caches
      containers: [{name: manager, image: "example.com/caches:1"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: caches}
rules:
- {apiGroups: [cache.example.com], resources: [memcacheds, regions], verbs: [list, watch]}
- {apiGroups: [cache.example.com], resources: [memcacheds/status, regions/status], verbs: [patch]}
- {apiGroups: [""], resources: [configmaps], verbs: [list, watch, create, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: caches}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: caches}
subjects: [{kind: ServiceAccount, name: caches, namespace: default}]
"#;

/// A person at the cluster, while the operator runs.
const SCRIPT: &str = r#"
value() { sed -n "s/.*$1: //p" $KUBECONFIG; }
ask() { curl -sk -X $1 -H "Authorization: Bearer $(value token)" -H "Content-Type: application/$3" $(value server)/$2 -d "$4"; }
get() { ask GET $1 json ''; }
until_it() { for try in $(seq 450); do if get $1 | grep -q "$2"; then return; fi; sleep 0.2; done; echo "$1 never had $2:"; get $1; cat ../operator.log; kill $operator; exit 1; }
all=apis/cache.example.com/v1alpha1
of=$all/namespaces/default/memcacheds
maps=api/v1/namespaces/default/configmaps
KUBECONFIG=$E2E_OPERATOR_KUBECONFIG $OPERATOR > ../operator.log 2>&1 & operator=$!

ask POST $of json '{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": {"name": "a"}, "spec": {"text": "one"}}' > /dev/null
until_it $maps/a-memcached '"text": "one"'
until_it $of/a '"ready": true'
ask PATCH $of/a merge-patch+json '{"spec": {"text": "two"}}' > /dev/null
until_it $maps/a-memcached '"text": "two"'
until_it $of/a '"observedGeneration": 2'
ask DELETE $maps/a-memcached json '' > /dev/null
until_it $maps/a-memcached '"text": "two"'
ask PATCH $of/a merge-patch+json '{"spec": {"text": null}}' > /dev/null
until_it $maps/a-memcached '"reason": "NotFound"'

long=$(printf 'b%.0s' $(seq 250))
ask POST $of json "{\"apiVersion\": \"cache.example.com/v1alpha1\", \"kind\": \"Memcached\", \"metadata\": {\"name\": \"$long\"}, \"spec\": {\"text\": \"one\"}}" > /dev/null
until_it $of/$long '"message": ".*must be no more than 253'
until_it $of/$long '"ready": false'
before=$(get $of/$long | grep resourceVersion)
sleep 3
test "$before" = "$(get $of/$long | grep resourceVersion)" || echo "the status is written again and again"
ask PATCH $of/$long merge-patch+json '{"spec": {"text": null}}' > /dev/null
until_it $of/$long '"ready": true'
get $of/$long | grep '"message"' && echo "the message stays"

ask POST $all/regions json '{"apiVersion": "cache.example.com/v1alpha1", "kind": "Region", "metadata": {"name": "r"}, "spec": {"text": "here"}}' > /dev/null
until_it $maps/r-region '"text": "here"'
until_it $all/regions/r '"ready": true'
ask DELETE $all/regions/r json '' > /dev/null
until_it $maps/r-region '"reason": "NotFound"'
kill $operator
echo "all is well"
"#;

/// Adds what the steps of `create api` name.
fn follow(dir: &Path, said: &str) {
    for line in said.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("cargo ") {
            generated::cargo(dir, &format!("{words} --offline"));
        } else if let Some((module, file)) =
            line.strip_prefix("add `").and_then(|it| it.split_once("` to "))
        {
            let text = fs::read_to_string(dir.join(file)).unwrap_or_default();
            fs::write(dir.join(file), format!("{module}\n{text}")).unwrap();
        }
    }
}

fn create(dir: &Path, words: &str) {
    let output =
        support::operator_rs(dir, &format!("create api --group cache.example.com {words}"));
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    follow(dir, &said);
}

#[test]
fn a_new_controller_runs_beside_those_of_others() {
    let Some(assets) = assets() else { return };
    let _alone = alone();
    let dir = support::fresh("test-command/create-in-place").join("caches");
    fs::create_dir_all(dir.join("src")).unwrap();
    fs::create_dir(dir.join("yaml")).unwrap();
    let lock = support::home().join("examples/memcached-operator/Cargo.lock");
    fs::copy(lock, dir.join("Cargo.lock")).unwrap();
    fs::write(dir.join("Cargo.toml"), CARGO).unwrap();
    fs::write(dir.join("rustfmt.toml"), "").unwrap();
    fs::write(dir.join("src/main.rs"), MAIN).unwrap();
    fs::write(dir.join("yaml/all.yaml"), MANIFESTS).unwrap();
    support::done(&dir, "generate crds --output-dir crds");
    support::done(&dir, "adopt");

    create(&dir, "--kind Memcached --output-file src/memcached.rs");
    create(&dir, "--kind Region --namespaced=false --output-file src/controllers/region.rs");
    create(&dir, "--kind Alone --controller=false --output-file src/api/alone.rs");
    // What `adopt` would record is recorded.
    support::done(&dir, "adopt --check");
    support::done(&dir, "manifests");
    let main = fs::read_to_string(dir.join("src/main.rs")).unwrap();
    let main = main.replace(
        "    println!(\"{}\", client.default_namespace());\n",
        "    tokio::join!(memcached::run(client.clone()), controllers::region::run(client));\n",
    );
    fs::write(dir.join("src/main.rs"), main).unwrap();
    // Of the code that we write, rustfmt changes nothing.
    let written = || {
        ["memcached", "api/alone", "controllers/region"]
            .map(|it| fs::read_to_string(dir.join(format!("src/{it}.rs"))).unwrap())
    };
    let before = written();
    generated::cargo(&dir, "fmt");
    assert_eq!(before, written());
    generated::cargo(&dir, "clippy --offline -- -D warnings");
    generated::cargo(&dir, "build --offline");

    let words = ["--assets", assets.to_str().unwrap(), "--controller-manager", "--audit-rbac"];
    let words = [&words[..], &["--", "bash", "-c", SCRIPT]].concat();
    let mut command = test(&dir, &words);
    command.env("OPERATOR", support::generated_target().join("debug/caches"));
    let said = support::said(&command.output().unwrap());
    assert!(said.contains("all is well"), "{said}");
    for unexpected in ["again and again", "message stays"] {
        assert!(!said.contains(unexpected), "{said}");
    }
    assert!(said.contains("0 refused, 0 unused"), "{said}");
}

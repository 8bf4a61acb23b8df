//! The whole line, from an empty folder to a bundle: beside operator-sdk on what kustomize renders.

use super::{documents, oracle, valid};
use crate::support;

const IMAGE: &str = "quay.io/example/memcached-operator:v0.0.1";

/// Scaffolds with these commands, makes the bundle, and compares.
fn check(name: &str, init: &str, creates: &[&str]) {
    let dir = support::fresh(name);
    support::done(
        &dir,
        &format!("init --domain example.com --project-name memcached-operator {init}"),
    );
    for create in creates {
        let what =
            if create.starts_with("webhook ") { "create" } else { "create api --group cache" };
        support::done(&dir, &format!("{what} {create}"));
    }
    let words = oracle::CHANNELS.join(" ");
    support::done(&dir, &format!("bundle --image {IMAGE} {words}"));
    support::done(&dir, &format!("bundle --image {IMAGE} {words} --check"));
    valid::check(&dir);
    let Some(kustomize) = support::tool("kustomize") else { return };
    let output = support::command(kustomize, &dir).args(["build", "config/manifests"]).output();
    let output = output.expect("kustomize starts");
    assert!(output.status.success(), "{name}: {}", support::said(&output));
    let text = String::from_utf8(output.stdout).expect("YAML is UTF-8");
    oracle::agree(
        name,
        &documents(&text.replace("image: controller:latest", &format!("image: {IMAGE}"))),
    );
}

const MEMCACHED: &str = "--kind Memcached --image memcached:1.6.39-alpine --port 11211";

#[test]
fn of_an_operator_with_an_image() {
    check("line-image", "--owner Example", &[MEMCACHED]);
}

#[test]
fn of_an_operator_without() {
    check("line-plain", "--license none", &["--kind Memcached"]);
}

#[test]
fn of_an_operator_of_one_namespace() {
    check("line-namespaced", "--namespaced", &[MEMCACHED]);
}

#[test]
fn of_several_kinds_and_versions() {
    let creates = [
        MEMCACHED,
        "--kind MyCache --namespaced=false",
        "--kind Memcached --version v1beta1 --controller=false",
    ];
    check("line-kinds", "", &creates);
}

/// Without what cert-manager does elsewhere: OLM makes the certificates.
#[test]
fn of_kinds_with_webhooks() {
    let creates = [
        MEMCACHED,
        "webhook --group cache --kind Memcached --defaulting --programmatic-validation",
        "webhook --group core --version v1 --kind Pod --programmatic-validation",
        "--kind Memcached --version v1beta1 --from v1alpha1",
        "--kind Redis --version v1",
        "--kind Redis --version v1beta1 --from v1",
    ];
    check("line-webhooks", "", &creates);
}

//! Options that cannot be honoured together, or not by this command: each is refused, or makes a
//! difference.

use std::collections::BTreeMap;

use crate::{
    run, support,
    world::{Base, World},
};

/// A command line that is fine, and options that might be ignored in it.
const IGNORED: &[(&str, &[&str])] = &[
    ("version", &["--dir /nowhere", "--dir ../victim"]),
    ("completion bash", &["--dir /nowhere"]),
    ("generate installer --crds-only", &["--image x:1", "--namespace other"]),
    ("generate crds --output-dir deploy/crds", &["-o json", "--output yaml"]),
    (
        "crds diff config/crd/bases --to ./config/crd/bases",
        &[
            "--manifest-path Cargo.toml",
            "-p api",
            "--features a",
            "--all-features",
            "--no-default-features",
            "--kubeconfig a",
            "--context a",
        ],
    ),
    (
        "create api --group cache --kind Second --resource=false --controller=true",
        &["--plural others", "--shortname o", "--namespaced=false"],
    ),
    (
        "create api --group cache --kind Third --controller=false",
        &["--image x:1", "--port 80", "--run-as-user 5", "--container-command a"],
    ),
    (
        "create api --group cache --kind Third",
        &["--port 80", "--run-as-user 5", "--container-command a"],
    ),
    (
        "bundle validate",
        &[
            "--dry-run",
            "--diff",
            "bundle --channels a",
            "--output-dir other",
            "--package other",
            "--optional-values k8s-version=1.30",
        ],
    ),
    (
        "bundle validate --select-optional name=good-practices",
        // A value that another validator reads is told of, and may stay: operator-sdk takes it.
        &["--optional-values other=1"],
    ),
    (
        "bundle validate --list-optional",
        &["bundle", "--output json-alpha1", "--select-optional suite=operatorframework"],
    ),
    ("bundle validate --select csv", &["--select-optional name=capabilities"]),
    ("bundle validate --list", &["bundle", "--output json", "--kube-version 1.33"]),
    ("manifests", &["--output-dir other", "--image x:1"]),
    ("generate", &["--max-description-length 3"]),
    ("install --dry-run", &["--yes", "--image x:1", "--namespace other"]),
    ("deploy --dry-run", &["--yes", "--crds-only"]),
];

#[test]
fn an_option_that_makes_no_difference_is_refused() {
    let mut faults = Vec::new();
    for (line, options) in IGNORED {
        let plain = result(line);
        assert_eq!(plain.0, Some(0), "`{line}` is to be a line that is fine: {:?}", plain.1);
        for option in *options {
            let other = result(&format!("{line} {option}"));
            if other.0 != Some(2) && (other.1 == plain.1 && other.2 == plain.2) {
                faults.push(format!("operator-rs {line} {option}: accepted and ignored"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The exit code, what is printed and what is in the project afterwards.
fn result(line: &str) -> (Option<i32>, Vec<u8>, BTreeMap<String, Vec<u8>>) {
    let world = World::new(Base::Project);
    let outcome = run::run(&world, &run::words(line), false);
    (outcome.code, outcome.stdout, support::tree(&world.project))
}

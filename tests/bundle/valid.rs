//! What the real validators say of the bundles that we make: nothing that could be avoided.

use std::path::Path;

use serde_json::Value;

use super::{made, objects};
use crate::support;

/// operator-framework's own validators, of a newer release than operator-sdk carries.
#[test]
fn the_newest_validators_find_nothing_that_could_be_avoided() {
    let Some(validate) = support::tool("validate") else { return };
    made("validators", &objects(), &[]);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("validators");
    let output =
        support::command(validate, &dir).arg("bundle/manifests").output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report in JSON");
    for result in report.as_array().expect("a list of results") {
        for finding in
            ["Errors", "Warnings"].iter().filter_map(|it| result[it].as_array()).flatten()
        {
            let detail = finding["Detail"].as_str().unwrap_or_default();
            // What needs the operator's image, which is not made yet.
            let image =
                ["unable to inspect the image", "node affinity configuration for the image"];
            assert!(image.iter().any(|it| detail.contains(it)), "{finding:#}");
        }
    }
}

#[test]
fn operator_sdk_finds_no_error_in_any_suite() {
    let Some(sdk) = support::tool("operator-sdk") else { return };
    made("suites", &objects(), &[]);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites");
    let output = support::command(sdk, &dir.join("bundle"))
        .args(["bundle", "validate", ".", "--select-optional", "suite=operatorframework"])
        .output()
        .expect("operator-sdk starts");
    assert!(output.status.success(), "{}", support::said(&output));
}

//! What the real validators say of the bundles that we make: nothing that could be avoided.

use std::path::Path;

use serde_json::Value;

use super::{made, objects};
use crate::support;

#[test]
fn the_bundle_of_given_objects_is_valid() {
    made("valid", &objects(), &[]);
    check(&support::folder("valid"));
}

/// The bundle of the project in this folder passes every check there is.
pub fn check(dir: &Path) {
    newest(dir);
    every_suite(dir);
}

/// operator-framework's own validators, of a newer release than operator-sdk carries.
fn newest(dir: &Path) {
    let Some(validate) = support::tool("validate") else { return };
    let output = support::command(validate, dir).arg("bundle/manifests").output();
    let output = output.expect("the validators start");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report in JSON");
    for result in report.as_array().expect("a list of results") {
        for finding in
            ["Errors", "Warnings"].iter().filter_map(|it| result[it].as_array()).flatten()
        {
            let detail = finding["Detail"].as_str().unwrap_or_default();
            // What needs the operator's image, which is not made yet.
            let image =
                ["unable to inspect the image", "node affinity configuration for the image"];
            assert!(image.iter().any(|it| detail.contains(it)), "{}: {finding:#}", dir.display());
        }
    }
}

/// operator-sdk's, with the optional ones.
fn every_suite(dir: &Path) {
    let Some(sdk) = support::tool("operator-sdk") else { return };
    // Not in the project's own folder: operator-sdk looks for a plugin of PROJECT's layout.
    let output = support::command(sdk, &dir.join("bundle"))
        .args(["bundle", "validate", ".", "--select-optional", "suite=operatorframework"])
        .output()
        .expect("operator-sdk starts");
    let said = support::said(&output);
    assert!(output.status.success(), "{}: {said}", dir.display());
    assert!(!said.contains("level=warning"), "{}: {said}", dir.display());
}

//! Checks a CustomResourceDefinition like an API server.

use super::{Findings, Manifest, Rule};
use crd::definition;

pub fn check(manifest: &Manifest, findings: &mut Findings) {
    let Manifest { path, object: crd } = manifest;
    for refusal in definition::refusals(crd) {
        // operator-sdk ignores errors of fields that have `status` in their names, and leaves schemas and
        // certificates to the server.
        let is_theirs = refusal.version.is_none()
            && !refusal.field().contains("status")
            && !refusal.field().ends_with("caBundle");
        let rule = if is_theirs { Rule::CrdInvalid } else { Rule::CrdRefused };
        findings.error(rule, (*path, refusal.pointer), refusal.message);
    }
}

//! A CustomResourceDefinition, as an API server would take it.

use super::{Findings, Manifest, Rule};
use crd::definition;

pub fn check(manifest: &Manifest, findings: &mut Findings) {
    let Manifest { path, object: crd } = manifest;
    for it in definition::refusals(crd) {
        // operator-sdk passes over every fault of a field that has `status` in its name, and leaves schemas and
        // certificates to the server.
        let is_theirs = it.version.is_none()
            && !it.field().contains("status")
            && !it.field().ends_with("caBundle");
        let rule = if is_theirs { Rule::CrdInvalid } else { Rule::CrdRefused };
        findings.error(rule, (*path, it.pointer), it.message);
    }
}

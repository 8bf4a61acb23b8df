//! A CustomResourceDefinition, as an API server would take it.

use super::{Findings, Manifest, Rule, object};
use crate::definition;

pub fn check(manifest: &Manifest, findings: &mut Findings) {
    let Manifest { path, object: crd } = manifest;
    for it in object::metadata(crd) {
        let field = it.split(": ").next().unwrap_or_default().replace('.', "/");
        findings.error(Rule::CrdInvalid, (*path, format!("/{field}")), it);
    }
    for it in definition::outside_of_schemas(crd) {
        // operator-sdk passes over every fault of a field that has `status` in its name.
        let rule = match it.message.split(": ").next().is_some_and(|it| it.contains("status")) {
            true => Rule::CrdRefused,
            false => Rule::CrdInvalid,
        };
        findings.error(rule, (*path, it.pointer), it.message);
    }
    // operator-sdk leaves these to the server.
    for it in definition::in_schemas(crd) {
        findings.error(Rule::CrdRefused, (*path, it.pointer), it.message);
    }
}

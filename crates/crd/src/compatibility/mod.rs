//! Compares old CRDs with new ones, and returns what the change breaks as findings.
//!
//! The rules about schemas, their names and their verdicts are those of crdify 0.6 (compared in `tests/crdify`). Rules
//! of our own cover what crdify does not see: what the API server refuses in an update (compared with a real one in
//! `tests/deploy`), and every other difference in a CRD. This module reads no files and knows no Rust: the caller finds
//! the source spans of the findings.

mod crd;
mod finding;
mod flatten;
mod normal;
mod policy;
mod rules;
mod served;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use crd::Crd;
pub use finding::{Finding, Subject};
use policy::Effect;
pub use policy::Policy;
pub use rules::{Rule, lost_fields, pruned_fields};

use crd::Version;
use flatten::{Fields, flatten_schema};
use rules::{Change, check_field};

/// Compares two sets of CRDs by name. A new CRD breaks nothing, unless an API server refuses it.
pub fn judge(
    old: &BTreeMap<String, Crd>,
    new: &BTreeMap<String, Crd>,
    policy: &Policy,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, old) in old {
        match new.get(name) {
            Some(new) => findings.extend(compare_crds(old, new, policy)),
            None => findings.push(Finding::about_crd(old, rules::crd_removal(old), policy)),
        }
    }
    for it in new.values().filter(|crd| !old.contains_key(&crd.name)) {
        let all = rules::report_refusals(it.refusals())
            .into_iter()
            .chain(rules::report_doubts(it.doubts()));
        findings.extend(all.map(|finding| Finding::about_crd(it, finding, policy)));
    }
    findings.retain(|finding| policy.counts_finding(finding));
    // The findings are sorted so that the fields inside of a removed field come after it.
    findings.sort_by(|one, other| {
        (&one.subject, one.follows_removal()).cmp(&(&other.subject, other.follows_removal()))
    });
    findings
}

/// Compares two states of one CRD.
fn compare_crds(old: &Crd, new: &Crd, policy: &Policy) -> Vec<Finding> {
    let mut findings = Vec::new();
    let about_crd = |finding| Finding::about_crd(new, finding, policy);
    findings.extend(rules::check_crds(old, new).into_iter().map(about_crd));
    for ((version, stored, field), rule, change) in rules::check_pruned_fields(old, new) {
        let severity = policy.severity_of(change.effect, new.converts());
        let versions = vec![version, stored];
        let subject = Subject { crd: new.name.clone(), versions, field: Some(field) };
        findings.push(Finding::new(subject, rule, severity, change));
    }
    for version in &old.versions {
        if let Some(other) = new.version(&version.name) {
            findings.extend(compare_version(new, version, other, policy));
        }
    }
    findings.extend(served::compare_served(old, new, policy));
    findings
}

/// Compares a version with its successor of the same name.
fn compare_version(crd: &Crd, old: &Version, new: &Version, policy: &Policy) -> Vec<Finding> {
    let (old_fields, new_fields) = (flatten_schema(&old.schema), flatten_schema(&new.schema));
    let subject = |field: &str| Subject {
        crd: crd.name.clone(),
        versions: vec![new.name.clone()],
        field: Some(field.to_owned()),
    };
    let finding = |field: &str, rule, change: Change| {
        let severity = policy.severity_of(change.effect, crd.converts());
        Finding::new(subject(field), rule, severity, change)
    };
    let declared = rules::check_declared_fields(&old.schema, &new.schema).into_iter();
    let declared = declared.map(|(field, change)| finding(&field, Rule::DeclaredField, change));
    let mut findings: Vec<Finding> = declared.collect();
    for field in old_fields.keys().filter(|key| !new_fields.contains_key(*key)) {
        let removed = finding(field, Rule::ExistingFieldRemoval, rules::removed_field());
        findings.push(Finding { removed: true, ..removed });
    }
    for (field, rule, change) in field_changes(&old_fields, &new_fields, policy) {
        let removed = !new_fields.contains_key(field);
        findings.push(Finding { removed, ..finding(field, rule, change) });
    }
    findings
}

/// The findings of each rule for each field of the old schema. A field that is missing in the new one counts as an
/// empty schema.
fn field_changes<'a>(
    old: &'a Fields,
    new: &Fields,
    policy: &Policy,
) -> Vec<(&'a str, Rule, Change)> {
    let nothing = Default::default();
    let mut changes = Vec::new();
    for (field, old) in old {
        let new = new.get(field).unwrap_or(&nothing);
        if old == new {
            continue;
        }
        for (rule, change) in check_field(old, new, policy) {
            changes.push((field.as_str(), rule, change));
        }
    }
    changes
}

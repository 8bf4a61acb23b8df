//! Compares each served version with those of a higher priority. What was incompatible before the change does not
//! count.

use std::cmp::Ordering;

use super::{
    Crd, Effect, Finding, Policy, Rule, Subject, Version, field_changes,
    flatten::{Fields, flatten_schema},
    rules::Change,
};

/// Reports where the new versions are incompatible with each other, and the old ones were not.
pub fn compare_served(old: &Crd, new: &Crd, policy: &Policy) -> Vec<Finding> {
    if (policy.trusts_conversion || new.is_converted_by_project) && new.converts() {
        return Vec::new();
    }
    let known = find_disagreements(old, policy);
    let mut disagreements = find_disagreements(new, policy);
    disagreements.retain(|disagreement| !known.contains(disagreement));
    let finding = |disagreement: Disagreement| {
        let subject = Subject {
            crd: new.name.clone(),
            versions: vec![disagreement.from, disagreement.to],
            field: Some(disagreement.field),
        };
        let remedy = format!(
            "make the versions agree, or serve only one of them: {}",
            disagreement.change.remedy
        );
        // Only crdify compares versions with each other.
        let severity = policy.severity_of(Effect::Widens, false);
        Finding::new(subject, disagreement.rule, severity, Change { remedy, ..disagreement.change })
    };
    disagreements.into_iter().map(finding).collect()
}

#[derive(PartialEq)]
struct Disagreement {
    from: String,
    to: String,
    field: String,
    rule: Rule,
    change: Change,
}

fn find_disagreements(crd: &Crd, policy: &Policy) -> Vec<Disagreement> {
    let mut versions: Vec<&Version> =
        crd.versions.iter().filter(|version| version.served).collect();
    versions.sort_by(|one, other| compare_priority(&one.name, &other.name));
    let versions: Vec<(&str, Fields)> = versions
        .into_iter()
        .map(|version| (version.name.as_str(), flatten_schema(&version.schema)))
        .collect();
    let mut disagreements = Vec::new();
    for (at, (from, older)) in versions.iter().enumerate() {
        for (to, newer) in &versions[at + 1..] {
            for (field, rule, change) in field_changes(older, newer, policy) {
                disagreements.push(Disagreement {
                    from: (*from).to_owned(),
                    to: (*to).to_owned(),
                    field: field.to_owned(),
                    rule,
                    change,
                });
            }
        }
    }
    disagreements
}

/// Orders versions as Kubernetes does, lowest priority first. Any DNS label can be a version's name.
fn compare_priority(one: &str, other: &str) -> Ordering {
    match (parse_version_name(one), parse_version_name(other)) {
        (None, None) => other.cmp(one),
        (one, other) => one.cmp(&other),
    }
}

/// Returns the stage (alpha, beta, stable) and the two numbers; none if the name does not have Kubernetes' form.
fn parse_version_name(name: &str) -> Option<(u8, i64, i64)> {
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i64>().ok()).flatten()
    };
    let rest = name.strip_prefix('v')?;
    for (stage, word) in [(0, "alpha"), (1, "beta")] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

#[test]
fn versions_are_ordered_by_their_priority() {
    let sorted = ["zoo", "foo1", "v1alpha", "v11alpha2", "v3beta1", "v11beta2", "v1", "v02", "v10"];
    let mut names = sorted;
    names.reverse();
    names.sort_by(|one, other| compare_priority(one, other));
    // Names of another form are ordered the other way round.
    assert_eq!(
        names,
        ["zoo", "v1alpha", "foo1", "v11alpha2", "v3beta1", "v11beta2", "v1", "v02", "v10"]
    );
}

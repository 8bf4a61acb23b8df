//! Compares each served version with those of a higher priority. What was incompatible before the change does not
//! count.

use std::cmp::Ordering;

use super::{
    Crd, Effect, Finding, Policy, Rule, Subject, Version, differences,
    flatten::{Fields, flatten},
    rules::Change,
};

/// Where the new versions are incompatible with each other, and the old ones were not.
pub fn compare(old: &Crd, new: &Crd, policy: &Policy) -> Vec<Finding> {
    if (policy.trusts_conversion || new.is_converted_by_project) && new.converts() {
        return Vec::new();
    }
    let known = disagreements(old, policy);
    let mut res = disagreements(new, policy);
    res.retain(|it| !known.contains(it));
    let finding = |it: Disagreement| {
        let subject = Subject {
            crd: new.name.clone(),
            versions: vec![it.from, it.to],
            field: Some(it.field),
        };
        let remedy =
            format!("make the versions agree, or serve only one of them: {}", it.change.remedy);
        // Only crdify compares versions with each other.
        let severity = policy.severity(Effect::Widens, false);
        Finding::new(subject, it.rule, severity, Change { remedy, ..it.change })
    };
    res.into_iter().map(finding).collect()
}

#[derive(PartialEq)]
struct Disagreement {
    from: String,
    to: String,
    field: String,
    rule: Rule,
    change: Change,
}

fn disagreements(crd: &Crd, policy: &Policy) -> Vec<Disagreement> {
    let mut versions: Vec<&Version> = crd.versions.iter().filter(|it| it.served).collect();
    versions.sort_by(|one, other| priority(&one.name, &other.name));
    let versions: Vec<(&str, Fields)> =
        versions.into_iter().map(|it| (it.name.as_str(), flatten(&it.schema))).collect();
    let mut res = Vec::new();
    for (at, (from, older)) in versions.iter().enumerate() {
        for (to, newer) in &versions[at + 1..] {
            for (field, rule, change) in differences(older, newer, policy) {
                res.push(Disagreement {
                    from: (*from).to_owned(),
                    to: (*to).to_owned(),
                    field: field.to_owned(),
                    rule,
                    change,
                });
            }
        }
    }
    res
}

/// Orders versions as Kubernetes does, lowest priority first. Any DNS label can be a version's name.
fn priority(one: &str, other: &str) -> Ordering {
    match (stage(one), stage(other)) {
        (None, None) => other.cmp(one),
        (one, other) => one.cmp(&other),
    }
}

/// The stage (alpha, beta, stable) and the two numbers; none if the name does not have Kubernetes' form.
fn stage(name: &str) -> Option<(u8, i64, i64)> {
    let number = |text: &str| match text.bytes().all(|it| it.is_ascii_digit()) {
        true => text.parse::<i64>().ok(),
        false => None,
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
    names.sort_by(|one, other| priority(one, other));
    // Names of another form are ordered the other way round.
    assert_eq!(
        names,
        ["zoo", "v1alpha", "foo1", "v11alpha2", "v3beta1", "v11beta2", "v1", "v02", "v10"]
    );
}

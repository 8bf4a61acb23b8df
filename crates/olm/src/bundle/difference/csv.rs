//! Every field of the CSV: those that other rules compare are listed here, and all others are reported as changed.

use super::{BundleSide, Change, Rule, pods};
use go_data::yaml::{Difference, Value, diff_values};

/// When a row counts.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Changed,
    Added,
    Removed,
    True,
}

use When::{Added, Changed, Removed, True};

/// Fields of their own, the more exact path first: which rule reports the change, none where another file of this folder
/// compares the field; and the remedy. What is not listed is `csvChanged`.
const FIELDS: &[(&str, When, Option<Rule>, &str)] = &[
    ("metadata.annotations.olm.properties", Changed, None, ""),
    ("metadata.annotations.olm.skipRange", Changed, None, ""),
    ("metadata.name", Changed, None, ""),
    ("spec.cleanup.enabled", True, Some(Rule::CleanupEnabled), CLEANUP),
    ("spec.cleanup", True, Some(Rule::CleanupEnabled), CLEANUP),
    ("spec.customresourcedefinitions.owned", Removed, Some(Rule::OwnedRemoved), OWNED),
    ("spec.apiservicedefinitions.owned", Removed, Some(Rule::OwnedRemoved), OWNED),
    ("spec.customresourcedefinitions.required", Added, None, ""),
    ("spec.apiservicedefinitions.required", Added, None, ""),
    ("spec.install.spec.clusterPermissions", Changed, None, ""),
    ("spec.install.spec.deployments", Changed, None, ""),
    ("spec.install.spec.permissions", Changed, None, ""),
    ("spec.installModes", Changed, None, ""),
    ("spec.minKubeVersion", Changed, None, ""),
    ("spec.nativeAPIs", Changed, None, ""),
    ("spec.relatedImages", Changed, None, ""),
    ("spec.replaces", Changed, None, ""),
    ("spec.skips", Changed, None, ""),
    ("spec.version", Changed, None, ""),
    ("spec.webhookdefinitions", Changed, None, ""),
    ("status", Changed, None, ""),
];

const CLEANUP: &str = "leave `spec.cleanup.enabled` out: with it, OLM deletes every custom resource before it deletes the operator";
const OWNED: &str =
    "keep the API: operators that require it can no longer be installed or upgraded";

/// Longer values are left out.
const LONGEST: usize = 200;

pub fn compare(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    for difference in diff_values(&old.csv, &new.csv) {
        let (rule, remedy) = match FIELDS.iter().find(|row| is_of(row.0, row.1, &difference)) {
            Some((_, _, None, _)) => continue,
            Some((_, _, Some(rule), remedy)) => (*rule, *remedy),
            None => (Rule::CsvChanged, ""),
        };
        let text =
            Some(pods::describe_difference(&difference)).filter(|text| text.len() <= LONGEST);
        let what = text.unwrap_or_else(|| format!("`{}` changed", difference.path));
        let change = match (&difference.old, &difference.new) {
            (Some(part), None) => old.change_at(rule, "CSV", &part.pointer, what).in_old(),
            (_, part) => {
                let at = part.as_ref().map_or("", |part| part.pointer.as_str());
                new.change_at(rule, "CSV", at, what)
            }
        };
        changes.push(change.with_remedy(remedy));
    }
}

fn is_of(field: &str, when: When, difference: &Difference<'_>) -> bool {
    let path = difference.path.strip_prefix(field);
    let is_at = path.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    is_at
        && match when {
            Changed => true,
            Added => difference.old.is_none(),
            Removed => difference.new.is_none(),
            True => difference.new.as_ref().is_some_and(|part| {
                *part.value == true || part.value.get("enabled") == Some(&Value::Bool(true))
            }),
        }
}

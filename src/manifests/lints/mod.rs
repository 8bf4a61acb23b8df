//! Predicts what an API server will report about a CRD. Each warning has the place of its kind.
//!
//! The rules are those of apiextensions-apiserver 0.36. No lint changes a CRD.

mod empty_lists;
mod formats;
mod size;

pub use size::shorten;

use crate::definition::{Fault, rules, structural, text, walk};
use crate::manifests::{Manifest, Version, versions};
use crate::model::{Operator, Problem};

/// All warnings, ordered by the places of their kinds.
pub fn lints(operator: &Operator, crds: &[Manifest]) -> Vec<Problem> {
    let mut res: Vec<Problem> = versions(operator).flat_map(|it| of_version(&it)).collect();
    res.extend(size::lints(operator, crds));
    res.extend(empty_lists::lints(operator));
    res.sort();
    res
}

fn of_version(version: &Version<'_>) -> Vec<Problem> {
    let Some(schema) = version.schema() else { return Vec::new() };
    let mut faults = structural::faults(&schema);
    faults.extend(formats::faults(&schema));
    // The API server checks rules only where the schema itself is valid.
    faults.extend(rules::faults(&schema));
    let describe = |it: Fault| {
        let Fault { at, message, hint } = it;
        let at = if at.is_empty() { "the resource itself".to_owned() } else { format!("`{at}`") };
        let message = format!("{} {}: {at} {message}", version.kind(), version.name());
        Problem::new(version.place().clone(), message).with_hint(hint)
    };
    faults.into_iter().map(describe).collect()
}

#[cfg(test)]
mod tests;

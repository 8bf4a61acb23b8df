//! Versions that a controller uses and API servers do not serve.

use super::agreement::{declared_versions, listed_id};
use crate::manifests::{self, Version};
use crate::project::{Operator, Problem, Project};

/// Returns a warning for each version that PROJECT lists a controller for and `served = false` is on.
pub fn warnings(project: &Project, operator: &Operator) -> Vec<Problem> {
    let used = project.resources.iter().filter(|resource| resource.controller);
    let declared = declared_versions(operator);
    let unserved = used.filter_map(|resource| declared.get(&listed_id(resource)));
    let unserved = unserved.filter(|version| !version.own.served);
    unserved.map(|version| unserved_warning(operator, version)).collect()
}

fn unserved_warning(operator: &Operator, version: &Version<'_>) -> Problem {
    let (kind, name) = (version.kind(), version.name());
    let place = version.declared.field_places.get(&["/served".to_owned()][..]);
    let message = format!(
        "{name} of {kind} is not served, and PROJECT lists the controller for it: the controller could not list its objects"
    );
    let is_other = |other: &Version<'_>| {
        other.group() == version.group() && other.kind() == kind && other.own.served
    };
    let others: Vec<_> = manifests::versions(operator).filter(is_other).collect();
    let hint = match others.last() {
        Some(other) => format!(
            "let src/controller/ use {other}, and move `controller: true` to the entry of {other} in PROJECT; or remove `served = false`",
            other = other.name()
        ),
        None => "remove `served = false`".to_owned(),
    };
    let place = place.unwrap_or(version.place()).clone();
    Problem::new(place, message).with_hint(hint).with_rule("not-served")
}

//! Compares two bundles of one operator, and returns what an upgrade from one to the other changes.
//!
//! CRDs are not compared here: `compatibility` does that. Given the files of both bundles, this reads nothing else.

mod bindings;
mod csv;
mod images;
mod permissions;
mod pods;
mod rules;
mod state;
mod upgrade;
mod webhooks;

pub use rules::Rule;
pub use state::BundleSide;

use super::validate::Finding;
use go_data::yaml::Mark;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub rule: Rule,
    /// The changed object: a Deployment, a webhook, `CSV`.
    pub subject: String,
    pub what: String,
    /// The reaction to the change; empty if there is nothing to do.
    pub remedy: String,
    pub place: Option<ChangeLocation>,
}

/// The location of a change in one of the bundles.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeLocation {
    /// The path inside the bundle.
    pub file: String,
    pub mark: Mark,
    /// True if the file is in the old bundle.
    pub is_old: bool,
}

/// Compares two bundles.
pub fn compare(old: &BundleSide, new: &BundleSide) -> anyhow::Result<Vec<Change>> {
    let mut changes = Vec::new();
    upgrade::compare(old, new, &mut changes);
    permissions::compare(old, new, &mut changes)?;
    bindings::compare(old, new, &mut changes);
    images::compare(old, new, &mut changes);
    webhooks::compare(old, new, &mut changes);
    csv::compare(old, new, &mut changes);
    compare_refusals(old, new, &mut changes);
    // The worst first, and otherwise in the order in which they were found.
    changes.sort_by_key(|change| change.rule.info().severity);
    Ok(changes)
}

/// Reports the errors that `bundle validate` finds in the new bundle only.
fn compare_refusals(old: &BundleSide, new: &BundleSide, changes: &mut Vec<Change>) {
    let is_known = |finding: &Finding| {
        old.refusals.iter().any(|old| (old.rule, &old.message) == (finding.rule, &finding.message))
    };
    for finding in new.refusals.iter().filter(|finding| !is_known(finding)) {
        let subject = if finding.file.is_empty() { "bundle" } else { &finding.file };
        let change = new.change_at(Rule::Invalid, subject, "", finding.message.clone());
        let place = ChangeLocation {
            file: finding.file.clone(),
            mark: finding.mark.unwrap_or(Mark { line: 1, column: 1 }),
            is_old: false,
        };
        changes.push(Change { place: Some(place), ..change }.with_remedy(finding.rule.info().hint));
    }
}

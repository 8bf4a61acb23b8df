//! Compares two bundles of one operator, and returns what an upgrade from one to the other changes.
//!
//! CRDs are not compared here: `compatibility` does that. Given the files of both bundles, this reads nothing else.

mod bindings;
mod images;
mod permissions;
mod pods;
mod rules;
mod state;
mod upgrade;
mod webhooks;

pub use rules::Rule;
pub use state::State;

use crate::yaml::Mark;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub rule: Rule,
    /// What it is about: a Deployment, a webhook, `CSV`.
    pub subject: String,
    pub what: String,
    /// What to do about it; empty if there is nothing to do.
    pub remedy: String,
    pub place: Option<Place>,
}

/// Where a bundle says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The path inside the bundle.
    pub file: String,
    pub mark: Mark,
    /// Whether only the old bundle says so.
    pub is_old: bool,
}

/// Compares two states.
pub fn compare(old: &State, new: &State) -> anyhow::Result<Vec<Change>> {
    let mut res = Vec::new();
    upgrade::compare(old, new, &mut res);
    permissions::compare(old, new, &mut res)?;
    bindings::compare(old, new, &mut res);
    images::compare(old, new, &mut res);
    webhooks::compare(old, new, &mut res);
    // The worst first, and otherwise in the order in which they were found.
    res.sort_by_key(|it| it.rule.severity());
    Ok(res)
}

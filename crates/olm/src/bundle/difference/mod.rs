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
pub use state::State;

use super::validate::Finding;
use go_data::yaml::Mark;

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
    csv::compare(old, new, &mut res);
    refusals(old, new, &mut res);
    // The worst first, and otherwise in the order in which they were found.
    res.sort_by_key(|it| it.rule.about().severity);
    Ok(res)
}

/// What `bundle validate` refuses in the new bundle alone.
fn refusals(old: &State, new: &State, res: &mut Vec<Change>) {
    let is_known = |it: &Finding| {
        old.refusals.iter().any(|old| (old.rule, &old.message) == (it.rule, &it.message))
    };
    for it in new.refusals.iter().filter(|it| !is_known(it)) {
        let subject = if it.file.is_empty() { "bundle" } else { &it.file };
        let change = new.change(Rule::Invalid, subject, "", it.message.clone());
        let place = Place {
            file: it.file.clone(),
            mark: it.mark.unwrap_or(Mark { line: 1, column: 1 }),
            is_old: false,
        };
        res.push(Change { place: Some(place), ..change }.with_remedy(it.rule.about().hint));
    }
}

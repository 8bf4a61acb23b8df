//! The graphs of upgrades of a catalog.

mod mermaid;
mod svg;
mod text;

use std::collections::{BTreeMap, BTreeSet};

pub use mermaid::mermaid;
pub use svg::svg;
pub use text::{Drawing, Line, Mark, text};

use super::{
    blob::{Bundle, Entry},
    check::package_of,
    load::Catalog,
    version::Version,
};

/// The version of each bundle by its name; the first of several with one name.
fn versions(catalog: &Catalog) -> anyhow::Result<BTreeMap<&str, Version>> {
    let mut res = BTreeMap::new();
    for it in &catalog.bundles {
        if res.contains_key(it.blob.name.as_str()) {
            continue;
        }
        let fault = |message: String| it.fault(message).into_error();
        let [_, raw, _] = package_of(&it.blob).map_err(fault)?;
        let version =
            Version::parse(&raw).ok_or_else(|| fault(format!("`{raw}` is not a version")))?;
        res.insert(it.blob.name.as_str(), version);
    }
    Ok(res)
}

/// The entries that no other one replaces or skips, by name. Those that a new entry `skips` end here, so that what they
/// replace is a head: OLM follows no replacement by a skipped entry.
pub fn heads<'a>(entries: &'a [Entry], skips: &'a [String]) -> Vec<&'a str> {
    let is_kept = |it: &&Entry| !skips.contains(&it.name);
    let skipped = entries.iter().flat_map(|it| &it.skips).chain(skips);
    let replaced = entries.iter().filter(is_kept).map(|it| &it.replaces);
    let lower: BTreeSet<&str> = skipped.chain(replaced).map(String::as_str).collect();
    let mut res: Vec<&str> =
        entries.iter().map(|it| it.name.as_str()).filter(|it| !lower.contains(it)).collect();
    res.sort_unstable();
    res
}

/// What makes a channel one that OLM can follow.
pub fn way_out(entries: &[Entry]) -> String {
    let heads = heads(entries, &[]);
    if heads.len() < 2 {
        return "correct `replaces` and `skips`, so that they lead from the newest entry to every other one"
            .to_owned();
    }
    let unknown = entries.iter().find(|it| {
        let is_there = |other: &Entry| other.name == it.replaces;
        !it.replaces.is_empty() && heads.contains(&&*it.name) && !entries.iter().any(is_there)
    });
    match unknown {
        Some(Entry { name, replaces, .. }) => {
            format!("{name} replaces {replaces}, which is not an entry: correct the name")
        }
        None => format!(
            "name every one of {} but the newest in `replaces` or `skips` of the entry that follows it",
            heads.join(", ")
        ),
    }
}

/// Whether a bundle has a higher version than this one; not if one of them is no version.
pub fn is_newer(bundle: &Bundle, than: &str) -> bool {
    let found = package_of(bundle).ok().and_then(|it| Version::parse(&it[1]));
    found.zip(Version::parse(than)).is_some_and(|(found, than)| found.compare(&than).is_gt())
}

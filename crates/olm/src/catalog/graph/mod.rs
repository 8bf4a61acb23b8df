//! The graphs of upgrades of a catalog.

mod mermaid;
mod svg;
mod text;

use std::collections::{BTreeMap, BTreeSet};

pub use mermaid::render_mermaid;
pub use svg::render_svg;
pub use text::{Drawing, Line, Mark, draw_text};

use super::{
    blob::{BundleBlob, Entry},
    check::package_of,
    load::Catalog,
    version::Version,
};

/// Returns the version of each bundle by name; of several with one name, the first.
fn bundle_versions(catalog: &Catalog) -> anyhow::Result<BTreeMap<&str, Version>> {
    let mut versions = BTreeMap::new();
    for bundle in &catalog.bundles {
        if versions.contains_key(bundle.blob.name.as_str()) {
            continue;
        }
        let fault = |message: String| bundle.fault(message).into_error();
        let [_, raw, _] = package_of(&bundle.blob).map_err(fault)?;
        let version =
            Version::parse(&raw).ok_or_else(|| fault(format!("`{raw}` is not a version")))?;
        versions.insert(bundle.blob.name.as_str(), version);
    }
    Ok(versions)
}

/// Returns the entries that no other one replaces or skips, by name. The replacements of entries that a new entry
/// `skips` do not count: OLM follows no replacement by a skipped entry.
pub fn heads<'a>(entries: &'a [Entry], skips: &'a [String]) -> Vec<&'a str> {
    let is_kept = |entry: &&Entry| !skips.contains(&entry.name);
    let skipped = entries.iter().flat_map(|entry| &entry.skips).chain(skips);
    let replaced = entries.iter().filter(is_kept).map(|entry| &entry.replaces);
    let lower: BTreeSet<&str> = skipped.chain(replaced).map(String::as_str).collect();
    let mut heads: Vec<&str> = entries
        .iter()
        .map(|entry| entry.name.as_str())
        .filter(|name| !lower.contains(name))
        .collect();
    heads.sort_unstable();
    heads
}

/// Returns a hint on how to correct a channel that OLM cannot follow.
pub fn correction_hint(entries: &[Entry]) -> String {
    let heads = heads(entries, &[]);
    if heads.len() < 2 {
        return "correct `replaces` and `skips`, so that they lead from the newest entry to every other one"
            .to_owned();
    }
    let unknown = entries.iter().find(|entry| {
        let is_there = |other: &Entry| other.name == entry.replaces;
        !entry.replaces.is_empty() && heads.contains(&&*entry.name) && !entries.iter().any(is_there)
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

/// Returns whether a bundle has a higher version than this one; false if one of them is not a version.
pub fn is_newer(bundle: &BundleBlob, than: &str) -> bool {
    let version = package_of(bundle).ok().and_then(|package| Version::parse(&package[1]));
    version
        .zip(Version::parse(than))
        .is_some_and(|(found, than)| found.compare_precedence(&than).is_gt())
}

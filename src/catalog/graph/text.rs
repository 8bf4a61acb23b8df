//! Graphs for a terminal: the entries of each channel, and which of them have a way to its head.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{
    super::{
        blob::{Channel, Entry},
        go::quoted,
        load::Catalog,
        version::{Range, Version},
    },
    heads, versions,
};

/// The graphs of all packages, or of the one with this name.
pub fn text(catalog: &Catalog, package: Option<&str>) -> anyhow::Result<String> {
    let versions = versions(catalog)?;
    let mut packages: BTreeMap<&str, Vec<&Channel>> = BTreeMap::new();
    for it in &catalog.channels {
        if package.is_none_or(|name| it.blob.package == name) {
            packages.entry(&it.blob.package).or_default().push(&it.blob);
        }
    }
    let mut res = String::new();
    for (name, mut channels) in packages {
        let of = |it: &&Channel| {
            let found = catalog.packages.iter().find(|it| it.blob.name == name);
            found.is_some_and(|package| package.blob.default_channel == it.name)
        };
        let _ = writeln!(res, "{}", plain(name));
        channels.sort_by(|one, other| one.name.cmp(&other.name));
        for channel in &channels {
            let note = if of(channel) { " (default channel)" } else { "" };
            let _ = writeln!(res, "  {}{note}", plain(&channel.name));
            Graph::new(channel, &versions).write(&mut res);
        }
    }
    Ok(res)
}

/// The entries of a channel, the highest version first.
struct Graph<'a> {
    entries: Vec<&'a Entry>,
    heads: Vec<&'a str>,
    versions: &'a BTreeMap<&'a str, Version>,
}

impl<'a> Graph<'a> {
    fn new(channel: &'a Channel, versions: &'a BTreeMap<&'a str, Version>) -> Self {
        let mut entries: Vec<&Entry> = channel.entries().iter().collect();
        entries.sort_by(|one, other| {
            let [one, other] = [one, other].map(|it| versions.get(it.name.as_str()));
            match (one, other) {
                (Some(one), Some(other)) => other.compare(one),
                _ => one.is_some().cmp(&other.is_some()).reverse(),
            }
        });
        Self { entries, heads: heads(channel.entries(), &[]), versions }
    }

    fn write(&self, res: &mut String) {
        for entry in &self.entries {
            let head = if self.heads.contains(&entry.name.as_str()) { "  ← head" } else { "" };
            let bundle =
                if self.versions.contains_key(entry.name.as_str()) { "" } else { "  (no bundle)" };
            let _ = writeln!(res, "    {}{head}{bundle}", plain(&entry.name));
            if !entry.replaces.is_empty() {
                let _ = writeln!(res, "      replaces {}", plain(&entry.replaces));
            }
            if !entry.skips.is_empty() {
                let skips: Vec<String> = entry.skips.iter().map(|it| plain(it)).collect();
                let _ = writeln!(res, "      skips {}", skips.join(", "));
            }
            if !entry.skip_range.is_empty() {
                let _ = writeln!(res, "      skips the range {}", plain(&entry.skip_range));
            }
        }
        let line = match self.heads[..] {
            [] => "no head: each entry is replaced or skipped by another one".to_owned(),
            [head] => self.reach(head),
            _ => format!("{} heads: OLM requires exactly one", self.heads.len()),
        };
        let _ = writeln!(res, "    {line}");
    }

    /// Which entries have a way to the head, as `replaces`, `skips` and `skipRange` lead.
    fn reach(&self, head: &'a str) -> String {
        let mut reached: BTreeSet<&str> = BTreeSet::from([head]);
        let mut open = vec![head];
        while let Some(name) = open.pop() {
            let Some(entry) = self.entries.iter().find(|it| it.name == name) else { continue };
            let range = Range::parse(&entry.skip_range).ok();
            for from in &self.entries {
                let version = self.versions.get(from.name.as_str());
                let is_inside = range.as_ref().zip(version).is_some_and(|it| it.0.has(it.1));
                let leads =
                    entry.replaces == from.name || entry.skips.contains(&from.name) || is_inside;
                if leads && reached.insert(&from.name) {
                    open.push(&from.name);
                }
            }
        }
        let lost: Vec<String> = self
            .entries
            .iter()
            .filter(|it| !reached.contains(it.name.as_str()))
            .map(|it| plain(&it.name))
            .collect();
        match lost.is_empty() {
            true => "every entry can be upgraded to the head".to_owned(),
            false => format!("no upgrade leads to the head from {}", lost.join(", ")),
        }
    }
}

/// A name as it is, or in quotes if a terminal would not show it as it is.
fn plain(name: &str) -> String {
    let quoted = quoted(name);
    match quoted.get(1..quoted.len().saturating_sub(1)) == Some(name) && !name.is_empty() {
        true => name.to_owned(),
        false => quoted,
    }
}

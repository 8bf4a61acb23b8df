//! Graphs for a terminal: the entries of each channel below its head, and those that no upgrade leads from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    super::{
        blob::{Channel, Entry},
        go::quoted,
        load::{Catalog, Located},
        version::{Range, Version},
    },
    heads, versions, way_out,
};
use diagnostics::Diagnostic;

/// The graphs of channels.
#[derive(Default)]
pub struct Drawing {
    pub lines: Vec<Line>,
    /// What OLM cannot follow, and how to correct it.
    pub faults: Vec<Diagnostic>,
}

/// A line of a drawing, from the newest entry to the oldest.
pub struct Line {
    pub mark: Mark,
    /// Of an entry from which upgrades lead to a head: how many entries are between it and the line below the head.
    pub depth: Option<usize>,
    /// Whether the entry can be upgraded to one above it.
    pub is_joined: bool,
    pub text: String,
}

/// What a line of a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Title,
    Head,
    Entry,
    /// An entry that no upgrade leads from.
    Lost,
    /// That OLM can follow the channel.
    Whole,
    Fault,
}

/// The graphs of all packages, or of the one with this name.
pub fn text(catalog: &Catalog, package: Option<&str>) -> anyhow::Result<Drawing> {
    let versions = versions(catalog)?;
    let mut packages: BTreeMap<&str, Vec<&Located<Channel>>> = BTreeMap::new();
    for it in &catalog.channels {
        if package.is_none_or(|name| it.blob.package == name) {
            packages.entry(&it.blob.package).or_default().push(it);
        }
    }
    let mut res = Drawing::default();
    for (name, mut channels) in packages {
        let package = catalog.packages.iter().find(|it| it.blob.name == name);
        let default = package.map(|it| it.blob.default_channel.as_str());
        res.lines.push(Line::new(Mark::Title, plain(name)));
        channels.sort_by(|one, other| one.blob.name.cmp(&other.blob.name));
        for channel in channels {
            let note = if default == Some(&channel.blob.name) { " (default channel)" } else { "" };
            let title = format!("  {}{note}", plain(&channel.blob.name));
            res.lines.push(Line::new(Mark::Title, title));
            let mut graph = Graph::new(&channel.blob, &versions);
            graph.draw(&mut res.lines);
            res.lines.push(match graph.fault() {
                None => {
                    Line::new(Mark::Whole, "every entry can be upgraded to the head".to_owned())
                }
                Some(fault) => {
                    let message = format!("channel {}: {fault}", quoted(&channel.blob.name));
                    let hint = way_out(channel.blob.entries());
                    res.faults.push(channel.fault(message).with_hint(hint));
                    Line::new(Mark::Fault, fault)
                }
            });
        }
    }
    Ok(res)
}

/// The entries of a channel, the highest version first.
struct Graph<'a> {
    entries: Vec<&'a Entry>,
    heads: Vec<&'a str>,
    versions: &'a BTreeMap<&'a str, Version>,
    drawn: BTreeSet<&'a str>,
}

/// How deep entries beside others are indented.
const DEEPEST: usize = 8;

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
        Self { entries, heads: heads(channel.entries(), &[]), versions, drawn: BTreeSet::new() }
    }

    /// Draws each head above what it replaces, and beside an entry what else can be upgraded to it.
    fn draw(&mut self, res: &mut Vec<Line>) {
        let heads: Vec<&Entry> =
            self.entries.iter().copied().filter(|it| self.is_head(it)).collect();
        for head in heads {
            let (mut chain, mut next) = (Vec::new(), Some(head));
            while let Some(entry) = next.filter(|it| self.drawn.insert(&it.name)) {
                chain.push(entry);
                next = self.entries.iter().copied().find(|it| it.name == entry.replaces);
            }
            for (at, entry) in chain.iter().enumerate() {
                res.push(self.row(entry, 0, at + 1 == chain.len()));
                let mut open = self.beside(entry, 1);
                while let Some((entry, depth)) = open.pop() {
                    res.push(self.row(entry, depth, true));
                    open.extend(self.beside(entry, depth + 1));
                }
            }
        }
        for entry in self.lost() {
            res.push(Line::new(Mark::Lost, self.label(entry, true)));
        }
    }

    fn row(&self, entry: &Entry, depth: usize, is_last: bool) -> Line {
        let mark = if self.is_head(entry) { Mark::Head } else { Mark::Entry };
        Line {
            mark,
            depth: Some(depth.min(DEEPEST)),
            is_joined: depth != 0 || mark != Mark::Head,
            text: self.label(entry, is_last),
        }
    }

    /// The name, and what the drawing does not show.
    fn label(&self, entry: &Entry, is_last: bool) -> String {
        let mut notes = Vec::new();
        if self.is_head(entry) {
            notes.push("head".to_owned());
        }
        if !self.versions.contains_key(entry.name.as_str()) {
            notes.push("no bundle".to_owned());
        }
        if self.entries.iter().any(|it| it.skips.contains(&entry.name)) {
            notes.push("skipped".to_owned());
        }
        if is_last && !entry.replaces.is_empty() {
            notes.push(format!("replaces {}", plain(&entry.replaces)));
        }
        if !entry.skip_range.is_empty() {
            notes.push(format!("skips the range {}", plain(&entry.skip_range)));
        }
        let name = plain(&entry.name);
        if notes.is_empty() { name } else { format!("{name}  ({})", notes.join(", ")) }
    }

    fn is_head(&self, entry: &Entry) -> bool {
        self.heads.contains(&entry.name.as_str())
    }

    /// What is not drawn yet and can be upgraded to this entry, as `replaces`, `skips` and `skipRange` lead: the highest
    /// version last.
    fn beside(&mut self, to: &Entry, depth: usize) -> Vec<(&'a Entry, usize)> {
        let range = Range::parse(&to.skip_range);
        let is_inside = |it: &Entry| {
            let version = self.versions.get(it.name.as_str());
            range.as_ref().zip(version).is_some_and(|it| it.0.has(it.1))
        };
        let leads =
            |it: &Entry| to.replaces == it.name || to.skips.contains(&it.name) || is_inside(it);
        let found = self.lost().into_iter().rev().filter(|it| leads(it));
        let res: Vec<(&Entry, usize)> = found.map(|it| (it, depth)).collect();
        self.drawn.extend(res.iter().map(|it| it.0.name.as_str()));
        res
    }

    /// The entries that were not drawn, as no upgrade leads from them to a head.
    fn lost(&self) -> Vec<&'a Entry> {
        let is_lost = |it: &&Entry| !self.drawn.contains(it.name.as_str());
        self.entries.iter().copied().filter(is_lost).collect()
    }

    fn fault(&self) -> Option<String> {
        let lost: Vec<String> = self.lost().into_iter().map(|it| plain(&it.name)).collect();
        match (self.heads.len(), lost.is_empty()) {
            (0, _) => Some("no channel head found in graph".to_owned()),
            (1, true) => None,
            (1, false) => Some(format!("no upgrade leads to the head from {}", lost.join(", "))),
            _ => {
                let heads: Vec<String> = self.heads.iter().map(|it| plain(it)).collect();
                Some(format!("multiple channel heads found in graph: {}", heads.join(", ")))
            }
        }
    }
}

impl Line {
    fn new(mark: Mark, text: String) -> Self {
        Self { mark, depth: None, is_joined: false, text }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        match (self.mark, self.depth) {
            (Mark::Title, _) => write!(f, "{text}"),
            (Mark::Lost, _) => write!(f, "    ✗ {text}"),
            (_, None) => write!(f, "    {text}"),
            (_, Some(0)) => write!(f, "    ● {text}"),
            (_, Some(depth)) => write!(f, "    {}├─● {text}", "│ ".repeat(depth - 1)),
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

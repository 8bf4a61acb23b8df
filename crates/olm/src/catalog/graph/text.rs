//! Graphs for a terminal: the entries of each channel below its head, and those that no upgrade leads from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    super::{
        blob::{ChannelBlob, Entry},
        go::format_quoted,
        load::{Catalog, Located},
        version::{Range, Version},
    },
    bundle_versions, correction_hint, heads,
};
use diagnostics::Diagnostic;

/// The graphs of channels.
#[derive(Default)]
pub struct Drawing {
    pub lines: Vec<Line>,
    /// The channels that OLM cannot follow, with hints.
    pub faults: Vec<Diagnostic>,
}

/// A line of a drawing, from the newest entry to the oldest.
pub struct Line {
    pub mark: Mark,
    /// The number of entries between this one and the line below the head; `None` if no upgrade leads to a head.
    pub depth: Option<usize>,
    /// True if the entry can be upgraded to one above it.
    pub is_joined: bool,
    pub text: String,
}

/// The content of a line of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Title,
    Head,
    Entry,
    /// An entry that no upgrade leads from.
    Lost,
    /// A message that OLM can follow the channel.
    Whole,
    Fault,
}

/// Draws the graphs of all packages, or of the one with this name.
pub fn draw_text(catalog: &Catalog, package: Option<&str>) -> anyhow::Result<Drawing> {
    let versions = bundle_versions(catalog)?;
    let mut packages: BTreeMap<&str, Vec<&Located<ChannelBlob>>> = BTreeMap::new();
    for channel in &catalog.channels {
        if package.is_none_or(|name| channel.blob.package == name) {
            packages.entry(&channel.blob.package).or_default().push(channel);
        }
    }
    let mut drawing = Drawing::default();
    for (name, mut channels) in packages {
        let package = catalog.packages.iter().find(|package| package.blob.name == name);
        let default = package.map(|package| package.blob.default_channel.as_str());
        drawing.lines.push(Line::new(Mark::Title, quote_if_needed(name)));
        channels.sort_by(|one, other| one.blob.name.cmp(&other.blob.name));
        for channel in channels {
            let note = if default == Some(&channel.blob.name) { " (default channel)" } else { "" };
            let title = format!("  {}{note}", quote_if_needed(&channel.blob.name));
            drawing.lines.push(Line::new(Mark::Title, title));
            let mut graph = Graph::new(&channel.blob, &versions);
            graph.draw(&mut drawing.lines);
            drawing.lines.push(match graph.find_fault() {
                None => {
                    Line::new(Mark::Whole, "every entry can be upgraded to the head".to_owned())
                }
                Some(fault) => {
                    let message = format!("channel {}: {fault}", format_quoted(&channel.blob.name));
                    let hint = correction_hint(channel.blob.entries());
                    drawing.faults.push(channel.fault(message).with_hint(hint));
                    Line::new(Mark::Fault, fault)
                }
            });
        }
    }
    Ok(drawing)
}

/// The entries of a channel, the highest version first.
struct Graph<'a> {
    entries: Vec<&'a Entry>,
    heads: Vec<&'a str>,
    versions: &'a BTreeMap<&'a str, Version>,
    drawn: BTreeSet<&'a str>,
}

/// The largest indentation of an entry.
const DEEPEST: usize = 8;

impl<'a> Graph<'a> {
    fn new(channel: &'a ChannelBlob, versions: &'a BTreeMap<&'a str, Version>) -> Self {
        let mut entries: Vec<&Entry> = channel.entries().iter().collect();
        entries.sort_by(|one, other| {
            let [one, other] = [one, other].map(|entry| versions.get(entry.name.as_str()));
            match (one, other) {
                (Some(one), Some(other)) => other.compare_precedence(one),
                _ => one.is_some().cmp(&other.is_some()).reverse(),
            }
        });
        Self { entries, heads: heads(channel.entries(), &[]), versions, drawn: BTreeSet::new() }
    }

    /// Draws each head above what it replaces, and beside an entry what else can be upgraded to it.
    fn draw(&mut self, lines: &mut Vec<Line>) {
        let heads: Vec<&Entry> =
            self.entries.iter().copied().filter(|entry| self.is_head(entry)).collect();
        for head in heads {
            let (mut chain, mut next) = (Vec::new(), Some(head));
            while let Some(entry) = next.filter(|entry| self.drawn.insert(&entry.name)) {
                chain.push(entry);
                next = self.entries.iter().copied().find(|other| other.name == entry.replaces);
            }
            for (at, entry) in chain.iter().enumerate() {
                lines.push(self.entry_line(entry, 0, at + 1 == chain.len()));
                let mut open = self.take_upgradable_to(entry, 1);
                while let Some((entry, depth)) = open.pop() {
                    lines.push(self.entry_line(entry, depth, true));
                    open.extend(self.take_upgradable_to(entry, depth + 1));
                }
            }
        }
        for entry in self.lost_entries() {
            lines.push(Line::new(Mark::Lost, self.entry_label(entry, true)));
        }
    }

    fn entry_line(&self, entry: &Entry, depth: usize, is_last: bool) -> Line {
        let mark = if self.is_head(entry) { Mark::Head } else { Mark::Entry };
        Line {
            mark,
            depth: Some(depth.min(DEEPEST)),
            is_joined: depth != 0 || mark != Mark::Head,
            text: self.entry_label(entry, is_last),
        }
    }

    /// Returns the name, and notes about properties that the drawing does not show.
    fn entry_label(&self, entry: &Entry, is_last: bool) -> String {
        let mut notes = Vec::new();
        if self.is_head(entry) {
            notes.push("head".to_owned());
        }
        if !self.versions.contains_key(entry.name.as_str()) {
            notes.push("no bundle".to_owned());
        }
        if self.entries.iter().any(|other| other.skips.contains(&entry.name)) {
            notes.push("skipped".to_owned());
        }
        if is_last && !entry.replaces.is_empty() {
            notes.push(format!("replaces {}", quote_if_needed(&entry.replaces)));
        }
        if !entry.skip_range.is_empty() {
            notes.push(format!("skips the range {}", quote_if_needed(&entry.skip_range)));
        }
        let name = quote_if_needed(&entry.name);
        if notes.is_empty() { name } else { format!("{name}  ({})", notes.join(", ")) }
    }

    fn is_head(&self, entry: &Entry) -> bool {
        self.heads.contains(&entry.name.as_str())
    }

    /// Returns the entries that are not drawn yet and can be upgraded to this one by `replaces`, `skips` or
    /// `skipRange`, the highest version last, and marks them as drawn.
    fn take_upgradable_to(&mut self, to: &Entry, depth: usize) -> Vec<(&'a Entry, usize)> {
        let range = Range::parse(&to.skip_range);
        let is_inside = |entry: &Entry| {
            let version = self.versions.get(entry.name.as_str());
            range.as_ref().zip(version).is_some_and(|pair| pair.0.contains_version(pair.1))
        };
        let leads = |entry: &Entry| {
            to.replaces == entry.name || to.skips.contains(&entry.name) || is_inside(entry)
        };
        let found = self.lost_entries().into_iter().rev().filter(|entry| leads(entry));
        let upgradable: Vec<(&Entry, usize)> = found.map(|entry| (entry, depth)).collect();
        self.drawn.extend(upgradable.iter().map(|pair| pair.0.name.as_str()));
        upgradable
    }

    /// Returns the entries that were not drawn, because no upgrade leads from them to a head.
    fn lost_entries(&self) -> Vec<&'a Entry> {
        let is_lost = |entry: &&Entry| !self.drawn.contains(entry.name.as_str());
        self.entries.iter().copied().filter(is_lost).collect()
    }

    fn find_fault(&self) -> Option<String> {
        let lost: Vec<String> =
            self.lost_entries().into_iter().map(|entry| quote_if_needed(&entry.name)).collect();
        match (self.heads.len(), lost.is_empty()) {
            (0, _) => Some("no channel head found in graph".to_owned()),
            (1, true) => None,
            (1, false) => Some(format!("no upgrade leads to the head from {}", lost.join(", "))),
            _ => {
                let heads: Vec<String> =
                    self.heads.iter().map(|head| quote_if_needed(head)).collect();
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

/// Returns a name, in quotes if a terminal could not show it as it is.
fn quote_if_needed(name: &str) -> String {
    let quoted = format_quoted(name);
    if quoted.get(1..quoted.len().saturating_sub(1)) == Some(name) && !name.is_empty() {
        name.to_owned()
    } else {
        quoted
    }
}

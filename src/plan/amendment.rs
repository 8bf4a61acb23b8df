//! Changes of a user's file. Each is checked: the data afterwards is the data before with the intended entries, or
//! without them. Otherwise nothing is written.

use std::collections::BTreeMap;

use super::entries::{Content, Entry, Place, Twin};
use crate::{
    hint::{Diagnostic, Lines},
    model::ProjectPath,
};

#[derive(Clone, Debug)]
pub enum Amendment {
    /// Adds the entries of a fragment above `+operator-rs:scaffold:<marker>`.
    Add { marker: String, fragment: String },
    /// Removes the entries of fragments for one place.
    Remove { fragments: Vec<String>, edited: Edited },
    /// The text that the command has read, and the same after an edit that it has made and checked.
    Replace { before: String, after: String },
}

/// What happens to an entry that is not as `create api` wrote it, with the text of the last commit. Without `--force`, an
/// edited entry is removed only if that text has it.
#[derive(Clone, Debug)]
pub enum Edited {
    /// An entry of another form stays, with a warning; one with another value is removed, with a warning.
    Stays(Option<String>),
    /// It is removed.
    Removed(Option<String>),
}

impl Edited {
    fn committed(&self) -> Option<&str> {
        match self {
            Self::Stays(text) | Self::Removed(text) => text.as_deref(),
        }
    }
}

/// The text without a fragment's entries.
pub struct Removal {
    pub text: String,
    /// Entries that stay.
    pub warnings: Vec<Diagnostic>,
    /// Entries that may only be removed with `--force`.
    pub refused: Vec<Diagnostic>,
}

/// Adds a fragment's entries, unless they are there.
pub fn added(
    path: &ProjectPath,
    text: &str,
    marker: &str,
    fragment: &str,
) -> Result<String, Box<Diagnostic>> {
    let (place, own) = Place::of(path, fragment)?;
    let addition = Addition { path, text, place: &place, lines: Vec::new() };
    let before = place.read(text).map_err(|it| {
        let all: Vec<String> = own.entries.iter().flat_map(|it| it.text(fragment)).collect();
        Addition { lines: all, ..addition.clone() }.by_hand(*it, "")
    })?;
    let new: Vec<&Entry> = own.entries.iter().filter(|it| !before.has(it)).collect();
    if new.is_empty() {
        return Ok(text.to_owned());
    }
    let lines = new.iter().flat_map(|it| it.text(fragment)).collect();
    Addition { lines, ..addition }.above(&format!("+operator-rs:scaffold:{marker}"), &before, &new)
}

#[derive(Clone)]
struct Addition<'a> {
    path: &'a ProjectPath,
    text: &'a str,
    place: &'a Place,
    /// The new lines.
    lines: Vec<String>,
}

impl Addition<'_> {
    fn above(
        &self,
        marker: &str,
        before: &Content,
        new: &[&Entry],
    ) -> Result<String, Box<Diagnostic>> {
        let mut clashing = new.iter().filter(|it| it.twin == Twin::Clash);
        let twin = |it: &&Entry| before.entries.iter().find(|other| other.shares_name(it));
        if let Some(other) = clashing.find_map(twin) {
            let name = other.names.join("`, `").replace("mod ", "");
            let message = format!("`{name}` is already there, in another form");
            let hint = format!(
                "write `{}` in its place, and run the command again",
                self.lines.join("`, `")
            );
            return Err(Box::new(self.at(other.line, message).with_hint(hint)));
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let markers: Vec<usize> =
            (0..lines.len()).filter(|it| is_marker(lines[*it], marker)).collect();
        // Where the lines would mean something else, e.g. in a string, the marker does not count.
        let after = |line: &usize| {
            let after = before.with(self.text, *line, &self.lines)?;
            let content = self.place.read(&after).ok()?;
            content.is(before, new).then_some((*line, after))
        };
        let mut found: Vec<(usize, String)> = markers.iter().filter_map(after).collect();
        match (found.len(), markers.first()) {
            (1, _) => Ok(found.remove(0).1),
            (0, None) => {
                let sign = if self.path.extension() == "rs" { "//" } else { "#" };
                let message = format!("there is no line `{sign} {marker}`");
                let hint = format!(
                    "restore that line in {} where new lines should be inserted; or ",
                    self.path
                );
                let problem = self.at(lines.len().saturating_sub(1), message);
                Err(self.by_hand(Diagnostic { source_line: None, ..problem }, &hint))
            }
            (0, Some(line)) => {
                let name = self.place.name();
                let message =
                    format!("lines above this marker would not be new entries of {name} alone");
                let hint = format!("move the marker to the end of {name}; or ");
                Err(self.by_hand(self.at(*line, message), &hint))
            }
            _ => {
                let message = format!("the marker `{marker}` is also in line {}", found[0].0 + 1);
                let hint = format!(
                    "delete one of the two lines in {}: new code is inserted above the other",
                    self.path
                );
                Err(Box::new(self.at(found[1].0, message).with_hint(hint)))
            }
        }
    }

    fn at(&self, line: usize, message: String) -> Diagnostic {
        let at = Diagnostic::in_file(self.path.as_str(), message).at(line + 1, 1);
        at.quote(&mut Lines::of(self.text))
    }

    /// The problem with the lines that somebody can add in place of the command.
    fn by_hand(&self, problem: Diagnostic, before: &str) -> Box<Diagnostic> {
        let lines = self.lines.join("`, `");
        Box::new(problem.with_hint(format!(
            "{before}add `{lines}` to {} by hand, and run the command again",
            self.place.name()
        )))
    }
}

fn is_marker(line: &str, marker: &str) -> bool {
    let line = line.trim();
    line.starts_with(['/', '#']) && line.trim_start_matches(['/', '#']).trim() == marker
}

/// Removes the entries of fragments for one place. An entry may be there as any of them shows it.
pub fn removed(
    path: &ProjectPath,
    text: &str,
    fragments: &[String],
    edited: &Edited,
) -> Result<Removal, Box<Diagnostic>> {
    let mut res = Removal { text: text.to_owned(), warnings: Vec::new(), refused: Vec::new() };
    let mut place = None;
    // Entries of the same name are forms of one entry.
    let mut own: BTreeMap<Vec<String>, Vec<Entry>> = BTreeMap::new();
    for fragment in fragments {
        let (at, content) = Place::of(path, fragment)?;
        content
            .entries
            .into_iter()
            .for_each(|it| own.entry(it.names.clone()).or_default().push(it));
        place = Some(at);
    }
    let Some(place) = place else { return Ok(res) };
    for forms in own.values() {
        // The entries have moved since the last removal.
        let Some(content) = place.find(&res.text)? else { return Ok(res) };
        let is_form = |it: &Entry| forms.iter().any(|form| form.form == it.form);
        let named = content.entries.iter().filter(|it| it.shares_name(&forms[0]));
        let (same, others): (Vec<&Entry>, Vec<&Entry>) = named.partition(|it| is_form(it));
        let text = res.text.clone();
        let stays = |it: &Entry| stays(path, &text, it, &forms[0]);
        let without = |it: &Entry| without(&place, &content, &text, it);
        match (&same[..], &others[..]) {
            ([], []) => {}
            ([only], rest) => match without(only) {
                Some(after) => {
                    let is_own = forms.iter().any(|it| it.data == only.data);
                    if !is_own && !is_in(&place, edited.committed(), only) {
                        res.warnings.push(with_value(path, &text, only));
                    }
                    res.warnings.extend(rest.iter().map(|it| stays(it)));
                    res.text = after;
                }
                None => res.warnings.push(stays(only)),
            },
            ([_, second, ..], _) => res.warnings.push(stays(second)),
            ([], [other, ..]) => match (edited, without(other)) {
                (Edited::Removed(committed), Some(after)) => {
                    if !is_in(&place, committed.as_deref(), other) {
                        res.refused.push(uncommitted(path, &text, other));
                    }
                    res.text = after;
                }
                _ => res.warnings.push(stays(other)),
            },
        }
    }
    Ok(res)
}

/// Whether a text has this entry at this place.
fn is_in(place: &Place, text: Option<&str>, entry: &Entry) -> bool {
    let content = text.and_then(|it| place.find(it).ok().flatten());
    content.is_some_and(|it| it.entries.iter().any(|it| it.data == entry.data))
}

fn stays(path: &ProjectPath, text: &str, entry: &Entry, own: &Entry) -> Diagnostic {
    let name = own.names.first().map_or("", |it| it.rsplit(' ').next().unwrap_or(it));
    let message = format!("`{name}` stays: this is not as `create api` wrote it");
    Diagnostic::in_file(path.as_str(), message)
        .at(entry.line + 1, 1)
        .quote(&mut Lines::of(text))
        .with_hint("remove it by hand, if nothing else needs it")
}

/// Such as an image that was given on the command line, or by an edit.
fn with_value(path: &ProjectPath, text: &str, entry: &Entry) -> Diagnostic {
    Diagnostic::in_file(
        path.as_str(),
        "this is removed, and the last commit does not have its value",
    )
    .at(entry.line + 1, 1)
    .quote(&mut Lines::of(text))
    .with_hint("copy the value if you need it elsewhere")
}

fn uncommitted(path: &ProjectPath, text: &str, entry: &Entry) -> Diagnostic {
    let message = "this was edited by hand, and the last commit does not have this text";
    let hint = "commit the file, so that git keeps your edit; or run the command with `--force` to remove it anyway";
    Diagnostic::in_file(path.as_str(), message)
        .at(entry.line + 1, 1)
        .quote(&mut Lines::of(text))
        .with_hint(hint)
}

/// The text without one entry; none if it has no lines of its own.
fn without(place: &Place, content: &Content, text: &str, entry: &Entry) -> Option<String> {
    let (from, to) = entry.lines?;
    let kept = text.split_inclusive('\n').enumerate().filter(|it| it.0 < from || to <= it.0);
    let after: String = kept.map(|it| it.1).collect();
    content.is(&place.read(&after).ok()?, &[entry]).then_some(after)
}

/// A user's file, with the missing lines of `text` appended.
pub fn lacking(before: &str, text: &str) -> String {
    let has = |line: &str| before.lines().any(|it| it.trim() == line.trim());
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let lacking: Vec<&str> =
        text.lines().filter(|it| before.is_empty() || !it.trim().is_empty() && !has(it)).collect();
    if lacking.is_empty() {
        return before.to_owned();
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    let lines: String = lacking.iter().map(|it| format!("{it}{newline}")).collect();
    format!("{before}{gap}{lines}")
}

#[cfg(test)]
mod tests;

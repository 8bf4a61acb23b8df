//! Changes of a user's file. Each is checked: the data afterwards is the data before with the intended entries, or
//! without them. Otherwise nothing is written.

use super::entries::{Clash, Content, Entry, Place};
use diagnostics::{Diagnostic, Lines};
use model::ProjectPath;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub enum Amendment {
    /// Adds the entries of a fragment above `+operator-rs:scaffold:<marker>`.
    Add { marker: String, fragment: String },
    /// Removes the entries of fragments for one place.
    Remove { fragments: Vec<String>, commit: LastCommit },
    /// The text that the command has read, and the same after an edit that it has made and checked.
    Replace { before: String, after: String },
}

impl Amendment {
    /// Returns the fragment that is added above this marker, if the amendment is such an addition.
    pub fn fragment_above(&self, at: &str) -> Option<&str> {
        match self {
            Self::Add { marker, fragment } if marker == at => Some(fragment),
            _ => None,
        }
    }
}

/// A file in the last commit: git can restore an edited entry that is there.
#[derive(Clone, Debug)]
pub enum LastCommit {
    NotRead,
    /// None if the commit has no such file, or if there is no commit.
    Text(Option<String>),
}

/// The text without a fragment's entries.
#[derive(Default)]
pub struct Removal {
    pub text: String,
    /// Values that are lost.
    pub warnings: Vec<Diagnostic>,
    /// Entries that may only be removed with `--force`.
    pub edited: Vec<Diagnostic>,
    /// Entries that have no lines of their own, and are still there.
    pub stuck: Vec<Diagnostic>,
}

/// Adds the entries of several fragments for one place, unless they are there.
///
/// Returns `None` if the fragments have to be added one by one: they are for several places, they repeat or contradict
/// each other, or the file does not take them as they are. Each addition reads the whole file several times.
pub fn added_together(
    path: &ProjectPath,
    text: &str,
    marker: &str,
    fragments: &[&str],
) -> Option<String> {
    let (place, mut own) = Place::of(path, fragments.first()?).ok()?;
    let mut lines: Vec<String> =
        own.entries.iter().flat_map(|entry| entry.text(fragments[0])).collect();
    for fragment in &fragments[1..] {
        let (other, content) = Place::of(path, fragment).ok()?;
        if other != place {
            return None;
        }
        lines.extend(content.entries.iter().flat_map(|entry| entry.text(fragment)));
        own.entries.extend(content.entries);
    }
    let before = place.read(text).ok()?;
    let known = before.entries.iter().chain(&own.entries);
    let data: BTreeSet<&String> = known.clone().map(|entry| &entry.data).collect();
    let names: Vec<&String> = known.flat_map(|entry| &entry.defines).collect();
    let distinct_names: BTreeSet<&&String> = names.iter().collect();
    let entries = before.entries.len() + own.entries.len();
    if data.len() < entries || distinct_names.len() < names.len() {
        return None;
    }
    let new: Vec<&Entry> = own.entries.iter().collect();
    let addition = Addition { path, text, place: &place, lines };
    addition.above(&format!("+operator-rs:scaffold:{marker}"), &before, &new).ok()
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
        let sign = format!("+operator-rs:scaffold:{marker}");
        let line = text.lines().position(|it| is_marker(it, &sign)).unwrap_or_default();
        let problem = if it.position.is_some() { *it } else { addition.at(line, it.message) };
        Addition { lines: all, ..addition.clone() }.by_hand(problem, "")
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
        let clash = |it: &&Entry| before.entries.iter().find_map(|other| other.clash(it));
        if let Some(clash) = new.iter().find_map(clash) {
            return Err(Box::new(self.clash(&clash)));
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
                let message = format!(
                    "lines that are inserted above this marker would not be entries of {name}"
                );
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

    fn clash(&self, Clash { name, other, is_same }: &Clash<'_>) -> Diagnostic {
        let (message, hint) = match is_same {
            true => (
                format!("`{name}` is already there, in another form"),
                format!(
                    "write `{}` in its place, and run the command again",
                    self.lines.join("`, `")
                ),
            ),
            false => (
                format!("`{name}` is already the name of something else here"),
                format!("give this another name than `{name}`, and run the command again"),
            ),
        };
        self.at(other.line, message).with_hint(hint)
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

/// Removes the entries of fragments for one place, however they are spelled there.
pub fn removed(
    path: &ProjectPath,
    text: &str,
    fragments: &[String],
    commit: &LastCommit,
) -> Result<Removal, Box<Diagnostic>> {
    let mut res = Removal { text: text.to_owned(), ..Removal::default() };
    let mut place = None;
    let mut own: Vec<Entry> = Vec::new();
    for fragment in fragments {
        let (at, content) = Place::of(path, fragment)?;
        own.extend(content.entries);
        place = Some(at);
    }
    let Some(place) = place else { return Ok(res) };
    let Some(content) = place.find(text)? else { return Ok(res) };
    let is_ours = |name: &String| own.iter().any(|it| it.names.contains(name));
    let (mut removable, mut lines) = (Vec::new(), Vec::new());
    for entry in content.entries.iter().filter(|it| it.names.iter().any(is_ours)) {
        let at = |message: String| {
            let at = Diagnostic::in_file(path.as_str(), message);
            at.at(entry.line + 1, entry.column + 1).quote(&mut Lines::of(text))
        };
        // An import or a call may be of other modules, too.
        let alone = entry.lines.filter(|_| entry.names.iter().all(is_ours));
        let alone = alone.filter(|it| is_without(&place, &content, text, &[*it], &[entry]));
        let Some(range) = alone else {
            let name = entry.names.iter().find(|it| is_ours(it)).map_or("", |it| word(it));
            let message = format!("`{name}` cannot be removed without removing other code");
            let hint = format!("remove `{name}` from here by hand, and run the command again");
            res.stuck.push(at(message).with_hint(hint));
            continue;
        };
        let has_form = own.iter().any(|it| it.form == entry.form) && !entry.has_comment;
        let has_value = own.iter().any(|it| it.data == entry.data);
        if !(has_form && has_value || commit.has(&place, text, entry)) {
            // A value that was committed otherwise was edited; any other may have come from the command line.
            match has_form && !commit.names(&place, entry) {
                true => res.warnings.push(commit.value_lost(at)),
                false => res.edited.push(commit.edit_lost(at)),
            }
        }
        removable.push(entry);
        lines.push(range);
    }
    if !is_without(&place, &content, text, &lines, &removable) {
        let message = format!("entries of {} cannot be removed together", place.name());
        let line = removable.first().map_or(1, |it| it.line + 1);
        let problem = Diagnostic::in_file(path.as_str(), message).at(line, 1);
        let hint = "write each on a line of its own, and run the command again";
        return Err(Box::new(problem.quote(&mut Lines::of(text)).with_hint(hint)));
    }
    res.text = without(text, &lines);
    Ok(res)
}

impl LastCommit {
    /// Whether it has this entry with the same text.
    fn has(&self, place: &Place, text: &str, entry: &Entry) -> bool {
        let Self::Text(Some(committed)) = self else { return false };
        let content = place.find(committed).ok().flatten();
        content.is_some_and(|it| {
            it.entries
                .iter()
                .any(|it| it.data == entry.data && it.text(committed) == entry.text(text))
        })
    }

    /// Whether it has an entry with the same names.
    fn names(&self, place: &Place, entry: &Entry) -> bool {
        let Self::Text(Some(committed)) = self else { return false };
        let content = place.find(committed).ok().flatten();
        content.is_some_and(|it| it.entries.iter().any(|it| it.names == entry.names))
    }

    /// Such as an image that was given on the command line.
    fn value_lost(&self, at: impl Fn(String) -> Diagnostic) -> Diagnostic {
        let message = match self {
            Self::Text(_) => "this is removed, and the last commit does not have its value",
            Self::NotRead => "this is removed with its value",
        };
        at(message.to_owned()).with_hint("copy the value if you need it elsewhere")
    }

    fn edit_lost(&self, at: impl Fn(String) -> Diagnostic) -> Diagnostic {
        match self {
            Self::Text(_) => at(NOT_COMMITTED.to_owned()).with_hint(COMMIT),
            Self::NotRead => at("this is to be removed, and was edited by hand".to_owned())
                .with_hint("remove it by hand, or run the command with `--force`"),
        }
    }
}

pub const NOT_COMMITTED: &str =
    "this was edited by hand, and the last commit does not have this text";
pub const COMMIT: &str = "commit the file, so that git keeps your edit; or run the command with `--force` to remove it anyway";

/// The last word of a name: `redis` of `use redis`.
fn word(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or(name)
}

fn without(text: &str, ranges: &[(usize, usize)]) -> String {
    let is_kept = |line: usize| !ranges.iter().any(|it| it.0 <= line && line < it.1);
    let kept = text.split_inclusive('\n').enumerate().filter(|it| is_kept(it.0));
    kept.map(|it| it.1).collect()
}

/// Whether a text without these lines is without these entries, and otherwise the same.
fn is_without(
    place: &Place,
    content: &Content,
    text: &str,
    lines: &[(usize, usize)],
    entries: &[&Entry],
) -> bool {
    place.read(&without(text, lines)).is_ok_and(|it| content.is(&it, entries))
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

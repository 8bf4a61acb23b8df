//! Changes of a user's file. Each is checked: the data afterwards is the data before with the intended entries, or
//! without them. Otherwise nothing is written.

use super::entries::{Clash, Content, Entry, EntryLocation};
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
pub fn add_fragments(
    path: &ProjectPath,
    text: &str,
    marker: &str,
    fragments: &[&str],
) -> Option<String> {
    let (place, mut own) = EntryLocation::from_fragment(path, fragments.first()?).ok()?;
    let mut lines: Vec<String> =
        own.entries.iter().flat_map(|entry| entry.unindented_lines(fragments[0])).collect();
    for fragment in &fragments[1..] {
        let (other, content) = EntryLocation::from_fragment(path, fragment).ok()?;
        if other != place {
            return None;
        }
        lines.extend(content.entries.iter().flat_map(|entry| entry.unindented_lines(fragment)));
        own.entries.extend(content.entries);
    }
    let before = place.read_content(text).ok()?;
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
    addition.insert_above(&format!("+operator-rs:scaffold:{marker}"), &before, &new).ok()
}

/// Adds a fragment's entries, unless they are there.
pub fn add_fragment(
    path: &ProjectPath,
    text: &str,
    marker: &str,
    fragment: &str,
) -> Result<String, Box<Diagnostic>> {
    let (place, own) = EntryLocation::from_fragment(path, fragment)?;
    let addition = Addition { path, text, place: &place, lines: Vec::new() };
    let before = place.read_content(text).map_err(|error| {
        let all: Vec<String> =
            own.entries.iter().flat_map(|entry| entry.unindented_lines(fragment)).collect();
        let sign = format!("+operator-rs:scaffold:{marker}");
        let line = text.lines().position(|line| is_marker(line, &sign)).unwrap_or_default();
        let problem = if error.position.is_some() {
            *error
        } else {
            addition.problem_at(line, error.message)
        };
        Addition { lines: all, ..addition.clone() }.by_hand(problem, "")
    })?;
    let new: Vec<&Entry> = own.entries.iter().filter(|entry| !before.has_entry(entry)).collect();
    if new.is_empty() {
        return Ok(text.to_owned());
    }
    let lines = new.iter().flat_map(|entry| entry.unindented_lines(fragment)).collect();
    Addition { lines, ..addition }.insert_above(
        &format!("+operator-rs:scaffold:{marker}"),
        &before,
        &new,
    )
}

#[derive(Clone)]
struct Addition<'a> {
    path: &'a ProjectPath,
    text: &'a str,
    place: &'a EntryLocation,
    /// The new lines.
    lines: Vec<String>,
}

impl Addition<'_> {
    fn insert_above(
        &self,
        marker: &str,
        before: &Content,
        new: &[&Entry],
    ) -> Result<String, Box<Diagnostic>> {
        let clash =
            |entry: &&Entry| before.entries.iter().find_map(|other| other.find_clash(entry));
        if let Some(clash) = new.iter().find_map(clash) {
            return Err(Box::new(self.clash_problem(&clash)));
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let markers: Vec<usize> =
            (0..lines.len()).filter(|index| is_marker(lines[*index], marker)).collect();
        // A marker does not count if the lines would mean something else there, e.g. in a string.
        let after = |line: &usize| {
            let after = before.insert_lines(self.text, *line, &self.lines)?;
            let content = self.place.read_content(&after).ok()?;
            content.differs_only_by(before, new).then_some((*line, after))
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
                let problem = self.problem_at(lines.len().saturating_sub(1), message);
                Err(self.by_hand(Diagnostic { source_line: None, ..problem }, &hint))
            }
            (0, Some(line)) => {
                let name = self.place.name();
                let message = format!(
                    "lines that are inserted above this marker would not be entries of {name}"
                );
                let hint = format!("move the marker to the end of {name}; or ");
                Err(self.by_hand(self.problem_at(*line, message), &hint))
            }
            _ => {
                let message = format!("the marker `{marker}` is also in line {}", found[0].0 + 1);
                let hint = format!(
                    "delete one of the two lines in {}: new code is inserted above the other",
                    self.path
                );
                Err(Box::new(self.problem_at(found[1].0, message).with_hint(hint)))
            }
        }
    }

    fn clash_problem(&self, Clash { name, other, is_same }: &Clash<'_>) -> Diagnostic {
        let (message, hint) = if *is_same {
            (
                format!("`{name}` is already there, in another form"),
                format!(
                    "write `{}` in its place, and run the command again",
                    self.lines.join("`, `")
                ),
            )
        } else {
            (
                format!("`{name}` is already the name of something else here"),
                format!("give this another name than `{name}`, and run the command again"),
            )
        };
        self.problem_at(other.line, message).with_hint(hint)
    }

    fn problem_at(&self, line: usize, message: String) -> Diagnostic {
        let at = Diagnostic::in_file(self.path.as_str(), message).at_position(line + 1, 1);
        at.quote(&mut Lines::new(self.text))
    }

    /// Adds to a problem the lines that the user can add by hand.
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
pub fn remove_fragments(
    path: &ProjectPath,
    text: &str,
    fragments: &[String],
    commit: &LastCommit,
) -> Result<Removal, Box<Diagnostic>> {
    let mut removal = Removal { text: text.to_owned(), ..Removal::default() };
    let mut place = None;
    let mut own: Vec<Entry> = Vec::new();
    for fragment in fragments {
        let (at, content) = EntryLocation::from_fragment(path, fragment)?;
        own.extend(content.entries);
        place = Some(at);
    }
    let Some(place) = place else { return Ok(removal) };
    let Some(content) = place.find_content(text)? else { return Ok(removal) };
    let is_ours = |name: &String| own.iter().any(|removed| removed.names.contains(name));
    let (mut removable, mut lines) = (Vec::new(), Vec::new());
    for entry in content.entries.iter().filter(|entry| entry.names.iter().any(is_ours)) {
        let at = |message: String| {
            let at = Diagnostic::in_file(path.as_str(), message);
            at.at_position(entry.line + 1, entry.column + 1).quote(&mut Lines::new(text))
        };
        // An import or a call may be of other modules, too.
        let alone = entry.lines.filter(|_| entry.names.iter().all(is_ours));
        let alone = alone.filter(|line| is_without(&place, &content, text, &[*line], &[entry]));
        let Some(range) = alone else {
            let name =
                entry.names.iter().find(|name| is_ours(name)).map_or("", |name| last_word(name));
            let message = format!("`{name}` cannot be removed without removing other code");
            let hint = format!("remove `{name}` from here by hand, and run the command again");
            removal.stuck.push(at(message).with_hint(hint));
            continue;
        };
        let has_form = own.iter().any(|other| other.form == entry.form) && !entry.has_comment;
        let has_value = own.iter().any(|other| other.data == entry.data);
        if !(has_form && has_value || commit.has_same_entry(&place, text, entry)) {
            // A value that was committed otherwise was edited; any other may have come from the command line.
            if has_form && !commit.has_same_names(&place, entry) {
                removal.warnings.push(commit.value_lost(at))
            } else {
                removal.edited.push(commit.edit_lost(at))
            }
        }
        removable.push(entry);
        lines.push(range);
    }
    if !is_without(&place, &content, text, &lines, &removable) {
        let message = format!("entries of {} cannot be removed together", place.name());
        let line = removable.first().map_or(1, |entry| entry.line + 1);
        let problem = Diagnostic::in_file(path.as_str(), message).at_position(line, 1);
        let hint = "write each on a line of its own, and run the command again";
        return Err(Box::new(problem.quote(&mut Lines::new(text)).with_hint(hint)));
    }
    removal.text = remove_lines(text, &lines);
    Ok(removal)
}

impl LastCommit {
    /// Returns whether it has this entry with the same text.
    fn has_same_entry(&self, place: &EntryLocation, text: &str, entry: &Entry) -> bool {
        let Self::Text(Some(committed)) = self else { return false };
        let content = place.find_content(committed).ok().flatten();
        content.is_some_and(|content| {
            content.entries.iter().any(|node| {
                node.data == entry.data
                    && node.unindented_lines(committed) == entry.unindented_lines(text)
            })
        })
    }

    /// Returns whether it has an entry with the same names.
    fn has_same_names(&self, place: &EntryLocation, entry: &Entry) -> bool {
        let Self::Text(Some(committed)) = self else { return false };
        let content = place.find_content(committed).ok().flatten();
        content
            .is_some_and(|content| content.entries.iter().any(|other| other.names == entry.names))
    }

    /// Describes a lost value, such as an image that was given on the command line.
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

/// Returns the last word of a name: `redis` of `use redis`.
fn last_word(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or(name)
}

fn remove_lines(text: &str, ranges: &[(usize, usize)]) -> String {
    let is_kept = |line: usize| !ranges.iter().any(|pair| pair.0 <= line && line < pair.1);
    let kept = text.split_inclusive('\n').enumerate().filter(|pair| is_kept(pair.0));
    kept.map(|pair| pair.1).collect()
}

/// Returns whether a text without these lines is without these entries, and otherwise the same.
fn is_without(
    place: &EntryLocation,
    content: &Content,
    text: &str,
    lines: &[(usize, usize)],
    entries: &[&Entry],
) -> bool {
    place
        .read_content(&remove_lines(text, lines))
        .is_ok_and(|it| content.differs_only_by(&it, entries))
}

/// Returns a user's file, with the missing lines of `text` appended.
pub fn append_missing_lines(before: &str, text: &str) -> String {
    let has = |line: &str| before.lines().any(|other| other.trim() == line.trim());
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let lacking: Vec<&str> = text
        .lines()
        .filter(|line| before.is_empty() || !line.trim().is_empty() && !has(line))
        .collect();
    if lacking.is_empty() {
        return before.to_owned();
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    let lines: String = lacking.iter().map(|line| format!("{line}{newline}")).collect();
    format!("{before}{gap}{lines}")
}

#[cfg(test)]
mod tests;

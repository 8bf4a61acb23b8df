//! A place in a user's file as data: the entries there, and everything else in the file. What is code or a value is
//! decided by the parser of the format alone: a line in a comment, in a string or at another place is no entry.

mod rust;
mod toml;
mod yaml;

use std::ops::Range;

use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{Entry as Field, block};
use model::ProjectPath;

/// The location of entries in a file. It is read from a fragment, which is a small copy of the file with only the new
/// entries.
#[derive(PartialEq)]
pub struct EntryLocation {
    path: ProjectPath,
    at: ListLocation,
}

#[derive(PartialEq)]
enum ListLocation {
    /// A list in YAML.
    Yaml(Vec<yaml::Step>),
    /// The file's items, or the list `vec![…]` of a function.
    Rust(Option<String>),
    /// A table in TOML.
    Toml(String),
}

/// A file, read at one place.
pub struct Content {
    /// Everything else, in a form that can be compared.
    rest: String,
    pub entries: Vec<Entry>,
    gap: Gap,
}

/// The surroundings of an addition.
enum Gap {
    Nothing,
    /// A comma at this byte, behind the last entry.
    Comma(usize),
    /// The indentation of the list that this field has.
    Indent(Box<Field>),
}

pub struct Entry {
    pub data: String,
    /// The data without the value that a flag of `create api` sets.
    pub form: String,
    /// The names that it declares or refers to.
    pub names: Vec<String>,
    /// The names that no other entry of a valid file has.
    pub defines: Vec<String>,
    /// Its first line and column, from 0.
    pub line: usize,
    pub column: usize,
    /// Its lines, if nothing else is in them.
    pub lines: Option<(usize, usize)>,
    /// True if a comment is in its lines.
    pub has_comment: bool,
}

/// A name that an entry of a file defines, and a new one would, too.
pub struct Clash<'a> {
    pub name: &'a str,
    pub other: &'a Entry,
    /// True if it is the same entry in another form.
    pub is_same: bool,
}

#[cfg(test)]
thread_local! {
    /// The number of files and fragments that this thread has read.
    pub static READINGS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl EntryLocation {
    /// Returns the place of a fragment's entries, and the fragment as the content of that place.
    pub fn from_fragment(
        path: &ProjectPath,
        fragment: &str,
    ) -> Result<(Self, Content), Box<Diagnostic>> {
        let at = match path.extension() {
            "rs" => rust::list_function(fragment).map(ListLocation::Rust),
            "toml" => toml::only_table(fragment).map(ListLocation::Toml),
            _ => yaml::list_steps(fragment).map(ListLocation::Yaml),
        };
        let res = Self {
            path: path.clone(),
            at: at.map_err(|error| error.into_diagnostic(path, fragment))?,
        };
        let content = res.read_content(fragment)?;
        Ok((res, content))
    }

    /// Reads a file at this place. A file that has no such place is a problem.
    pub fn read_content(&self, text: &str) -> Result<Content, Box<Diagnostic>> {
        self.find_content(text)?.ok_or_else(|| {
            let message = format!("{} was not found", self.name());
            Box::new(Diagnostic::in_file(self.path.as_str(), message))
        })
    }

    /// Reads a file at this place; `None` if the file has no such place.
    pub fn find_content(&self, text: &str) -> Result<Option<Content>, Box<Diagnostic>> {
        #[cfg(test)]
        READINGS.set(READINGS.get() + 1);
        let content = match &self.at {
            ListLocation::Yaml(steps) => yaml::parse_content(&self.path, text, steps),
            ListLocation::Rust(function) => rust::parse_content(text, function.as_deref()),
            ListLocation::Toml(table) => toml::parse_content(text, table),
        };
        content.map_err(|error| error.into_diagnostic(&self.path, text))
    }

    /// Returns its name in messages.
    pub fn name(&self) -> String {
        match &self.at {
            ListLocation::Yaml(steps) => format!("the list `{}`", yaml::format_steps(steps)),
            ListLocation::Rust(Some(function)) => {
                format!("a list `vec![…]` in the function `{function}`")
            }
            ListLocation::Rust(None) => "the module".to_owned(),
            ListLocation::Toml(table) => format!("the table `[{table}]`"),
        }
    }
}

impl Content {
    /// Returns whether an entry is there.
    pub fn has_entry(&self, entry: &Entry) -> bool {
        self.entries.iter().any(|node| node.data == entry.data)
    }

    /// Returns the text with lines in front of a line, from 0.
    pub fn insert_lines(&self, text: &str, line: usize, new: &[String]) -> Option<String> {
        if let Gap::Indent(list) = &self.gap {
            return block::with_items(text, list, &new.join("\n"), Some(line));
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let next = lines.get(line)?;
        let indent = &next[..next.len() - next.trim_start().len()];
        let newline = if next.ends_with("\r\n") { "\r\n" } else { "\n" };
        let mut res = lines[..line].concat();
        if let Gap::Comma(at) = self.gap
            && at <= res.len()
        {
            res.insert(at, ',');
        }
        for line in new {
            res += &format!("{indent}{line}{newline}");
        }
        Some(res + &lines[line..].concat())
    }

    /// Returns whether this is another content with these entries more, and nothing else differs.
    pub fn differs_only_by(&self, other: &Self, new: &[&Entry]) -> bool {
        let mut data: Vec<&String> = self.entries.iter().map(|entry| &entry.data).collect();
        for entry in new {
            let Some(at) = data.iter().position(|other| **other == entry.data) else {
                return false;
            };
            data.remove(at);
        }
        self.rest == other.rest
            && data.into_iter().eq(other.entries.iter().map(|entry| &entry.data))
    }
}

impl Entry {
    /// Returns why another entry cannot be added beside this one.
    pub fn find_clash(&self, new: &Self) -> Option<Clash<'_>> {
        let name = self.defines.iter().find(|name| new.defines.contains(name))?;
        let is_same = self.names.iter().any(|name| new.names.contains(name));
        Some(Clash { name, other: self, is_same })
    }

    /// Returns its lines in a text, without their common indentation.
    pub fn unindented_lines(&self, text: &str) -> Vec<String> {
        let (from, to) = self.lines.unwrap_or((self.line, self.line + 1));
        let lines: Vec<&str> = text.lines().take(to).skip(from).collect();
        let depth = |line: &&str| line.len() - line.trim_start().len();
        let own = lines.iter().map(depth).min().unwrap_or(0);
        lines.iter().map(|line| line[own..].trim_end().to_owned()).collect()
    }
}

/// Why a text cannot be read.
enum Fault {
    /// A message with its line and column, from 1.
    At(String, usize, usize),
    Byte(String, usize),
    Yaml(anyhow::Error),
}

impl Fault {
    fn into_diagnostic(self, path: &ProjectPath, text: &str) -> Box<Diagnostic> {
        let in_file = |message: String| Diagnostic::in_file(path.as_str(), message);
        Box::new(match self {
            Self::At(message, line, column) => {
                in_file(message).at_position(line, column).quote(&mut Lines::new(text))
            }
            Self::Byte(message, byte) => {
                in_file(message).at_byte(text, byte).quote(&mut Lines::new(text))
            }
            Self::Yaml(error) => {
                match diagnostics::find_error::<go_data::yaml::YamlError>(&error) {
                    Some(fault) => go_data::yaml::malformed_diagnostic(path.as_str(), text, fault),
                    None => in_file(error.to_string()),
                }
            }
        })
    }
}

/// Returns the lines of a range of bytes, from 0, if nothing else is in them, and whether a comment with this sign
/// follows.
fn whole_lines(text: &str, range: &Range<usize>, sign: &str) -> Option<((usize, usize), bool)> {
    let (before, after) = (text.get(..range.start)?, text.get(range.end..)?);
    let after = after.split('\n').next()?.trim();
    let is_alone = before.rsplit('\n').next()?.trim().is_empty()
        && (after.is_empty() || after.starts_with(sign));
    let first = before.matches('\n').count();
    let to = first + text[range.clone()].matches('\n').count() + 1;
    is_alone.then_some(((first, to), !after.is_empty()))
}

/// Returns the line and column of a byte, from 0.
fn position_of(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    (before.matches('\n').count(), column)
}

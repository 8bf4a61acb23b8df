//! `// +kubebuilder:NAME:argument=value,…`, by controller-gen's own grammar.

use super::{
    comments::Comment,
    replacements::replacement,
    scanner::{Fault, Scanner, Token},
};
use crate::project::{
    ConfigurationArguments, MarkerArguments, Place, Problem, Rule, SourcePath, WebhookArguments,
};
use std::cell::RefCell;

/// The markers that are read, and how to write each.
const MARKERS: &[(&str, &str)] = &[
    (Rule::NAME, Rule::USAGE),
    (WebhookArguments::NAME, WebhookArguments::USAGE),
    (ConfigurationArguments::NAME, ConfigurationArguments::USAGE),
];

/// A marker comment.
pub struct Marker<'a> {
    pub name: &'static str,
    usage: &'static str,
    /// The arguments.
    pub fields: &'a str,
    path: &'a SourcePath,
    line: usize,
    /// The column of the arguments.
    column: usize,
    /// Arguments without effect, noted while the marker is read.
    pub warnings: RefCell<Vec<Problem>>,
}

impl<'a> Marker<'a> {
    /// Returns the marker of a comment; none if it has none of those that are read.
    pub fn find(path: &'a SourcePath, comment: &Comment<'a>) -> Result<Option<Self>, Problem> {
        let text = comment.text.trim();
        let lead = comment.text.len() - comment.text.trim_start().len();
        let column = comment.column + 2 + lead;
        let problem = |message: String, hint: &str| {
            let place = Place { path: path.clone(), line: comment.line, column };
            Problem::new(place, message).with_hint(hint)
        };
        if comment.is_block {
            return Ok(None);
        }
        let name_of = |marker: &str| {
            MARKERS.iter().find(|known| {
                let rest = marker.strip_prefix(known.0);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '=']))
            })
        };
        if comment.is_doc() {
            let text = comment.text[1..].trim_start();
            if let Some(name) = text.strip_prefix("+kubebuilder:") {
                let instead = replacement(name);
                let hint = match (name_of(&text[1..]), instead) {
                    (None, Some(it)) => format!("use {it}: documentation ends up in the CRD"),
                    _ => "write it with `//`: documentation ends up in the CRD".to_owned(),
                };
                return Err(problem("markers in doc comments are not supported".to_owned(), &hint));
            }
            return Ok(None);
        }
        let Some(marker) = text.strip_prefix('+') else { return Ok(None) };
        let Some(&(name, usage)) = name_of(marker) else { return Ok(None) };
        if comment.behind {
            let message = "markers after code on the same line are not supported".to_owned();
            return Err(problem(message, "put it on a line of its own"));
        }
        // The name ends before the first argument.
        let fields = match marker.split_once('=') {
            Some((head, _)) => match head.rsplit_once(':') {
                Some((before, first)) if before == name || head == name => {
                    &marker[head.len() - first.len()..]
                }
                _ => return Err(problem(format!("`+{head}` is not a marker"), usage)),
            },
            None if marker == name => "",
            None => return Err(problem(format!("`+{marker}` has no value"), usage)),
        };
        let column = column + 1 + count_chars(marker, marker.len() - fields.len());
        let warnings = RefCell::default();
        Ok(Some(Self { name, usage, fields, path, line: comment.line, column, warnings }))
    }

    /// Returns the place of an argument or a value, by its offset in bytes.
    pub fn place_at(&self, offset: usize) -> Place {
        let column = self.column + count_chars(self.fields, offset);
        Place { path: self.path.clone(), line: self.line, column }
    }

    pub fn problem_at(&self, (offset, message): Fault, hint: &str) -> Problem {
        Problem::new(self.place_at(offset), message).with_hint(hint)
    }

    /// Reads the arguments and their offsets, and warns of one that is given twice: as with controller-gen, the last one
    /// counts.
    pub fn parse_arguments<T: MarkerArguments>(&self) -> Result<(T, Arguments), Problem> {
        let mut values = T::default();
        let arguments = Arguments::parse(self.fields, &mut values)
            .map_err(|fault| self.problem_at(fault, self.usage))?;
        for (index, (name, offset)) in arguments.0.iter().enumerate() {
            if arguments.0[index + 1..].iter().any(|(later, _)| later == name) {
                let message = format!("`{name}` is given twice, and this one has no effect");
                let hint = format!("write `{name}` once; the words of a list are separated by `;`");
                let problem = self.problem_at((*offset, message), &hint);
                self.warnings.borrow_mut().push(problem.with_rule("marker"));
            }
        }
        Ok((values, arguments))
    }
}

fn count_chars(text: &str, bytes: usize) -> usize {
    text.get(..bytes).map_or_else(|| text.chars().count(), |c| c.chars().count())
}

/// Returns what is wrong with a list whose words are separated by commas. `text` begins with its argument.
fn list_with_commas(text: &str) -> String {
    let mut words = text.split(',');
    let mut list = words.next().unwrap_or_default().trim_end().to_owned();
    for word in words.take_while(|word| !word.contains('=')) {
        list = format!("{list};{}", word.trim());
    }
    // Other languages write a list in brackets.
    let list = list.replace(['[', ']'], "");
    format!("a comma begins the next argument: separate the words of a list with `;`: `{list}`")
}

/// The names of a marker's arguments with their offsets, in the order in which they are written.
#[derive(Debug)]
pub struct Arguments(Vec<(String, usize)>);

impl Arguments {
    /// Reads arguments one after another. Fails if a required one is missing.
    fn parse<T: MarkerArguments>(fields: &str, values: &mut T) -> Result<Self, Fault> {
        let is_list = |name: &str| T::argument(name).is_list;
        let mut pairs: Vec<(String, usize)> = Vec::new();
        let mut scanner = Scanner { text: fields, at: 0, start: 0 };
        while scanner.peek_char().is_some() {
            let name = match scanner.scan_token()? {
                Some(Token::Word) => scanner.token_text().to_owned(),
                _ => return Err(scanner.fault_at("an argument's name")),
            };
            let at = scanner.start;
            if scanner.peek_word() != Some('=')
                && let Some((_, list)) = pairs.last().filter(|pair| is_list(&pair.0))
            {
                return Err((at, list_with_commas(&fields[*list..])));
            }
            scanner.expect_char('=', "`=`")?;
            if !values.read(&name, &mut scanner)? {
                return Err((at, format!("unknown argument `{name}`")));
            }
            pairs.push((name, at));
            if scanner.peek_char().is_none() {
                break;
            }
            scanner.expect_char(',', "a comma")?;
            if scanner.peek_char().is_none() {
                let message = "an argument is missing after the last comma".to_owned();
                return Err((scanner.at, message));
            }
        }
        let is_missing = |name: &str| pairs.iter().all(|pair| pair.0 != name);
        let mut required = T::ARGUMENTS.iter().filter(|argument| argument.is_required);
        match required.find(|argument| is_missing(argument.name)) {
            Some(argument) => Err((0, format!("argument `{}` is missing", argument.name))),
            None => Ok(Self(pairs)),
        }
    }

    /// Returns the offset of an argument's name. Of several, the last counts.
    pub fn offset(&self, name: &str) -> Option<usize> {
        self.0.iter().rfind(|pair| pair.0 == name).map(|pair| pair.1)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(String, usize)> {
        self.0.iter()
    }
}

#[test]
fn a_marker_in_documentation_is_refused_with_what_to_write() {
    for (text, hint) in [
        (
            "/// +kubebuilder:rbac:groups=apps",
            "write it with `//`: documentation ends up in the CRD",
        ),
        (
            "/// +kubebuilder:validation:MinLength=1",
            "use `#[schemars(length(min = 1))]`: documentation ends up in the CRD",
        ),
    ] {
        let path = SourcePath::fixed("a.rs");
        let comments = super::comments::parse_comments(text);
        let found = Marker::find(&path, &comments[0]).err().expect("it is refused");
        assert_eq!(found.hint.as_deref(), Some(hint), "{text}");
    }
}

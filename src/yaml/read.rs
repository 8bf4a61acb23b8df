//! Text in, located documents out.

use std::{collections::BTreeSet, error::Error, fmt};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};
use serde::Deserialize as _;

use super::{
    Value,
    node::{Data, Entry, Mark, Node},
    plain,
};

/// What is wrong with a text, and where.
#[derive(Debug)]
pub struct Fault {
    pub mark: Mark,
    pub message: String,
    pub hint: Option<&'static str>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mark: Mark { line, column }, message, hint } = self;
        write!(f, "{message} at line {line} column {column}")?;
        hint.map_or(Ok(()), |it| write!(f, " ({it})"))
    }
}
impl Error for Fault {}

impl From<ScanError> for Fault {
    fn from(error: ScanError) -> Self {
        Self { mark: mark(*error.marker()), message: error.info().to_owned(), hint: None }
    }
}

/// Deeper than any Kubernetes object, and shallow enough for the stack.
const DEPTH: usize = 200;

pub fn read(text: &str) -> Result<Vec<Node>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { parser: Parser::new_from_str(text) };
    let mut res = Vec::new();
    loop {
        match reader.next()? {
            (Event::DocumentStart(_), _) => {
                let (event, span) = reader.next()?;
                res.push(reader.node(event, span, 0)?);
            }
            (Event::StreamEnd, _) => break,
            _ => {}
        }
    }
    confirm(text, &res)?;
    Ok(res)
}

/// Reads once more with a descendant of libyaml, as Go's readers are, and refuses what it sees otherwise.
fn confirm(text: &str, nodes: &[Node]) -> Result<(), Fault> {
    let mut nodes = nodes.iter();
    for document in serde_yaml::Deserializer::from_str(text) {
        let other = serde_yaml::Value::deserialize(document).map_err(|error| {
            let place = error.location();
            let mark = place.map_or(Mark { line: 1, column: 1 }, |it| Mark {
                line: it.line(),
                column: it.column(),
            });
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message);
            refuse(mark, message, None)
        })?;
        match nodes.next() {
            Some(node) => agree(node, &other)?,
            None if other.is_null() => {}
            None => return Err(differs(Mark { line: 1, column: 1 })),
        }
    }
    match nodes.find(|it| !it.is_null()) {
        Some(node) => Err(differs(node.mark)),
        None => Ok(()),
    }
}

/// Structure and text are compared; what a scalar without quotes stands for is decided in [`plain`].
fn agree(node: &Node, other: &serde_yaml::Value) -> Result<(), Fault> {
    use serde_yaml::Value as Other;
    let same = match (&node.data, other) {
        (Data::Scalar(Value::String(text)), Other::String(other)) => text == other,
        (Data::Scalar(_), other) => !other.is_sequence() && !other.is_mapping(),
        (Data::List(items), Other::Sequence(others)) => {
            items.iter().zip(others).try_for_each(|(it, other)| agree(it, other))?;
            items.len() == others.len()
        }
        (Data::Map(entries), Other::Mapping(others)) => {
            for (entry, (key, other)) in entries.iter().zip(others) {
                if key.as_str() != Some(&entry.key) {
                    return Err(differs(entry.mark));
                }
                agree(&entry.value, other)?;
            }
            entries.len() == others.len()
        }
        _ => false,
    };
    if same { Ok(()) } else { Err(differs(node.mark)) }
}

fn differs(mark: Mark) -> Fault {
    refuse(mark, "readers of YAML see different things here", Some("write it in a plainer way"))
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.parser.next_event() {
            Some(event) => Ok(event?),
            None => Ok((Event::StreamEnd, Span::empty(Marker::new(0, 1, 0)))),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Fault> {
        let mark = mark(span.start);
        if depth == DEPTH {
            return Err(refuse(mark, "this is nested too deeply", None));
        }
        let unwritten =
            matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text.is_empty());
        let data = match event {
            Event::Scalar(text, style, _, tag) => {
                let text_tag = untagged(tag.as_deref(), mark)?;
                Data::Scalar(if style == ScalarStyle::Plain && !text_tag {
                    plain::resolve(&text).map_err(|why| unclear(mark, &text, why))?
                } else {
                    Value::String(text.into_owned())
                })
            }
            Event::SequenceStart(_, tag) => {
                untagged(tag.as_deref(), mark)?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Data::List(items),
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(_, tag) => {
                untagged(tag.as_deref(), mark)?;
                self.map(depth)?
            }
            Event::Alias(_) => {
                return Err(refuse(
                    mark,
                    "this is an alias, which not every reader follows",
                    Some("write out what it stands for"),
                ));
            }
            _ => return Err(refuse(mark, "a value is missing", None)),
        };
        Ok(Node { data, mark, unwritten })
    }

    fn map(&mut self, depth: usize) -> Result<Data, Fault> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            let (event, span) = self.next()?;
            let mark = mark(span.start);
            let key = match event {
                Event::MappingEnd => return Ok(Data::Map(entries)),
                // Go's readers take it for a merge even in quotes.
                Event::Scalar(text, ..) if &*text == "<<" => {
                    return Err(refuse(
                        mark,
                        "`<<` merges another map, which not every reader does",
                        Some("write out what it stands for"),
                    ));
                }
                event => match self.node(event, span, depth + 1)?.data {
                    Data::Scalar(Value::String(key)) => key,
                    _ => {
                        return Err(refuse(
                            mark,
                            "this key is not a string",
                            Some("write it in quotes"),
                        ));
                    }
                },
            };
            if !seen.insert(key.clone()) {
                return Err(refuse(mark, &format!("the key `{key}` is here twice"), None));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            entries.push(Entry { key, mark, value });
        }
    }
}

/// Whether a tag says that this is a string. Any other tag is refused.
fn untagged(tag: Option<&Tag>, mark: Mark) -> Result<bool, Fault> {
    match tag {
        None => Ok(false),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(true),
        Some(tag) => Err(refuse(
            mark,
            &format!("`{}{}` is a tag, which not every reader understands", tag.handle, tag.suffix),
            Some("leave it out, and quote what is a string"),
        )),
    }
}

fn unclear(mark: Mark, text: &str, why: &str) -> Fault {
    refuse(mark, &format!("`{text}` is {why}"), Some("write it in quotes"))
}

fn refuse(mark: Mark, message: &str, hint: Option<&'static str>) -> Fault {
    Fault { mark, message: message.to_owned(), hint }
}

fn mark(marker: Marker) -> Mark {
    Mark { line: marker.line(), column: marker.col() + 1 }
}

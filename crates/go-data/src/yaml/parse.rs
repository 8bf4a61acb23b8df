//! Parses a text into the nodes of its document, as libyaml does; Go's parsers are ports of libyaml.

use std::collections::BTreeMap;

use libyaml_safer::{EventData, MappingStyle, ScalarStyle, SequenceStyle};

use super::{
    Mark, YamlError,
    events::{self, Events},
    stream,
};

/// The nesting limit: deeper than any Kubernetes object, and shallow enough for the stack.
pub const DEPTH: usize = 200;

/// A node of a document. It refers to other nodes by their index in the list of all nodes.
pub struct RawNode {
    pub content: Content,
    pub mark: Mark,
}

pub enum Content {
    Scalar(Scalar),
    List {
        items: Vec<usize>,
        is_flow: bool,
    },
    Map {
        entries: Vec<(usize, usize)>,
        is_flow: bool,
    },
    /// The index of an earlier node.
    Alias(usize),
    /// A node that is not yet complete.
    Open,
}

pub struct Scalar {
    pub text: String,
    pub tag: Option<String>,
    pub style: ScalarStyle,
    /// It ends in blank lines and only comments follow it.
    pub has_foot: bool,
}

/// Returns the nodes of a document; the first one contains the others. Empty if the text has no document.
pub fn parse_document(document: &stream::DocumentText<'_>) -> Result<Vec<RawNode>, YamlError> {
    parse_with(document, |parser| {
        parser.parse_first()?.map_or(Ok(()), |end| parser.refuse_second_document(&end))
    })
}

/// Returns the nodes of the first document, and ignores what follows it.
pub fn parse_first_document(
    document: &stream::DocumentText<'_>,
) -> Result<Vec<RawNode>, YamlError> {
    parse_with(document, |parser| parser.parse_first().map(drop))
}

fn parse_with(
    document: &stream::DocumentText<'_>,
    read: impl FnOnce(&mut DocumentParser<'_>) -> Result<(), YamlError>,
) -> Result<Vec<RawNode>, YamlError> {
    let (text, is_open) = events::prepare_text(document)?;
    let events = Events::new(&text, is_open, document.line);
    let mut parser = DocumentParser { events, parts: Vec::new(), anchors: BTreeMap::new() };
    read(&mut parser)?;
    Ok(parser.parts)
}

struct DocumentParser<'t> {
    events: Events<'t>,
    parts: Vec<RawNode>,
    anchors: BTreeMap<String, usize>,
}

impl DocumentParser<'_> {
    /// Reads the first document, and returns the event that ends it.
    fn parse_first(&mut self) -> Result<Option<EventData>, YamlError> {
        loop {
            match self.events.next()? {
                (EventData::StreamStart { .. }, _) => {}
                (EventData::DocumentStart { .. }, _) => break,
                _ => return Ok(None),
            }
        }
        let (event, mark) = self.events.next()?;
        self.parse_node(event, mark, 0, false)?;
        Ok(Some(self.events.next()?.0))
    }

    /// Refuses a second document, because Go's programs would ignore it.
    fn refuse_second_document(&mut self, end: &EventData) -> Result<(), YamlError> {
        let is_ended = matches!(end, EventData::DocumentEnd { implicit: false });
        let mut is_separated = false;
        loop {
            let mark = match self.events.next() {
                Ok((EventData::StreamEnd, _)) => return Ok(()),
                Ok((EventData::DocumentStart { implicit, .. }, _)) => {
                    is_separated = !implicit;
                    continue;
                }
                Ok((EventData::DocumentEnd { .. }, _)) => continue,
                Ok((EventData::Scalar { value, style: ScalarStyle::Plain, tag: None, .. }, _))
                    if value.is_empty() =>
                {
                    continue;
                }
                Ok((_, mark)) => mark,
                Err(error) if is_ended => error.mark,
                Err(error) => return Err(error),
            };
            let message = "a second document begins, which Kubernetes programs ignore";
            let hint = if is_separated {
                "keep only one document in this file"
            } else {
                "separate them with a line `---`, or keep only one"
            };
            return Err(YamlError::new(mark, message, Some(hint)));
        }
    }

    fn parse_node(
        &mut self,
        event: EventData,
        mark: Mark,
        depth: usize,
        in_flow: bool,
    ) -> Result<usize, YamlError> {
        if depth == DEPTH {
            let message = format!("this is nested in more than {DEPTH} lists and maps");
            return Err(YamlError::new(mark, message, None));
        }
        let index = self.parts.len();
        self.parts.push(RawNode { content: Content::Open, mark });
        let content = match event {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                self.add_anchor(anchor, index);
                if in_flow && style == ScalarStyle::Plain && value.contains('?') {
                    let message = "between brackets or braces, a `?` ends a text without quotes";
                    return Err(YamlError::new(mark, message, Some("write the text in quotes")));
                }
                let tag = tag.filter(|tag| !tag.is_empty());
                let keeps_breaks = value.ends_with("\n\n") || value == "\n";
                let has_foot = keeps_breaks && self.events.has_foot();
                Content::Scalar(Scalar { text: value, tag, style, has_foot })
            }
            EventData::SequenceStart { tag: Some(tag), .. }
            | EventData::MappingStart { tag: Some(tag), .. }
                if tag == "tag:yaml.org,2002:null" =>
            {
                return Err(YamlError::new(
                    mark,
                    "this has the tag `!!null` but is not null",
                    None,
                ));
            }
            EventData::SequenceStart { anchor, style, .. } => {
                self.add_anchor(anchor, index);
                let is_flow = style == SequenceStyle::Flow;
                let mut items = Vec::new();
                loop {
                    match self.events.next()? {
                        (EventData::SequenceEnd, _) => break Content::List { items, is_flow },
                        (event, mark) => {
                            items.push(self.parse_node(event, mark, depth + 1, is_flow)?)
                        }
                    }
                }
            }
            EventData::MappingStart { anchor, style, .. } => {
                self.add_anchor(anchor, index);
                let is_flow = style == MappingStyle::Flow;
                let mut entries = Vec::new();
                loop {
                    let (event, mark) = self.events.next()?;
                    if event == EventData::MappingEnd {
                        break Content::Map { entries, is_flow };
                    }
                    let key = self.parse_node(event, mark, depth + 1, is_flow)?;
                    let (event, mark) = self.events.next()?;
                    entries.push((key, self.parse_node(event, mark, depth + 1, is_flow)?));
                }
            }
            EventData::Alias { anchor } => match self.anchors.get(&anchor) {
                Some(target) if matches!(self.parts[*target].content, Content::Open) => {
                    let message = format!("`*{anchor}` refers to a value that contains it");
                    return Err(YamlError::new(mark, message, None));
                }
                Some(target) => Content::Alias(*target),
                None => {
                    let message = format!("there is no anchor `&{anchor}` before this alias");
                    return Err(YamlError::new(mark, message, None));
                }
            },
            _ => return Err(YamlError::new(mark, "a value is missing", None)),
        };
        self.parts[index].content = content;
        Ok(index)
    }

    fn add_anchor(&mut self, anchor: Option<String>, index: usize) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, index);
        }
    }
}

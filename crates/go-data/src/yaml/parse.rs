//! Parses a text into the parts of its document, as libyaml does; Go's parsers are ports of libyaml.

use std::collections::BTreeMap;

use libyaml_safer::{EventData, MappingStyle, ScalarStyle, SequenceStyle};

use super::{
    Fault, Mark,
    events::{self, Events},
    stream,
};

/// The nesting limit: deeper than any Kubernetes object, and shallow enough for the stack.
pub const DEPTH: usize = 200;

/// A part of a document. It refers to other parts by their index in the list of all parts.
pub struct Part {
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
    /// The index of an earlier part.
    Alias(usize),
    /// A part that is not yet complete.
    Open,
}

pub struct Scalar {
    pub text: String,
    pub tag: Option<String>,
    pub style: ScalarStyle,
    /// Whether it ends in blank lines and only comments follow it.
    pub has_foot: bool,
}

/// The parts of a document; the first one contains the others. Empty if the text has no document.
pub fn parse(document: &stream::Part<'_>) -> Result<Vec<Part>, Fault> {
    with(document, |reader| reader.document()?.map_or(Ok(()), |end| reader.end(&end)))
}

/// The parts of the first document, whatever follows it.
pub fn parse_first(document: &stream::Part<'_>) -> Result<Vec<Part>, Fault> {
    with(document, |reader| reader.document().map(drop))
}

fn with(
    document: &stream::Part<'_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<(), Fault>,
) -> Result<Vec<Part>, Fault> {
    let (text, is_open) = events::prepare(document)?;
    let events = Events::new(&text, is_open, document.line);
    let mut reader = Reader { events, parts: Vec::new(), anchors: BTreeMap::new() };
    read(&mut reader)?;
    Ok(reader.parts)
}

struct Reader<'t> {
    events: Events<'t>,
    parts: Vec<Part>,
    anchors: BTreeMap<String, usize>,
}

impl Reader<'_> {
    /// Reads the first document, and returns the event that ends it.
    fn document(&mut self) -> Result<Option<EventData>, Fault> {
        loop {
            match self.events.next()? {
                (EventData::StreamStart { .. }, _) => {}
                (EventData::DocumentStart { .. }, _) => break,
                _ => return Ok(None),
            }
        }
        let (event, mark) = self.events.next()?;
        self.part(event, mark, 0, false)?;
        Ok(Some(self.events.next()?.0))
    }

    /// Refuses a second document, because Go's programs would ignore it.
    fn end(&mut self, end: &EventData) -> Result<(), Fault> {
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
                Err(fault) if is_ended => fault.mark,
                Err(fault) => return Err(fault),
            };
            let message = "a second document begins, which Kubernetes programs ignore";
            let hint = match is_separated {
                true => "keep only one document in this file",
                false => "separate them with a line `---`, or keep only one",
            };
            return Err(Fault::new(mark, message, Some(hint)));
        }
    }

    fn part(
        &mut self,
        event: EventData,
        mark: Mark,
        depth: usize,
        in_flow: bool,
    ) -> Result<usize, Fault> {
        if depth == DEPTH {
            let message = format!("this is nested in more than {DEPTH} lists and maps");
            return Err(Fault::new(mark, message, None));
        }
        let index = self.parts.len();
        self.parts.push(Part { content: Content::Open, mark });
        let content = match event {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                self.name(anchor, index);
                if in_flow && style == ScalarStyle::Plain && value.contains('?') {
                    let message = "between brackets or braces, a `?` ends a text without quotes";
                    return Err(Fault::new(mark, message, Some("write the text in quotes")));
                }
                let tag = tag.filter(|it| !it.is_empty());
                let keeps_breaks = value.ends_with("\n\n") || value == "\n";
                let has_foot = keeps_breaks && self.events.has_foot();
                Content::Scalar(Scalar { text: value, tag, style, has_foot })
            }
            EventData::SequenceStart { tag: Some(tag), .. }
            | EventData::MappingStart { tag: Some(tag), .. }
                if tag == "tag:yaml.org,2002:null" =>
            {
                return Err(Fault::new(mark, "this has the tag `!!null` but is not null", None));
            }
            EventData::SequenceStart { anchor, style, .. } => {
                self.name(anchor, index);
                let is_flow = style == SequenceStyle::Flow;
                let mut items = Vec::new();
                loop {
                    match self.events.next()? {
                        (EventData::SequenceEnd, _) => break Content::List { items, is_flow },
                        (event, mark) => items.push(self.part(event, mark, depth + 1, is_flow)?),
                    }
                }
            }
            EventData::MappingStart { anchor, style, .. } => {
                self.name(anchor, index);
                let is_flow = style == MappingStyle::Flow;
                let mut entries = Vec::new();
                loop {
                    let (event, mark) = self.events.next()?;
                    if event == EventData::MappingEnd {
                        break Content::Map { entries, is_flow };
                    }
                    let key = self.part(event, mark, depth + 1, is_flow)?;
                    let (event, mark) = self.events.next()?;
                    entries.push((key, self.part(event, mark, depth + 1, is_flow)?));
                }
            }
            EventData::Alias { anchor } => match self.anchors.get(&anchor) {
                Some(target) if matches!(self.parts[*target].content, Content::Open) => {
                    let message = format!("`*{anchor}` refers to a value that contains it");
                    return Err(Fault::new(mark, message, None));
                }
                Some(target) => Content::Alias(*target),
                None => {
                    let message = format!("there is no anchor `&{anchor}` before this alias");
                    return Err(Fault::new(mark, message, None));
                }
            },
            _ => return Err(Fault::new(mark, "a value is missing", None)),
        };
        self.parts[index].content = content;
        Ok(index)
    }

    fn name(&mut self, anchor: Option<String>, index: usize) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, index);
        }
    }
}

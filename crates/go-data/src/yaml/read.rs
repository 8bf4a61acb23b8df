//! Converts the parts of a document into values. Aliases are expanded, up to a limit.

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Fault, Mark, Value,
    node::{Data, Node},
    parse::{Content, DEPTH, Part, parse, parse_first},
    scalar, stream,
};

/// How much aliases may add to a document, roughly in bytes.
const GROWTH: usize = 64 << 20;

/// The document of a text; `None` if it has none.
pub fn read(document: &stream::Part<'_>, dialect: Dialect) -> Result<Option<Node>, Fault> {
    node(&parse(document)?, dialect)
}

/// The first document of a text, whatever follows it; `None` if it has none.
pub fn first(document: &stream::Part<'_>, dialect: Dialect) -> Result<Option<Node>, Fault> {
    node(&parse_first(document)?, dialect)
}

fn node(parts: &[Part], dialect: Dialect) -> Result<Option<Node>, Fault> {
    if parts.is_empty() {
        return Ok(None);
    }
    let mut reader = Reader {
        parts,
        dialect,
        depth: 0,
        in_flow: false,
        count: 1,
        aliases: 0,
        copied: 0,
        size: 0,
    };
    reader.node(0).map(Some)
}

pub struct Reader<'a> {
    pub parts: &'a [Part],
    pub dialect: Dialect,
    pub depth: usize,
    /// Whether this is between brackets or braces, also by way of an alias.
    in_flow: bool,
    /// The number of parts read so far.
    count: usize,
    /// The number of aliases being followed, and of parts read through an alias.
    pub aliases: usize,
    copied: usize,
    /// The size of these parts, roughly in bytes.
    size: usize,
}

impl<'a> Reader<'a> {
    pub fn node(&mut self, index: usize) -> Result<Node, Fault> {
        let part = &self.parts[index];
        let mark = part.mark;
        self.count(part)?;
        let mut spelling = None;
        let mut is_quoted = false;
        let data = match &part.content {
            Content::Scalar(it) => {
                let value = scalar::value(it, self.dialect, self.in_flow, mark)?;
                let is_odd = match &value {
                    Value::String(text) => it.style == ScalarStyle::Plain && *text != it.text,
                    value => {
                        let json = value.to_string();
                        json != it.text
                    }
                };
                spelling = is_odd.then(|| it.text.clone());
                is_quoted = it.style != ScalarStyle::Plain;
                Data::Scalar(value)
            }
            Content::Alias(target) => {
                self.check_printed(*target, mark)?;
                self.aliases += 1;
                let target = self.node(*target)?;
                self.aliases -= 1;
                spelling = target.spelling;
                is_quoted = target.is_quoted;
                target.data
            }
            Content::List { items, is_flow } => {
                let was_in_flow = self.descend(*is_flow, mark)?;
                let items = items.iter().map(|it| self.node(*it)).collect::<Result<_, _>>()?;
                self.ascend(was_in_flow);
                Data::List(items)
            }
            Content::Map { entries, is_flow } => {
                let was_in_flow = self.descend(*is_flow, mark)?;
                let entries = self.map(entries)?;
                self.ascend(was_in_flow);
                Data::Map(entries)
            }
            Content::Open => return Err(Fault::new(mark, "a value is missing", None)),
        };
        Ok(Node { data, mark, spelling, is_quoted })
    }

    /// kustomize replaces an alias with its value, comments included. On a single line, a comment hides the rest.
    fn check_printed(&self, target: usize, mark: Mark) -> Result<(), Fault> {
        let is_block = match self.parts[target].content {
            Content::List { is_flow, .. } | Content::Map { is_flow, .. } => !is_flow,
            _ => false,
        };
        if !is_block || !self.in_flow || self.dialect != Dialect::Kustomize {
            return Ok(());
        }
        let message = "this alias is between brackets or braces, but refers to a list or map of several lines";
        Err(Fault::new(mark, message, Some("write the alias on a line of its own")))
    }

    /// Enters a list or a map, and returns whether its parent is between brackets or braces.
    pub fn descend(&mut self, is_flow: bool, mark: Mark) -> Result<bool, Fault> {
        if self.depth == DEPTH {
            let message = format!("this is nested in more than {DEPTH} lists and maps");
            return Err(Fault::new(mark, message, None));
        }
        self.depth += 1;
        let res = self.in_flow;
        self.in_flow |= is_flow;
        Ok(res)
    }

    pub fn ascend(&mut self, in_flow: bool) {
        self.depth -= 1;
        self.in_flow = in_flow;
    }

    /// Counts a part that is read, and bounds what aliases add.
    pub fn count(&mut self, part: &Part) -> Result<(), Fault> {
        self.count += 1;
        if self.aliases == 0 {
            return Ok(());
        }
        self.copied += 1;
        self.size += 64;
        if let Content::Scalar(it) = &part.content {
            self.size += it.text.len();
        }
        let is_excessive = self.dialect != Dialect::Kustomize
            && self.copied > 100
            && self.count > 1000
            && self.copied as f64 / self.count as f64 > allowed(self.count);
        if is_excessive || self.size > GROWTH {
            let message = "the aliases expand to too much data";
            return Err(Fault::new(
                part.mark,
                message,
                Some("replace the aliases with their values"),
            ));
        }
        Ok(())
    }
}

/// The share of a document that Go allows to come from aliases.
fn allowed(count: usize) -> f64 {
    let above = count.clamp(400_000, 4_000_000) - 400_000;
    0.99 - 0.89 * (above as f64 / 3_600_000.0)
}

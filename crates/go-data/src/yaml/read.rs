//! Converts the parts of a document into values. Aliases are expanded, up to a limit.

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Mark, Value, YamlError,
    node::{Data, Node},
    parse::{Content, DEPTH, RawNode, parse_document, parse_first_document},
    scalar, stream,
};

/// The size that aliases may add to a document, roughly in bytes.
const GROWTH: usize = 64 << 20;

/// Builds the document of a text; `None` if it has none.
pub fn build_document(
    document: &stream::DocumentText<'_>,
    dialect: Dialect,
) -> Result<Option<Node>, YamlError> {
    build_root(&parse_document(document)?, dialect)
}

/// Builds the first document of a text, and ignores what follows it; `None` if there is none.
pub fn build_first_document(
    document: &stream::DocumentText<'_>,
    dialect: Dialect,
) -> Result<Option<Node>, YamlError> {
    build_root(&parse_first_document(document)?, dialect)
}

fn build_root(parts: &[RawNode], dialect: Dialect) -> Result<Option<Node>, YamlError> {
    if parts.is_empty() {
        return Ok(None);
    }
    let mut builder = NodeBuilder {
        parts,
        dialect,
        depth: 0,
        in_flow: false,
        count: 1,
        aliases: 0,
        copied: 0,
        size: 0,
    };
    builder.build_node(0).map(Some)
}

pub struct NodeBuilder<'a> {
    pub parts: &'a [RawNode],
    pub dialect: Dialect,
    pub depth: usize,
    /// The current node is between brackets or braces, also by way of an alias.
    in_flow: bool,
    /// The number of parts read so far.
    count: usize,
    /// The number of aliases being followed, and of parts read through an alias.
    pub aliases: usize,
    copied: usize,
    /// The size of these parts, roughly in bytes.
    size: usize,
}

impl<'a> NodeBuilder<'a> {
    pub fn build_node(&mut self, index: usize) -> Result<Node, YamlError> {
        let part = &self.parts[index];
        let mark = part.mark;
        self.count_node(part)?;
        let mut spelling = None;
        let mut is_quoted = false;
        let data = match &part.content {
            Content::Scalar(scalar) => {
                let value = scalar::to_json_value(scalar, self.dialect, self.in_flow, mark)?;
                let is_odd = match &value {
                    Value::String(text) => {
                        scalar.style == ScalarStyle::Plain && *text != scalar.text
                    }
                    value => {
                        let json = value.to_string();
                        json != scalar.text
                    }
                };
                spelling = is_odd.then(|| scalar.text.clone());
                is_quoted = scalar.style != ScalarStyle::Plain;
                Data::Scalar(value)
            }
            Content::Alias(target) => {
                self.check_printed(*target, mark)?;
                self.aliases += 1;
                let target = self.build_node(*target)?;
                self.aliases -= 1;
                spelling = target.spelling;
                is_quoted = target.is_quoted;
                target.data
            }
            Content::List { items, is_flow } => {
                let was_in_flow = self.enter_collection(*is_flow, mark)?;
                let items =
                    items.iter().map(|item| self.build_node(*item)).collect::<Result<_, _>>()?;
                self.leave_collection(was_in_flow);
                Data::List(items)
            }
            Content::Map { entries, is_flow } => {
                let was_in_flow = self.enter_collection(*is_flow, mark)?;
                let entries = self.build_map(entries)?;
                self.leave_collection(was_in_flow);
                Data::Map(entries)
            }
            Content::Open => return Err(YamlError::new(mark, "a value is missing", None)),
        };
        Ok(Node { data, mark, spelling, is_quoted })
    }

    /// kustomize replaces an alias with its value, comments included. On a single line, a comment hides the rest.
    fn check_printed(&self, target: usize, mark: Mark) -> Result<(), YamlError> {
        let is_block = match self.parts[target].content {
            Content::List { is_flow, .. } | Content::Map { is_flow, .. } => !is_flow,
            _ => false,
        };
        if !is_block || !self.in_flow || self.dialect != Dialect::Kustomize {
            return Ok(());
        }
        let message = "this alias is between brackets or braces, but refers to a list or map of several lines";
        Err(YamlError::new(mark, message, Some("write the alias on a line of its own")))
    }

    /// Enters a list or a map, and returns whether its parent is between brackets or braces.
    pub fn enter_collection(&mut self, is_flow: bool, mark: Mark) -> Result<bool, YamlError> {
        if self.depth == DEPTH {
            let message = format!("this is nested in more than {DEPTH} lists and maps");
            return Err(YamlError::new(mark, message, None));
        }
        self.depth += 1;
        let was_in_flow = self.in_flow;
        self.in_flow |= is_flow;
        Ok(was_in_flow)
    }

    pub fn leave_collection(&mut self, in_flow: bool) {
        self.depth -= 1;
        self.in_flow = in_flow;
    }

    /// Counts a part that is read, and bounds what aliases add.
    pub fn count_node(&mut self, part: &RawNode) -> Result<(), YamlError> {
        self.count += 1;
        if self.aliases == 0 {
            return Ok(());
        }
        self.copied += 1;
        self.size += 64;
        if let Content::Scalar(scalar) = &part.content {
            self.size += scalar.text.len();
        }
        let is_excessive = self.dialect != Dialect::Kustomize
            && self.copied > 100
            && self.count > 1000
            && self.copied as f64 / self.count as f64 > allowed_share(self.count);
        if is_excessive || self.size > GROWTH {
            let message = "the aliases expand to too much data";
            return Err(YamlError::new(
                part.mark,
                message,
                Some("replace the aliases with their values"),
            ));
        }
        Ok(())
    }
}

/// The share of a document that Go allows to come from aliases.
fn allowed_share(count: usize) -> f64 {
    let above = count.clamp(400_000, 4_000_000) - 400_000;
    0.99 - 0.89 * (above as f64 / 3_600_000.0)
}

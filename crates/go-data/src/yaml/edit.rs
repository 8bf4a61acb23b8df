//! Edits YAML text: only the lines of the edited value change. Each edit is checked: it is refused unless parsing the
//! new text gives the old data with exactly this change.

use super::{
    Data, Dialect, Entry, Map, Node, Value,
    block::{self, indent_lines, replace_lines},
    parse_nodes,
    pointer::unescape_key,
    to_text,
};

/// The reason why a text cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str);

pub const NOT_A_BLOCK: Refusal =
    Refusal("the entries are not a YAML list with each entry on lines of its own");
const NOT_ALONE: Refusal = Refusal("lines that are inserted there would change something else");

/// A text and its documents. JSON pointers begin with the number of a document: `/0/spec`.
pub struct Editor<'a> {
    text: &'a str,
    dialect: Dialect,
    documents: Vec<Node>,
}

impl<'a> Editor<'a> {
    pub fn new(text: &'a str, dialect: Dialect) -> anyhow::Result<Self> {
        Ok(Self { text, dialect, documents: parse_nodes(text, dialect)? })
    }

    pub fn documents(&self) -> &[Node] {
        &self.documents
    }

    /// Returns the value at a pointer.
    pub fn find_node(&self, pointer: &str) -> Option<&Node> {
        let mut parts = pointer.split('/').skip(1);
        let document = self.documents.get(parts.next()?.parse::<usize>().ok()?)?;
        parts.try_fold(document, |node, part| match &node.data {
            Data::List(items) => items.get(part.parse::<usize>().ok()?),
            _ => node.get(&unescape_key(part)),
        })
    }

    fn find_field(&self, map: &str, key: &str) -> Option<&Entry> {
        match &self.find_node(map)?.data {
            Data::Map(fields) => fields.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// Appends an item to the list of a field, which may be empty or null.
    pub fn push_item(&self, map: &str, key: &str, item: Value) -> Result<String, Refusal> {
        let mut expected = self.to_value();
        let items = to_text(&Value::Array(vec![item.clone()]));
        match expected.pointer_mut(&format!("{map}/{key}")) {
            Some(Value::Array(list)) => list.push(item),
            Some(list @ Value::Null) => *list = Value::Array(vec![item]),
            _ => return Err(NOT_A_BLOCK),
        }
        let list = self.find_field(map, key).ok_or(NOT_A_BLOCK)?;
        let text = block::with_items(self.text, list, &items, None).ok_or(NOT_A_BLOCK)?;
        self.check_edit(text, &expected)
    }

    /// Removes an item from the list of a field, and the field with its last item. Comments around it stay.
    pub fn remove_item(&self, map: &str, key: &str, at: usize) -> Result<String, Refusal> {
        let mut expected = self.to_value();
        let parent = expected.pointer_mut(map).and_then(Value::as_object_mut);
        let parent = parent.ok_or(NOT_A_BLOCK)?;
        let is_last = match parent.get_mut(key) {
            Some(Value::Array(list)) if at < list.len() => {
                list.remove(at);
                list.is_empty()
            }
            _ => return Err(NOT_A_BLOCK),
        };
        let item = self.find_node(&format!("{map}/{key}/{at}")).ok_or(NOT_A_BLOCK)?;
        let lines: Vec<&str> = self.text.lines().collect();
        let lines = block::lines_of_item(&lines, item).ok_or(NOT_A_BLOCK)?;
        let mut text = block::without_lines(self.text, lines);
        if is_last {
            parent.remove(key);
            let head = self.find_field(map, key).map_or(0, |field| field.mark.line - 1);
            let line = text.lines().nth(head).ok_or(NOT_A_BLOCK)?;
            let comment =
                block::comment_start(line).map(|start| format!("{}\n", line[start..].trim_start()));
            text = replace_lines(&text, head..head + 1, &comment.unwrap_or_default());
        }
        self.check_edit(text, &expected)
    }

    /// Sets a field of a map. A new one is inserted before the field `next`, or else at the end of the text.
    pub fn set_field(
        &self,
        map: &str,
        key: &str,
        value: Value,
        next: &str,
    ) -> Result<String, Refusal> {
        let mut expected = self.to_value();
        let parent = expected.pointer_mut(map).and_then(Value::as_object_mut);
        parent.ok_or(NOT_A_BLOCK)?.insert(key.to_owned(), value.clone());
        if expected == self.to_value() {
            return Ok(self.text.to_owned());
        }
        let new = to_text(&Value::Object(Map::from_iter([(key.to_owned(), value)])));
        let old = self.find_field(map, key);
        let Some(field) = old.or_else(|| self.find_field(map, next)) else {
            let end = self.text.lines().count();
            return self.check_edit(replace_lines(self.text, end..end, &new), &expected);
        };
        let at = field.mark.line - 1;
        let line = self.text.lines().nth(at).ok_or(NOT_A_BLOCK)?;
        let lead: String = line.chars().take(field.mark.column - 1).collect();
        let text = match old {
            // The comment stays, with the blanks before it. If the value contains a `#`, the edit is refused below.
            Some(_) => {
                let value = line.split('#').next().unwrap_or_default().trim_end();
                let comment = &line[value.len()..];
                replace_lines(
                    self.text,
                    at..at + 1,
                    &format!("{lead}{}{comment}\n", new.trim_end()),
                )
            }
            None => {
                // Behind the dash of an item, the new field is the second one.
                let at = at + usize::from(!lead.trim().is_empty());
                replace_lines(self.text, at..at, &indent_lines(lead.chars().count(), &new))
            }
        };
        self.check_edit(text, &expected)
    }

    /// Sets a field of a map to a value of any size, or removes it. A new one goes before the
    /// first field that follows in the alphabet, or else to the end. Comments inside of a value go with it when it is
    /// removed; one that is replaced must have none.
    pub fn replace_field(
        &self,
        map: &str,
        key: &str,
        value: Option<Value>,
    ) -> Result<String, Refusal> {
        let mut expected = self.to_value();
        let parent = expected.pointer_mut(map).and_then(Value::as_object_mut);
        let parent = parent.ok_or(NOT_A_BLOCK)?;
        let mut new = String::new();
        match value {
            Some(value) => {
                new = to_text(&Value::Object(Map::from_iter([(key.to_owned(), value.clone())])));
                parent.insert(key.to_owned(), value);
            }
            None => drop(parent.remove(key)),
        }
        if expected == self.to_value() {
            return Ok(self.text.to_owned());
        }
        let Some(Node { data: Data::Map(fields), .. }) = self.find_node(map) else {
            return Err(NOT_A_BLOCK);
        };
        let old = fields.iter().find(|entry| entry.key == key);
        let is_behind_dash = |entry: &Entry| {
            let line = self.text.lines().nth(entry.mark.line - 1).unwrap_or_default();
            line.chars().take(entry.mark.column - 1).any(|character| character != ' ')
        };
        let next = fields.iter().find(|entry| *entry.key > *key && !is_behind_dash(entry));
        let field = old.or(next).or(fields.last()).ok_or(NOT_A_BLOCK)?;
        let (from, to) = block::lines_of_field(self.text, field);
        let lines = self.text.lines().take(to).skip(from);
        let is_commented =
            |line: &str| line.trim_start().starts_with('#') || block::comment_start(line).is_some();
        if old.is_some() && !new.is_empty() && { lines }.any(is_commented) {
            return Err(NOT_ALONE);
        }
        let (from, to) = match (old, next) {
            (Some(_), _) => (from, to),
            (None, Some(_)) => (from, from),
            (None, None) => (to, to),
        };
        let text = replace_lines(self.text, from..to, &indent_lines(field.mark.column - 1, &new));
        self.check_edit(text, &expected)
    }

    /// Appends a document, whose YAML is `text`.
    pub fn push_document(&self, value: Value, text: &str) -> Result<String, Refusal> {
        let start = if self.documents.is_empty() { "" } else { "---\n" };
        let end = self.text.lines().count();
        let text = replace_lines(self.text, end..end, &format!("{start}{text}"));
        let mut expected = self.to_value();
        expected.as_array_mut().expect("documents are a list").push(value);
        self.check_edit(text, &expected)
    }

    /// Returns the data of all documents.
    fn to_value(&self) -> Value {
        self.documents.iter().cloned().map(Node::into_value).collect()
    }

    fn check_edit(&self, text: String, expected: &Value) -> Result<String, Refusal> {
        match Editor::new(&text, self.dialect) {
            Ok(edited) if edited.to_value() == *expected => Ok(text),
            _ => Err(NOT_ALONE),
        }
    }
}

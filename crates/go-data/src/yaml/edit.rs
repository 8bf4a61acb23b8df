//! Edits of YAML text: only the lines of the edited value change. Each edit is checked: it is refused unless reading the
//! new text gives the old data with exactly this change.

use super::{
    Data, Dialect, Entry, Map, Node, Value,
    block::{self, indented, splice},
    nodes,
    pointer::unescaped,
    to_text,
};

/// Why a text cannot be edited.
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
        Ok(Self { text, dialect, documents: nodes(text, dialect)? })
    }

    pub fn documents(&self) -> &[Node] {
        &self.documents
    }

    /// The value at a pointer.
    pub fn node(&self, pointer: &str) -> Option<&Node> {
        let mut parts = pointer.split('/').skip(1);
        let document = self.documents.get(parts.next()?.parse::<usize>().ok()?)?;
        parts.try_fold(document, |node, part| match &node.data {
            Data::List(items) => items.get(part.parse::<usize>().ok()?),
            _ => node.get(&unescaped(part)),
        })
    }

    fn field(&self, map: &str, key: &str) -> Option<&Entry> {
        match &self.node(map)?.data {
            Data::Map(fields) => fields.iter().find(|it| it.key == key),
            _ => None,
        }
    }

    /// Appends an item to the list of a field, which may be empty or null.
    pub fn push(&self, map: &str, key: &str, item: Value) -> Result<String, Refusal> {
        let mut expected = self.data();
        let items = to_text(&Value::Array(vec![item.clone()]));
        match expected.pointer_mut(&format!("{map}/{key}")) {
            Some(Value::Array(list)) => list.push(item),
            Some(list @ Value::Null) => *list = Value::Array(vec![item]),
            _ => return Err(NOT_A_BLOCK),
        }
        let list = self.field(map, key).ok_or(NOT_A_BLOCK)?;
        let text = block::with_items(self.text, list, &items, None).ok_or(NOT_A_BLOCK)?;
        self.checked(text, &expected)
    }

    /// Removes an item from the list of a field, and the field with its last item. Comments around it stay.
    pub fn remove(&self, map: &str, key: &str, at: usize) -> Result<String, Refusal> {
        let mut expected = self.data();
        let parent = expected.pointer_mut(map).and_then(Value::as_object_mut);
        let parent = parent.ok_or(NOT_A_BLOCK)?;
        let is_last = match parent.get_mut(key) {
            Some(Value::Array(list)) if at < list.len() => {
                list.remove(at);
                list.is_empty()
            }
            _ => return Err(NOT_A_BLOCK),
        };
        let item = self.node(&format!("{map}/{key}/{at}")).ok_or(NOT_A_BLOCK)?;
        let lines: Vec<&str> = self.text.lines().collect();
        let lines = block::lines_of_item(&lines, item).ok_or(NOT_A_BLOCK)?;
        let mut text = block::without_lines(self.text, lines);
        if is_last {
            parent.remove(key);
            let head = self.field(map, key).map_or(0, |it| it.mark.line - 1);
            let line = text.lines().nth(head).ok_or(NOT_A_BLOCK)?;
            let comment = block::comment(line).map(|it| format!("{}\n", line[it..].trim_start()));
            text = splice(&text, head..head + 1, &comment.unwrap_or_default());
        }
        self.checked(text, &expected)
    }

    /// Sets a field of a map. A new one is inserted before the field `next`, or else at the end of the text.
    pub fn set(&self, map: &str, key: &str, value: Value, next: &str) -> Result<String, Refusal> {
        let mut expected = self.data();
        let parent = expected.pointer_mut(map).and_then(Value::as_object_mut);
        parent.ok_or(NOT_A_BLOCK)?.insert(key.to_owned(), value.clone());
        if expected == self.data() {
            return Ok(self.text.to_owned());
        }
        let new = to_text(&Value::Object(Map::from_iter([(key.to_owned(), value)])));
        let old = self.field(map, key);
        let Some(field) = old.or_else(|| self.field(map, next)) else {
            let end = self.text.lines().count();
            return self.checked(splice(self.text, end..end, &new), &expected);
        };
        let at = field.mark.line - 1;
        let line = self.text.lines().nth(at).ok_or(NOT_A_BLOCK)?;
        let lead: String = line.chars().take(field.mark.column - 1).collect();
        let text = match old {
            // The comment, with the blanks before it. If the value contains a `#`, the edit is refused below.
            Some(_) => {
                let value = line.split('#').next().unwrap_or_default().trim_end();
                let comment = &line[value.len()..];
                splice(self.text, at..at + 1, &format!("{lead}{}{comment}\n", new.trim_end()))
            }
            None => {
                // Behind the dash of an item, the new field is the second one.
                let at = at + usize::from(!lead.trim().is_empty());
                splice(self.text, at..at, &indented(lead.chars().count(), &new))
            }
        };
        self.checked(text, &expected)
    }

    /// Sets a field of a map to a value of any size, or removes it. A new one goes before the
    /// first field that follows in the alphabet, or else to the end. Comments inside of a value go with it when it is
    /// removed; one that is replaced must have none.
    pub fn put(&self, map: &str, key: &str, value: Option<Value>) -> Result<String, Refusal> {
        let mut expected = self.data();
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
        if expected == self.data() {
            return Ok(self.text.to_owned());
        }
        let Some(Node { data: Data::Map(fields), .. }) = self.node(map) else {
            return Err(NOT_A_BLOCK);
        };
        let old = fields.iter().find(|it| it.key == key);
        let is_behind_dash = |it: &Entry| {
            let line = self.text.lines().nth(it.mark.line - 1).unwrap_or_default();
            line.chars().take(it.mark.column - 1).any(|it| it != ' ')
        };
        let next = fields.iter().find(|it| *it.key > *key && !is_behind_dash(it));
        let field = old.or(next).or(fields.last()).ok_or(NOT_A_BLOCK)?;
        let (from, to) = block::lines_of_field(self.text, field);
        let lines = self.text.lines().take(to).skip(from);
        let is_commented =
            |it: &str| it.trim_start().starts_with('#') || block::comment(it).is_some();
        if old.is_some() && !new.is_empty() && { lines }.any(is_commented) {
            return Err(NOT_ALONE);
        }
        let (from, to) = match (old, next) {
            (Some(_), _) => (from, to),
            (None, Some(_)) => (from, from),
            (None, None) => (to, to),
        };
        let text = splice(self.text, from..to, &indented(field.mark.column - 1, &new));
        self.checked(text, &expected)
    }

    /// Appends a document, which `text` spells.
    pub fn push_document(&self, value: Value, text: &str) -> Result<String, Refusal> {
        let start = if self.documents.is_empty() { "" } else { "---\n" };
        let end = self.text.lines().count();
        let text = splice(self.text, end..end, &format!("{start}{text}"));
        let mut expected = self.data();
        expected.as_array_mut().expect("documents are a list").push(value);
        self.checked(text, &expected)
    }

    /// All documents.
    fn data(&self) -> Value {
        self.documents.iter().cloned().map(Node::into_value).collect()
    }

    fn checked(&self, text: String, expected: &Value) -> Result<String, Refusal> {
        match Editor::new(&text, self.dialect) {
            Ok(edited) if edited.data() == *expected => Ok(text),
            _ => Err(NOT_ALONE),
        }
    }
}

//! A document with the location of each of its nodes.

use super::{Value, is_respelled_time, pointer};

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub data: Data,
    pub mark: Mark,
    /// The spelling of a scalar without quotes, if it differs from JSON's: `~`, `0x10`, a date.
    pub spelling: Option<String>,
    /// The scalar is written in quotes or as a block.
    pub is_quoted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Scalar(Value),
    List(Vec<Node>),
    /// In the order of the text; keys are unique.
    Map(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    /// The location of the key.
    pub mark: Mark,
    pub value: Node,
}

impl Node {
    pub fn into_value(self) -> Value {
        match self.data {
            Data::Scalar(value) => value,
            Data::List(items) => items.into_iter().map(Self::into_value).collect(),
            Data::Map(entries) => Value::Object(
                entries.into_iter().map(|entry| (entry.key, entry.value.into_value())).collect(),
            ),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.data {
            Data::Map(entries) => {
                entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
            }
            _ => None,
        }
    }

    /// Returns the location of the field with this JSON pointer, or of the last part of its path that exists: of a key
    /// in a mapping, of an item in a list.
    pub fn mark_at(&self, pointer: &str) -> Mark {
        let (mut at, mut last) = (self, self.mark);
        for key in pointer.split('/').skip(1) {
            let key = pointer::unescape_key(key);
            let next = match &at.data {
                Data::Map(entries) => entries
                    .iter()
                    .find(|entry| entry.key == key)
                    .or_else(|| entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(&key)))
                    .map(|entry| (&entry.value, entry.mark)),
                Data::List(items) => key
                    .parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index))
                    .map(|item| (item, item.mark)),
                Data::Scalar(_) => None,
            };
            let Some((value, mark)) = next else { break };
            (at, last) = (value, mark);
        }
        last
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether this is a point in time without quotes that kustomize may spell in another way.
    pub fn is_respelled_time(&self) -> bool {
        let text = self.spelling.as_deref().or(self.as_str());
        !self.is_quoted && self.as_str().is_some() && text.is_some_and(is_respelled_time)
    }

    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Scalar(Value::Null))
    }

    /// Returns its type, for a message.
    pub fn type_name(&self) -> &'static str {
        match &self.data {
            Data::Scalar(Value::Null) => "nothing",
            Data::Scalar(Value::Bool(_)) => "a boolean",
            Data::Scalar(Value::Number(_)) => "a number",
            Data::Scalar(_) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }
}

//! Completion of partial objects: what a type requires and an object does not have is made up, in several ways.
//!
//! What a conversion does with made-up values differs from way to way, and `agree` drops what differs.

use super::{
    path,
    schema::{Kind, Node},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, sync::atomic::Ordering::Relaxed};

/// The number of ways. The last one also sets the optional fields of objects that are made up.
pub const WAYS: usize = 4;

/// The optional fields of objects that are nested deeper are not set: a whole `PodSpec` takes long.
const DEPTH: usize = 3;

/// Far enough from each other to differ after a division, and small enough to be multiplied.
const NUMBERS: [f64; WAYS] = [0.0, 1.0, 2_000_000.0, 7.0];

/// Of quantities, ports and percentages.
const INT_OR_STRINGS: [&str; WAYS] = ["0", "1", "2000000", "7"];

/// Strings by the format that they have. Those without a known format are tried from the first row on, until the
/// type reads them.
const STRINGS: [(&str, [&str; WAYS]); 14] = [
    ("", ["", "1", "2000000", "a.b/c@d=e,f-g h:7"]),
    ("", ["1s", "2s", "3h", "4m"]),
    ("date-time", ["1970-01-01T00:00:00Z", "1980-02-02T02:02:02Z", "1990-03-03T03:03:03Z", "2000-04-04T04:04:04Z"]),
    ("uri", ["http://a.example/", "https://b.example/b", "http://c.example:83/c", "ftp://d@d.example/?d=d#d"]),
    ("ip", ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]),
    ("cidr", ["10.1.0.0/16", "10.2.2.0/24", "10.3.3.3/32", "10.0.0.0/8"]),
    ("ipv6", ["::1", "::2", "::3", "::4"]),
    (
        "uuid",
        [
            "00000000-0000-4000-8000-000000000001",
            "10000000-0000-4000-8000-000000000002",
            "20000000-0000-4000-8000-000000000003",
            "30000000-0000-4000-8000-000000000004",
        ],
    ),
    ("", ["0.0.1", "1.0.2", "2.0.3", "4.0.0"]),
    ("", ["a", "b", "c", "d"]),
    ("byte", ["", "MQ==", "MjAw", "YTpi"]),
    ("date", ["1970-01-01", "1980-02-02", "1990-03-03", "2000-04-04"]),
    ("time", ["00:00:00", "01:01:01", "02:02:02", "03:03:03"]),
    ("duration", ["PT1S", "PT2S", "PT3H", "PT4M"]),
];

/// A string that was made up.
pub struct Made<'a> {
    pub path: String,
    node: &'a Node,
    row: usize,
}

impl Made<'_> {
    /// Takes other strings next time. Returns whether there are any after so many tries.
    pub fn advance(&self, tries: usize) -> bool {
        let next = (self.row + 1) % STRINGS.len();
        let _ = self.node.row.compare_exchange(self.row, next, Relaxed, Relaxed);
        tries < STRINGS.len()
    }
}

/// Fields that a type requires, but not its schema: the paths of the objects, and the names.
pub type Undeclared = BTreeSet<(String, String)>;

/// A way of making up what is missing, and what has been.
pub struct Completion<'a, 'u> {
    way: usize,
    undeclared: &'u Undeclared,
    at: String,
    /// The number of objects around this place that are made up.
    depth: usize,
    /// The fields that were missing.
    pub missing: Vec<String>,
    /// The strings that were made up.
    pub strings: Vec<Made<'a>>,
}

impl<'a, 'u> Completion<'a, 'u> {
    /// Completes an object of this schema.
    pub fn of(schema: &'a Node, undeclared: &'u Undeclared, object: &mut Value, way: usize) -> Self {
        let mut res = Self { way, undeclared, at: String::new(), depth: 0, missing: Vec::new(), strings: Vec::new() };
        res.complete(schema, schema, object);
        res
    }

    /// Completes a value as `rules` requires; `types` is the schema of the same place that has the types.
    fn complete(&mut self, rules: &'a Node, types: &'a Node, value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|name, it| !it.is_null() || types.properties.get(name).is_none_or(|it| it.nullable));
                for (name, value) in object.iter_mut() {
                    if let (Some(rules), Some(types)) = (rules.field(name), types.field(name).or(rules.field(name))) {
                        self.within(name.as_str(), |this| this.complete(rules, types, value));
                    }
                }
                let undeclared = self.undeclared.iter().filter(|(path, _)| *path == self.at).map(|(_, name)| name);
                let undeclared: Vec<_> = undeclared.collect();
                for name in rules.required.iter().chain(&rules.defaulted).chain(undeclared) {
                    if !object.contains_key(name)
                        && let Some(value) = self.make_missing(name, rules.field(name), types.field(name))
                    {
                        object.insert(name.clone(), value);
                    }
                }
                let branches: Vec<_> = rules.missing_branches(object, self.way).collect();
                if !branches.is_empty() {
                    let mut value = Value::Object(std::mem::take(object));
                    branches.into_iter().for_each(|it| self.complete(it, types, &mut value));
                    if let Value::Object(completed) = value {
                        *object = completed;
                    }
                }
            }
            Value::Array(list) => {
                let (Some(rules), Some(types)) = (&rules.items, types.items.as_ref().or(rules.items.as_ref())) else {
                    return;
                };
                for (i, value) in list.iter_mut().enumerate().filter(|(_, it)| it.is_object() || it.is_array()) {
                    self.within(i, |this| this.complete(rules, types, value));
                }
            }
            _ => {}
        }
    }

    fn within<T>(&mut self, key: impl path::Key, f: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        key.append(&mut self.at);
        let res = f(self);
        self.at.truncate(length);
        res
    }

    fn make_missing(&mut self, name: &str, rules: Option<&'a Node>, types: Option<&'a Node>) -> Option<Value> {
        self.within(name, |this| {
            this.missing.push(this.at.clone());
            let types = types.or(rules)?;
            match rules.filter(|it| !it.values.is_empty()) {
                Some(rules) => Some(rules.values[this.way % rules.values.len()].clone()),
                None => this.make(types),
            }
        })
    }

    /// Makes a value up; nothing if its schema does not tell the type.
    fn make(&mut self, node: &'a Node) -> Option<Value> {
        if !node.values.is_empty() {
            return Some(node.values[self.way % node.values.len()].clone());
        }
        Some(match node.kind {
            Kind::Boolean => json!(self.way > 0),
            Kind::Integer | Kind::Number => number(node, self.way),
            Kind::IntOrString => json!(INT_OR_STRINGS[self.way]),
            Kind::String => {
                let row = node.row.load(Relaxed);
                let known = || STRINGS.iter().position(|it| it.0 == similar(&node.format));
                let first = if node.format.is_empty() { 0 } else { known().unwrap_or(0) };
                self.strings.push(Made { path: self.at.clone(), node, row });
                // The row that fits the format is the first, and the others follow in their order.
                let text = STRINGS[(first + row) % STRINGS.len()].1[self.way];
                json!(text.to_owned() + &"x".repeat(node.min_length.saturating_sub(text.len())))
            }
            Kind::Array => {
                let length = node.min_items.max(self.way.min(1));
                let item = node.items.as_deref().and_then(|it| self.within(0, |this| this.make(it)));
                json!(item.map(|it| vec![it; length]).unwrap_or_default())
            }
            Kind::Object | Kind::Any => self.make_object(node),
        })
    }

    fn make_object(&mut self, node: &'a Node) -> Value {
        let mut object = Map::new();
        self.depth += 1;
        if self.way + 1 == WAYS && self.depth <= DEPTH {
            let is_of_branch = |name: &String| node.choices.iter().flatten().any(|it| it.required.contains(name));
            for (name, field) in node.properties.iter().filter(|(name, _)| !is_of_branch(name)) {
                if let Some(value) = self.within(name.as_str(), |this| this.make(field)) {
                    object.insert(name.clone(), value);
                }
            }
            let other = node.additional.as_deref().map(|it| self.within("x", |this| this.make(it)));
            if let Some(other) = other.unwrap_or_else(|| node.properties.is_empty().then(|| json!("x"))) {
                object.insert("x".to_owned(), other);
            }
        }
        self.depth -= 1;
        let mut value = Value::Object(object);
        let missing = self.missing.len();
        self.complete(node, node, &mut value);
        self.missing.truncate(missing); // the object itself is missing
        value
    }
}

/// The format in the table whose strings can be read as this one.
fn similar(format: &str) -> &str {
    match format {
        "url" | "uri-reference" | "iri" => "uri",
        "ipv4" => "ip",
        "partial-date-time" => "date-time",
        it => it,
    }
}

/// A number of a way within the bounds: the one nearest to zero, the next one, and one that is far away.
fn number(node: &Node, way: usize) -> Value {
    let (lowest, highest) = (node.minimum.unwrap_or(f64::MIN), node.maximum.unwrap_or(f64::MAX));
    let nearest = 0.0_f64.max(lowest).min(highest);
    let (up, down) = (highest - nearest, nearest - lowest);
    let value = if up >= down {
        nearest + NUMBERS[way].min((up / 2.0).ceil())
    } else {
        nearest - NUMBERS[way].min((down / 2.0).ceil())
    };
    match node.kind {
        #[allow(clippy::cast_possible_truncation)] // the bounds of integers are integers
        Kind::Integer => json!(value as i64),
        _ => json!(value),
    }
}

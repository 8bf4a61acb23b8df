//! Completes partial objects: makes up values for the missing fields that a type requires, in several variants.
//!
//! A field that a conversion computes from made-up values differs between the variants, and `common_part` drops it.

use super::{
    path,
    schema::{Node, SchemaType},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, sync::atomic::Ordering::Relaxed};

/// The number of variants. The last one also sets the optional fields of made-up objects.
pub const VARIANTS: usize = 4;

/// The nesting up to which optional fields are set in made-up objects: a whole `PodSpec` takes long.
const MAX_DEPTH: usize = 3;

/// Numbers that still differ after a division, and are small enough to be multiplied.
const NUMBERS: [f64; VARIANTS] = [0.0, 1.0, 2_000_000.0, 7.0];

/// Quantities, ports and percentages.
const INT_OR_STRINGS: [&str; VARIANTS] = ["0", "1", "2000000", "7"];

/// Strings by their format. For a field without a known format, the rows are tried in order until the type can read the
/// string.
const STRINGS: [(&str, [&str; VARIANTS]); 14] = [
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

/// A made-up string.
pub struct MadeUpString<'a> {
    pub path: String,
    node: &'a Node,
    row: usize,
}

impl MadeUpString<'_> {
    /// Selects the next row of strings for this field. Returns false if all rows were tried.
    pub fn advance_row(&self, tries: usize) -> bool {
        let next = (self.row + 1) % STRINGS.len();
        let _ = self.node.row.compare_exchange(self.row, next, Relaxed, Relaxed);
        tries < STRINGS.len()
    }
}

/// Fields that a type requires but its schema does not: the paths of their objects, and their names.
pub type Undeclared = BTreeSet<(String, String)>;

/// The completion of an object in one variant.
pub struct Completion<'a, 'u> {
    variant: usize,
    undeclared: &'u Undeclared,
    /// The path of the current value.
    path: String,
    /// The number of made-up objects around the current value.
    depth: usize,
    /// The paths of the missing fields.
    pub missing: Vec<String>,
    /// The made-up strings.
    pub strings: Vec<MadeUpString<'a>>,
}

impl<'a, 'u> Completion<'a, 'u> {
    /// Completes an object of this schema.
    pub fn complete_object(schema: &'a Node, undeclared: &'u Undeclared, object: &mut Value, variant: usize) -> Self {
        let mut completion =
            Self { variant, undeclared, path: String::new(), depth: 0, missing: Vec::new(), strings: Vec::new() };
        completion.complete_value(schema, schema, object);
        completion
    }

    /// Completes a value as `rules` requires. `types` is the schema of the same value that has the types.
    fn complete_value(&mut self, rules: &'a Node, types: &'a Node, value: &mut Value) {
        match value {
            Value::Object(object) => {
                let is_nullable = |name: &String| types.properties.get(name).is_none_or(|field| field.nullable);
                object.retain(|name, value| !value.is_null() || is_nullable(name));
                for (name, value) in object.iter_mut() {
                    let (rules, types) = (rules.field_schema(name), types.field_schema(name));
                    if let (Some(rules), Some(types)) = (rules, types.or(rules)) {
                        self.with_path(name.as_str(), |this| this.complete_value(rules, types, value));
                    }
                }
                let undeclared = self.undeclared.iter().filter(|(path, _)| *path == self.path).map(|(_, name)| name);
                let undeclared: Vec<_> = undeclared.collect();
                for name in rules.required.iter().chain(&rules.defaulted).chain(undeclared) {
                    if !object.contains_key(name)
                        && let Some(value) = self.make_missing(name, rules.field_schema(name), types.field_schema(name))
                    {
                        object.insert(name.clone(), value);
                    }
                }
                let branches: Vec<_> = rules.missing_branches(object, self.variant).collect();
                if !branches.is_empty() {
                    let mut value = Value::Object(std::mem::take(object));
                    branches.into_iter().for_each(|branch| self.complete_value(branch, types, &mut value));
                    if let Value::Object(completed) = value {
                        *object = completed;
                    }
                }
            }
            Value::Array(list) => {
                let (Some(rules), Some(types)) = (&rules.items, types.items.as_ref().or(rules.items.as_ref())) else {
                    return;
                };
                for (i, item) in list.iter_mut().enumerate().filter(|(_, item)| item.is_object() || item.is_array()) {
                    self.with_path(i, |this| this.complete_value(rules, types, item));
                }
            }
            _ => {}
        }
    }

    /// Runs a function whose current value is the child with this name or index.
    fn with_path<T>(&mut self, segment: impl path::PathSegment, f: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        segment.append_to(&mut self.path);
        let result = f(self);
        self.path.truncate(length);
        result
    }

    fn make_missing(&mut self, name: &str, rules: Option<&'a Node>, types: Option<&'a Node>) -> Option<Value> {
        self.with_path(name, |this| {
            this.missing.push(this.path.clone());
            let types = types.or(rules)?;
            match rules.filter(|rules| !rules.values.is_empty()) {
                Some(rules) => Some(rules.values[this.variant % rules.values.len()].clone()),
                None => Some(this.make_value(types)),
            }
        })
    }

    /// Makes up a value of this schema.
    fn make_value(&mut self, node: &'a Node) -> Value {
        if !node.values.is_empty() {
            return node.values[self.variant % node.values.len()].clone();
        }
        match node.kind {
            SchemaType::Boolean => json!(self.variant > 0),
            SchemaType::Integer | SchemaType::Number => make_number(node, self.variant),
            SchemaType::IntOrString => json!(INT_OR_STRINGS[self.variant]),
            SchemaType::String => {
                let row = node.row.load(Relaxed);
                let format_row = || STRINGS.iter().position(|(format, _)| *format == known_format(&node.format));
                let first = if node.format.is_empty() { 0 } else { format_row().unwrap_or(0) };
                self.strings.push(MadeUpString { path: self.path.clone(), node, row });
                // The row that fits the format is the first, and the others follow in their order.
                let string = STRINGS[(first + row) % STRINGS.len()].1[self.variant];
                json!(string.to_owned() + &"x".repeat(node.min_length.saturating_sub(string.len())))
            }
            SchemaType::Array => {
                let length = node.min_items.max(self.variant.min(1));
                let items = node.items.as_deref();
                let item = items.map(|items| self.with_path(0, |this| this.make_value(items)));
                json!(item.map(|item| vec![item; length]).unwrap_or_default())
            }
            SchemaType::Object | SchemaType::Any => self.make_object(node),
        }
    }

    fn make_object(&mut self, node: &'a Node) -> Value {
        let mut object = Map::new();
        self.depth += 1;
        if self.variant + 1 == VARIANTS && self.depth <= MAX_DEPTH {
            let is_of_branch =
                |name: &String| node.choices.iter().flatten().any(|branch| branch.required.contains(name));
            for (name, field) in node.properties.iter().filter(|(name, _)| !is_of_branch(name)) {
                let value = self.with_path(name.as_str(), |this| this.make_value(field));
                object.insert(name.clone(), value);
            }
            let additional = node.additional.as_deref();
            let additional = additional.map(|schema| self.with_path("x", |this| this.make_value(schema)));
            if let Some(value) = additional.or_else(|| node.properties.is_empty().then(|| json!("x"))) {
                object.insert("x".to_owned(), value);
            }
        }
        self.depth -= 1;
        let mut value = Value::Object(object);
        let missing = self.missing.len();
        self.complete_value(node, node, &mut value);
        self.missing.truncate(missing); // only the object itself counts as missing
        value
    }
}

/// Returns the format in `STRINGS` whose strings are also valid in this format.
fn known_format(format: &str) -> &str {
    match format {
        "url" | "uri-reference" | "iri" => "uri",
        "ipv4" => "ip",
        "partial-date-time" => "date-time",
        other => other,
    }
}

/// Makes up a number within the bounds: the one nearest to zero, the next one, or one that is far away.
fn make_number(node: &Node, variant: usize) -> Value {
    let (lowest, highest) = (node.minimum.unwrap_or(f64::MIN), node.maximum.unwrap_or(f64::MAX));
    let nearest = 0.0_f64.max(lowest).min(highest);
    let (up, down) = (highest - nearest, nearest - lowest);
    let value = if up >= down {
        nearest + NUMBERS[variant].min((up / 2.0).ceil())
    } else {
        nearest - NUMBERS[variant].min((down / 2.0).ceil())
    };
    match node.kind {
        #[allow(clippy::cast_possible_truncation)] // the bounds of integers are integers
        SchemaType::Integer => json!(value as i64),
        _ => json!(value),
    }
}

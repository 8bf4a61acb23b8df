//! Compares an object with itself after a conversion and back.

use super::schema::{self, children};
use serde_json::Value;

/// The first difference.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// The field, for people.
    pub path: String,
    pub before: Value,
    pub after: Value,
    /// A list has the same items, and only their order differs.
    pub is_order: bool,
}

/// A comparison of objects of one version.
pub struct Comparison<'a> {
    /// The schema of the version: it tells which lists have no order.
    pub schema: &'a Value,
    /// The fields that may differ.
    pub lost: &'a [String],
    /// The lists whose order may differ.
    pub unordered: &'a [String],
}

impl Comparison<'_> {
    pub fn difference(&self, before: &Value, after: &Value) -> Option<Difference> {
        self.first_difference(self.schema, before, after, &mut Vec::new())
    }

    fn first_difference(&self, schema: &Value, a: &Value, b: &Value, path: &mut Vec<String>) -> Option<Difference> {
        if a == b || self.is_named(self.lost, path) || path.first().is_some_and(|name| name == "metadata") {
            return None;
        }
        match (a, b) {
            (Value::Array(a), Value::Array(b)) => self.compare_lists(schema, a, b, path),
            (Value::Object(_), Value::Object(_)) => {
                let added = children(b).filter(|(name, _)| a.get(name).is_none());
                let mut names = children(a).chain(added).map(|(name, _)| name);
                names.find_map(|name| {
                    let schema = schema::field_schema(schema, &name).map_or(&Value::Null, |(schema, _)| schema);
                    self.compare_child(schema, (&a[&name], &b[&name]), name, path)
                })
            }
            _ => Some(difference_at(path, a, b)),
        }
    }

    fn compare_child(
        &self,
        schema: &Value,
        (a, b): (&Value, &Value),
        name: String,
        path: &mut Vec<String>,
    ) -> Option<Difference> {
        path.push(name);
        let difference = self.first_difference(schema, a, b, path);
        path.pop();
        difference
    }

    fn compare_lists(&self, schema: &Value, a: &[Value], b: &[Value], path: &mut Vec<String>) -> Option<Difference> {
        let keys = schema["x-kubernetes-list-map-keys"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_order =
            keys.is_empty() && schema["x-kubernetes-list-type"] != "set" && !self.is_named(self.unordered, path);
        let (only_a, only_b) = unequal_items(a, b);
        if only_a.is_empty() && only_b.is_empty() {
            let order = Difference { is_order: true, ..difference_at(path, &Value::from(a), &Value::from(b)) };
            return has_order.then_some(order);
        }
        if a.len() != b.len() {
            return Some(difference_at(path, &Value::from(a), &Value::from(b)));
        }
        if !keys.is_empty() {
            let is_same = |a: &Value, b: &Value| keys.iter().filter_map(Value::as_str).all(|key| a[key] == b[key]);
            return only_a.iter().find_map(|index| {
                let item = &a[*index];
                let other = b.iter().find(|other| is_same(item, other)).unwrap_or(&Value::Null);
                self.compare_child(&schema["items"], (item, other), index.to_string(), path)
            });
        }
        let pairs: Vec<(usize, usize)> = if has_order {
            (0..a.len()).map(|index| (index, index)).collect()
        } else {
            only_a.into_iter().zip(only_b).collect()
        };
        pairs.into_iter().find_map(|(index, other)| {
            self.compare_child(&schema["items"], (&a[index], &b[other]), index.to_string(), path)
        })
    }

    /// Returns whether the fields name this one: by its indexes, or by `[0]` for every index.
    fn is_named(&self, fields: &[String], path: &[String]) -> bool {
        let place = || schema::display_path(&schema::place(self.schema, path));
        fields.contains(&schema::display_path(path)) || fields.contains(&place())
    }
}

fn difference_at(path: &[String], before: &Value, after: &Value) -> Difference {
    Difference { path: schema::display_path(path), before: before.clone(), after: after.clone(), is_order: false }
}

/// The indexes of the items that only one of two lists has.
fn unequal_items(a: &[Value], b: &[Value]) -> (Vec<usize>, Vec<usize>) {
    let mut rest: Vec<usize> = (0..b.len()).collect();
    let only_a = (0..a.len()).filter(|index| match rest.iter().position(|other| b[*other] == a[*index]) {
        Some(position) => {
            rest.remove(position);
            false
        }
        None => true,
    });
    let only_a = only_a.collect();
    (only_a, rest)
}

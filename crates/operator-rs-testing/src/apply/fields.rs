//! Sets of field paths, as `managedFields` writes them.

use super::schema::{Schema, Shape};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A set of field paths: a tree whose nodes may themselves be members.
///
/// Path elements are kept in their `fieldsV1` form: `f:name`, `k:{"name":"a"}`, `v:"a"`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// True if the path to this node is a member.
    pub own: bool,
    /// The nodes below it.
    pub children: BTreeMap<String, Fields>,
}

/// The element of a field's name.
pub fn field_element(name: &str) -> String {
    format!("f:{name}")
}

impl Fields {
    /// Every path of a value that an applier of it owns.
    pub fn owned_by_applier(value: &Value, schema: Schema) -> Self {
        let mut fields = Self::default();
        match schema.shape(value) {
            Shape::Leaf => fields.own = true,
            Shape::Struct => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    let mut child = Self::owned_by_applier(value, schema.field(name));
                    child.own |= schema.is_key(name) || value.is_null() || value.as_object().is_some_and(Map::is_empty);
                    fields.insert(field_element(name), child);
                }
            }
            shape => {
                for item in value.as_array().into_iter().flatten() {
                    let mut child = Self::owned_by_applier(item, schema.item());
                    child.own = true;
                    fields.insert(shape.path_element(item), child);
                }
            }
        }
        fields
    }

    /// Adds a subtree, unless there is nothing in it.
    pub fn insert(&mut self, element: String, child: Self) {
        if !child.is_empty() {
            self.children.insert(element, child);
        }
    }

    /// Returns true if there is no member.
    pub fn is_empty(&self) -> bool {
        !self.own && self.children.is_empty()
    }

    /// Reads the `fieldsV1` of an entry.
    pub fn from_json(json: &Value) -> Self {
        let object = json.as_object();
        let mut fields = Self { own: object.is_none_or(Map::is_empty), ..Self::default() };
        for (element, child) in object.into_iter().flatten() {
            match element.as_str() {
                "." => fields.own = true,
                _ => drop(fields.children.insert(element.clone(), Self::from_json(child))),
            }
        }
        fields
    }

    /// Returns the `fieldsV1` of an entry.
    pub fn write(&self) -> Value {
        let mut object = Map::new();
        if self.own && !self.children.is_empty() {
            object.insert(".".into(), Value::Object(Map::new()));
        }
        object.extend(self.children.iter().map(|(element, child)| (element.clone(), child.write())));
        Value::Object(object)
    }

    /// Keeps the paths for which `keep` holds; it is given the node at the same path of `other`.
    fn filter(&self, other: Option<&Self>, keep: fn(own: bool, other: bool) -> bool) -> Self {
        let mut out = Self { own: keep(self.own, other.is_some_and(|fields| fields.own)), ..Self::default() };
        for (element, child) in &self.children {
            out.insert(element.clone(), child.filter(other.and_then(|fields| fields.children.get(element)), keep));
        }
        out
    }

    /// The paths of this that are not in `other`.
    pub fn difference_with(&self, other: &Self) -> Self {
        self.filter(Some(other), |own, other| own && !other)
    }

    /// The paths that are in both.
    pub fn intersection_with(&self, other: &Self) -> Self {
        self.filter(Some(other), |own, other| own && other)
    }

    /// Adds the paths of `other`.
    pub fn add(&mut self, other: &Self) {
        self.own |= other.own;
        for (element, child) in &other.children {
            self.children.entry(element.clone()).or_default().add(child);
        }
    }

    /// With every named field on the way to a member as a member, too.
    pub fn with_parents(mut self) -> Self {
        let children = std::mem::take(&mut self.children);
        for (element, child) in children {
            let mut child = child.with_parents();
            child.own |= element.starts_with("f:");
            self.children.insert(element, child);
        }
        self
    }

    /// Without the subtree at a path of field names.
    pub fn remove(&mut self, path: &[&str]) {
        let [name, rest @ ..] = path else { return };
        let element = field_element(name);
        if let Some(child) = self.children.get_mut(&element) {
            if rest.is_empty() {
                *child = Self::default();
            } else {
                child.remove(rest);
            }
            if child.is_empty() {
                self.children.remove(&element);
            }
        }
    }

    /// Every member as text, such as `.spec.containers[name="a"].image`.
    pub fn paths(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.collect_paths("", &mut out);
        out
    }

    fn collect_paths(&self, path: &str, out: &mut Vec<String>) {
        let members = self.children.iter().filter(|(_, child)| child.own);
        out.extend(members.map(|(element, _)| format!("{path}{}", element_text(element))));
        for (element, child) in &self.children {
            child.collect_paths(&format!("{path}{}", element_text(element)), out);
        }
    }
}

/// An element as messages show it.
fn element_text(element: &str) -> String {
    match element.split_at_checked(2) {
        Some(("f:", name)) => format!(".{name}"),
        Some(("k:", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        Some((_, value)) => format!("[={value}]"),
        None => String::new(),
    }
}

/// The value without everything at the members of `remove`. Maps and lists of which all is removed stay, empty.
pub fn remove_members(value: &Value, remove: &Fields, schema: Schema) -> Value {
    match (schema.shape(value), value) {
        (Shape::Struct, Value::Object(object)) => {
            let mut out = Map::new();
            for (name, value) in object {
                match remove.children.get(&field_element(name)) {
                    None => drop(out.insert(name.clone(), value.clone())),
                    Some(node) if node.own => {}
                    Some(node) => drop(out.insert(name.clone(), remove_members(value, node, schema.field(name)))),
                }
            }
            Value::Object(out)
        }
        (Shape::Leaf, _) => value.clone(),
        (shape, Value::Array(list)) => {
            let mut out = Vec::with_capacity(list.len());
            for item in list {
                match remove.children.get(&shape.path_element(item)) {
                    None => out.push(item.clone()),
                    Some(node) if node.own => {}
                    Some(node) => out.push(with_keys(item, remove_members(item, node, schema.item()), &shape)),
                }
            }
            Value::Array(out)
        }
        _ => value.clone(),
    }
}

/// An item that stays keeps the keys that it is found by.
fn with_keys(before: &Value, mut after: Value, shape: &Shape) -> Value {
    if let (Shape::Keyed(keys), Some(after)) = (shape, after.as_object_mut()) {
        for key in keys.key_names() {
            if let Some(value) = before.get(key) {
                after.insert(key.to_owned(), value.clone());
            }
        }
    }
    after
}

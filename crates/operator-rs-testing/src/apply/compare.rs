//! The changes between two objects, path by path.

use super::{
    fields::{Fields, field_element},
    schema::{Schema, Shape},
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The paths in which two objects differ.
#[derive(Debug, Default)]
pub struct Changes {
    /// Paths that only the new one has, or that have another value there.
    pub set: Fields,
    /// Paths that only the old one has.
    pub removed: Fields,
}

impl Changes {
    /// Compares an object with what it becomes.
    pub fn between_versions(old: &Value, new: &Value, schema: Schema) -> Self {
        let mut changes = Self::default();
        compare_values(Some(old), Some(new), schema, &mut changes.set, &mut changes.removed);
        changes
    }
}

fn compare_values(old: Option<&Value>, new: Option<&Value>, schema: Schema, set: &mut Fields, removed: &mut Fields) {
    match (old, new) {
        (None, None) => {}
        (None, Some(new)) => mark_all(new, schema, set),
        (Some(old), None) => mark_all(old, schema, removed),
        (Some(old), Some(new)) if old == new => {}
        (Some(old), Some(new)) => match (schema.shape(old), schema.shape(new)) {
            (Shape::Struct, Shape::Struct) => {
                let none = Map::new();
                let (old, new) = (old.as_object().unwrap_or(&none), new.as_object().unwrap_or(&none));
                let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                for name in names {
                    compare_children(
                        old.get(name),
                        new.get(name),
                        schema.field(name),
                        (field_element(name), &mut *set, &mut *removed),
                    );
                }
            }
            (Shape::Leaf, _) | (_, Shape::Leaf) => set.own = true,
            (shape, _) => {
                let (old, new) = (items_by_element(old, shape), items_by_element(new, shape));
                let elements: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                for it in elements {
                    let at = (it.clone(), &mut *set, &mut *removed);
                    compare_children(old.get(it).copied(), new.get(it).copied(), schema.item(), at);
                }
            }
        },
    }
}

fn compare_children(
    old: Option<&Value>,
    new: Option<&Value>,
    schema: Schema,
    (element, set, removed): (String, &mut Fields, &mut Fields),
) {
    let (mut below, mut gone) = (Fields::default(), Fields::default());
    compare_values(old, new, schema, &mut below, &mut gone);
    set.insert(element.clone(), below);
    removed.insert(element, gone);
}

/// Marks a value and everything in it.
fn mark_all(value: &Value, schema: Schema, fields: &mut Fields) {
    fields.own = true;
    match schema.shape(value) {
        Shape::Leaf => {}
        Shape::Struct => {
            for (name, value) in value.as_object().into_iter().flatten() {
                mark_all(value, schema.field(name), fields.children.entry(field_element(name)).or_default());
            }
        }
        shape => {
            for (element, item) in items_by_element(value, shape) {
                mark_all(item, schema.item(), fields.children.entry(element).or_default());
            }
        }
    }
}

/// The items of a list by their path elements.
pub fn items_by_element<'a>(list: &'a Value, shape: Shape) -> BTreeMap<String, &'a Value> {
    list.as_array().into_iter().flatten().map(|value| (shape.path_element(value), value)).collect()
}

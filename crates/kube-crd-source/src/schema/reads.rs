//! Values that the types of fields cannot read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Reader;
use super::container::{ContainerData, Field, Shape};
use crate::builtin;
use crate::text::{UnreadValues, Unreadable};
use crate::types::Type;

/// By the names that lead to each field: the type that reads its values; none if several types do, or it is not known.
pub(super) type ReadTypes = BTreeMap<Vec<String>, Option<&'static str>>;

/// The number of types around a value that are looked through.
const DEPTH: usize = 8;

impl Reader {
    /// Notes which type reads the values of the field that we are in, and whose schema has been generated.
    pub(super) fn note_read(&self, field: &Field, ty: &Type) {
        let found = if field.reads_with { None } else { self.reading_type(ty, DEPTH) };
        let path = self.schema_path.borrow().clone();
        let mut types = self.read_types.borrow_mut();
        let known = types.entry(path).or_insert(found);
        if *known != found {
            *known = None;
        }
    }

    /// The type that reads the values of a type, or of what is in it: of an option, a list, or the values of a map.
    fn reading_type(&self, ty: &Type, depth: usize) -> Option<&'static str> {
        let depth = depth.checked_sub(1)?;
        if let Type::Foreign { path, arguments, .. } = ty {
            return match &arguments[..] {
                [] => Some(path),
                [inside] => self.reading_type(inside, depth),
                [_, values] if path.ends_with("Map") => self.reading_type(values, depth),
                _ => None,
            };
        }
        // A type without a known schema, as that of a `PhantomData` may be, is not read for this alone.
        let is_derived = self.by_hand.borrow().get(ty).is_some_and(Option::is_none);
        let this = self.own.borrow().get(ty).filter(|_| is_derived).cloned()?;
        if let Some(forward) = &this.forward {
            return self.reading_type(forward, depth);
        }
        match &this.container.data {
            ContainerData::Struct(Shape::Newtype(field)) => {
                let is_read = !field.reads_with && this.container.from.is_none();
                let inside = self.field_type(&this, field).filter(|_| is_read)?;
                self.reading_type(&inside, depth)
            }
            _ => None,
        }
    }
}

/// The types that do not read each of some values, with those that they do not read.
pub(super) fn collect_unreadable(types: ReadTypes) -> Unreadable {
    let values = [
        json!("soon"),
        json!("1"),
        json!("-1"),
        json!(""),
        json!(0),
        json!(-1),
        json!(300),
        json!(-300),
        json!(70_000),
        json!(-70_000),
        json!(5_000_000_000_i64),
        json!(-5_000_000_000_i64),
    ];
    let unread = |path: &'static str| {
        let reads = builtin::find(path)?.1.reads?;
        let values: Vec<Value> = values.iter().filter(|value| !reads(value)).cloned().collect();
        (!values.is_empty()).then_some(UnreadValues { type_path: path, values })
    };
    types.into_iter().filter_map(|(field, path)| Some((field, unread(path?)?))).collect()
}

//! Types of other crates, each with the functions of its real `JsonSchema`.
//!
//! A generic type is linked over [`Dyn`], a type whose answers are looked up at run time; so what
//! schemars does for `Option`, `Vec` or a map is done by schemars.

pub mod crates;
pub mod kubernetes;
pub mod names;
mod networks;
mod standard;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One type of another crate.
pub struct Builtin {
    /// The number of type arguments.
    pub arguments: usize,
    pub inline: fn() -> bool,
    pub name: fn() -> Cow<'static, str>,
    pub id: fn() -> Cow<'static, str>,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub present: fn(&mut SchemaGenerator) -> Schema,
    pub is_option: fn() -> bool,
    /// Its default value as serde writes it.
    pub default: Option<fn() -> Option<Value>>,
    /// Returns whether the type reads a value; none if that is not known.
    pub reads: Option<fn(&Value) -> bool>,
}

pub type Table = BTreeMap<&'static str, Builtin>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    standard::add_types(&mut table);
    crates::add_types(&mut table);
    kubernetes::linked::add_types(&mut table);
    table
});

/// Returns whether the tables list types of a crate: those with a known schema, or those that are always refused.
pub fn is_of(name: &str) -> bool {
    let start = format!("{name}::");
    crates::TWOFOLD.iter().any(|prefix| prefix.starts_with(&start)) || has_types_of(name)
}

/// Returns whether the tables have a schema for types of a crate.
pub fn has_types_of(name: &str) -> bool {
    let start = format!("{name}::");
    TABLE.range(start.as_str()..).next().is_some_and(|(it, _)| it.starts_with(&start))
}

/// A type by its whole path.
pub fn find(path: &str) -> Option<(&'static str, &'static Builtin)> {
    TABLE.get_key_value(path).map(|(path, it)| (*path, it))
}

/// Returns whether a path is a module of k8s-openapi, all of whose types are in the table.
pub fn is_module(path: &str) -> bool {
    let inside = format!("{path}::");
    let next = TABLE.range(inside.as_str()..).next();
    path.starts_with("k8s_openapi::") && next.is_some_and(|(it, _)| it.starts_with(&inside))
}

impl Builtin {
    fn of<T: JsonSchema + ?Sized>(arguments: usize) -> Self {
        Self {
            arguments,
            inline: T::inline_schema,
            name: T::schema_name,
            id: T::schema_id,
            schema: T::json_schema,
            present: T::_schemars_private_non_optional_json_schema,
            is_option: T::_schemars_private_is_option,
            default: None,
            reads: None,
        }
    }

    fn reading<T: DeserializeOwned>(self) -> Self {
        Self { reads: Some(|value| T::deserialize(value).is_ok()), ..self }
    }

    fn with_default<T: Default + Serialize>(self) -> Self {
        Self { default: Some(|| serde_json::to_value(T::default()).ok()), ..self }
    }
}

/// Answers schemars' questions about one type of the source.
pub trait Answer {
    fn inline_schema(&self) -> bool;
    fn schema_name(&self) -> String;
    fn schema_id(&self) -> String;
    fn json_schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// The schema of what is in an `Option`; of any other type its own.
    fn inner_schema(&self, generator: &mut SchemaGenerator) -> Schema;
    fn is_option(&self) -> bool;
}

/// The number of types in the longest tuple.
const MOST: usize = 16;

type Slots = [Option<Rc<dyn Answer>>; MOST];

thread_local! {
    static SLOTS: RefCell<Slots> = const { RefCell::new([const { None }; MOST]) };
}

/// Runs `f` with `Dyn<0>` standing for the first of these types, `Dyn<1>` for the second.
pub fn with_types<T>(types: impl Iterator<Item = Rc<dyn Answer>>, f: impl FnOnce() -> T) -> T {
    struct Back(Slots);
    impl Drop for Back {
        fn drop(&mut self) {
            SLOTS.with(|slots| *slots.borrow_mut() = std::mem::take(&mut self.0));
        }
    }
    let mut slots = [const { None }; MOST];
    for (slot, ty) in slots.iter_mut().zip(types) {
        *slot = Some(ty);
    }
    let _back = Back(SLOTS.with(|cell| std::mem::replace(&mut *cell.borrow_mut(), slots)));
    f()
}

/// The type that a slot holds at the moment.
pub struct Dyn<const N: usize>;

impl<const N: usize> Dyn<N> {
    fn ask_slot<T>(f: impl FnOnce(&dyn Answer) -> T) -> T {
        let ty =
            SLOTS.with(|slots| slots.borrow()[N].clone()).expect("a slot is filled before use");
        f(&*ty)
    }
}

impl<const N: usize> JsonSchema for Dyn<N> {
    fn inline_schema() -> bool {
        Self::ask_slot(|ty| ty.inline_schema())
    }
    fn schema_name() -> Cow<'static, str> {
        Self::ask_slot(|ty| ty.schema_name()).into()
    }
    fn schema_id() -> Cow<'static, str> {
        Self::ask_slot(|ty| ty.schema_id()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Self::ask_slot(|ty| ty.json_schema(generator))
    }
    fn _schemars_private_non_optional_json_schema(generator: &mut SchemaGenerator) -> Schema {
        Self::ask_slot(|ty| ty.inner_schema(generator))
    }
    fn _schemars_private_is_option() -> bool {
        Self::ask_slot(|ty| ty.is_option())
    }
}

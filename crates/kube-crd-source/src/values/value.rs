//! The value of an expression. A value is shared, and never changes.
//!
//! References, `Box`, `Rc`, `Arc` and `Cow` are the value that they lead to.

use std::rc::Rc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::ty::{Int, Ty};
use crate::types::Type;

#[derive(Clone, Debug)]
pub enum Value {
    Bool(bool),
    Char(char),
    Int(i128, Int),
    F32(f32),
    F64(f64),
    /// A `str` or a `String`.
    Text(Rc<str>),
    Option(Option<Rc<Self>>),
    /// The good side of a `Result`: the other one is never evaluated.
    Ok(Rc<Self>),
    /// A `Vec`, an array or a slice.
    List(Rc<[Self]>),
    /// A set with nothing in it.
    Set,
    Tuple(Rc<[Self]>),
    /// A map with nothing in it.
    Map,
    Data(Rc<AdtValue>),
    Json(JsonKind, Rc<Json>),
    /// A value of another crate's type, as serde writes it.
    Foreign(Rc<str>, Rc<Json>),
    /// The `SchemaGenerator` that a schema function is given.
    Generator,
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    Value,
    Map,
    Schema,
}

/// A struct or a variant of the project.
#[derive(Debug)]
pub struct AdtValue {
    /// The type, with its arguments.
    pub ty: Rc<Type>,
    pub variant: Option<String>,
    /// In the order of the declaration, each by its name or number.
    pub fields: IndexMap<String, Value>,
}

impl Value {
    pub fn unit() -> Self {
        Self::Tuple(Rc::new([]))
    }

    pub fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    pub fn some(value: Self) -> Self {
        Self::Option(Some(Rc::new(value)))
    }

    pub fn json(json: Json) -> Self {
        Self::Json(JsonKind::Value, Rc::new(json))
    }

    pub fn foreign(path: &str, json: Json) -> Self {
        Self::Foreign(path.into(), Rc::new(json))
    }

    /// Its type, where the value alone tells it.
    pub fn ty(&self) -> Ty {
        match self {
            Self::Bool(_) => Ty::foreign("bool"),
            Self::Char(_) => Ty::foreign("char"),
            Self::Int(_, of) => Ty::Int(*of),
            Self::F32(_) => Ty::F32,
            Self::F64(_) => Ty::F64,
            Self::Text(_) => Ty::foreign("str"),
            Self::Data(it) => Ty::Data(it.ty.clone()),
            Self::Json(JsonKind::Value, _) => Ty::foreign("serde_json::Value"),
            Self::Json(JsonKind::Map, _) => Ty::foreign("serde_json::Map"),
            Self::Json(JsonKind::Schema, _) => Ty::foreign("schemars::Schema"),
            Self::Foreign(path, _) => Ty::foreign(path),
            _ => Ty::Unknown,
        }
    }

    /// Returns whether it can be of a type; what is in it was evaluated in its own type already.
    pub fn fits_type(&self, ty: &Ty) -> bool {
        match (self, ty) {
            (_, Ty::Unknown | Ty::Any) => true,
            (Self::Option(_) | Self::Ok(_), Ty::Outcome(_)) => true,
            (Self::Int(_, of), Ty::Int(ty)) => of == ty,
            (Self::F32(_), Ty::F32) | (Self::F64(_), Ty::F64) => true,
            (Self::Tuple(items), Ty::Tuple(types)) => {
                items.len() == types.len()
                    && items.iter().zip(types).all(|(it, ty)| it.fits_type(ty))
            }
            (Self::List(items), Ty::Array(inner, count)) => {
                items.len() == *count && items.iter().all(|value| value.fits_type(inner))
            }
            (Self::Data(data), Ty::Data(ty)) => data.ty == *ty,
            (value, Ty::Foreign(path, inside)) => value.fits_foreign(path, inside),
            _ => false,
        }
    }

    fn fits_foreign(&self, path: &str, inside: &[Ty]) -> bool {
        let each = |items: &[Self]| match inside {
            [inner, ..] => items.iter().all(|value| value.fits_type(inner)),
            [] => true,
        };
        match self {
            Self::Bool(_) => path == "bool",
            Self::Char(_) => path == "char",
            Self::Text(_) => matches!(path, "str" | "std::string::String"),
            Self::Option(it) => {
                path == "std::option::Option"
                    && it.as_ref().is_none_or(|value| each(&[(**value).clone()]))
            }
            Self::Ok(_) => path == "std::result::Result",
            Self::List(items) => is_list(path) && each(items),
            Self::Set => path.ends_with("Set") || path.ends_with("BinaryHeap"),
            Self::Map => path.ends_with("Map"),
            Self::Json(JsonKind::Value, _) => path == "serde_json::Value",
            Self::Json(JsonKind::Map, _) => path == "serde_json::Map",
            Self::Json(JsonKind::Schema, _) => path == "schemars::Schema",
            Self::Foreign(of, _) => **of == *path,
            Self::Generator => path == "schemars::SchemaGenerator",
            _ => false,
        }
    }
}

/// Returns whether a type is a list that keeps what it is given in its order.
pub fn is_list(path: &str) -> bool {
    matches!(
        path,
        "std::vec::Vec" | "[]" | "std::collections::VecDeque" | "std::collections::LinkedList"
    )
}

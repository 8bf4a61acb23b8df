//! What an expression comes to. A value knows its type, as far as the code says it.
//!
//! References, `Box`, `Rc`, `Arc` and `Cow` are the value that they lead to.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value as Json;

use super::ty::Ty;
use crate::world::ItemId;

#[derive(Clone, Debug)]
pub enum Value {
    Unit,
    Bool(bool),
    Char(char),
    /// A number, and its type where the code says it.
    Int(i128, Option<&'static str>),
    Float(Float),
    /// A `str`, or a `String` where it is owned.
    Text(String, bool),
    Option(Option<Box<Self>>),
    Result(Result<Box<Self>, Box<Self>>),
    /// What is in a list, and the path of its type.
    List(Vec<Self>, &'static str),
    Tuple(Vec<Self>),
    /// The entries in the order in which the type has them, and its path.
    Map(Vec<(Self, Self)>, &'static str),
    Set(Vec<Self>, &'static str),
    /// What an iterator still gives.
    Iterator(Vec<Self>),
    Data(Data),
    /// A `serde_json::Value`.
    Json(Json),
    /// A value of another crate's type, as serde writes it.
    Foreign(String, Json),
    Duration(std::time::Duration),
    Function(Function),
    /// A place that `&mut` leads to.
    Place(Place),
    /// Where `Display` writes to.
    Formatter(Rc<RefCell<String>>),
    /// What `Serialize` writes to.
    Serializer,
    /// What is made only when the place that it comes to says its type.
    Open(Open),
}

/// How a value is made of a type that the code says later.
#[derive(Clone, Debug)]
pub enum Open {
    Default,
    Into(Box<Value>),
    /// The `Result` of `parse()`, and what `unwrap()` takes out of it.
    Parse(String),
    Parsed(String),
    Collected(Vec<Value>),
    /// What stands in `RefCell::new(…)`, `Either::Left(…)`, and the name of that function.
    Wrapped(String, Box<Value>),
}

/// A struct or a variant of the project.
#[derive(Clone, Debug)]
pub struct Data {
    pub id: ItemId,
    /// What its parameters stand for, as far as it is known.
    pub arguments: Vec<Ty>,
    pub variant: Option<String>,
    /// In the order of the declaration, each by its name or number.
    pub fields: Vec<(String, Value)>,
}

/// A number that may be of either width as long as the code does not say.
#[derive(Clone, Copy, Debug)]
pub enum Float {
    F32(f32),
    F64(f64),
    Either(f32, f64),
}

#[derive(Clone, Debug)]
pub enum Function {
    /// A function by its path, where that stands.
    Path(Rc<syn::ExprPath>, Rc<super::Frame>),
    Closure(Rc<syn::ExprClosure>, Rc<super::Frame>),
}

pub type Slot = Rc<RefCell<Value>>;

#[derive(Clone, Debug)]
pub struct Place {
    pub slot: Slot,
    pub way: Vec<Step>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Field(String),
    Index(usize),
    Key(Value),
    /// What is in an `Option`.
    Inside,
}

impl Value {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into(), true)
    }

    pub fn str(text: impl Into<String>) -> Self {
        Self::Text(text.into(), false)
    }

    pub fn some(value: Self) -> Self {
        Self::Option(Some(Box::new(value)))
    }

    pub fn ok(value: Self) -> Self {
        Self::Result(Ok(Box::new(value)))
    }

    pub fn usize(value: usize) -> Self {
        Self::Int(value as i128, Some("usize"))
    }

    /// Its type, with holes where it does not say.
    pub fn ty(&self) -> Ty {
        let first = |it: &[Self]| it.first().map_or(Ty::Unknown, Self::ty);
        let known = |path: &str, arguments: Vec<Ty>| Ty::Known(path.to_owned(), arguments);
        match self {
            Self::Unit => known("()", Vec::new()),
            Self::Bool(_) => known("bool", Vec::new()),
            Self::Char(_) => known("char", Vec::new()),
            Self::Int(_, ty) => ty.map_or(Ty::Unknown, |it| known(it, Vec::new())),
            Self::Float(Float::F32(_)) => known("f32", Vec::new()),
            Self::Float(Float::F64(_)) => known("f64", Vec::new()),
            Self::Float(Float::Either(..)) => Ty::Unknown,
            Self::Text(_, true) => known("std::string::String", Vec::new()),
            Self::Text(_, false) => known("str", Vec::new()),
            Self::Option(it) => {
                known("std::option::Option", vec![it.as_ref().map_or(Ty::Unknown, |it| it.ty())])
            }
            Self::Result(Ok(it)) => known("std::result::Result", vec![it.ty(), Ty::Unknown]),
            Self::Result(Err(it)) => known("std::result::Result", vec![Ty::Unknown, it.ty()]),
            Self::List(items, path) if *path == "[;]" => {
                known(&format!("[;{}]", items.len()), vec![first(items)])
            }
            Self::List(items, path) | Self::Set(items, path) => known(path, vec![first(items)]),
            Self::Tuple(items) => {
                known(&format!("({})", items.len()), items.iter().map(Self::ty).collect())
            }
            Self::Map(items, path) => {
                let first = items.first();
                known(
                    path,
                    first.map_or(vec![Ty::Unknown, Ty::Unknown], |(key, value)| {
                        vec![key.ty(), value.ty()]
                    }),
                )
            }
            Self::Data(it) => Ty::Data(it.id, it.arguments.clone()),
            Self::Json(_) => known("serde_json::Value", Vec::new()),
            Self::Foreign(path, _) => known(path, Vec::new()),
            Self::Duration(_) => known("std::time::Duration", Vec::new()),
            Self::Iterator(_)
            | Self::Function(_)
            | Self::Place(_)
            | Self::Formatter(_)
            | Self::Open(_)
            | Self::Serializer => Ty::Unknown,
        }
    }
}

impl Place {
    /// A place of its own for a value that has none.
    pub fn new(value: Value) -> Self {
        Self { slot: Rc::new(RefCell::new(value)), way: Vec::new() }
    }

    pub fn then(&self, step: Step) -> Self {
        let mut res = self.clone();
        res.way.push(step);
        res
    }

    pub fn read(&self) -> Option<Value> {
        let slot = self.slot.borrow();
        let mut it = &*slot;
        for step in &self.way {
            it = match (it, step) {
                (Value::Data(data), Step::Field(name)) => {
                    &data.fields.iter().find(|(it, _)| it == name)?.1
                }
                (Value::Tuple(items), Step::Field(name)) => {
                    items.get(name.parse::<usize>().ok()?)?
                }
                (Value::List(items, _), Step::Index(index)) => items.get(*index)?,
                (Value::Map(items, _), Step::Key(key)) => {
                    &items.iter().find(|(it, _)| super::compare::same(it, key) == Some(true))?.1
                }
                (Value::Option(Some(it)), Step::Inside) => it,
                // A part of a JSON value is made anew.
                (Value::Json(_), _) => return json_part(it, &self.way),
                _ => return None,
            };
            if matches!(it, Value::Json(_)) {
                let at = self.way.iter().position(|one| std::ptr::eq(one, step))?;
                return json_part(it, &self.way[at + 1..]);
            }
        }
        Some(it.clone())
    }

    /// Puts a value there; false where there is no such place.
    #[must_use]
    pub fn write(&self, value: Value) -> bool {
        let mut slot = self.slot.borrow_mut();
        put(&mut slot, &self.way, value).is_some()
    }
}

fn put(it: &mut Value, way: &[Step], value: Value) -> Option<()> {
    let Some((step, rest)) = way.split_first() else {
        *it = value;
        return Some(());
    };
    match (it, step) {
        (Value::Data(data), Step::Field(name)) => {
            put(&mut data.fields.iter_mut().find(|(it, _)| it == name)?.1, rest, value)
        }
        (Value::Tuple(items), Step::Field(name)) => {
            put(items.get_mut(name.parse::<usize>().ok()?)?, rest, value)
        }
        (Value::List(items, _), Step::Index(index)) => put(items.get_mut(*index)?, rest, value),
        (Value::Map(items, _), Step::Key(key)) => {
            let found =
                items.iter_mut().find(|(it, _)| super::compare::same(it, key) == Some(true));
            put(&mut found?.1, rest, value)
        }
        (Value::Option(Some(it)), Step::Inside) => put(it, rest, value),
        (Value::Json(json), _) => {
            let mut json = json;
            for step in way {
                json = match (json, step) {
                    (Json::Object(it), Step::Key(Value::Text(key, _))) => {
                        it.entry(key.clone()).or_insert(Json::Null)
                    }
                    (Json::Array(it), Step::Index(index)) => it.get_mut(*index)?,
                    _ => return None,
                };
            }
            let Value::Json(value) = value else { return None };
            *json = value;
            Some(())
        }
        _ => None,
    }
}

fn json_part(it: &Value, way: &[Step]) -> Option<Value> {
    let Value::Json(mut json) = it.clone() else { return None };
    for step in way {
        json = match step {
            Step::Key(Value::Text(key, _)) => json.get(key)?.clone(),
            Step::Index(index) => json.get(*index)?.clone(),
            _ => return None,
        };
    }
    Some(Value::Json(json))
}

//! What an expression in a schema written by hand comes to: JSON, and the places in it that code changes.

use std::cell::RefCell;
use std::rc::Rc;

use schemars::Schema;
use serde_json::Value as Json;

#[derive(Clone)]
pub enum Value {
    Unit,
    /// A `String` or a `str`, as opposed to a JSON value that holds one.
    Text(String),
    /// A schema, a map, a list, a JSON value, a number, a boolean.
    Json(Json),
    /// What `&mut` leads to, and a variable that is named.
    Place(Place),
    /// An `Option`, or a `Result` of which only the good side is looked at.
    Option(Option<Box<Self>>),
    /// `map.entry("key")`.
    Entry(Place, String),
    Generator,
    Contract,
}

#[derive(Clone)]
pub struct Place {
    pub slot: Rc<RefCell<Json>>,
    pub way: Vec<Key>,
}

#[derive(Clone)]
pub enum Key {
    Name(String),
    Index(usize),
}

impl From<bool> for Value {
    fn from(it: bool) -> Self {
        Self::Json(it.into())
    }
}

impl Value {
    pub fn some(value: Self) -> Self {
        Self::Option(Some(Box::new(value)))
    }

    pub fn maybe(value: Option<Self>) -> Self {
        Self::Option(value.map(Box::new))
    }

    /// The data itself, as serde writes it; none for what is no data.
    pub fn json(&self) -> Option<Json> {
        match self {
            Self::Text(it) => Some(it.clone().into()),
            Self::Json(it) => Some(it.clone()),
            Self::Place(it) => it.read(),
            Self::Option(Some(it)) => it.json(),
            Self::Option(None) => Some(Json::Null),
            Self::Unit | Self::Entry(..) | Self::Generator | Self::Contract => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(it) => Some(it.clone()),
            Self::Option(Some(_) | None) => None,
            it => it.json()?.as_str().map(str::to_owned),
        }
    }

    /// Where it can be changed: what is nowhere else gets a place of its own.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Place(it) => Some(it.clone()),
            Self::Json(it) => Some(Place::new(it.clone())),
            _ => None,
        }
    }
}

impl Place {
    pub fn new(json: Json) -> Self {
        Self { slot: Rc::new(RefCell::new(json)), way: Vec::new() }
    }

    pub fn then(&self, key: Key) -> Self {
        let mut res = self.clone();
        res.way.push(key);
        res
    }

    pub fn read(&self) -> Option<Json> {
        self.look(Clone::clone)
    }

    pub fn look<T>(&self, f: impl FnOnce(&Json) -> T) -> Option<T> {
        let slot = self.slot.borrow();
        let mut it = &*slot;
        for key in &self.way {
            it = match key {
                Key::Name(key) => it.get(key)?,
                Key::Index(index) => it.get(index)?,
            };
        }
        Some(f(it))
    }

    pub fn change<T>(&self, f: impl FnOnce(&mut Json) -> T) -> Option<T> {
        let mut slot = self.slot.borrow_mut();
        let mut it = &mut *slot;
        for key in &self.way {
            it = match key {
                Key::Name(key) => it.get_mut(key)?,
                Key::Index(index) => it.get_mut(index)?,
            };
        }
        Some(f(it))
    }

    /// What stands left of `=`: a key that is not there yet is made, as serde_json does.
    pub fn write(&self, value: Json) -> Option<()> {
        let Some((Key::Name(last), before)) = self.way.split_last() else {
            return self.change(|it| *it = value);
        };
        let above = Self { slot: self.slot.clone(), way: before.to_vec() };
        above.change(|it| match it {
            Json::Object(it) => {
                it.insert(last.clone(), value);
                Some(())
            }
            _ => None,
        })?
    }

    /// Changes a schema, or a map, which is one.
    pub fn schema<T>(&self, f: impl FnOnce(&mut Schema) -> T) -> Option<T> {
        self.change(|it| {
            let mut schema = Schema::try_from(it.take()).ok()?;
            let res = f(&mut schema);
            *it = schema.to_value();
            Some(res)
        })?
    }
}

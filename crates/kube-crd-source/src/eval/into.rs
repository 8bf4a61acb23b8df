//! `into`, `from`, `parse`, `to_string`: one value as one of another type.

use super::number;
use super::value::{Float, Open, Value};
use super::{Eval, Evaluator, Frame, Ty};

/// What is said of a value whose type is not found.
pub const UNTOLD: &str = "is of a type that cannot be told here";

impl<'a> Evaluator<'a> {
    /// `value.into()` and `Type::from(value)`.
    #[allow(clippy::wrong_self_convention, reason = "it is what the code says")]
    pub fn into(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        want: &Ty,
    ) -> Eval<Value> {
        if let Value::Open(_) = value {
            return self.refuse(frame, at, UNTOLD);
        }
        match want {
            Ty::Unknown => Ok(Value::Open(Open::Into(Box::new(value)))),
            // What a field of k8s-openapi is made of: a text stays a text, pairs become a map.
            Ty::Known(..) if want.is_any() => match value {
                Value::Text(it, _) => Ok(Value::text(it)),
                Value::List(items, _)
                    if items.iter().all(|it| matches!(it, Value::Tuple(it) if it.len() == 2)) =>
                {
                    let map = Ty::Known(
                        "std::collections::BTreeMap".to_owned(),
                        vec![want.clone(), want.clone()],
                    );
                    self.collected(frame, at, items, &map)
                }
                it @ (Value::List(..) | Value::Int(..) | Value::Foreign(..)) => Ok(it),
                _ => self.refuse(frame, at, "is a conversion that is not read"),
            },
            Ty::Data(id, arguments) => self.made_data(frame, at, value, *id, arguments),
            Ty::Known(path, _) => {
                if let Value::Data(data) = &value {
                    let (id, arguments) = (data.id, data.arguments.clone());
                    let found = self.functions(id, &arguments, "into")?;
                    for own in found {
                        let target = own.of.as_ref().and_then(|(_, it)| it.first().cloned());
                        if target.is_some_and(|it| it.is_whole() && it == *want) {
                            return self.run(frame, at, own, vec![value], want);
                        }
                    }
                    if let Some(found) = self.made_from(frame, at, &value, id, want)? {
                        return Ok(found);
                    }
                }
                match self.converted(frame, at, path, value, want)? {
                    Some(it) => Ok(it),
                    None => self.refuse(frame, at, "is a conversion that is not read"),
                }
            }
        }
    }

    /// `impl From<Own> for String` and the like.
    fn made_from(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: &Value,
        id: crate::world::ItemId,
        want: &Ty,
    ) -> Eval<Option<Value>> {
        let mut found = Vec::new();
        for imp in &self.world.impls {
            let Some((path, _)) = &imp.syntax.trait_ else { continue };
            let Some(last) = path.segments.last().filter(|it| it.ident == "From") else { continue };
            let there = Frame::new(imp.module);
            if !imp.syntax.generics.params.is_empty() {
                continue;
            }
            let source = self.turbofish(&there, &last.arguments)?;
            if !matches!(source[..], [Ty::Data(it, _)] if it == id) {
                continue;
            }
            if self.ty(&there, &imp.syntax.self_ty)? != *want {
                continue;
            }
            for item in &imp.syntax.items {
                if let syn::ImplItem::Fn(it) = item {
                    let frame = Frame { itself: Some(want.clone()), ..there.clone() };
                    found.push(super::impls::Own {
                        frame,
                        signature: &it.sig,
                        attrs: &it.attrs,
                        block: &it.block,
                        of: None,
                    });
                }
            }
        }
        match found.len() {
            0 => Ok(None),
            1 => self.run(frame, at, found.remove(0), vec![value.clone()], want).map(Some),
            _ => self.refuse(frame, at, "is a conversion with more than one way"),
        }
    }

    fn made_data(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        id: crate::world::ItemId,
        arguments: &[Ty],
    ) -> Eval<Value> {
        let want = Ty::Data(id, arguments.to_vec());
        let actual = value.ty();
        if matches!(&value, Value::Data(it) if it.id == id) {
            return self.conform(frame, at, value, &want);
        }
        let mut found = self.functions(id, arguments, "from")?;
        found.retain(|it| match &it.of {
            Some((path, of)) => {
                path == "std::convert::From" && of.first().is_some_and(|it| it.fits(&actual))
            }
            None => false,
        });
        // A `&str` is also a `str`; what fits in more than one way is not told.
        if 1 < found.len() {
            found.retain(|it| it.of.as_ref().is_some_and(|(_, of)| of.first() == Some(&actual)));
        }
        match found.len() {
            1 => self.run(frame, at, found.remove(0), vec![value], &want),
            0 => self.refuse(frame, at, "is a conversion that is not read"),
            _ => self.refuse(frame, at, "is a conversion with more than one way"),
        }
    }

    /// A value of std as another.
    fn converted(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        path: &str,
        value: Value,
        want: &Ty,
    ) -> Eval<Option<Value>> {
        if let Some(to) = number::integer(path) {
            return Ok(match value {
                // What has no type yet is an `i32`, unless it is of the type itself.
                Value::Int(it, None) if number::fits(it, to) => Some(Value::Int(it, Some(to))),
                Value::Int(it, Some(from)) if wider(from, to) => Some(Value::Int(it, Some(to))),
                Value::Bool(it) => Some(Value::Int(it.into(), Some(to))),
                Value::Char(it) if matches!(to, "u32" | "u64" | "u128") => {
                    Some(Value::Int(u32::from(it).into(), Some(to)))
                }
                _ => None,
            });
        }
        Ok(match (path, value) {
            ("f64", Value::Float(it)) => Some(Value::Float(match it {
                Float::F32(it) => Float::F64(it.into()),
                Float::Either(_, it) | Float::F64(it) => Float::F64(it),
            })),
            ("f64", Value::Int(it, Some("i8" | "i16" | "i32" | "u8" | "u16" | "u32"))) => {
                Some(Value::Float(number::float(it, "f64")))
            }
            ("f64", Value::Int(it, None)) if number::fits(it, "i32") => {
                Some(Value::Float(number::float(it, "f64")))
            }
            ("f32", Value::Float(it @ Float::F32(_))) => Some(Value::Float(it)),
            ("f32", Value::Int(it, Some("i8" | "i16" | "u8" | "u16"))) => {
                Some(Value::Float(number::float(it, "f32")))
            }
            ("std::string::String", Value::Text(it, _)) => Some(Value::text(it)),
            ("std::string::String", Value::Char(it)) => Some(Value::text(it)),
            ("str", Value::Text(it, _)) => Some(Value::str(it)),
            ("char", Value::Int(it, Some("u8"))) => {
                u8::try_from(it).ok().map(|it| Value::Char(it.into()))
            }
            ("std::option::Option", it @ Value::Option(_)) => {
                Some(self.conform(frame, at, it, want)?)
            }
            ("std::option::Option", it) => {
                Some(Value::some(self.conform(frame, at, it, &want.inside(0))?))
            }
            ("std::vec::Vec", Value::List(items, _)) => {
                let it = Value::List(items, "std::vec::Vec");
                Some(self.conform(frame, at, it, want)?)
            }
            (
                "std::collections::VecDeque" | "std::collections::LinkedList",
                Value::List(items, _),
            ) => {
                let kind = super::functions::container(path).unwrap_or("std::vec::Vec");
                Some(self.conform(frame, at, Value::List(items, kind), want)?)
            }
            (_, Value::List(items, _)) if super::functions::container(path).is_some() => {
                Some(self.collected(frame, at, items, want)?)
            }
            ("serde_json::Value", value) => match value {
                Value::Json(it) => Some(Value::Json(it)),
                value @ (Value::Bool(_)
                | Value::Text(..)
                | Value::Int(_, Some(_))
                | Value::Float(Float::F32(_) | Float::F64(_))
                | Value::List(_, "std::vec::Vec")
                | Value::Option(_)
                | Value::Unit) => Some(Value::Json(self.json_of(frame, at, &value)?)),
                Value::Int(it, None) => {
                    Some(Value::Json(self.json_of(frame, at, &Value::Int(it, None))?))
                }
                Value::Float(Float::Either(_, it)) => Some(Value::Json(it.into())),
                _ => None,
            },
            (_, value) if value.ty() == *want => Some(value),
            (_, value) => super::foreign::from(path, &value),
        })
    }

    /// A value that was left open, as the type that it turns out to be of.
    pub fn closed(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        open: Open,
        ty: &Ty,
    ) -> Eval<Value> {
        let value = match open {
            Open::Default => self.default_of(frame, at, ty)?,
            Open::Into(value) => self.into(frame, at, *value, ty)?,
            Open::Collected(items) => self.collected(frame, at, items, ty)?,
            Open::Wrapped(name, inside) if super::functions::is_wrapper(ty.path()) => {
                let index = usize::from(name == "Right");
                let inside = self.conform(frame, at, *inside, &ty.inside(index))?;
                let json = self.json_of(frame, at, &inside)?;
                let json = match super::functions::is_transparent(ty.path()) {
                    true => json,
                    false => serde_json::json!({ name: json }),
                };
                Value::Foreign(ty.path().to_owned(), json)
            }
            Open::Parse(text) if ty.path() == "std::result::Result" => {
                self.parse(frame, at, &text, &ty.inside(0))?
            }
            Open::Parsed(text) => match self.parse(frame, at, &text, ty)? {
                Value::Result(Ok(it)) => *it,
                Value::Result(Err(_)) => return self.panics(frame, at, "it cannot be parsed"),
                _ => return self.refuse(frame, at, UNTOLD),
            },
            Open::Parse(_) | Open::Wrapped(..) => return self.refuse(frame, at, UNTOLD),
        };
        match value {
            Value::Open(_) => self.refuse(frame, at, UNTOLD),
            value => self.conform(frame, at, value, ty),
        }
    }

    /// `"text".parse::<T>()`, unless it fails.
    pub fn parse(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        text: &str,
        want: &Ty,
    ) -> Eval<Value> {
        let failed = || Value::Result(Err(Box::new(Value::Unit)));
        let path = match want {
            Ty::Unknown => return Ok(Value::Open(Open::Parse(text.to_owned()))),
            Ty::Data(id, arguments) => {
                let own =
                    self.of_trait(frame, at, (*id, arguments), "std::str::FromStr", "from_str")?;
                let Some(own) = own else {
                    return self.refuse(frame, at, "is of a type whose `FromStr` is not read");
                };
                let result =
                    Ty::Known("std::result::Result".to_owned(), vec![want.clone(), Ty::Unknown]);
                return self.run(frame, at, own, vec![Value::str(text)], &result);
            }
            Ty::Known(path, _) => path.as_str(),
        };
        macro_rules! integers {
            ($($ty:literal $real:ty),*) => {
                match path {
                    $($ty => text.parse::<$real>().ok().and_then(|it| i128::try_from(it).ok())
                        .map(|it| Value::Int(it, Some($ty))),)*
                    _ => None,
                }
            };
        }
        if number::integer(path).is_some() {
            let found = integers!(
                "i8" i8, "i16" i16, "i32" i32, "i64" i64, "i128" i128, "isize" i64,
                "u8" u8, "u16" u16, "u32" u32, "u64" u64, "u128" u128, "usize" u64
            );
            return Ok(found.map_or_else(failed, Value::ok));
        }
        let found = match path {
            "std::string::String" => Some(Value::text(text)),
            "bool" => text.parse().ok().map(Value::Bool),
            "char" => text.parse().ok().map(Value::Char),
            "f32" => text.parse().ok().map(|it| Value::Float(Float::F32(it))),
            "f64" => text.parse().ok().map(|it| Value::Float(Float::F64(it))),
            path => match super::foreign::parse(path, text) {
                Some(found) => found,
                None => {
                    return self.refuse(frame, at, format!("parses a `{path}`, which is not read"));
                }
            },
        };
        Ok(found.map_or_else(failed, Value::ok))
    }

    /// What `Display` writes.
    pub fn display(&self, frame: &Frame, at: &impl quote::ToTokens, value: &Value) -> Eval<String> {
        Ok(match value {
            Value::Text(it, _) => it.clone(),
            Value::Char(it) => it.to_string(),
            Value::Bool(it) => it.to_string(),
            Value::Int(it, _) => it.to_string(),
            Value::Float(Float::F32(it)) => it.to_string(),
            Value::Float(Float::F64(it) | Float::Either(_, it)) => it.to_string(),
            Value::Json(it) => it.to_string(),
            Value::Foreign(path, it) => match super::foreign::display(path, it) {
                Some(it) => it,
                None => return self.refuse(frame, at, "is shown by code that is not read"),
            },
            Value::Place(_) => {
                let value = self.settled(frame, at, value.clone())?;
                self.display(frame, at, &value)?
            }
            Value::Data(data) => {
                let arguments = data.arguments.clone();
                let own =
                    self.of_trait(frame, at, (data.id, &arguments), "std::fmt::Display", "fmt")?;
                let Some(own) = own else {
                    return self.refuse(frame, at, "is shown by code that is not read");
                };
                let text = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
                let given = vec![value.clone(), Value::Formatter(text.clone())];
                match self.run(frame, at, own, given, &Ty::Unknown)? {
                    Value::Result(Ok(_)) => text.take(),
                    _ => return self.refuse(frame, at, "is shown by code that is not read"),
                }
            }
            _ => return self.refuse(frame, at, "is shown by code that is not read"),
        })
    }
}

/// Whether std has `impl From<from> for to` of two integers.
fn wider(from: &str, to: &str) -> bool {
    if from == to {
        return true;
    }
    let signed = |it: &str| it.starts_with('i');
    let size = |it: &str| it.ends_with("size");
    if size(from) {
        return false;
    }
    if size(to) {
        return match to {
            "usize" => matches!(from, "u8" | "u16"),
            _ => matches!(from, "u8" | "i8" | "i16"),
        };
    }
    match (signed(from), signed(to)) {
        (false, _) | (true, true) => number::bits(from) < number::bits(to),
        (true, false) => false,
    }
}

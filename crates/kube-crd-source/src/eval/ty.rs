//! The types that code names, as far as a value needs them: with holes, and without references and boxes.

use std::rc::Rc;

use syn::spanned::Spanned as _;

use super::value::{Data, Float, Value};
use super::{Eval, Evaluator, Frame};
use crate::builtin::crates;
use crate::names::{Named, Space};
use crate::types::{Type, text};
use crate::world::{ItemId, Kind, Path, plain};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Unknown,
    /// A struct or enum of the project.
    Data(ItemId, Vec<Self>),
    /// A type of the language or of another crate, by its whole path.
    Known(String, Vec<Self>),
}

/// Types that are read as what is in them.
const THIN: &[&str] =
    &["std::boxed::Box", "std::rc::Rc", "std::sync::Arc", "std::borrow::Cow", "&"];

impl Ty {
    pub fn known(path: &str) -> Self {
        Self::Known(path.to_owned(), Vec::new())
    }

    pub fn list(path: &str, inner: Self) -> Self {
        Self::Known(path.to_owned(), vec![inner])
    }

    /// What a type of the schema reader is here.
    pub fn of(ty: &Type) -> Self {
        match ty {
            Type::Data(id, arguments) => {
                Self::Data(*id, arguments.iter().map(|it| Self::of(it)).collect())
            }
            // A constant is held as a type whose name is the number.
            Type::Constant(text) => Self::known(&format!("={text}")),
            Type::Foreign { path, arguments, .. } => {
                let arguments: Vec<Self> = arguments.iter().map(|it| Self::of(it)).collect();
                Self::thinned((*path).to_owned(), arguments)
            }
            Type::Kubernetes(_) => Self::known(ty.path()),
            Type::Root(_) | Type::Function(_) => Self::Unknown,
        }
    }

    pub fn thinned(path: String, mut arguments: Vec<Self>) -> Self {
        match arguments.len() {
            // A map of JSON values is held as the one JSON value that it is.
            _ if path == "serde_json::Map" => Self::known("serde_json::Map"),
            1 if path == "chrono::DateTime" && arguments[0].path() == "chrono::Utc" => {
                Self::known("chrono::DateTime<Utc>")
            }
            // A list by another name.
            1 if path == "smallvec::SmallVec" && arguments[0].path().starts_with("[;") => {
                Self::list("std::vec::Vec", arguments.remove(0).inside(0))
            }
            1 if THIN.contains(&path.as_str()) => arguments.remove(0),
            // `Result` of `anyhow`, `std::fmt` and the like.
            0 | 1 if path != "std::result::Result" && path.ends_with("::Result") => {
                arguments.resize(2, Self::Unknown);
                Self::Known("std::result::Result".to_owned(), arguments)
            }
            _ => {
                arguments.truncate(crates::arguments_that_count(&path));
                Self::Known(path, arguments)
            }
        }
    }

    /// Its path, where it is none of the project's.
    pub fn path(&self) -> &str {
        match self {
            Self::Known(path, _) => path,
            _ => "",
        }
    }

    /// What is in it, by position.
    pub fn inside(&self, index: usize) -> Self {
        match self {
            Self::Known(..) if self.is_any() => self.clone(),
            Self::Known(_, arguments) => arguments.get(index).cloned().unwrap_or(Self::Unknown),
            _ => Self::Unknown,
        }
    }

    /// The name of a number's type.
    pub fn integer(&self) -> Option<&'static str> {
        super::number::integer(self.path())
    }

    /// Whether the two can be one type, holes filled.
    pub fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (Self::Data(one, left), Self::Data(other, right)) => {
                one == other && left.iter().zip(right).all(|(one, other)| one.fits(other))
            }
            (Self::Known(one, left), Self::Known(other, right)) => {
                one == other && left.iter().zip(right).all(|(one, other)| one.fits(other))
            }
            _ => false,
        }
    }

    /// Whether nothing about it is open.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Data(_, inside) | Self::Known(_, inside) => inside.iter().all(Self::is_whole),
        }
    }
}

impl Evaluator<'_> {
    /// What a type is in the code of a frame.
    pub fn ty(&self, frame: &Frame, ty: &syn::Type) -> Eval<Ty> {
        self.ty_at(frame, ty, 0)
    }

    fn ty_at(&self, frame: &Frame, ty: &syn::Type, depth: u8) -> Eval<Ty> {
        if 64 < depth {
            return self.refuse(frame, ty, "is nested too deep to be read");
        }
        let inner = |ty: &syn::Type| self.ty_at(frame, ty, depth + 1);
        Ok(match ty {
            syn::Type::Paren(it) => inner(&it.elem)?,
            syn::Type::Group(it) => inner(&it.elem)?,
            syn::Type::Reference(it) => inner(&it.elem)?,
            syn::Type::Slice(it) => Ty::list("[]", inner(&it.elem)?),
            syn::Type::Array(it) => {
                let length = self.expr(frame, &it.len, &Ty::known("usize"))?;
                match self.conform(frame, &it.len, length, &Ty::known("usize"))? {
                    Value::Int(length, _) => Ty::list(&format!("[;{length}]"), inner(&it.elem)?),
                    _ => return self.refuse(frame, &it.len, "is no length"),
                }
            }
            syn::Type::Tuple(it) if it.elems.is_empty() => Ty::known("()"),
            syn::Type::Tuple(it) => Ty::Known(
                format!("({})", it.elems.len()),
                it.elems.iter().map(inner).collect::<Eval<_>>()?,
            ),
            syn::Type::Path(it) if it.qself.is_none() => self.path_ty(frame, &it.path, depth)?,
            _ => Ty::Unknown,
        })
    }

    /// The types between `<` and `>` of a path's last part that has them.
    pub fn turbofish(&self, frame: &Frame, arguments: &syn::PathArguments) -> Eval<Vec<Ty>> {
        self.arguments(frame, arguments, 0)
    }

    fn arguments(&self, frame: &Frame, arguments: &syn::PathArguments, depth: u8) -> Eval<Vec<Ty>> {
        let syn::PathArguments::AngleBracketed(it) = arguments else { return Ok(Vec::new()) };
        let mut res = Vec::new();
        for it in &it.args {
            match it {
                syn::GenericArgument::Type(it) => res.push(self.ty_at(frame, it, depth + 1)?),
                syn::GenericArgument::Lifetime(_) => {}
                _ => res.push(Ty::Unknown),
            }
        }
        Ok(res)
    }

    fn path_ty(&self, frame: &Frame, path: &syn::Path, depth: u8) -> Eval<Ty> {
        let last = match path.segments.last() {
            Some(it) => &it.arguments,
            None => return Ok(Ty::Unknown),
        };
        if let (Some(it), None) = (path.segments.first(), path.leading_colon) {
            let name = plain(&it.ident);
            let known = match name.as_str() {
                "Self" => frame.itself.clone(),
                name => frame.parameters.get(name).cloned(),
            };
            match known {
                Some(ty) if path.segments.len() == 1 => return Ok(ty),
                // A type that a trait gives.
                Some(_) => return Ok(Ty::Unknown),
                None => {}
            }
        }
        let arguments = self.arguments(frame, last, depth)?;
        match self.world.resolve(frame.module, &Path::from(path), Space::Types) {
            Ok(Named::Foreign(path)) => Ok(Ty::thinned(path, arguments)),
            Ok(Named::Item(id)) => match &self.world.items[id].kind {
                Kind::Data(input) => {
                    let there = Frame::new(self.world.items[id].module);
                    let mut res = Vec::new();
                    for (index, it) in parameters(&input.generics).enumerate() {
                        res.push(match (arguments.get(index), it.1) {
                            (Some(ty), _) => ty.clone(),
                            (None, Some(ty)) => self.ty_at(&there, ty, depth + 1)?,
                            (None, _) => Ty::Unknown,
                        });
                    }
                    Ok(Ty::Data(id, res))
                }
                Kind::Alias(alias) => {
                    let mut there = Frame::new(self.world.items[id].module);
                    let names = parameters(&alias.generics).map(|(name, _)| name);
                    there.parameters = Rc::new(names.zip(arguments).collect());
                    self.ty_at(&there, &alias.ty, depth + 8)
                }
                _ => Ok(Ty::Unknown),
            },
            _ => self.refuse(frame, path, "is not found as a type"),
        }
    }

    /// A value as what its place wants it to be. What cannot be that is refused: it was misread, or does not compile.
    pub fn conform(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        ty: &Ty,
    ) -> Eval<Value> {
        self.step(frame, at)?;
        if ty.is_any() || matches!(ty.path(), "?" | super::methods::ITERATOR) {
            return Ok(value);
        }
        if let (Value::Open(open), false) = (&value, *ty == Ty::Unknown) {
            return self.closed(frame, at, open.clone(), ty);
        }
        let span = at.to_token_stream().span();
        let wrong = |value: &Value| {
            let found = self.name_of(&value.ty());
            let message = format!(
                "`{}` was read as a value of type `{found}`, where there must be one of type `{}`",
                short(&text(at)),
                self.name_of(ty),
            );
            Err(self.stop(frame, span, message))
        };
        let each = |items: Vec<Value>, ty: &Ty| -> Eval<Vec<Value>> {
            items.into_iter().map(|it| self.conform(frame, at, it, ty)).collect()
        };
        let Ty::Known(path, arguments) = ty else {
            let Ty::Data(id, arguments) = ty else { return Ok(value) };
            return match value {
                Value::Data(data) if data.id == *id => {
                    self.conform_data(frame, at, data, arguments).map(Value::Data)
                }
                Value::Place(it) => Ok(Value::Place(it)),
                value => wrong(&value),
            };
        };
        let inside = |index: usize| ty.inside(index);
        Ok(match value {
            Value::Int(number, None) => match super::number::integer(path) {
                Some(it) if super::number::fits(number, it) => Value::Int(number, Some(it)),
                Some(it) => {
                    let message =
                        format!("`{}` is {number}, which does not fit in `{it}`", short(&text(at)));
                    return Err(self.stop(frame, span, message));
                }
                None => return wrong(&Value::Int(number, None)),
            },
            Value::Float(Float::Either(small, large)) => match path.as_str() {
                "f32" => Value::Float(Float::F32(small)),
                "f64" => Value::Float(Float::F64(large)),
                _ => return wrong(&Value::Float(Float::Either(small, large))),
            },
            Value::Text(it, _) if path == "str" => Value::Text(it, false),
            Value::Option(Some(it)) if path == "std::option::Option" => {
                Value::some(self.conform(frame, at, *it, &inside(0))?)
            }
            Value::Result(Ok(it)) if path == "std::result::Result" => {
                Value::ok(self.conform(frame, at, *it, &inside(0))?)
            }
            Value::Result(Err(it)) if path == "std::result::Result" => {
                let inner = self.conform(frame, at, *it, &inside(1))?;
                Value::Result(Err(Box::new(inner)))
            }
            Value::List(items, kind) if path == "[]" && matches!(kind, "std::vec::Vec" | "[;]") => {
                Value::List(each(items, &inside(0))?, "[]")
            }
            Value::List(items, "[;]") if *path == format!("[;{}]", items.len()) => {
                Value::List(each(items, &inside(0))?, "[;]")
            }
            Value::List(items, kind) if path == kind => Value::List(each(items, &inside(0))?, kind),
            Value::Set(items, kind) if path == kind => Value::Set(each(items, &inside(0))?, kind),
            Value::Tuple(items) if *path == format!("({})", items.len()) => {
                let items = items.into_iter().zip(arguments);
                Value::Tuple(
                    items.map(|(it, ty)| self.conform(frame, at, it, ty)).collect::<Eval<_>>()?,
                )
            }
            Value::Map(items, kind) if path == kind || (path == "serde_json::Map") => {
                let mut res = Vec::new();
                for (key, value) in items {
                    res.push((
                        self.conform(frame, at, key, &inside(0))?,
                        self.conform(frame, at, value, &inside(1))?,
                    ));
                }
                Value::Map(res, kind)
            }
            value @ Value::Json(serde_json::Value::Object(_)) if path == "serde_json::Map" => value,
            value @ (Value::Place(_)
            | Value::Function(_)
            | Value::Iterator(_)
            | Value::Formatter(_)
            | Value::Serializer) => value,
            value if value.ty().fits(ty) => value,
            value => return wrong(&value),
        })
    }

    fn conform_data(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        mut data: Data,
        arguments: &[Ty],
    ) -> Eval<Data> {
        if arguments.is_empty() || data.arguments.iter().all(Ty::is_whole) {
            let ty = Ty::Data(data.id, data.arguments.clone());
            if !ty.fits(&Ty::Data(data.id, arguments.to_vec())) {
                return self.refuse(frame, at, "was read as a value of another type");
            }
            return Ok(data);
        }
        data.arguments = arguments.to_vec();
        let there = self.inside(data.id, arguments);
        let fields = self.fields(data.id, data.variant.as_deref());
        for ((_, value), (_, ty)) in data.fields.iter_mut().zip(fields) {
            let ty = self.ty(&there, ty)?;
            let old = std::mem::replace(value, Value::Unit);
            *value = self.conform(frame, at, old, &ty)?;
        }
        Ok(data)
    }

    /// A type as one would write it, for messages.
    pub fn name_of(&self, ty: &Ty) -> String {
        let inside = |arguments: &[Ty]| {
            arguments.iter().map(|it| self.name_of(it)).collect::<Vec<_>>().join(", ")
        };
        match ty {
            Ty::Unknown => "_".to_owned(),
            Ty::Data(id, _) => self.world.items[*id].name.clone(),
            Ty::Known(path, arguments) if path == "[]" => format!("[{}]", inside(arguments)),
            Ty::Known(path, arguments) if path.starts_with("[;") => {
                format!("[{}; {}", inside(arguments), &path[2..])
            }
            Ty::Known(path, arguments) if path.starts_with('(') => {
                format!("({})", inside(arguments))
            }
            Ty::Known(path, arguments) => {
                let last = path.rsplit("::").next().unwrap_or(path);
                match arguments[..] {
                    [] => last.to_owned(),
                    _ => format!("{last}<{}>", inside(arguments)),
                }
            }
        }
    }
}

/// The parameters that stand for types and numbers, with the defaults of those that stand for types.
pub fn parameters(generics: &syn::Generics) -> impl Iterator<Item = (String, Option<&syn::Type>)> {
    generics.params.iter().filter_map(|it| match it {
        syn::GenericParam::Type(it) => {
            Some((plain(&it.ident), it.default.as_ref().map(|(_, ty)| ty)))
        }
        syn::GenericParam::Const(it) => Some((plain(&it.ident), None)),
        syn::GenericParam::Lifetime(_) => None,
    })
}

/// The beginning of a long text.
pub fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

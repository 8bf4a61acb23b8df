//! `into`, `from` and `parse` between types of std, of serde_json and of crates that are known.

use syn::ExprMethodCall;

use super::construct::Construct;
use super::syntax::peel;
use super::ty::{Int, Ty};
use super::value::{JsonKind, Value, is_list};
use super::{Eval, Evaluator, Frame};
use crate::builtin;

impl Evaluator<'_> {
    pub fn into(&self, frame: &Frame, it: &ExprMethodCall, expected: &Ty) -> Eval<Value> {
        if !expected.is_known() {
            return self.untyped(frame, it);
        }
        let from = self.source_type(frame, &it.receiver, expected);
        let value = self.eval(frame, &it.receiver, &from)?;
        self.check_inherent(frame, it, &value)?;
        let value = self.convert(frame, it, value, expected)?;
        self.accept(Construct::Into);
        Ok(value)
    }

    /// The type that is converted: its own; of a list or a map, that of what it is made of.
    pub fn source_type(&self, frame: &Frame, expr: &syn::Expr, to: &Ty) -> Ty {
        match (self.type_of(frame, expr), peel(expr)) {
            (ty, _) if ty.is_known() => ty,
            // A number without a type is an `i32` or an `f64` here.
            (_, syn::Expr::Lit(_) | syn::Expr::Unary(_)) => Ty::Any,
            (_, syn::Expr::Array(_)) => match to {
                Ty::Foreign(path, inside) if path.ends_with("Map") && inside.len() == 2 => {
                    Ty::Foreign("[]".to_owned(), vec![Ty::Tuple(inside.clone())])
                }
                Ty::Foreign(path, inside) if is_list(path) => {
                    Ty::Foreign("[]".to_owned(), inside.clone())
                }
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    /// `impl From<…> for …` of std and of known crates; those of the project are not evaluated.
    pub fn convert(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        to: &Ty,
    ) -> Eval<Value> {
        let refused = || {
            let to = self.name_of(to);
            self.refuse(frame, at, format!("such a conversion to `{to}` is not evaluated"))
        };
        Ok(match (value, to) {
            (Value::Int(number, from), Ty::Int(to)) if from.widens_to(*to) => {
                Value::Int(number, *to)
            }
            #[allow(clippy::cast_precision_loss, reason = "an `f64` holds every `i32` and `u32`")]
            (Value::Int(number, from), Ty::F64) if from.widens_to(Int::I64) && from != Int::I64 => {
                Value::F64(number as f64)
            }
            (Value::F32(number), Ty::F64) => Value::F64(number.into()),
            (value @ (Value::F64(_) | Value::F32(_)), _) if value.fits(to) => value,
            (value, Ty::Foreign(path, inside)) => {
                match self.convert_to(frame, at, value, path, inside)? {
                    Some(value) => value,
                    None => return refused(),
                }
            }
            (value, _) if value.fits(to) && value.ty().is_known() => value,
            _ => return refused(),
        })
    }

    fn convert_to(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        path: &str,
        inside: &[Ty],
    ) -> Eval<Option<Value>> {
        let to = Ty::Foreign(path.to_owned(), inside.to_vec());
        Ok(Some(match (path, value) {
            ("std::string::String" | "str", value @ Value::Text(_)) => value,
            ("std::string::String", Value::Char(it)) => Value::text(it.to_string()),
            ("std::path::PathBuf" | "smol_str::SmolStr", Value::Text(it)) => {
                Value::foreign(path, (*it).into())
            }
            ("std::option::Option", value @ Value::Option(_)) if value.fits(&to) => value,
            ("std::option::Option", value) => {
                let inner = to.inside(0);
                Value::some(self.convert_same(frame, at, value, &inner)?)
            }
            (path, value @ Value::List(_)) if is_list(path) && value.fits(&to) => value,
            (path, Value::List(items)) if path.ends_with("Map") => {
                let entries: Option<Vec<_>> = items
                    .iter()
                    .map(|it| match it {
                        Value::Tuple(pair) => Some((pair.first()?.clone(), pair.get(1)?.clone())),
                        _ => None,
                    })
                    .collect();
                match entries {
                    Some(entries) => self.map_of(frame, at, entries)?,
                    None => return Ok(None),
                }
            }
            ("serde_json::Value", value) => match value {
                Value::Json(_, it) => Value::Json(JsonKind::Value, it),
                value @ (Value::Bool(_)
                | Value::Text(_)
                | Value::Int(..)
                | Value::F32(_)
                | Value::F64(_)
                | Value::List(_)
                | Value::Option(_)) => Value::json(self.json_of(frame, at, &value)?),
                _ => return Ok(None),
            },
            ("schemars::Schema", Value::Bool(it)) => self.schema_of(frame, at, it.into())?,
            ("schemars::Schema", Value::Json(JsonKind::Map, it)) => {
                Value::Json(JsonKind::Schema, it)
            }
            ("kube_core::Duration", Value::Foreign(of, it)) if *of == *"std::time::Duration" => {
                let found = serde_json::from_value::<std::time::Duration>((*it).clone());
                let found = found.map(kube_core::Duration::from).map(serde_json::to_value);
                match found {
                    Ok(Ok(it)) => Value::foreign(path, it),
                    _ => return Ok(None),
                }
            }
            (_, value) if value.fits(&to) && value.ty().is_known() => value,
            _ => return Ok(None),
        }))
    }

    /// A value that must be of a type already.
    fn convert_same(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        ty: &Ty,
    ) -> Eval<Value> {
        match value.fits(ty) {
            true => Ok(value),
            false => self.refuse(frame, at, "such a conversion is not evaluated"),
        }
    }

    pub fn parse_method(&self, frame: &Frame, it: &ExprMethodCall, expected: &Ty) -> Eval<Value> {
        let ty = match (&it.turbofish, expected) {
            (Some(given), _) => match given.args.first() {
                Some(syn::GenericArgument::Type(ty)) => self.ty(frame, ty)?,
                _ => return self.unsupported(frame, it),
            },
            (None, Ty::Outcome(inner)) => (**inner).clone(),
            _ => return self.untyped(frame, it),
        };
        let Value::Text(text) = self.eval(frame, &it.receiver, &Ty::foreign("str"))? else {
            return self.unsupported(frame, it);
        };
        self.parse(frame, it, &text, &ty)
    }

    /// What a text is parsed to, in an `Ok`; what fails is refused.
    pub fn parse(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        text: &str,
        ty: &Ty,
    ) -> Eval<Value> {
        let found = match ty {
            Ty::Unknown | Ty::Any => return self.untyped(frame, at),
            Ty::Int(of) => parse_integer(text, *of).map(|it| Value::Int(it, *of)),
            Ty::F32 => text.parse().ok().map(Value::F32),
            Ty::F64 => text.parse().ok().map(Value::F64),
            Ty::Foreign(path, _) => match path.as_str() {
                "std::string::String" => Some(Value::text(text)),
                "bool" => text.parse().ok().map(Value::Bool),
                "char" => text.parse().ok().map(Value::Char),
                path => match builtin::find(path).and_then(|(_, it)| it.parse) {
                    Some(parse) => parse(text).map(|it| Value::foreign(path, it)),
                    None => return self.unsupported(frame, at),
                },
            },
            _ => return self.refuse(frame, at, "a `FromStr` of the project is not evaluated"),
        };
        match found {
            Some(value) => {
                self.accept(Construct::Parse);
                Ok(Value::Ok(value.into()))
            }
            None => self.panics(frame, at, "it cannot be parsed"),
        }
    }
}

/// As `str::parse` reads a number: a sign and digits, in the range of its type.
fn parse_integer(text: &str, of: Int) -> Option<i128> {
    let is_signed = of.range().0 < 0;
    // An unsigned number takes no `-`, not even before 0.
    if text.starts_with('-') && !is_signed {
        return None;
    }
    text.parse::<i128>().ok().filter(|it| of.holds(*it))
}

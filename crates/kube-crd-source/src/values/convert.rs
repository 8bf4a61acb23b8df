//! `into` and `from` between types of std and of serde_json.

use syn::ExprMethodCall;

use super::construct::Construct;
use super::syntax::peel_parens;
use super::ty::Ty;
use super::value::{JsonKind, Value, is_list};
use super::{Eval, Evaluator, Frame};

impl Evaluator<'_> {
    pub fn eval_into(&self, frame: &Frame, it: &ExprMethodCall, expected: &Ty) -> Eval<Value> {
        if !expected.is_known() {
            return self.untyped(frame, it);
        }
        let from = self.source_type(frame, &it.receiver);
        let value = self.eval_expr(frame, &it.receiver, &from)?;
        self.check_inherent(frame, it, &value)?;
        let value = self.convert_value(frame, it, value, expected)?;
        self.record_construct(Construct::Into);
        Ok(value)
    }

    /// The type that is converted: its own.
    pub fn source_type(&self, frame: &Frame, expr: &syn::Expr) -> Ty {
        match (self.type_of(frame, expr), peel_parens(expr)) {
            (ty, _) if ty.is_known() => ty,
            // A number without a type is an `i32` or an `f64` here.
            (_, syn::Expr::Lit(_) | syn::Expr::Unary(_)) => Ty::Any,
            _ => Ty::Unknown,
        }
    }

    /// `impl From<…> for …` of std and of known crates; those of the project are not evaluated.
    pub fn convert_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        value: Value,
        to: &Ty,
    ) -> Eval<Value> {
        let refused = || {
            let to = self.name_of(to);
            self.refuse(frame, at, format!("this conversion to `{to}` is not supported"))
        };
        Ok(match (value, to) {
            (value, Ty::Foreign(path, inside)) => {
                match self.convert_to(frame, at, value, path, inside)? {
                    Some(value) => value,
                    None => return refused(),
                }
            }
            (value, _) if value.fits_type(to) && value.ty().is_known() => value,
            (Value::Int(number, from), Ty::Int(to)) if from.converts_to(*to) => {
                Value::Int(number, *to)
            }
            (Value::Bool(value), Ty::Int(to)) => Value::Int(value.into(), *to),
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
            ("std::path::PathBuf" | "smol_str::SmolStr", Value::Text(it)) => {
                Value::foreign(path, (*it).into())
            }
            ("std::option::Option", value @ Value::Option(_)) if value.fits_type(&to) => value,
            ("std::option::Option", value) => {
                let inner = to.content_type(0);
                Value::some(self.convert_same(frame, at, value, &inner)?)
            }
            (path, value @ Value::List(_)) if is_list(path) && value.fits_type(&to) => value,
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
            (_, value) if value.fits_type(&to) && value.ty().is_known() => value,
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
        if value.fits_type(ty) {
            Ok(value)
        } else {
            self.refuse(frame, at, "this conversion is not supported")
        }
    }
}

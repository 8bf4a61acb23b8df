//! Functions and constants of std, serde_json, schemars and k8s-openapi.

use std::rc::Rc;

use serde_json::json;
use syn::{Expr, ExprCall, ExprPath};

use super::call::Arguments;
use super::construct::Construct;
use super::default::empty_collection;
use super::syntax::{attributes_of, peel_parens};
use super::ty::{Int, Ty};
use super::value::{JsonKind, Value, is_list};
use super::{Eval, Evaluator, Frame};

const QUANTITY: &str = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";
const BTREE_MAP: &str = "std::collections::BTreeMap";
const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

impl Evaluator<'_> {
    /// A constant by its whole path.
    pub fn foreign_constant(&self, path: &str) -> Option<Value> {
        Some(match path {
            "std::option::Option::None" => {
                self.record_construct(Construct::None);
                Value::Option(None)
            }
            "serde_json::Value::Null" => {
                self.record_construct(Construct::JsonValue);
                Value::json(serde_json::Value::Null)
            }
            _ => {
                let (ty, name) = path.strip_prefix("std::").unwrap_or(path).split_once("::")?;
                let ty = Int::parse(ty)?;
                let (low, high) = ty.range();
                let is_low = match name {
                    "MIN" => true,
                    "MAX" if ty != Int::U128 => false,
                    _ => return None,
                };
                ty.bits()?;
                self.record_construct(Construct::IntegerLimit);
                Value::Int(if is_low { low } else { high }, ty)
            }
        })
    }

    /// A call of a function by its whole path.
    pub fn foreign_call(
        &self,
        frame: &Frame,
        it: &ExprCall,
        path: &str,
        of: Option<syn::Type>,
        expected: &Ty,
    ) -> Eval<Value> {
        let (front, name) = path.rsplit_once("::").unwrap_or(("", path));
        match (it.args.len(), it.args.first()) {
            (0, _) => match &*it.func {
                Expr::Path(at) => self.foreign_call_of_none(frame, at, path, of, expected),
                _ => self.unsupported(frame, it),
            },
            (1, Some(argument)) => {
                self.foreign_call_of_one(frame, it, argument, (front, name), expected)
            }
            _ => self.unsupported(frame, it),
        }
    }

    /// `String::new`, `Vec::default`: what takes no argument.
    pub fn foreign_call_of_none(
        &self,
        frame: &Frame,
        at: &ExprPath,
        path: &str,
        of: Option<syn::Type>,
        expected: &Ty,
    ) -> Eval<Value> {
        let (front, name) = path.rsplit_once("::").unwrap_or(("", path));
        let found = match (front, name) {
            (_, "default") => return self.foreign_default(frame, at, path, of, expected),
            ("std::string::String", "new") => Some(Value::text("")),
            ("serde_json::Map", "new") => Some(Value::Json(JsonKind::Map, Rc::new(json!({})))),
            ("std::path::PathBuf", "new") => Some(Value::foreign(front, "".into())),
            (path, "new") if is_list(path) => Some(Value::List(Rc::new([]))),
            (path, "new") => empty_collection(path),
            _ => None,
        };
        match found {
            Some(value) => {
                self.record_construct(Construct::Empty);
                Ok(value)
            }
            None => self.unsupported(frame, at),
        }
    }

    fn foreign_call_of_one(
        &self,
        frame: &Frame,
        it: &ExprCall,
        argument: &Expr,
        (front, name): (&str, &str),
        expected: &Ty,
    ) -> Eval<Value> {
        let (construct, value) = match (front, name) {
            ("std::option::Option", "Some") => {
                let value = self.eval_expr(frame, argument, &expected.content_type(0))?;
                (Construct::Some, Value::some(value))
            }
            (
                "std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc" | "std::borrow::Cow",
                "new" | "Borrowed" | "Owned",
            ) => (Construct::BoxNew, self.eval_expr(frame, argument, expected)?),
            ("serde_json::Value", _) => self.json_value(frame, it, argument, name)?,
            ("serde_json" | "schemars::Schema", _) => {
                return self.schema_function(frame, it, argument, (front, name), expected);
            }
            (BTREE_MAP, "from") => {
                let to = target_of_from(front, expected);
                (Construct::MapFrom, self.map_of_pairs(frame, argument, &to)?)
            }
            (_, "from") => {
                let to = target_of_from(front, expected);
                let from = self.source_type(frame, argument);
                let value = self.eval_expr(frame, argument, &from)?;
                (Construct::From, self.convert_value(frame, it, value, &to)?)
            }
            (INT_OR_STRING, "Int") => match self.eval_expr(frame, argument, &Ty::Int(Int::I32))? {
                Value::Int(number, Int::I32) => {
                    (Construct::IntOrString, Value::foreign(front, json!(number as i32)))
                }
                _ => return self.unsupported(frame, it),
            },
            (INT_OR_STRING, "String") => {
                match self.eval_expr(frame, argument, &Ty::foreign("std::string::String"))? {
                    Value::Text(text) => {
                        (Construct::IntOrString, Value::foreign(front, (*text).into()))
                    }
                    _ => return self.unsupported(frame, it),
                }
            }
            _ if format!("{front}::{name}") == QUANTITY => {
                match self.eval_expr(frame, argument, &Ty::foreign("str"))? {
                    Value::Text(text) => {
                        (Construct::Quantity, Value::foreign(QUANTITY, (*text).into()))
                    }
                    _ => return self.unsupported(frame, it),
                }
            }
            _ => return self.unsupported(frame, it),
        };
        self.record_construct(construct);
        Ok(value)
    }

    /// The argument of `BTreeMap::from`, as serde writes the map.
    fn map_of_pairs(&self, frame: &Frame, argument: &Expr, to: &Ty) -> Eval<Value> {
        let Expr::Array(pairs) = peel_parens(argument) else {
            return self.unsupported(frame, argument);
        };
        if !to.content_type(0).is_known() || !to.content_type(1).is_known() {
            return self.untyped(frame, argument);
        }
        let mut map = serde_json::Map::new();
        for pair in &pairs.elems {
            let (Expr::Tuple(pair), attributes) = (peel_parens(pair), attributes_of(pair)) else {
                return self.unsupported(frame, pair);
            };
            let (Some(key), Some(value), 2, true) =
                (pair.elems.first(), pair.elems.last(), pair.elems.len(), attributes.is_empty())
            else {
                return self.unsupported(frame, pair);
            };
            let Value::Text(key) = self.eval_expr(frame, key, &to.content_type(0))? else {
                return self.unsupported(frame, key);
            };
            let value = self.eval_expr(frame, value, &to.content_type(1))?;
            map.insert(key.to_string(), self.json_of(frame, pair, &value)?);
        }
        // One without entries is equal to others of its kind.
        if map.is_empty() {
            return Ok(Value::Map);
        }
        Ok(Value::foreign(BTREE_MAP, map.into()))
    }

    /// `Vec::default()`, `ObjectMeta::default()`.
    pub fn foreign_default(
        &self,
        frame: &Frame,
        at: &ExprPath,
        path: &str,
        of: Option<syn::Type>,
        expected: &Ty,
    ) -> Eval<Value> {
        let front = path.strip_suffix("::default").unwrap_or(path);
        if front == "std::default::Default" {
            self.record_construct(Construct::TraitDefault);
            return if expected.is_known() {
                self.default_of(frame, at, expected)
            } else {
                self.untyped(frame, at)
            };
        }
        self.record_construct(Construct::TypeDefault);
        // The type's own arguments are in the place that it comes to.
        let ty = match (expected, of) {
            (Ty::Foreign(path, _), _) if path == front => expected.clone(),
            (_, Some(of)) => self.resolve_type(frame, &of)?,
            _ => Ty::foreign(front),
        };
        self.default_of(frame, at, &ty)
    }

    /// Calls the function in `skip_serializing_if` for a value.
    pub fn is_skipped(
        &self,
        frame: &Frame,
        path: &ExprPath,
        value: &Value,
        ty: &Rc<crate::types::Type>,
    ) -> Eval<bool> {
        if let super::target::PathTarget::Foreign(name, _) = self.resolve_target(frame, path)? {
            let found = match (name.as_str(), value) {
                ("std::option::Option::is_none", Value::Option(it)) => it.is_none(),
                ("std::option::Option::is_some", Value::Option(it)) => it.is_some(),
                ("std::vec::Vec::is_empty" | "[]::is_empty", Value::List(it)) => it.is_empty(),
                ("std::string::String::is_empty" | "str::is_empty", Value::Text(it)) => {
                    it.is_empty()
                }
                (name, Value::Map) if name.ends_with("Map::is_empty") => true,
                (name, Value::Set) if name.ends_with("Set::is_empty") => true,
                ("serde_json::Map::is_empty", Value::Json(JsonKind::Map, it)) => {
                    it.as_object().is_some_and(serde_json::Map::is_empty)
                }
                ("serde_json::Value::is_null", Value::Json(JsonKind::Value, it)) => it.is_null(),
                ("std::ops::Not::not", Value::Bool(it)) => !it,
                _ => return self.refuse(frame, path, "this test is not evaluated"),
            };
            self.record_construct(Construct::SkipStandard);
            return Ok(found);
        }
        self.record_construct(Construct::SkipOwn);
        let arguments = Arguments::Values(vec![(value.clone(), ty.clone())]);
        match self.call_path(frame, path, &arguments, &Ty::foreign("bool"))? {
            Value::Bool(it) => Ok(it),
            _ => self.refuse(frame, path, "it does not return a `bool`"),
        }
    }
}

/// The type of `T::from(…)`, with what is in it where the place says so.
fn target_of_from(path: &str, expected: &Ty) -> Ty {
    match expected {
        Ty::Foreign(of, _) if of == path => expected.clone(),
        // `Cow::from(…)` is read as what is in it.
        _ if super::ty::is_transparent(path) => expected.clone(),
        _ => Ty::foreign(path),
    }
}

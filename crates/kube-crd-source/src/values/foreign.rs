//! Functions and constants of std, serde_json, schemars and k8s-openapi.

use std::rc::Rc;

use serde_json::json;
use syn::{Expr, ExprCall, ExprPath};

use super::call::Arguments;
use super::construct::Construct;
use super::default::empty;
use super::ty::{Int, Ty};
use super::value::{JsonKind, Value, is_list};
use super::{Eval, Evaluator, Frame};

const QUANTITY: &str = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";
const INT_OR_STRING: &str = "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString";

impl Evaluator<'_> {
    /// A constant by its whole path.
    pub fn foreign_constant(&self, path: &str) -> Option<Value> {
        let (of, name) = path.rsplit_once("::")?;
        let of = of.strip_prefix("std::").unwrap_or(of);
        if let (Some(of), "MIN" | "MAX") = (Int::parse(of), name) {
            // The highest `u128` is beyond what is read.
            if of == Int::U128 && name == "MAX" {
                return None;
            }
            let (low, high) = of.range();
            self.accept(Construct::NumberConstant);
            return Some(Value::Int(if name == "MIN" { low } else { high }, of));
        }
        Some(match path {
            "std::option::Option::None" => {
                self.accept(Construct::None);
                Value::Option(None)
            }
            "serde_json::Value::Null" => {
                self.accept(Construct::JsonValue);
                Value::json(serde_json::Value::Null)
            }
            "std::time::Duration::ZERO" => {
                self.accept(Construct::Duration);
                Value::foreign("std::time::Duration", json!({ "secs": 0, "nanos": 0 }))
            }
            _ => return None,
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
            (path, "new") => empty(path),
            _ => None,
        };
        match found {
            Some(value) => {
                self.accept(Construct::Empty);
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
        let text = || -> Eval<Rc<str>> {
            match self.eval(frame, argument, &Ty::foreign("str"))? {
                Value::Text(it) => Ok(it),
                _ => self.unsupported(frame, argument),
            }
        };
        let number = |of: Int| -> Eval<i128> {
            match self.eval(frame, argument, &Ty::Int(of))? {
                Value::Int(it, _) => Ok(it),
                _ => self.unsupported(frame, argument),
            }
        };
        let (construct, value) = match (front, name) {
            ("std::option::Option", "Some") => {
                let value = self.eval(frame, argument, &expected.inside(0))?;
                (Construct::Some, Value::some(value))
            }
            (
                "std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc" | "std::borrow::Cow",
                "new" | "Borrowed" | "Owned",
            ) => (Construct::BoxNew, self.eval(frame, argument, expected)?),
            ("std::borrow::Cow", "from") => (Construct::From, Value::Text(text()?)),
            ("k8s_openapi::apimachinery::pkg::api::resource", "Quantity") => {
                (Construct::Quantity, Value::foreign(QUANTITY, (*text()?).into()))
            }
            (INT_OR_STRING, "Int") => {
                let number = i32::try_from(number(Int::I32)?).unwrap_or_default();
                (Construct::Quantity, Value::foreign(INT_OR_STRING, number.into()))
            }
            (INT_OR_STRING, "String") => {
                (Construct::Quantity, Value::foreign(INT_OR_STRING, (*text()?).into()))
            }
            ("std::time::Duration", "from_secs") => {
                let secs = u64::try_from(number(Int::U64)?).unwrap_or_default();
                (Construct::Duration, Value::foreign(front, json!({ "secs": secs, "nanos": 0 })))
            }
            ("std::time::Duration", "from_millis") => {
                let millis = u64::try_from(number(Int::U64)?).unwrap_or_default();
                let json = json!({ "secs": millis / 1000, "nanos": millis % 1000 * 1_000_000 });
                (Construct::Duration, Value::foreign(front, json))
            }
            ("url::Url", "parse") | ("uuid::Uuid", "parse_str") | ("semver::Version", "parse") => {
                return self.parse(frame, it, &text()?, &Ty::foreign(front));
            }
            ("serde_json::Value", _) => self.json_value(frame, it, argument, name)?,
            ("serde_json" | "schemars::Schema", _) => {
                return self.schema_function(frame, it, argument, (front, name), expected);
            }
            (_, "from") => {
                let to = self.type_from(front, expected);
                let from = self.source_type(frame, argument, &to);
                let value = self.eval(frame, argument, &from)?;
                let is_map = front.ends_with("Map");
                let construct = if is_map { Construct::MapFrom } else { Construct::From };
                (construct, self.convert(frame, it, value, &to)?)
            }
            _ => return self.unsupported(frame, it),
        };
        self.accept(construct);
        Ok(value)
    }

    /// The type of `T::from(…)`, with what is in it where the place says so.
    fn type_from(&self, path: &str, expected: &Ty) -> Ty {
        match expected {
            Ty::Foreign(of, _) if of == path => expected.clone(),
            _ => Ty::foreign(path),
        }
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
            self.accept(Construct::TraitDefault);
            return match expected.is_known() {
                true => self.default_of(frame, at, expected),
                false => self.untyped(frame, at),
            };
        }
        self.accept(Construct::TypeDefault);
        // The type's own arguments are in the place that it comes to.
        let ty = match (expected, of) {
            (Ty::Foreign(path, _), _) if path == front => expected.clone(),
            (_, Some(of)) => self.ty(frame, &of)?,
            _ => Ty::foreign(front),
        };
        self.default_of(frame, at, &ty)
    }

    /// What a function that `skip_serializing_if` names says of a value.
    pub fn skips(
        &self,
        frame: &Frame,
        path: &ExprPath,
        value: &Value,
        ty: &Rc<crate::types::Type>,
    ) -> Eval<bool> {
        if let super::target::Target::Foreign(name, _) = self.target(frame, path)? {
            let found = match (name.as_str(), value) {
                ("std::option::Option::is_none", Value::Option(it)) => it.is_none(),
                ("std::option::Option::is_some", Value::Option(it)) => it.is_some(),
                ("std::vec::Vec::is_empty" | "[]::is_empty", Value::List(it)) => it.is_empty(),
                ("std::string::String::is_empty" | "str::is_empty", Value::Text(it)) => {
                    it.is_empty()
                }
                (name, Value::Map(it)) if name.ends_with("Map::is_empty") => it.is_empty(),
                (name, Value::Set(it)) if name.ends_with("Set::is_empty") => it.is_empty(),
                ("serde_json::Map::is_empty", Value::Json(JsonKind::Map, it)) => {
                    it.as_object().is_some_and(serde_json::Map::is_empty)
                }
                ("serde_json::Value::is_null", Value::Json(JsonKind::Value, it)) => it.is_null(),
                ("std::ops::Not::not", Value::Bool(it)) => !it,
                _ => return self.refuse(frame, path, "this test is not evaluated"),
            };
            self.accept(Construct::SkipStandard);
            return Ok(found);
        }
        self.accept(Construct::SkipOwn);
        let arguments = Arguments::Values(vec![(value.clone(), ty.clone())]);
        match self.call_path(frame, path, &arguments, &Ty::foreign("bool"))? {
            Value::Bool(it) => Ok(it),
            _ => self.refuse(frame, path, "it gives no `bool`"),
        }
    }
}

//! Expressions → values: the one evaluator of defaults, constants and hand-written schemas.
//!
//! It is given what a name means (`names`), what types are (`types`), and expressions. Types flow down to where a
//! value must know its own, and each value is held against the type of its place. What it accepts is a closed
//! list ([`Construct`]); whatever is not on it, or whose type is not known, is refused at its place. Every
//! evaluation ends: steps, depth and size are bounded ([`Budget`]).
//!
//! Nothing changes a value, so nothing can be seen half changed: there are no loops, no closures, no `&mut` but
//! `insert` on a local schema, no iterators, no traits of the project, and no `Serialize` but a derived one.
//!
//! # Why these constructs
//!
//! Counted in 2026 over 175 kinds of 36 public repositories with kube 2 or newer; the share of kinds whose CRD
//! needs one. 97 of them (55 %) need no code at all.
//!
//! | values | % | schemas | % |
//! |---|---|---|---|
//! | text literals | 17 | `json_schema!` | 10 |
//! | integer literals | 14 | `.into()` | 10 |
//! | `.to_string()` | 12 | `T::json_schema(generator)` | 5 |
//! | booleans | 9 | `subschema_for` | 6 |
//! | unit variants | 8 | `json!`, with expressions in it | 7 |
//! | struct literals | 6 | `let`, `let mut`, `insert` | 6 |
//! | constants | 3 | `Value::Bool(…)` and its like | 6 |
//! | `.to_owned()`, `Default::default()` | 3 | `.to_owned()` | 4 |
//! | `None`, `Some`, `String::from` | 2 | `vec!`, `.to_value()` | 3 |
//! | functions with parameters, `==` | 2 | `from_value`, `unwrap`, `expect` | 3 |
//! | `vec!`, `T::default()`, `&x` | 2 | `T::schema_name()`, `format!` | 2 |
//! | floats, tuple variants, fields, `&&` | 1 | `to_value`, a type inside a function (refused) | 1 |
//! | `is_none`, `.into()`, `#[cfg]`, generics | 1 | `concat!`, `module_path!`, `.len()` | < 1 |
//!
//! Counted again over 70 workspaces, those with an older kube among them, line by line of this folder: what no kind
//! reached is refused. So there is no `if`, `match` or `return`, no cast, shift or order, no arithmetic of floats, no
//! array, tuple, map or `char` that is written out, no `clone`, `parse` or `static`; a `let` tells the type of its
//! value by itself. Below 1 % and refused from the start: closures, iterators, loops, `std::env`, `&mut`, methods of
//! the project's own traits.

mod binary;
mod block;
mod budget;
mod call;
mod cast;
pub mod construct;
mod convert;
mod default;
mod equal;
mod expr;
mod field_default;
mod foreign;
mod format;
mod frame;
mod impls;
mod index;
mod json;
mod json_schema_impl;
mod literal;
mod macros;
mod method;
mod pattern;
mod schema;
mod serialize;
mod serialize_derived;
mod structure;
mod syntax;
mod target;
mod ty;
mod type_of;
mod value;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use serde_json::Value as Json;
use syn::{Expr, spanned::Spanned as _};

use crate::text::Problem;
use crate::text::format_tokens;
use crate::tree::ModuleId;
use crate::types::Types;
pub use budget::Budget;
use budget::Meter;
use construct::Construct;
pub use field_default::FieldDefault;
pub use frame::Frame;
pub use json_schema_impl::JsonSchemaImpl;
pub use schema::{Evaluated, Schemas};
use syntax::comma_separated;
pub use syntax::peel_parens;
pub use ty::{Int, Ty};
use value::Value;

/// Evaluates the code of one place.
pub struct Evaluator<'a> {
    pub world: &'a Types,
    budget: &'a Budget,
    meter: Meter,
    /// Answers for the schemas of types, in code that makes one.
    schemas: Option<&'a dyn Schemas>,
    /// The context of the code, for messages: "a default".
    context: &'static str,
}

/// Why an expression has no value.
pub enum Stop {
    Problem(Box<Problem>),
    /// Serde refuses to write it, which leaves a default out of the schema.
    Unwritten(Box<Problem>),
}

pub type Eval<T> = Result<T, Stop>;

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

const HINT: &str = "write the value itself";
const TYPE_HINT: &str = "write the type, as a suffix (`1_u8`) or an annotation (`let x: u8 = …`)";

impl<'a> Evaluator<'a> {
    pub fn new(world: &'a Types, budget: &'a Budget, context: &'static str) -> Self {
        let meter = Meter::default();
        Self { world, budget, meter, schemas: None, context }
    }

    pub fn with_schemas(self, schemas: &'a dyn Schemas) -> Self {
        Self { schemas: Some(schemas), ..self }
    }

    /// The value, or the problem that stopped the evaluation.
    pub fn into_result<T>(found: Eval<T>) -> Result<T, Box<Problem>> {
        found.map_err(|stop| match stop {
            Stop::Problem(it) | Stop::Unwritten(it) => it,
        })
    }

    /// Notes that a construct of the list is evaluated.
    #[allow(clippy::unused_self, reason = "it reads as what it is: the evaluator accepts")]
    fn record_construct(&self, construct: Construct) {
        #[cfg(test)]
        construct::record::add(construct);
        let _ = construct;
    }

    fn problem(&self, frame: &Frame, span: Span, message: String, hint: &str) -> Box<Problem> {
        Box::new(self.world.problem_at(frame.scope.module, span, message, hint))
    }

    /// Refuses an expression that is not evaluated, and says why.
    fn refuse<T>(&self, frame: &Frame, at: &impl ToTokens, why: impl AsRef<str>) -> Eval<T> {
        let expr = syntax::shorten_text(&format_tokens(at));
        let message = match why.as_ref() {
            "" => format!("unsupported expression `{expr}` in {}", self.context),
            why => format!("unsupported expression `{expr}` in {}: {why}", self.context),
        };
        let span = at.to_token_stream().span();
        Err(Stop::Problem(self.problem(frame, span, message, HINT)))
    }

    fn unsupported<T>(&self, frame: &Frame, at: &impl ToTokens) -> Eval<T> {
        self.refuse(frame, at, "")
    }

    /// Refuses an expression whose type is not known.
    fn untyped<T>(&self, frame: &Frame, at: &impl ToTokens) -> Eval<T> {
        let message = format!(
            "the type of `{}` in {} is not known",
            syntax::shorten_text(&format_tokens(at)),
            self.context
        );
        let span = at.to_token_stream().span();
        Err(Stop::Problem(self.problem(frame, span, message, TYPE_HINT)))
    }

    /// Refuses code over which `crd()` would panic.
    fn panics<T>(&self, frame: &Frame, at: &impl ToTokens, why: &str) -> Eval<T> {
        self.refuse(frame, at, format!("it panics, and so would `crd()`: {why}"))
    }

    fn syntax<T>(&self, frame: &Frame, found: syn::Result<T>) -> Eval<T> {
        found.map_err(|it| Stop::Problem(self.problem(frame, it.span(), it.to_string(), HINT)))
    }

    fn step(&self, frame: &Frame, at: &impl ToTokens) -> Eval<()> {
        self.spend(frame, at, 1)
    }

    /// Counts what is done or copied.
    fn spend(&self, frame: &Frame, at: &impl ToTokens, amount: usize) -> Eval<()> {
        if self.budget.try_spend(&self.meter, amount) {
            Ok(())
        } else {
            self.refuse(frame, at, "it takes too many steps, or grows too large")
        }
    }
}

/// Evaluates what attributes have in them, in one module.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub world: &'a Types,
    pub budget: &'a Budget,
    pub module: ModuleId,
}

impl Values<'_> {
    /// A string: a literal, a constant, `concat!`.
    pub fn eval_string(&self, expr: &Expr) -> syn::Result<String> {
        match self.eval_as(expr, &Ty::foreign("str"))? {
            Value::Text(it) => Ok(it.to_string()),
            _ => Err(syn::Error::new(
                expr.span(),
                format!("`{}` is not a `&str`", format_tokens(expr)),
            )),
        }
    }

    /// A number of any type.
    pub fn eval_number(&self, expr: &Expr) -> syn::Result<Json> {
        self.number_of(expr, &Ty::Any)
    }

    pub fn number_as(&self, expr: &Expr, ty: &str) -> syn::Result<Json> {
        self.number_of(expr, &Ty::foreign(ty))
    }

    fn number_of(&self, expr: &Expr, ty: &Ty) -> syn::Result<Json> {
        let value = self.eval_as(expr, ty)?;
        match value {
            Value::Int(..) | Value::F32(_) | Value::F64(_) => self.json_of_value(expr, &value),
            _ => Err(syn::Error::new(
                expr.span(),
                format!("`{}` is not a number", format_tokens(expr)),
            )),
        }
    }

    /// A value of any type, as serde writes it.
    pub fn eval_to_json(&self, expr: &Expr) -> syn::Result<Json> {
        let value = self.eval_as(expr, &Ty::Any)?;
        self.json_of_value(expr, &value)
    }

    /// The text of a `json!`.
    pub fn eval_json_macro(&self, tokens: TokenStream) -> syn::Result<Json> {
        let evaluator = self.new_evaluator();
        self.syn_result_at(tokens.span(), evaluator.json_macro(&Frame::new(self.module), &tokens))
    }

    fn new_evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(self.world, self.budget, "an attribute")
    }

    fn eval_as(&self, expr: &Expr, ty: &Ty) -> syn::Result<Value> {
        let found = self.new_evaluator().eval_expr(&Frame::new(self.module), expr, ty);
        self.syn_result_at(expr.span(), found)
    }

    fn json_of_value(&self, expr: &Expr, value: &Value) -> syn::Result<Json> {
        let found = self.new_evaluator().json_of(&Frame::new(self.module), expr, value);
        self.syn_result_at(expr.span(), found)
    }

    fn syn_result_at<T>(&self, span: Span, found: Eval<T>) -> syn::Result<T> {
        Evaluator::into_result(found).map_err(|problem| syn::Error::new(span, problem.message))
    }
}

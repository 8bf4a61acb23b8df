//! Runs the body of a function that makes a schema: statements, variables, calls of other such functions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use quote::ToTokens;
use schemars::SchemaGenerator;
use syn::{Expr, Pat, Stmt, spanned::Spanned as _};

use super::value::{Place, Value};
use crate::eval;
use crate::model::Problem;
use crate::schema::Reader;
use crate::types::{Scope, text};
use crate::world::plain;

/// How much is done for one schema, and how deep.
const MOST_STEPS: usize = 100_000;
const MOST_DEEP: usize = 48;

pub struct Run<'a> {
    pub reader: &'a Reader,
    /// None where a function is asked for a name.
    pub generator: Option<&'a mut SchemaGenerator>,
    pub steps: usize,
    pub depth: usize,
}

/// The code of one function as it runs.
pub struct Frame {
    pub scope: Scope,
    locals: RefCell<Vec<(String, Local)>>,
}

#[derive(Clone)]
enum Local {
    /// Data of its own.
    Own(Place),
    Value(Value),
}

pub enum Stop {
    Problem(Box<Problem>),
    Return(Value),
}

pub type Ran<T> = Result<T, Stop>;

const WAY_OUT: &str =
    "write the schema with `json_schema!`, `generator.subschema_for::<T>()` and `schema.insert(…)`";

impl Frame {
    pub fn new(scope: Scope) -> Self {
        Self { scope, locals: RefCell::default() }
    }

    pub fn local(&self, name: &str) -> Option<Value> {
        let locals = self.locals.borrow();
        locals.iter().rev().find(|(it, _)| it == name).map(|(_, it)| match it {
            Local::Own(place) => Value::Place(place.clone()),
            Local::Value(value) => value.clone(),
        })
    }

    pub fn bind(&self, name: String, value: Value) {
        let local = match value {
            Value::Json(it) => Local::Own(Place::new(it)),
            value => Local::Value(value),
        };
        self.locals.borrow_mut().push((name, local));
    }

    /// Gives a variable of its own another value; false where it is none.
    pub fn rebind(&self, name: &str, value: Value) -> bool {
        let mut locals = self.locals.borrow_mut();
        let Some((_, local)) = locals.iter_mut().rev().find(|(it, _)| it == name) else {
            return false;
        };
        *local = match value {
            Value::Json(it) => Local::Own(Place::new(it)),
            value => Local::Value(value),
        };
        true
    }

    fn owns(&self, name: &str) -> bool {
        let locals = self.locals.borrow();
        let found = locals.iter().rev().find(|(it, _)| it == name);
        matches!(found, Some((_, Local::Own(_))))
    }

    pub fn bound(&self) -> usize {
        self.locals.borrow().len()
    }

    pub fn forget(&self, length: usize) {
        self.locals.borrow_mut().truncate(length);
    }
}

impl Run<'_> {
    pub fn refuse<T>(&self, frame: &Frame, at: &impl ToTokens, what: &str) -> Ran<T> {
        let mut shown = text(at);
        if let Some((end, _)) = shown.char_indices().nth(60) {
            shown.truncate(end);
            shown.push('…');
        }
        let message = format!("`{shown}` {what}, in a schema that is written by hand");
        let span = at.to_token_stream().span();
        let problem = self.reader.world.problem(frame.scope.module, span, message, WAY_OUT);
        Err(Stop::Problem(Box::new(problem)))
    }

    pub fn told<T>(&self, frame: &Frame, found: syn::Result<T>) -> Ran<T> {
        found.map_err(|it| {
            let world = &self.reader.world;
            let problem = world.problem(frame.scope.module, it.span(), it.to_string(), WAY_OUT);
            Stop::Problem(Box::new(problem))
        })
    }

    /// Goes one level deeper for as long as `f` runs.
    pub fn deeper<T>(
        &mut self,
        frame: &Frame,
        at: &impl ToTokens,
        f: impl FnOnce(&mut Self) -> Ran<T>,
    ) -> Ran<T> {
        self.steps += 1;
        if MOST_STEPS < self.steps || MOST_DEEP < self.depth {
            return self.refuse(frame, at, "takes too many steps to be read");
        }
        self.depth += 1;
        let res = f(self);
        self.depth -= 1;
        res
    }

    /// Calls a function of the project. What it is given stands in the caller's code.
    pub fn call(
        &mut self,
        there: &Frame,
        signature: &syn::Signature,
        attrs: &[syn::Attribute],
        block: &syn::Block,
        given: Vec<Value>,
    ) -> Ran<Value> {
        const INERT: &[&str] =
            &["doc", "must_use", "inline", "allow", "expect", "cold", "track_caller"];
        if let Some(it) = attrs.iter().find(|it| !INERT.iter().any(|name| it.path().is_ident(name)))
        {
            return self.refuse(there, it, "may change the function that it stands on");
        }
        let strange = signature.asyncness.is_some() || signature.variadic.is_some();
        if strange || signature.inputs.len() != given.len() {
            return self.refuse(there, &signature.ident, "is no function that is read");
        }
        for (input, value) in signature.inputs.iter().zip(given) {
            match input {
                syn::FnArg::Typed(it) => self.bind(there, &it.pat, value)?,
                syn::FnArg::Receiver(it) => {
                    return self.refuse(there, it, "is a receiver, which is not read");
                }
            }
        }
        let found = self.deeper(there, &signature.ident, |run| run.block(there, block));
        match found {
            Err(Stop::Return(it)) => Ok(it),
            found => found,
        }
    }

    /// Binds what a pattern names: a name, `_`, a tuple of such.
    pub fn bind(&mut self, frame: &Frame, pat: &Pat, value: Value) -> Ran<()> {
        match pat {
            Pat::Ident(it) if it.subpat.is_none() => {
                frame.bind(plain(&it.ident), value);
                Ok(())
            }
            Pat::Wild(_) => Ok(()),
            Pat::Paren(it) => self.bind(frame, &it.pat, value),
            Pat::Reference(it) => self.bind(frame, &it.pat, value),
            Pat::Type(it) => self.bind(frame, &it.pat, value),
            Pat::Tuple(it) => {
                let Some(serde_json::Value::Array(parts)) = value.json() else {
                    return self.refuse(frame, pat, "is a pattern that is not read");
                };
                if parts.len() != it.elems.len() {
                    return self.refuse(frame, pat, "is a pattern that is not read");
                }
                for (pat, part) in it.elems.iter().zip(parts) {
                    let part = match part {
                        serde_json::Value::String(it) => Value::Text(it),
                        part => Value::Json(part),
                    };
                    self.bind(frame, pat, part)?;
                }
                Ok(())
            }
            _ => self.refuse(frame, pat, "is a pattern that is not read"),
        }
    }

    pub fn block(&mut self, frame: &Frame, block: &syn::Block) -> Ran<Value> {
        let before = frame.bound();
        let res = self.deeper(frame, block, |run| run.statements(frame, &block.stmts));
        frame.forget(before);
        res
    }

    fn statements(&mut self, frame: &Frame, stmts: &[Stmt]) -> Ran<Value> {
        let last = stmts.len().saturating_sub(1);
        let mut res = Value::Unit;
        for (index, stmt) in stmts.iter().enumerate() {
            res = Value::Unit;
            if let Some(attr) = conditional(stmt) {
                return self.refuse(frame, attr, "on a statement is not read");
            }
            match stmt {
                Stmt::Local(it) => self.local(frame, it)?,
                Stmt::Item(syn::Item::Const(it)) => {
                    let value = self.owned(frame, &it.expr)?;
                    frame.bind(plain(&it.ident), value);
                }
                Stmt::Item(it) => {
                    return self.refuse(
                        frame,
                        it,
                        "is an item inside a function, which is not read",
                    );
                }
                Stmt::Expr(expr, None) if index == last => res = self.owned(frame, expr)?,
                Stmt::Expr(expr, _) => drop(self.expr(frame, expr)?),
                Stmt::Macro(it) => {
                    let value = self.macro_(frame, &it.mac)?;
                    if index == last && it.semi_token.is_none() {
                        res = value;
                    }
                }
            }
        }
        Ok(res)
    }

    fn local(&mut self, frame: &Frame, it: &syn::Local) -> Ran<()> {
        let Some(init) = &it.init else {
            return self.refuse(frame, it, "is given no value");
        };
        let value = self.owned(frame, &init.expr)?;
        let pat = match &it.pat {
            Pat::Type(it) => &*it.pat,
            pat => pat,
        };
        match (&init.diverge, pat) {
            (None, pat) => self.bind(frame, pat, value),
            (Some((_, other)), pat) => {
                if self.matches(frame, pat, value)? {
                    return Ok(());
                }
                self.expr(frame, other)?;
                self.refuse(frame, other, "comes to an end, where it must not")
            }
        }
    }

    /// `Some(name)`, `Ok(name)`, `None`, or what always matches.
    pub fn matches(&mut self, frame: &Frame, pat: &Pat, value: Value) -> Ran<bool> {
        match (pat, value) {
            (Pat::TupleStruct(it), Value::Option(value))
                if it.elems.len() == 1
                    && it.path.get_ident().is_some_and(|it| it == "Some" || it == "Ok") =>
            {
                match value {
                    Some(value) => self.bind(frame, &it.elems[0], *value).map(|()| true),
                    None => Ok(false),
                }
            }
            (Pat::Ident(it), Value::Option(value)) if it.ident == "None" => Ok(value.is_none()),
            (Pat::TupleStruct(it), value) => {
                // A variant of `serde_json::Value`.
                let Some(json) = value.json() else {
                    return self.refuse(frame, pat, "is a pattern that is not read");
                };
                let name = it.path.segments.last().map(|it| it.ident.to_string());
                let fits = match (name.as_deref(), &json) {
                    (Some("Object"), json) => json.is_object(),
                    (Some("Array"), json) => json.is_array(),
                    (Some("String"), json) => json.is_string(),
                    (Some("Bool"), json) => json.is_boolean(),
                    _ => return self.refuse(frame, pat, "is a pattern that is not read"),
                };
                if it.elems.len() != 1 || !fits {
                    return match it.elems.len() {
                        1 => Ok(false),
                        _ => self.refuse(frame, pat, "is a pattern that is not read"),
                    };
                }
                self.bind(frame, &it.elems[0], value).map(|()| true)
            }
            (Pat::Ident(_) | Pat::Wild(_), value) => self.bind(frame, pat, value).map(|()| true),
            _ => self.refuse(frame, pat, "is a pattern that is not read"),
        }
    }

    /// The value of an expression that takes it along: a variable of its own is copied, a reference stays one.
    pub fn owned(&mut self, frame: &Frame, expr: &Expr) -> Ran<Value> {
        let value = self.expr(frame, expr)?;
        if let Expr::Path(it) = expr
            && let Some(name) = it.path.get_ident()
            && frame.owns(&plain(name))
            && let Value::Place(place) = &value
        {
            return match place.read() {
                Some(it) => Ok(Value::Json(it)),
                None => self.refuse(frame, expr, "is no value"),
            };
        }
        Ok(value)
    }

    /// A frame for the code of a function, with what its own parameters stand for.
    pub fn frame_of(
        &self,
        frame: &Frame,
        there: Scope,
        generics: &syn::Generics,
        said: &[Rc<crate::types::Type>],
        at: &impl ToTokens,
    ) -> Ran<Frame> {
        let mut parameters: BTreeMap<_, _> = (*there.parameters).clone();
        let names: Vec<String> = generics.type_params().map(|it| plain(&it.ident)).collect();
        if generics.const_params().next().is_some() || names.len() != said.len() {
            return self.refuse(frame, at, "does not say what its types are");
        }
        parameters.extend(names.into_iter().zip(said.iter().cloned()));
        Ok(Frame::new(Scope { module: there.module, parameters: Rc::new(parameters) }))
    }
}

/// An attribute of a statement that may change it.
fn conditional(stmt: &Stmt) -> Option<&syn::Attribute> {
    let attrs = match stmt {
        Stmt::Local(it) => &it.attrs,
        Stmt::Macro(it) => &it.attrs,
        Stmt::Item(syn::Item::Const(it)) => &it.attrs,
        Stmt::Item(_) => return None,
        Stmt::Expr(it, _) => return eval::condition(it),
    };
    attrs.iter().find(|it| !eval::is_quiet(it))
}

//! Runs the plain part of Rust that default values, constants and schemas written by hand are made of.
//!
//! Types flow down to where a value must know its own; every value is held against the type of the place that it
//! comes to. Nothing of the world outside is there: no clock, no environment, no file. Every run ends: steps and
//! depth are counted. What is not understood for certain is refused at its place, and what would panic too.

mod built;
mod call;
mod compare;
mod default;
mod derived;
mod expr;
mod foreign;
mod format;
mod functions;
mod impls;
mod into;
mod kubernetes;
mod linked;
mod macros;
mod methods;
mod named;
mod number;
mod operators;
mod pattern;
mod place;
mod serial;
mod statement;
mod ty;
pub mod value;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::Span;
use syn::spanned::Spanned as _;

use super::types::text;
use super::world::{ModuleId, World};
use crate::model::Problem;
pub use expr::{attribute, condition, is_quiet};
pub use serial::Writes;
pub use ty::Ty;
use ty::short;
use value::{Slot, Value};

/// How much is done for one value, and how deep.
const ENOUGH: usize = 200_000;
/// The same for all values together.
const ENOUGH_FOR_ALL: usize = 4 * ENOUGH;
const DEEP: usize = 160;
/// How long a text or a list may become.
const LONG: usize = 100_000;

const WAY_OUT: &str = "write the value out with literals and plain calls, or leave the default out of the schema with `#[schemars(extend(…))]`";

pub struct Evaluator<'a> {
    pub world: &'a World,
    steps: Cell<usize>,
    depth: Cell<usize>,
}

/// The code of one function as it runs, or of an expression that stands alone.
#[derive(Clone, Debug)]
pub struct Frame {
    pub module: ModuleId,
    /// What `Self` is.
    pub itself: Option<Ty>,
    /// What type parameters stand for.
    pub parameters: Rc<BTreeMap<String, Ty>>,
    /// What it returns.
    pub returns: Ty,
    locals: RefCell<Vec<(String, Slot)>>,
}

/// Why an expression has no value.
#[derive(Debug)]
pub enum Stop {
    Problem(Box<Problem>),
    /// Serde refuses to write it, which leaves a default out of the schema.
    Unwritten(Box<Problem>),
    Return(Value),
    Break(Option<String>, Value),
    Continue(Option<String>),
}

pub type Eval<T> = Result<T, Stop>;

impl Frame {
    pub fn new(module: ModuleId) -> Self {
        Self {
            module,
            itself: None,
            parameters: Rc::default(),
            returns: Ty::Unknown,
            locals: RefCell::default(),
        }
    }

    fn bind(&self, name: String, value: Value) {
        self.locals.borrow_mut().push((name, Rc::new(RefCell::new(value))));
    }

    fn local(&self, name: &str) -> Option<Slot> {
        let locals = self.locals.borrow();
        locals.iter().rev().find(|(it, _)| it == name).map(|(_, slot)| slot.clone())
    }

    /// Forgets what was bound since there were so many.
    fn forget(&self, length: usize) {
        self.locals.borrow_mut().truncate(length);
    }

    fn bound(&self) -> usize {
        self.locals.borrow().len()
    }

    /// As a closure takes it along: what is bound now, each the same place.
    fn taken(&self) -> Rc<Self> {
        Rc::new(self.clone())
    }
}

impl<'a> Evaluator<'a> {
    pub fn new(world: &'a World) -> Self {
        Self { world, steps: Cell::new(0), depth: Cell::new(0) }
    }

    /// The value of what was run, or why there is none.
    pub fn told(found: Eval<Value>) -> Result<Value, Box<Problem>> {
        match found {
            Ok(it) | Err(Stop::Return(it) | Stop::Break(_, it)) => Ok(it),
            Err(Stop::Problem(it) | Stop::Unwritten(it)) => Err(it),
            Err(Stop::Continue(_)) => Ok(Value::Unit),
        }
    }

    pub fn stop(&self, frame: &Frame, span: Span, message: impl Into<String>) -> Stop {
        Stop::Problem(Box::new(self.world.problem(frame.module, span, message, WAY_OUT)))
    }

    pub fn refuse<T>(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        what: impl std::fmt::Display,
    ) -> Eval<T> {
        let message = format!("`{}` {what}", short(&text(at)));
        Err(self.stop(frame, at.to_token_stream().span(), message))
    }

    /// Counts one step more.
    fn step(&self, frame: &Frame, at: &impl quote::ToTokens) -> Eval<()> {
        self.steps.set(self.steps.get() + 1);
        let all = &self.world.value_steps;
        all.set(all.get() + 1);
        match ENOUGH < self.steps.get() || ENOUGH_FOR_ALL < all.get() {
            true => self.refuse(frame, at, "takes too many steps to be read"),
            false => Ok(()),
        }
    }

    /// Goes one level deeper for as long as `f` runs.
    fn deeper<T>(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        f: impl FnOnce() -> Eval<T>,
    ) -> Eval<T> {
        self.step(frame, at)?;
        if DEEP < self.depth.get() {
            return self.refuse(frame, at, "goes too deep to be read");
        }
        self.depth.set(self.depth.get() + 1);
        let res = f();
        self.depth.set(self.depth.get() - 1);
        res
    }

    /// Refuses what has become too long.
    fn bounded(&self, frame: &Frame, at: &impl quote::ToTokens, length: usize) -> Eval<()> {
        match LONG < length {
            true => self.refuse(frame, at, "becomes too long to be read"),
            false => Ok(()),
        }
    }

    fn panics<T>(&self, frame: &Frame, at: &impl quote::ToTokens, why: &str) -> Eval<T> {
        self.refuse(frame, at, format!("panics when it runs, and so would `crd()`: {why}"))
    }
}

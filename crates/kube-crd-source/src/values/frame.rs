//! The code of one function as it is evaluated: where it stands, and its locals.

use std::cell::RefCell;
use std::rc::Rc;

use syn::Expr;

use super::ty::Ty;
use super::value::Value;
use crate::tree::ModuleId;
use crate::types::Scope;

#[derive(Clone)]
pub struct Frame {
    /// The module, and what `Self` and the type parameters stand for.
    pub scope: Scope,
    /// What the function returns.
    pub returns: Ty,
    locals: Option<Rc<Local>>,
}

/// One local; those before it stay reachable, and later ones hide it.
pub struct Local {
    name: String,
    pub ty: Ty,
    pub is_mutable: bool,
    /// It is declared as a plain reference, of which `*` is what it leads to.
    pub is_reference: bool,
    bound: RefCell<Bound>,
    before: Option<Rc<Self>>,
    count: usize,
}

#[derive(Clone)]
pub enum Bound {
    Value(Value),
    /// `let x = 5;`: evaluated where it is used, in the type that it has there.
    Later(Box<Expr>, Frame),
}

/// How many locals may be in scope at once.
const MOST: usize = 1_000;

impl Frame {
    pub fn new(module: ModuleId) -> Self {
        Self::of(Scope::from(module))
    }

    pub fn of(scope: Scope) -> Self {
        Self { scope, returns: Ty::Unknown, locals: None }
    }

    /// The same code with one local more; none where there are too many.
    pub fn with(&self, name: String, ty: Ty, is_mutable: bool, bound: Bound) -> Option<Self> {
        let count = self.locals.as_ref().map_or(0, |it| it.count) + 1;
        let bound = RefCell::new(bound);
        let before = self.locals.clone();
        let local = Local { name, ty, is_mutable, is_reference: false, bound, before, count };
        (count <= MOST).then(|| Self { locals: Some(Rc::new(local)), ..self.clone() })
    }

    /// The same code, its newest local declared as a plain reference.
    pub fn with_reference(mut self) -> Self {
        if let Some(local) = self.locals.as_mut().and_then(Rc::get_mut) {
            local.is_reference = true;
        }
        self
    }

    pub fn lookup(&self, name: &str) -> Option<&Local> {
        self.all().find(|it| it.name == name)
    }

    /// Whether something in scope may change.
    pub fn has_mutable(&self) -> bool {
        self.all().any(|it| it.is_mutable)
    }

    fn all(&self) -> impl Iterator<Item = &Local> {
        std::iter::successors(self.locals.as_deref(), |it| it.before.as_deref())
    }
}

impl Local {
    pub fn bound(&self) -> Bound {
        self.bound.borrow().clone()
    }

    pub fn set(&self, value: Value) {
        *self.bound.borrow_mut() = Bound::Value(value);
    }
}

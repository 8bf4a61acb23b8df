//! The code of one function as it is evaluated: where it stands, and its locals.

use std::cell::RefCell;
use std::rc::Rc;

use super::ty::Ty;
use super::value::Value;
use crate::text::unraw_name;
use crate::tree::ModuleId;
use crate::types::{Scope, Type};

#[derive(Clone)]
pub struct Frame {
    /// The module, and what `Self` and the type parameters stand for.
    pub scope: Scope,
    /// The return type of the function.
    pub returns: Ty,
    locals: Option<Rc<Local>>,
}

/// One local; those before it stay reachable, and later ones hide it.
pub struct Local {
    name: String,
    pub ty: Ty,
    pub is_mutable: bool,
    value: RefCell<Value>,
    before: Option<Rc<Self>>,
    count: usize,
}

/// The limit of locals that are in scope at once.
const MOST: usize = 1_000;

impl Frame {
    pub fn new(module: ModuleId) -> Self {
        Self::in_scope(Scope::from(module))
    }

    pub fn in_scope(scope: Scope) -> Self {
        Self { scope, returns: Ty::Unknown, locals: None }
    }

    /// The same code with one local more; none where there are too many.
    pub fn with_local(&self, name: String, ty: Ty, is_mutable: bool, value: Value) -> Option<Self> {
        let count = self.locals.as_ref().map_or(0, |local| local.count) + 1;
        let value = RefCell::new(value);
        let before = self.locals.clone();
        let local = Local { name, ty, is_mutable, value, before, count };
        (count <= MOST).then(|| Self { locals: Some(Rc::new(local)), ..self.clone() })
    }

    /// Returns whether a type is one of the type parameters of this code.
    pub fn is_parameter(&self, ty: &syn::Type) -> bool {
        match ty {
            syn::Type::Paren(ty) => self.is_parameter(&ty.elem),
            syn::Type::Group(ty) => self.is_parameter(&ty.elem),
            syn::Type::Path(ty) => ty.path.get_ident().map(unraw_name).is_some_and(|name| {
                ty.qself.is_none() && name != "Self" && self.scope.parameters.contains_key(&name)
            }),
            _ => false,
        }
    }

    /// Returns what the type parameters of this code stand for.
    pub fn parameter_types(&self) -> impl Iterator<Item = &Rc<Type>> {
        let is_parameter = |(name, _): &(&String, &Rc<Type>)| *name != "Self";
        self.scope.parameters.iter().filter(is_parameter).map(|(_, ty)| ty)
    }

    pub fn find_local(&self, name: &str) -> Option<&Local> {
        let mut all =
            std::iter::successors(self.locals.as_deref(), |local| local.before.as_deref());
        all.find(|local| local.name == name)
    }
}

impl Local {
    pub fn value(&self) -> Value {
        self.value.borrow().clone()
    }

    pub fn set_value(&self, value: Value) {
        *self.value.borrow_mut() = value;
    }
}

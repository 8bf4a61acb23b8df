//! Calls: of functions, of what another crate has, of tuples; and how the project's own functions are run.

use std::rc::Rc;

use syn::{Expr, ExprCall, ExprPath, spanned::Spanned as _};

use super::impls::{Own, bind};
use super::named::What;
use super::value::Value;
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::types::text;
use crate::values::peel;
use crate::world::{Kind, plain};

/// What a function is given.
pub enum Given<'x> {
    Values(Vec<Value>),
    /// Values, then expressions in their frame.
    Exprs(&'x Frame, Vec<Value>, Vec<&'x Expr>),
}

impl Given<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Values(it) => it.len(),
            Self::Exprs(_, first, rest) => first.len() + rest.len(),
        }
    }
}
impl<'a> Evaluator<'a> {
    /// One of the values that a function is given, as the type that it wants.
    pub fn take(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        given: &Given<'_>,
        index: usize,
        want: &Ty,
    ) -> Eval<Value> {
        match given {
            Given::Values(it) => match it.get(index) {
                Some(it) => self.conform(frame, at, it.clone(), want),
                None => self.refuse(frame, at, "is given too little"),
            },
            Given::Exprs(there, first, rest) => match first.get(index) {
                Some(it) => self.conform(frame, at, it.clone(), want),
                None => match rest.get(index - first.len()) {
                    Some(it) => {
                        let value = self.expr(there, it, want)?;
                        self.conform(there, it, value, want)
                    }
                    None => self.refuse(frame, at, "is given too little"),
                },
            },
        }
    }

    pub fn call(&self, frame: &Frame, it: &ExprCall, want: &Ty) -> Eval<Value> {
        let given = Given::Exprs(frame, Vec::new(), it.args.iter().collect());
        match peel(&it.func) {
            Expr::Path(path) => self.call_path(frame, it, path, given, want),
            func => {
                let function = self.expr(frame, func, &Ty::Unknown)?;
                let values: Eval<Vec<_>> =
                    it.args.iter().map(|it| self.expr(frame, it, &Ty::Unknown)).collect();
                self.apply(frame, it, &function, values?, want)
            }
        }
    }

    /// Calls a function that an attribute names, without arguments.
    pub fn call_named(&self, frame: &Frame, path: &ExprPath, want: &Ty) -> Eval<Value> {
        let value = self.call_path(frame, path, path, Given::Values(Vec::new()), want)?;
        self.conform(frame, path, value, want)
    }

    /// Calls what a path names.
    pub fn call_path(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        path: &ExprPath,
        given: Given<'_>,
        want: &Ty,
    ) -> Eval<Value> {
        let turbofish = match path.path.segments.last() {
            Some(it) => self.turbofish(frame, &it.arguments)?,
            None => Vec::new(),
        };
        match self.what(frame, path)? {
            What::Local(function) => {
                let values: Eval<Vec<_>> = (0..given.len())
                    .map(|index| self.take(frame, at, &given, index, &Ty::Unknown))
                    .collect();
                self.apply(frame, at, &function, values?, want)
            }
            What::Item(id) => match &self.world.items[id].kind {
                Kind::Fn(it) => {
                    let own = Own {
                        frame: Frame::new(self.world.items[id].module),
                        signature: &it.sig,
                        attrs: &it.attrs,
                        block: &it.block,
                        of: None,
                    };
                    self.invoke(frame, at, own, given, turbofish, want)
                }
                Kind::Data(_) => self.tuple(frame, at, id, turbofish, None, given, want),
                _ => self.refuse(frame, path, "is no function"),
            },
            What::Variant(id, arguments, name) => {
                self.tuple(frame, at, id, arguments, Some(name), given, want)
            }
            What::Of(ty, name) => self.call_of(frame, at, &ty, &name, given, turbofish, want),
            What::Method(name) => {
                let mut values = Vec::new();
                for index in 0..given.len() {
                    values.push(self.take(frame, at, &given, index, &Ty::Unknown)?);
                }
                if values.is_empty() {
                    return self.refuse(frame, at, "is of a type that cannot be told here");
                }
                let first = values.remove(0);
                if !matches!(first, Value::Data(_) | Value::Place(_)) {
                    return self.refuse(frame, at, "calls what is not read");
                }
                let rest = Given::Values(values);
                self.call_method(frame, at, first, &name, rest, turbofish, want)
            }
            What::Foreign(name, arguments) => {
                let Some((of, last)) = name.rsplit_once("::") else {
                    return self.refuse(frame, path, "is no function that is read");
                };
                match name.as_str() {
                    "std::default::Default::default" => return self.default_of(frame, at, want),
                    "std::option::Option::Some" => {
                        let inner = self.take(frame, at, &given, 0, &want.inside(0))?;
                        let inner = self.settled(frame, at, inner)?;
                        return Ok(Value::some(inner));
                    }
                    "std::result::Result::Ok" => {
                        return Ok(Value::ok(self.take(frame, at, &given, 0, &want.inside(0))?));
                    }
                    "std::result::Result::Err" => {
                        let inner = self.take(frame, at, &given, 0, &want.inside(1))?;
                        return Ok(Value::Result(Err(Box::new(inner))));
                    }
                    _ => {}
                }
                // `vec::Vec::new` is of a type, `mem::take` of a module.
                let ty = Ty::thinned(of.to_owned(), arguments);
                self.foreign_function(frame, at, &ty, of, last, given, want)
            }
        }
    }

    /// `Type::function(…)`.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    pub fn call_of(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: &Ty,
        name: &str,
        given: Given<'_>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let Ty::Data(id, arguments) = ty else {
            let path = ty.path().to_owned();
            return self.foreign_function(frame, at, ty, &path, name, given, want);
        };
        // What its parameters are, the wanted type may know.
        let arguments = self.wanted(*id, want, arguments.clone());
        let ty = Ty::Data(*id, arguments.clone());
        let mut found = self.functions(*id, &arguments, name)?;
        if name == "from" && 1 < found.len() {
            let value = self.take(frame, at, &given, 0, &Ty::Unknown)?;
            let value = self.settled(frame, at, value)?;
            return self.into(frame, at, value, &ty);
        }
        if found.len() == 1 {
            let own = found.remove(0);
            return self.invoke(frame, at, own, given, turbofish, want);
        }
        if 1 < found.len() {
            return self.refuse(frame, at, format!("has more than one `{name}` to choose from"));
        }
        match (name, given.len()) {
            ("default", 0) => self.default_of(frame, at, &ty),
            ("from", 1) => {
                let value = self.take(frame, at, &given, 0, &Ty::Unknown)?;
                let value = self.settled(frame, at, value)?;
                self.into(frame, at, value, &ty)
            }
            ("clone" | "to_owned", 1) => self.take(frame, at, &given, 0, &ty),
            ("to_string", 1) => {
                let value = self.take(frame, at, &given, 0, &ty)?;
                Ok(Value::text(self.display(frame, at, &value)?))
            }
            _ => self.refuse(frame, at, "calls what is not read"),
        }
    }

    /// Runs a function of the project with values.
    pub fn run(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        own: Own<'a>,
        values: Vec<Value>,
        want: &Ty,
    ) -> Eval<Value> {
        self.invoke(frame, at, own, Given::Values(values), Vec::new(), want)
    }

    pub fn invoke(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        own: Own<'a>,
        given: Given<'_>,
        turbofish: Vec<Ty>,
        want: &Ty,
    ) -> Eval<Value> {
        let Own { frame: mut there, signature, attrs, block, .. } = own;
        const INERT: &[&str] = &[
            "doc",
            "must_use",
            "inline",
            "allow",
            "expect",
            "cold",
            "deprecated",
            "warn",
            "track_caller",
        ];
        let strange = attrs.iter().find(|it| !INERT.iter().any(|name| it.path().is_ident(name)));
        if let Some(attr) = strange {
            let message = format!("`{}` stands on a function, which is not read", text(attr));
            return Err(self.stop(&there, attr.span(), message));
        }
        if signature.asyncness.is_some() || signature.variadic.is_some() {
            return self.refuse(&there, &signature.ident, "is no plain function");
        }
        if signature.inputs.len() != given.len() {
            return self.refuse(frame, at, "is given too much or too little");
        }
        let generic = signature.generics.type_params().count();
        if 0 < generic {
            let mut parameters = (*there.parameters).clone();
            for (index, it) in signature.generics.type_params().enumerate() {
                let said = turbofish.get(index).cloned().unwrap_or(Ty::Unknown);
                parameters.insert(plain(&it.ident), said);
            }
            if let syn::ReturnType::Type(_, ty) = &signature.output {
                bind(ty, want, &mut parameters);
            }
            there.parameters = Rc::new(parameters);
        }
        let there_ = there.clone();
        for (index, input) in signature.inputs.iter().enumerate() {
            let attrs = match input {
                syn::FnArg::Receiver(it) => &it.attrs,
                syn::FnArg::Typed(it) => &it.attrs,
            };
            if let Some(attr) = attrs.iter().find(|it| !it.path().is_ident("allow")) {
                return self.refuse(&there, attr, "on a parameter is not read");
            }
            match input {
                syn::FnArg::Receiver(it) => {
                    let itself = there.itself.clone().unwrap_or(Ty::Unknown);
                    let mut value = self.take(frame, at, &given, index, &itself)?;
                    if !changes(it) {
                        value = self.settled(frame, at, value)?;
                    }
                    there_.bind("self".to_owned(), value);
                }
                syn::FnArg::Typed(it) => {
                    let ty = self.ty(&there, &it.ty)?;
                    let mut value = self.take(frame, at, &given, index, &ty)?;
                    if !matches!(&*it.ty, syn::Type::Reference(it) if it.mutability.is_some()) {
                        value = self.settled(frame, at, value)?;
                    }
                    if 0 < generic {
                        let mut parameters = (*there.parameters).clone();
                        bind(&it.ty, &value.ty(), &mut parameters);
                        there.parameters = Rc::new(parameters);
                    }
                    if !self.matches(&there_, &it.pat, &value)? {
                        return self.refuse(&there_, &it.pat, "does not match its value");
                    }
                }
            }
        }
        let returns = match &signature.output {
            syn::ReturnType::Type(_, ty) => self.ty(&there, ty)?,
            syn::ReturnType::Default => Ty::known("()"),
        };
        let there = Frame { returns: returns.clone(), locals: there_.locals, ..there };
        let value = self.deeper(frame, at, || match self.block(&there, block, &returns) {
            Err(Stop::Return(value)) => Ok(value),
            Err(Stop::Break(..) | Stop::Continue(_)) => {
                self.refuse(&there, &signature.ident, "ends where it must not")
            }
            found => found,
        })?;
        if value.ty().fits(&returns) || matches!(value, Value::Place(_)) {
            return self.conform(&there, &signature.ident, value, &returns);
        }
        self.conform(&there, &signature.ident, value, &returns)
    }
}

/// Whether a receiver is `&mut self`.
pub fn changes(it: &syn::Receiver) -> bool {
    match &it.kind {
        syn::ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
        syn::ReceiverKind::Typed(_, ty) => {
            matches!(&**ty, syn::Type::Reference(it) if it.mutability.is_some())
        }
        _ => false,
    }
}

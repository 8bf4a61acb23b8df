//! Calls: of the project's functions, of tuple structs and variants, of what another crate has.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::{Expr, ExprCall, ExprPath, spanned::Spanned as _};

use super::construct::Construct;
use super::impls::Function;
use super::syntax::peel;
use super::target::Target;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::text::plain;
use crate::tree::ItemKind;
use crate::types::{Scope, Type};

/// The arguments of a call.
pub enum Arguments<'x> {
    Exprs(&'x Frame, Vec<&'x Expr>),
    /// Values, each with its type.
    Values(Vec<(Value, Rc<Type>)>),
    /// The generator of a schema.
    Generator,
}

impl Arguments<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Exprs(_, it) => it.len(),
            Self::Values(it) => it.len(),
            Self::Generator => 1,
        }
    }
}

struct Parameter {
    name: Option<String>,
    ty: Ty,
}

impl<'a> Evaluator<'a> {
    pub fn call(&self, frame: &Frame, it: &ExprCall, expected: &Ty) -> Eval<Value> {
        let Expr::Path(path) = peel(&it.func) else { return self.unsupported(frame, it) };
        let arguments = Arguments::Exprs(frame, it.args.iter().collect());
        if let Some(value) = self.schema_call(frame, it, path)? {
            return Ok(value);
        }
        match self.target(frame, path)? {
            Target::Own => match frame.scope.parameters.get("Self") {
                Some(ty) => self.tuple_literal(frame, it, &ty.clone(), None),
                None => self.unsupported(frame, it),
            },
            Target::Variant(id, given, name) => {
                let ty = self.data_type(frame, path, id, given, expected)?;
                self.tuple_literal(frame, it, &ty, Some(name))
            }
            Target::Item(id) if matches!(self.world.items[id].kind, ItemKind::Data(_)) => {
                let ty = self.data_type(frame, path, id, None, expected)?;
                self.tuple_literal(frame, it, &ty, None)
            }
            Target::Foreign(name, of) => self.foreign_call(frame, it, &name, of, expected),
            _ => self.call_path(frame, path, &arguments, expected),
        }
    }

    /// Calls a function of the project by its path.
    pub fn call_path(
        &self,
        frame: &Frame,
        path: &ExprPath,
        arguments: &Arguments<'_>,
        expected: &Ty,
    ) -> Eval<Value> {
        match self.target(frame, path)? {
            Target::Item(id) => match &self.world.items[id].kind {
                ItemKind::Fn(it) => {
                    self.accept(Construct::Function);
                    let scope = Scope::from(self.world.items[id].module);
                    let (signature, attrs, block) = (&it.sig, &it.attrs[..], &*it.block);
                    let function = Function { scope, signature, attrs, block };
                    self.run(frame, path, function, arguments)
                }
                _ => self.unsupported(frame, path),
            },
            Target::Associated(ty, name) => match self.own_function(frame, path, &ty, &name)? {
                Some(function) => {
                    self.accept(Construct::AssociatedFunction);
                    self.run(frame, path, function, arguments)
                }
                None if name == "default" && arguments.len() == 0 => {
                    self.check_trait_function(frame, path, "default")?;
                    self.accept(Construct::TypeDefault);
                    self.default_of(frame, path, &Ty::of(&ty))
                }
                None => self.unsupported(frame, path),
            },
            Target::Parameter(ty, name) if name == "default" && arguments.len() == 0 => {
                self.check_trait_function(frame, path, "default")?;
                self.accept(Construct::TypeDefault);
                self.default_of(frame, path, &Ty::of(&ty))
            }
            Target::Trait(ty, name, function)
                if (name.as_str(), function.as_str()) == ("std::default::Default", "default")
                    && arguments.len() == 0 =>
            {
                self.accept(Construct::TypeDefault);
                let ty = self.ty(frame, &ty)?;
                self.default_of(frame, path, &ty)
            }
            Target::Foreign(name, of) if arguments.len() == 0 => {
                self.foreign_call_of_none(frame, path, &name, of, expected)
            }
            _ => self.unsupported(frame, path),
        }
    }

    /// Refuses a function of a trait by its name alone, where a trait of the project has one, too.
    pub fn check_trait_function(&self, frame: &Frame, at: &ExprPath, name: &str) -> Eval<()> {
        match self.is_of_own_trait(frame.scope.module, name) {
            true => self.refuse(frame, at, format!("a trait in scope has a `{name}`, too")),
            false => Ok(()),
        }
    }

    /// Evaluates the body of a function.
    pub fn run(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: Function<'a>,
        arguments: &Arguments<'_>,
    ) -> Eval<Value> {
        let there = self.enter(frame, at, &function, arguments)?;
        let Some(_level) = self.meter.enter() else {
            return self.refuse(frame, at, "it is nested too deep");
        };
        let statements = self.world.statements(function.scope.module, function.block);
        let statements = self.syntax(&there, statements)?;
        let value = self.block(&there, statements, &there.returns)?;
        match value.fits(&there.returns) {
            true => Ok(value),
            false => self.refuse(frame, at, "its value is not of the return type"),
        }
    }

    /// The frame of a function's body, its parameters bound.
    fn enter(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: &Function<'a>,
        arguments: &Arguments<'_>,
    ) -> Eval<Frame> {
        let signature = function.signature;
        let mut there = Frame::of(function.scope.clone());
        if !self.is_active(&there, function.attrs, "a function")? {
            return self.refuse(frame, at, "its `#[cfg]` is not true");
        }
        if signature.asyncness.is_some() || signature.inputs.len() != arguments.len() {
            return self.unsupported(frame, at);
        }
        self.bind_parameters(frame, at, function, arguments, &mut there)?;
        if let syn::ReturnType::Type(_, ty) = &signature.output {
            there.returns = self.ty(&there, ty)?;
        } else {
            there.returns = Ty::Tuple(Vec::new());
        }
        let outer = there.clone();
        for (index, input) in signature.inputs.iter().enumerate() {
            let parameter = self.parameter(&outer, input)?;
            let value = match arguments {
                Arguments::Exprs(from, it) => self.eval(from, it[index], &parameter.ty)?,
                Arguments::Values(it) => it[index].0.clone(),
                Arguments::Generator => Value::Generator,
            };
            if !value.fits(&parameter.ty) {
                return self.refuse(frame, at, "an argument is not of the type of its parameter");
            }
            if let Some(name) = parameter.name {
                there = self.bind(&there, at, name, parameter.ty, false, value)?;
            }
        }
        Ok(there)
    }

    /// One parameter as it is declared.
    fn parameter(&self, frame: &Frame, input: &syn::FnArg) -> Eval<Parameter> {
        match input {
            syn::FnArg::Receiver(it) => {
                let is_plain = match &it.kind {
                    syn::ReceiverKind::Value => it.mutability.is_none(),
                    syn::ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
                    _ => false,
                };
                if !is_plain {
                    return self.unsupported(frame, it);
                }
                let Some(ty) = frame.scope.parameters.get("Self") else {
                    return self.unsupported(frame, it);
                };
                Ok(Parameter { name: Some("self".to_owned()), ty: Ty::of(ty) })
            }
            syn::FnArg::Typed(it) if it.attrs.is_empty() => {
                let name = match &*it.pat {
                    syn::Pat::Ident(it)
                        if it.subpat.is_none()
                            && it.by_ref.is_none()
                            && it.mutability.is_none() =>
                    {
                        Some(plain(&it.ident))
                    }
                    syn::Pat::Wild(_) => None,
                    pat => return self.unsupported(frame, pat),
                };
                Ok(Parameter { name, ty: self.ty(frame, &it.ty)? })
            }
            input => self.unsupported(frame, input),
        }
    }

    /// The types of a function's type parameters: written in the call, or inferred from its arguments.
    fn bind_parameters(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: &Function<'a>,
        arguments: &Arguments<'_>,
        there: &mut Frame,
    ) -> Eval<()> {
        let generics = &function.signature.generics;
        if generics.const_params().next().is_some() {
            return self.refuse(frame, at, "it has a `const` parameter, which is not supported");
        }
        let names: Vec<String> = crate::types::names(generics).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut found = BTreeMap::new();
        if let Some(syn::PathArguments::AngleBracketed(it)) =
            at.path.segments.last().map(|it| &it.arguments)
        {
            let types = it.args.iter().filter_map(|it| match it {
                syn::GenericArgument::Type(it) => Some(it),
                _ => None,
            });
            for (name, ty) in names.iter().zip(types) {
                found.insert(name.clone(), self.schema_type(frame, ty)?);
            }
        } else if let Arguments::Values(given) = arguments {
            for (input, (_, ty)) in function.signature.inputs.iter().zip(given) {
                if let syn::FnArg::Typed(it) = input {
                    unify(&it.ty, ty, &names, &mut found);
                }
            }
        }
        if found.len() != names.len() {
            return self.untyped(frame, at);
        }
        self.accept(Construct::GenericFunction);
        Rc::make_mut(&mut there.scope.parameters).extend(found);
        Ok(())
    }

    /// A frame with one local more.
    pub fn bind(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        name: String,
        ty: Ty,
        is_mutable: bool,
        value: Value,
    ) -> Eval<Frame> {
        match frame.with(name, ty, is_mutable, value) {
            Some(frame) => Ok(frame),
            None => self.refuse(frame, at, "there are too many local variables"),
        }
    }
}

/// The types of parameters, by matching a type that names them with a concrete one: `&Vec<T>` with `Vec<u8>`.
fn unify(
    syntax: &syn::Type,
    ty: &Rc<Type>,
    names: &[String],
    found: &mut BTreeMap<String, Rc<Type>>,
) {
    let inner = match &**ty {
        Type::Foreign { path: "&", arguments, .. } => &arguments[0],
        _ => ty,
    };
    match syntax {
        syn::Type::Reference(it) => unify(&it.elem, inner, names, found),
        syn::Type::Path(it) => {
            if let Some(name) = it.path.get_ident().map(plain).filter(|it| names.contains(it)) {
                found.entry(name).or_insert_with(|| inner.clone());
                return;
            }
            let (Type::Foreign { arguments, .. } | Type::Data(_, arguments)) = &**inner else {
                return;
            };
            if let Some(syn::PathArguments::AngleBracketed(it)) =
                it.path.segments.last().map(|it| &it.arguments)
            {
                for (it, argument) in it.args.iter().zip(arguments) {
                    if let syn::GenericArgument::Type(it) = it {
                        unify(it, argument, names, found);
                    }
                }
            }
        }
        _ => {}
    }
    let _ = syntax.span();
}

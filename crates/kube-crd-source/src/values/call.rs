//! Calls: of the project's functions, of tuple structs and variants, of what another crate has.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::{Expr, ExprCall, ExprPath, spanned::Spanned as _};

use super::construct::Construct;
use super::impls::ProjectFunction;
use super::syntax::peel_parens;
use super::target::PathTarget;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::text::unraw_name;
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
    pub fn eval_call(&self, frame: &Frame, it: &ExprCall, expected: &Ty) -> Eval<Value> {
        let Expr::Path(path) = peel_parens(&it.func) else { return self.unsupported(frame, it) };
        let arguments = Arguments::Exprs(frame, it.args.iter().collect());
        if let Some(value) = self.schema_call(frame, it, path)? {
            return Ok(value);
        }
        match self.resolve_target(frame, path)? {
            PathTarget::Own => match frame.scope.parameters.get("Self") {
                Some(ty) => self.tuple_literal(frame, it, &ty.clone(), None),
                None => self.unsupported(frame, it),
            },
            PathTarget::Variant(id, given, name) => {
                let ty = self.data_type(frame, path, id, given, expected)?;
                self.tuple_literal(frame, it, &ty, Some(name))
            }
            PathTarget::Item(id) if matches!(self.world.items[id].kind, ItemKind::Data(_)) => {
                let ty = self.data_type(frame, path, id, None, expected)?;
                self.tuple_literal(frame, it, &ty, None)
            }
            PathTarget::Foreign(name, of) => self.foreign_call(frame, it, &name, of, expected),
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
        match self.resolve_target(frame, path)? {
            PathTarget::Item(id) => match &self.world.items[id].kind {
                ItemKind::Fn(it) => {
                    self.record_construct(Construct::Function);
                    let scope = Scope::from(self.world.items[id].module);
                    let (signature, attrs, block) = (&it.sig, &it.attrs[..], &*it.block);
                    let function = ProjectFunction { scope, signature, attrs, block };
                    self.call_function(frame, path, function, arguments)
                }
                _ => self.unsupported(frame, path),
            },
            PathTarget::Associated(ty, name) => match self.own_function(frame, path, &ty, &name)? {
                Some(function) => {
                    self.record_construct(Construct::AssociatedFunction);
                    self.call_function(frame, path, function, arguments)
                }
                None if name == "default" && arguments.len() == 0 => {
                    self.check_trait_function(frame, path, "default")?;
                    self.record_construct(Construct::TypeDefault);
                    self.default_of(frame, path, &Ty::from_type(&ty))
                }
                None => self.unsupported(frame, path),
            },
            PathTarget::Parameter(ty, name) if name == "default" && arguments.len() == 0 => {
                self.check_trait_function(frame, path, "default")?;
                self.record_construct(Construct::TypeDefault);
                self.default_of(frame, path, &Ty::from_type(&ty))
            }
            PathTarget::Trait(ty, name, function)
                if (name.as_str(), function.as_str()) == ("std::default::Default", "default")
                    && arguments.len() == 0 =>
            {
                self.record_construct(Construct::TypeDefault);
                let ty = self.resolve_type(frame, &ty)?;
                self.default_of(frame, path, &ty)
            }
            PathTarget::Foreign(name, of) if arguments.len() == 0 => {
                self.foreign_call_of_none(frame, path, &name, of, expected)
            }
            _ => self.unsupported(frame, path),
        }
    }

    /// Refuses a function of a trait by its name alone, where a trait of the project has one, too.
    pub fn check_trait_function(&self, frame: &Frame, at: &ExprPath, name: &str) -> Eval<()> {
        if self.is_of_own_trait(frame.scope.module, name) {
            self.refuse(frame, at, format!("a trait in scope has a `{name}`, too"))
        } else {
            Ok(())
        }
    }

    /// Evaluates the body of a function.
    pub fn call_function(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: ProjectFunction<'a>,
        arguments: &Arguments<'_>,
    ) -> Eval<Value> {
        let there = self.frame_of_body(frame, at, &function, arguments)?;
        let Some(_level) = self.meter.enter_level() else {
            return self.refuse(frame, at, "it is nested too deep");
        };
        let statements = self.world.statements_of(function.scope.module, function.block);
        let statements = self.syntax(&there, statements)?;
        let value = self.eval_block(&there, statements, &there.returns)?;
        if value.fits_type(&there.returns) {
            Ok(value)
        } else {
            self.refuse(frame, at, "its value is not of the return type")
        }
    }

    /// The frame of a function's body, its parameters bound.
    fn frame_of_body(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: &ProjectFunction<'a>,
        arguments: &Arguments<'_>,
    ) -> Eval<Frame> {
        let signature = function.signature;
        let mut there = Frame::in_scope(function.scope.clone());
        if !self.is_active(&there, function.attrs, "a function")? {
            return self.refuse(frame, at, "its `#[cfg]` is not true");
        }
        if signature.asyncness.is_some() || signature.inputs.len() != arguments.len() {
            return self.unsupported(frame, at);
        }
        self.bind_parameters(frame, at, function, arguments, &mut there)?;
        if let syn::ReturnType::Type(_, ty) = &signature.output {
            there.returns = self.resolve_type(&there, ty)?;
        } else {
            there.returns = Ty::Tuple(Vec::new());
        }
        let outer = there.clone();
        for (index, input) in signature.inputs.iter().enumerate() {
            let parameter = self.resolve_parameter(&outer, input)?;
            let value = match arguments {
                Arguments::Exprs(from, it) => self.eval_expr(from, it[index], &parameter.ty)?,
                Arguments::Values(it) => it[index].0.clone(),
                Arguments::Generator => Value::Generator,
            };
            if !value.fits_type(&parameter.ty) {
                return self.refuse(frame, at, "an argument is not of the type of its parameter");
            }
            if let Some(name) = parameter.name {
                there = self.bind_local(&there, at, name, parameter.ty, false, value)?;
            }
        }
        Ok(there)
    }

    /// One parameter as it is declared.
    fn resolve_parameter(&self, frame: &Frame, input: &syn::FnArg) -> Eval<Parameter> {
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
                Ok(Parameter { name: Some("self".to_owned()), ty: Ty::from_type(ty) })
            }
            syn::FnArg::Typed(it) if it.attrs.is_empty() => {
                let name = match &*it.pat {
                    syn::Pat::Ident(it)
                        if it.subpat.is_none()
                            && it.by_ref.is_none()
                            && it.mutability.is_none() =>
                    {
                        Some(unraw_name(&it.ident))
                    }
                    syn::Pat::Wild(_) => None,
                    pat => return self.unsupported(frame, pat),
                };
                Ok(Parameter { name, ty: self.resolve_type(frame, &it.ty)? })
            }
            input => self.unsupported(frame, input),
        }
    }

    /// The types of a function's type parameters: written in the call, or inferred from its arguments.
    fn bind_parameters(
        &self,
        frame: &Frame,
        at: &ExprPath,
        function: &ProjectFunction<'a>,
        arguments: &Arguments<'_>,
        there: &mut Frame,
    ) -> Eval<()> {
        let generics = &function.signature.generics;
        if generics.const_params().next().is_some() {
            return self.refuse(frame, at, "it has a `const` parameter, which is not supported");
        }
        let names: Vec<String> = crate::types::parameter_names(generics).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut found = BTreeMap::new();
        if let Some(syn::PathArguments::AngleBracketed(it)) =
            at.path.segments.last().map(|segment| &segment.arguments)
        {
            let types = it.args.iter().filter_map(|argument| match argument {
                syn::GenericArgument::Type(it) => Some(it),
                _ => None,
            });
            for (name, ty) in names.iter().zip(types) {
                found.insert(name.clone(), self.schema_type(frame, ty)?);
            }
        } else if let Arguments::Values(given) = arguments {
            for (input, (_, ty)) in function.signature.inputs.iter().zip(given) {
                if let syn::FnArg::Typed(it) = input {
                    unify_types(&it.ty, ty, &names, &mut found);
                }
            }
        }
        if found.len() != names.len() {
            return self.untyped(frame, at);
        }
        self.record_construct(Construct::GenericFunction);
        Rc::make_mut(&mut there.scope.parameters).extend(found);
        Ok(())
    }

    /// A frame with one local more.
    pub fn bind_local(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        name: String,
        ty: Ty,
        is_mutable: bool,
        value: Value,
    ) -> Eval<Frame> {
        match frame.with_local(name, ty, is_mutable, value) {
            Some(frame) => Ok(frame),
            None => self.refuse(frame, at, "there are too many local variables"),
        }
    }
}

/// The types of parameters, by matching a type that names them with a concrete one: `&Vec<T>` with `Vec<u8>`.
fn unify_types(
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
        syn::Type::Reference(it) => unify_types(&it.elem, inner, names, found),
        syn::Type::Path(it) => {
            if let Some(name) =
                it.path.get_ident().map(unraw_name).filter(|name| names.contains(name))
            {
                found.entry(name).or_insert_with(|| inner.clone());
                return;
            }
            let (Type::Foreign { arguments, .. } | Type::Data(_, arguments)) = &**inner else {
                return;
            };
            if let Some(syn::PathArguments::AngleBracketed(it)) =
                it.path.segments.last().map(|segment| &segment.arguments)
            {
                for (it, argument) in it.args.iter().zip(arguments) {
                    if let syn::GenericArgument::Type(it) = it {
                        unify_types(it, argument, names, found);
                    }
                }
            }
        }
        _ => {}
    }
    let _ = syntax.span();
}

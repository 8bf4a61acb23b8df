//! Structs and variants of the project, as literals make them.

use std::rc::Rc;

use indexmap::IndexMap;
use syn::{ExprCall, ExprPath, ExprStruct};

use super::construct::Construct;
use super::syntax::member_name;
use super::target::PathTarget;
use super::ty::Ty;
use super::value::{AdtValue, Value};
use super::{Eval, Evaluator, Frame, Stop};
use crate::names::{Named, Space};
use crate::text::unraw_name;
use crate::tree::{ItemId, ItemKind, Path};
use crate::types::Type;

/// The fields of a struct or a variant, each with its type's syntax.
type Fields = IndexMap<String, syn::Type>;

impl Evaluator<'_> {
    /// The whole type of a literal: what its path says, or what is expected.
    pub fn data_type(
        &self,
        frame: &Frame,
        at: &ExprPath,
        id: ItemId,
        given: Option<Rc<Type>>,
        expected: &Ty,
    ) -> Eval<Rc<Type>> {
        if let Some(ty) = given {
            return Ok(ty);
        }
        let ItemKind::Data(input) = &self.world.items[id].kind else {
            return self.unsupported(frame, at);
        };
        if !crate::types::has_parameters(&input.generics) {
            return Ok(Rc::new(Type::Data(id, Vec::new())));
        }
        match expected {
            Ty::Data(ty) if matches!(**ty, Type::Data(it, _) if it == id) => Ok(ty.clone()),
            Ty::Unknown | Ty::Any => self.untyped(frame, at),
            _ => self.refuse(frame, at, "it is of another type than expected"),
        }
    }

    pub fn struct_literal(&self, frame: &Frame, it: &ExprStruct, expected: &Ty) -> Eval<Value> {
        let path = ExprPath { attrs: Vec::new(), qself: it.qself.clone(), path: it.path.clone() };
        if it.qself.is_some() {
            return self.unsupported(frame, it);
        }
        let named =
            self.world.resolve_path(frame.scope.module, &Path::from(&it.path), Space::Types);
        let own = it.path.segments.first().and_then(|first| {
            let found = frame.scope.parameters.get(&unraw_name(&first.ident))?;
            it.path.leading_colon.is_none().then(|| found.clone())
        });
        let (ty, variant) = match (own, named) {
            (Some(ty), _) if it.path.segments.len() == 1 => (ty, None),
            (Some(_), _) | (None, Ok(Named::Member(..))) => {
                match self.resolve_target(frame, &path)? {
                    PathTarget::Variant(id, given, name) => {
                        (self.data_type(frame, &path, id, given, expected)?, Some(name))
                    }
                    _ => return self.unsupported(frame, it),
                }
            }
            (None, Ok(Named::Item(id)))
                if matches!(self.world.items[id].kind, ItemKind::Data(_)) =>
            {
                (self.data_type(frame, &path, id, None, expected)?, None)
            }
            (None, Ok(Named::Item(_))) => {
                let syntax =
                    syn::TypePath { attrs: Vec::new(), qself: None, path: it.path.clone() };
                (self.schema_type(frame, &syn::Type::Path(syntax))?, None)
            }
            (None, _) => return self.unsupported(frame, it),
        };
        let found = self.with_fields(frame, it, ty, variant)?;
        self.record_construct(match &found.variant {
            Some(_) => Construct::StructVariant,
            None => Construct::StructLiteral,
        });
        Ok(Value::Data(Rc::new(found)))
    }

    fn with_fields(
        &self,
        frame: &Frame,
        it: &ExprStruct,
        ty: Rc<Type>,
        variant: Option<String>,
    ) -> Eval<AdtValue> {
        let there = Frame::in_scope(self.world.scope_of(&ty));
        let fields = self.active_fields(frame, it, &ty, variant.as_deref())?;
        let mut given = IndexMap::new();
        for field in &it.fields {
            if !self.is_active(frame, &field.attrs, "a field")? {
                continue;
            }
            let name = member_name(&field.member);
            let Some(syntax) = fields.get(&name) else {
                return self.refuse(frame, &field.member, "it is not a field of this type");
            };
            let expected = self.resolve_type(&there, syntax)?;
            given.insert(name, self.eval_expr(frame, &field.expr, &expected)?);
        }
        let rest = match &it.rest {
            Some(rest) => match self.eval_expr(frame, rest, &Ty::Data(ty.clone()))? {
                Value::Data(rest) if rest.variant == variant => {
                    self.record_construct(Construct::StructUpdate);
                    rest.fields.clone()
                }
                _ => return self.unsupported(frame, rest),
            },
            None => IndexMap::new(),
        };
        let mut values = IndexMap::new();
        for (name, _) in fields {
            match given.get(&name).or_else(|| rest.get(&name)) {
                Some(value) => drop(values.insert(name, value.clone())),
                None => return self.refuse(frame, it, format!("it lacks the field `{name}`")),
            }
        }
        Ok(AdtValue { ty, variant, fields: values })
    }

    /// `Point(1, 2)` and `Mode::Named(…)`.
    pub fn tuple_literal(
        &self,
        frame: &Frame,
        it: &ExprCall,
        ty: &Rc<Type>,
        variant: Option<String>,
    ) -> Eval<Value> {
        let there = Frame::in_scope(self.world.scope_of(ty));
        let fields = self.active_fields(frame, it, ty, variant.as_deref())?;
        let is_tuple = fields.keys().all(|name| name.starts_with(|it: char| it.is_ascii_digit()));
        if !is_tuple || fields.len() != it.args.len() {
            return self.unsupported(frame, it);
        }
        let mut values = IndexMap::new();
        for ((name, syntax), expr) in fields.into_iter().zip(&it.args) {
            let expected = self.resolve_type(&there, &syntax)?;
            values.insert(name, self.eval_expr(frame, expr, &expected)?);
        }
        self.record_construct(match &variant {
            Some(_) => Construct::TupleVariant,
            None => Construct::TupleStruct,
        });
        Ok(Value::Data(Rc::new(AdtValue { ty: ty.clone(), variant, fields: values })))
    }

    pub fn unit_variant(
        &self,
        frame: &Frame,
        at: &ExprPath,
        ty: &Rc<Type>,
        name: String,
    ) -> Eval<Value> {
        if self.active_fields(frame, at, ty, Some(&name))?.is_empty() {
            self.record_construct(Construct::UnitVariant);
            let data = AdtValue { ty: ty.clone(), variant: Some(name), fields: IndexMap::new() };
            Ok(Value::Data(Rc::new(data)))
        } else {
            self.refuse(frame, at, "a function as a value is not evaluated")
        }
    }

    pub fn unit_struct(&self, frame: &Frame, at: &ExprPath, ty: &Rc<Type>) -> Eval<Value> {
        let Type::Data(id, _) = **ty else { return self.unsupported(frame, at) };
        let ItemKind::Data(input) = &self.world.items[id].kind else {
            return self.unsupported(frame, at);
        };
        match &input.data {
            syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Unit) => {
                self.active_fields(frame, at, ty, None)?;
                self.record_construct(Construct::StructLiteral);
                let data = AdtValue { ty: ty.clone(), variant: None, fields: IndexMap::new() };
                Ok(Value::Data(Rc::new(data)))
            }
            _ => self.unsupported(frame, at),
        }
    }

    /// A constant, a static or a unit struct.
    pub fn eval_item(
        &self,
        frame: &Frame,
        at: &ExprPath,
        id: ItemId,
        expected: &Ty,
    ) -> Eval<Value> {
        let item = &self.world.items[id];
        let there = Frame::new(item.module);
        match &item.kind {
            ItemKind::Const(it) => {
                let ty = self.resolve_type(&there, &it.ty)?;
                self.record_construct(Construct::Constant);
                self.eval_expr(&there, &it.expr, &ty)
            }
            ItemKind::Data(_) => {
                let ty = self.data_type(frame, at, id, None, expected)?;
                self.unit_struct(frame, at, &ty)
            }
            _ => self.unsupported(frame, at),
        }
    }

    /// The fields of a struct or a variant, as its `cfg`s leave them.
    pub fn active_fields(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: &Rc<Type>,
        variant: Option<&str>,
    ) -> Eval<Fields> {
        let Type::Data(id, _) = **ty else { return self.unsupported(frame, at) };
        let input = self.world.settled_input(id).map_err(Stop::from)?;
        self.spend(frame, at, 8)?;
        // One that nothing shows could only panic, and then the project has no value of the type at all.
        let by_macro = self.world.macro_that_may_write(id, "drop").is_some();
        if by_macro || self.has_impl(id, "std::ops::Drop")? {
            return self.refuse(frame, at, "its `Drop` is not evaluated");
        }
        let fields = match (input.data, variant) {
            (syn::Data::Struct(it), None) => it.fields,
            (syn::Data::Enum(it), Some(name)) => {
                match it.variants.into_iter().find(|variant| unraw_name(&variant.ident) == name) {
                    Some(it) => it.fields,
                    None => return self.unsupported(frame, at),
                }
            }
            _ => return self.unsupported(frame, at),
        };
        let name = |(index, it): (usize, syn::Field)| {
            (it.ident.as_ref().map_or_else(|| index.to_string(), unraw_name), it.ty)
        };
        Ok(fields.into_iter().enumerate().map(name).collect())
    }

    pub fn is_variant(&self, frame: &Frame, id: ItemId, name: &str) -> Eval<bool> {
        let ItemKind::Data(input) = &self.world.items[id].kind else { return Ok(false) };
        let syn::Data::Enum(it) = &input.data else { return Ok(false) };
        match it.variants.iter().find(|variant| unraw_name(&variant.ident) == name) {
            Some(it) => self.is_active(
                &Frame::new(self.world.items[id].module),
                &it.attrs
                    .iter()
                    .filter(|attr| attr.path().is_ident("cfg"))
                    .cloned()
                    .collect::<Vec<_>>(),
                "a variant",
            ),
            None => {
                let _ = frame;
                Ok(false)
            }
        }
    }
}

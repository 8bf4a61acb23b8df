//! Evaluates `Default`: of the language's types, of std's, of derived and hand-written impls.

use std::rc::Rc;

use indexmap::IndexMap;

use super::call::Arguments;
use super::construct::Construct;
use super::ty::Ty;
use super::value::{AdtValue, JsonKind, Value, is_list};
use super::{Eval, Evaluator, Frame, Stop};
use crate::builtin;
use crate::text::unraw_name;
use crate::tree::ItemId;
use crate::types::Type;

impl Evaluator<'_> {
    /// `<T>::default()` of the type of a field. A function that the type has by itself comes before the trait's, but not
    /// where the type is a parameter, or a `Box` and the like.
    pub fn default_of_field(&self, frame: &Frame, at: &syn::Type, ty: &Ty) -> Eval<Value> {
        let is_itself = !frame.is_parameter(at)
            && self
                .schema_type(frame, at)
                .map_or(true, |named| matches!(*named, Type::Data(..) | Type::Root(_)));
        if is_itself { self.default_by_name(frame, at, ty) } else { self.default_of(frame, at, ty) }
    }

    /// `<T>::default()` of a type of the project.
    pub fn default_by_name(&self, frame: &Frame, at: &syn::Type, ty: &Ty) -> Eval<Value> {
        if let Ty::Data(of) = ty
            && let Some(function) = self.own_function(frame, at, of, "default")?
        {
            let path = name_of_default(at);
            let arguments = Arguments::Values(Vec::new());
            return self.call_function(frame, &path, function, &arguments);
        }
        self.default_of(frame, at, ty)
    }

    /// `<T as Default>::default()`.
    pub fn default_of(&self, frame: &Frame, at: &impl quote::ToTokens, ty: &Ty) -> Eval<Value> {
        self.step(frame, at)?;
        let Some(_level) = self.meter.enter_level() else {
            return self.refuse(frame, at, "it is nested too deep");
        };
        match ty {
            Ty::Unknown | Ty::Any | Ty::Outcome(_) => self.untyped(frame, at),
            Ty::Int(of) => Ok(Value::Int(0, *of)),
            Ty::F32 => Ok(Value::F32(0.0)),
            Ty::F64 => Ok(Value::F64(0.0)),
            Ty::Tuple(types) => {
                let items: Eval<Rc<[Value]>> =
                    types.iter().map(|ty| self.default_of(frame, at, ty)).collect();
                Ok(Value::Tuple(items?))
            }
            Ty::Array(inner, count) if *count <= 32 => {
                let items: Eval<Rc<[Value]>> =
                    (0..*count).map(|_| self.default_of(frame, at, inner)).collect();
                Ok(Value::List(items?))
            }
            Ty::Array(..) => self.unsupported(frame, at),
            Ty::Data(of) => self.default_of_data(frame, at, of),
            Ty::Foreign(path, _) => match self.default_of_foreign(path) {
                Some(value) => Ok(value),
                None => {
                    let name = self.name_of(ty);
                    self.refuse(frame, at, format!("the default of `{name}` is not known"))
                }
            },
        }
    }

    fn default_of_data(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        of: &Rc<Type>,
    ) -> Eval<Value> {
        let Type::Data(id, _) = **of else { return self.unsupported(frame, at) };
        let trait_ = "std::default::Default";
        if let Some(function) = self.trait_function(frame, at, of, trait_, "default")? {
            self.record_construct(Construct::HandWrittenDefault);
            let path = name_of_default(at);
            return self.call_function(frame, &path, function, &Arguments::Values(Vec::new()));
        }
        if !self.derives_for_certain(id, trait_)? {
            let name = self.world.items[id].name.clone();
            return self.refuse(
                frame,
                at,
                format!("`{name}` has no `Default` that operator-rs can read"),
            );
        }
        self.record_construct(Construct::DerivedDefault);
        let variant = self.default_variant(frame, at, id)?;
        let there = Frame::in_scope(self.world.scope_of(of));
        let mut fields = IndexMap::new();
        for (name, syntax) in self.active_fields(frame, at, of, variant.as_deref())? {
            let ty = self.resolve_type(&there, &syntax)?;
            fields.insert(name, self.default_of(&there, &syntax, &ty)?);
        }
        Ok(Value::Data(Rc::new(AdtValue { ty: of.clone(), variant, fields })))
    }

    /// The variant that `#[default]` marks; none of a struct.
    fn default_variant(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        id: ItemId,
    ) -> Eval<Option<String>> {
        let input = self.world.settled_input(id).map_err(Stop::from)?;
        let syn::Data::Enum(it) = &input.data else { return Ok(None) };
        let is_marked =
            |it: &&syn::Variant| it.attrs.iter().any(|variant| variant.path().is_ident("default"));
        match it.variants.iter().find(is_marked) {
            Some(it) => Ok(Some(unraw_name(&it.ident))),
            None => self.refuse(frame, at, "it has no default variant"),
        }
    }

    /// The default of a type of the language or of another crate.
    fn default_of_foreign(&self, path: &str) -> Option<Value> {
        Some(match path {
            "bool" => Value::Bool(false),
            "char" => Value::Char('\0'),
            "str" | "std::string::String" => Value::text(""),
            "std::option::Option" => Value::Option(None),
            "serde_json::Value" => Value::json(serde_json::Value::Null),
            "serde_json::Map" => Value::Json(JsonKind::Map, Rc::new(serde_json::json!({}))),
            "schemars::Schema" => Value::Json(JsonKind::Schema, Rc::new(serde_json::json!({}))),
            path if is_list(path) => Value::List(Rc::new([])),
            path => match empty_collection(path) {
                Some(value) => value,
                None => {
                    let (_, builtin) = builtin::find(path)?;
                    Value::foreign(path, builtin.default?()?)
                }
            },
        })
    }
}

/// An empty map or set.
pub fn empty_collection(path: &str) -> Option<Value> {
    match path {
        "std::collections::BTreeMap" | "std::collections::HashMap" | "indexmap::IndexMap" => {
            Some(Value::Map)
        }
        "std::collections::BTreeSet"
        | "std::collections::HashSet"
        | "std::collections::BinaryHeap"
        | "indexmap::IndexSet" => Some(Value::Set),
        _ => None,
    }
}

/// A path to stand for a call of `default` in messages, where the code has it.
fn name_of_default(at: &impl quote::ToTokens) -> syn::ExprPath {
    let span = syn::spanned::Spanned::span(&at.to_token_stream());
    let ident = syn::Ident::new("default", span);
    syn::ExprPath { attrs: Vec::new(), qself: None, path: ident.into() }
}

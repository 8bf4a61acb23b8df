//! Methods of std's types, of schemas and of JSON values. The project's own methods are not evaluated, and a
//! trait of the project that gives such a method to other types spoils it.

use syn::ExprMethodCall;

use super::construct::Construct;
use super::syntax::peel_parens;
use super::ty::{Int, Ty};
use super::value::{JsonKind, Value};
use super::{Eval, Evaluator, Frame};
use crate::text::unraw_name;
use crate::tree::{Impl, ItemKind, ModuleId};
use crate::types::Unread;

impl Evaluator<'_> {
    pub fn eval_method_call(
        &self,
        frame: &Frame,
        it: &ExprMethodCall,
        expected: &Ty,
    ) -> Eval<Value> {
        let name = unraw_name(&it.method);
        if let Some(why) = self.other_method(frame.scope.module, &name) {
            return self.refuse(frame, it, why);
        }
        match (name.as_str(), it.args.len()) {
            ("into", 0) => self.eval_into(frame, it, expected),
            ("try_into", 0) => self.try_into(frame, it, expected),
            ("unwrap", 0) | ("expect" | "unwrap_or_else" | "unwrap_or", 1) => {
                self.eval_unwrap(frame, it, &name, expected)
            }
            ("subschema_for", 0) => self.subschema_for(frame, it),
            ("insert", 2) => self.eval_insert(frame, it),
            (_, 0) => {
                let value = self.eval_receiver(frame, it, &Ty::Unknown)?;
                self.plain_method(frame, it, &name, &value)
            }
            _ => self.unsupported(frame, it),
        }
    }

    /// Evaluates the receiver of a method call, with the type that the receiver itself tells.
    fn eval_receiver(&self, frame: &Frame, it: &ExprMethodCall, expected: &Ty) -> Eval<Value> {
        let ty = match self.type_of(frame, &it.receiver) {
            ty if ty.is_known() => ty,
            _ => expected.clone(),
        };
        self.eval_expr(frame, &it.receiver, &ty)
    }

    /// Refuses a method that a type of the project has by itself, and that goes before a trait's.
    pub fn check_inherent(&self, frame: &Frame, it: &ExprMethodCall, value: &Value) -> Eval<()> {
        let Value::Data(data) = value else { return Ok(()) };
        match self.own_function(frame, it, &data.ty, &unraw_name(&it.method))? {
            Some(_) => self.refuse(frame, it, "a method of the project is not evaluated"),
            None => Ok(()),
        }
    }

    /// Returns whether a trait in scope has a function of this name, for whatever types.
    pub fn is_of_own_trait(&self, module: ModuleId, name: &str) -> bool {
        !self.budget.index(self.world).traits_with(self.world, module, name).is_empty()
    }

    /// Methods without arguments that a value has by itself.
    fn plain_method(
        &self,
        frame: &Frame,
        it: &ExprMethodCall,
        name: &str,
        value: &Value,
    ) -> Eval<Value> {
        let (construct, found) = match (name, value) {
            (
                "to_string" | "to_owned" | "into_owned" | "as_str" | "into_boxed_str",
                Value::Text(_),
            ) => (Construct::ToString, value.clone()),
            ("to_string", Value::Int(number, _)) => {
                (Construct::ToString, Value::text(number.to_string()))
            }
            ("to_string", Value::Char(it)) => (Construct::ToString, Value::text(it.to_string())),
            ("len", Value::Text(text)) => (Construct::Length, usize_of(text.len())),
            ("len", Value::List(items)) => (Construct::Length, usize_of(items.len())),
            ("is_empty", Value::Text(text)) => (Construct::IsEmpty, Value::Bool(text.is_empty())),
            ("is_empty", Value::List(items)) => (Construct::IsEmpty, Value::Bool(items.is_empty())),
            ("is_empty", Value::Set | Value::Map) => (Construct::IsEmpty, Value::Bool(true)),
            ("is_none", Value::Option(it)) => (Construct::IsNone, Value::Bool(it.is_none())),
            ("is_some", Value::Option(it)) => (Construct::IsNone, Value::Bool(it.is_some())),
            ("to_value", Value::Json(JsonKind::Schema, it)) => {
                (Construct::SchemaToValue, Value::Json(JsonKind::Value, it.clone()))
            }
            _ => return self.unsupported(frame, it),
        };
        self.record_construct(construct);
        Ok(found)
    }

    /// Evaluates the content of a `Some` or an `Ok`. The alternative of `unwrap_or` is evaluated only if it is needed.
    fn eval_unwrap(
        &self,
        frame: &Frame,
        it: &ExprMethodCall,
        name: &str,
        expected: &Ty,
    ) -> Eval<Value> {
        let outcome = Ty::Outcome(Box::new(expected.clone()));
        match self.eval_expr(frame, &it.receiver, &outcome)? {
            Value::Ok(value) => {
                self.record_construct(Construct::Unwrap);
                Ok((*value).clone())
            }
            Value::Option(Some(value)) if name != "unwrap_or_else" => {
                self.record_construct(Construct::Unwrap);
                Ok((*value).clone())
            }
            Value::Option(None) if matches!(name, "unwrap" | "expect") => {
                self.panics(frame, it, "the value is `None`")
            }
            _ => self.unsupported(frame, it),
        }
    }

    /// `schema.insert(key, value)` of a local that is `mut`.
    pub fn eval_insert(&self, frame: &Frame, it: &ExprMethodCall) -> Eval<Value> {
        let local = match peel_parens(&it.receiver) {
            syn::Expr::Path(path) => {
                path.path.get_ident().and_then(|ident| frame.find_local(&unraw_name(ident)))
            }
            _ => None,
        };
        let Some(local) = local.filter(|local| local.is_mutable) else {
            return self.unsupported(frame, it);
        };
        let (Some(key), Some(value), 2) = (it.args.first(), it.args.last(), it.args.len()) else {
            return self.unsupported(frame, it);
        };
        if let Some(why) = self.other_method(frame.scope.module, "insert") {
            return self.refuse(frame, it, why);
        }
        let changed = match local.value() {
            Value::Json(kind, before) if kind != JsonKind::Value => {
                let Value::Text(key) =
                    self.eval_expr(frame, key, &Ty::foreign("std::string::String"))?
                else {
                    return self.unsupported(frame, key);
                };
                let Value::Json(JsonKind::Value, value) =
                    self.eval_expr(frame, value, &Ty::foreign("serde_json::Value"))?
                else {
                    return self.unsupported(frame, value);
                };
                self.spend(
                    frame,
                    it,
                    super::json::count_values(&before) + super::json::count_values(&value),
                )?;
                self.record_construct(Construct::SchemaInsert);
                Value::Json(kind, self.with_key(frame, it, &before, &key, &value)?)
            }
            _ => return self.unsupported(frame, it),
        };
        local.set_value(changed);
        Ok(Value::unit())
    }

    /// Why a call in a module may be that of another method of this name than that of std.
    fn other_method(&self, module: ModuleId, name: &str) -> Option<String> {
        if self.trait_may_provide_method(module, name) {
            return Some(format!("a trait in scope has a method `{name}`, too"));
        }
        let possible = self.possible_trait(module, Unread::CratesAndMacros)?;
        Some(format!("{possible} may bring a trait with a method `{name}` into scope"))
    }

    /// Returns what may bring a trait that is not read into scope of a module.
    pub fn possible_trait(&self, module: ModuleId, unread: Unread) -> Option<String> {
        self.budget.index(self.world).possible_trait(self.world, module, unread)
    }

    /// Returns whether a trait in scope of a module may provide a method of this name for a type that is not the project's.
    pub fn trait_may_provide_method(&self, module: ModuleId, name: &str) -> bool {
        let world = self.world;
        let traits = self.budget.index(world).traits_with(world, module, name);
        if world.may_be_extended(&traits, name) {
            return true;
        }
        !traits.is_empty() && world.impls.iter().any(|imp| self.extends_others(imp, &traits))
    }

    /// Returns whether an `impl` of one of these traits may be for a type that is not the project's.
    fn extends_others(&self, imp: &Impl, traits: &[usize]) -> bool {
        use crate::names::{Named, Space};
        use crate::tree::Path;
        let Some((path, _)) = &imp.syntax.trait_ else { return false };
        match self.world.resolve_path(imp.module, &Path::from(path), Space::Types) {
            Ok(Named::Item(id)) if !traits.contains(&id) => return false,
            Ok(Named::Item(_)) | Err(_) => {}
            Ok(_) => return false,
        }
        let syn::Type::Path(ty) = &*imp.syntax.self_ty else { return true };
        let is_parameter = |it: &syn::Ident| {
            imp.syntax.generics.type_params().any(|parameter| parameter.ident == *it)
        };
        if ty.qself.is_some() || ty.path.get_ident().is_some_and(is_parameter) {
            return true;
        }
        match self.world.resolve_path(imp.module, &Path::from(&ty.path), Space::Types) {
            Ok(Named::Item(id)) => {
                !matches!(self.world.items[id].kind, ItemKind::Data(_) | ItemKind::Root(_))
            }
            _ => true,
        }
    }
}

fn usize_of(length: usize) -> Value {
    Value::Int(length as i128, Int::Usize)
}

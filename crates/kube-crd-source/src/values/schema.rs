//! Evaluates calls in hand-written schemas: the generator, the schemas of other types, serde_json's functions.

use std::rc::Rc;

use schemars::Schema;
use serde_json::Value as Json;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath};

use super::call::Arguments;
use super::construct::Construct;
use super::impls::ProjectFunction;
use super::json_schema_impl::JsonSchemaImpl;
use super::target::{PathTarget, type_before};
use super::ty::Ty;
use super::value::{JsonKind, Value};
use super::{Eval, Evaluator, Frame};
use crate::text::Problem;
use crate::text::unraw_name;
use crate::types::{Scope, Type};

/// Answers for the schemas of types.
pub trait Schemas {
    /// `generator.subschema_for::<T>()`; none where there is no generator.
    fn subschema_for(&self, ty: &Rc<Type>) -> Option<Schema>;
    /// `T::json_schema(generator)`.
    fn json_schema(&self, ty: &Rc<Type>) -> Option<Schema>;
    fn schema_name(&self, ty: &Rc<Type>) -> String;
    fn schema_id(&self, ty: &Rc<Type>) -> String;
    fn inline_schema(&self, ty: &Rc<Type>) -> bool;
}

impl Evaluator<'_> {
    /// `T::json_schema(generator)`, `T::schema_name()` and the like; none where it is another call.
    pub fn schema_call(
        &self,
        frame: &Frame,
        it: &ExprCall,
        path: &ExprPath,
    ) -> Eval<Option<Value>> {
        let name =
            path.path.segments.last().map(|segment| unraw_name(&segment.ident)).unwrap_or_default();
        let count = match name.as_str() {
            "json_schema" => 1,
            "schema_name" | "schema_id" | "inline_schema" => 0,
            _ => return Ok(None),
        };
        let of = match &path.qself {
            Some(it) => Some((*it.ty).clone()),
            None => type_before(path),
        };
        let Some(of) = of.filter(|_| it.args.len() == count) else { return Ok(None) };
        match self.resolve_target(frame, path) {
            Ok(PathTarget::Associated(ty, name)) => {
                if self.own_function(frame, path, &ty, &name)?.is_some() {
                    return Ok(None);
                }
                self.check_trait_function(frame, path, &name)?;
            }
            Ok(PathTarget::Trait(_, name, _)) if name != "schemars::JsonSchema" => return Ok(None),
            Ok(
                PathTarget::Item(_)
                | PathTarget::Variant(..)
                | PathTarget::Local(_)
                | PathTarget::Own,
            ) => {
                return Ok(None);
            }
            Ok(PathTarget::Trait(..)) => {}
            Ok(_) | Err(_) => self.check_trait_function(frame, path, &name)?,
        }
        let Some(schemas) = self.schemas else { return self.unsupported(frame, it) };
        let ty = self.schema_type(frame, &of)?;
        self.spend(frame, it, 32)?;
        let value = match name.as_str() {
            "json_schema" => {
                self.expect_generator(frame, &it.args[0])?;
                self.record_construct(Construct::CallJsonSchema);
                match schemas.json_schema(&ty) {
                    Some(schema) => self.schema_value(frame, it, schema)?,
                    None => return self.unsupported(frame, it),
                }
            }
            name => {
                self.record_construct(Construct::CallSchemaName);
                match name {
                    "schema_name" => Value::text(schemas.schema_name(&ty)),
                    "schema_id" => Value::text(schemas.schema_id(&ty)),
                    _ => Value::Bool(schemas.inline_schema(&ty)),
                }
            }
        };
        Ok(Some(value))
    }

    /// The generator that a function is given.
    fn expect_generator(&self, frame: &Frame, expr: &Expr) -> Eval<()> {
        match self.eval_expr(frame, expr, &Ty::Unknown)? {
            Value::Generator => Ok(()),
            _ => self.refuse(frame, expr, "it is not a generator"),
        }
    }

    /// `generator.subschema_for::<T>()`.
    pub fn subschema_for(&self, frame: &Frame, it: &ExprMethodCall) -> Eval<Value> {
        self.expect_generator(frame, &it.receiver)?;
        let ty = match it
            .turbofish
            .as_ref()
            .map(|generics| (generics.args.len(), generics.args.first()))
        {
            Some((1, Some(syn::GenericArgument::Type(ty)))) => self.schema_type(frame, ty)?,
            _ => return self.unsupported(frame, it),
        };
        self.spend(frame, it, 32)?;
        match self.schemas.and_then(|schemas| schemas.subschema_for(&ty)) {
            Some(schema) => {
                self.record_construct(Construct::SubschemaFor);
                self.schema_value(frame, it, schema)
            }
            None => self.unsupported(frame, it),
        }
    }

    fn schema_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        schema: Schema,
    ) -> Eval<Value> {
        let json = schema.to_value();
        self.spend(frame, at, super::json::count_values(&json))?;
        Ok(Value::Json(JsonKind::Schema, Rc::new(json)))
    }

    /// Returns what must be an object or a boolean, to be a schema.
    pub fn schema_of(&self, frame: &Frame, at: &impl quote::ToTokens, json: Json) -> Eval<Value> {
        match Schema::try_from(json) {
            Ok(it) => Ok(Value::Json(JsonKind::Schema, Rc::new(it.to_value()))),
            Err(_) => self.panics(frame, at, "it is not a schema"),
        }
    }

    /// A key and its value in a schema or a map; a schema that is a boolean becomes an object first.
    pub fn with_key(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        before: &Rc<Json>,
        key: &str,
        value: &Rc<Json>,
    ) -> Eval<Rc<Json>> {
        let Ok(mut schema) = Schema::try_from((**before).clone()) else {
            return self.unsupported(frame, at);
        };
        schema.insert(key.to_owned(), (**value).clone());
        Ok(Rc::new(schema.to_value()))
    }

    /// Functions of serde_json and of schemars with one argument.
    pub fn schema_function(
        &self,
        frame: &Frame,
        it: &ExprCall,
        argument: &Expr,
        (front, name): (&str, &str),
        expected: &Ty,
    ) -> Eval<Value> {
        let json = Ty::foreign("serde_json::Value");
        match (front, name) {
            ("serde_json", "to_value") => {
                let value = self.eval_expr(frame, argument, &Ty::Any)?;
                let value = Value::json(self.json_of(frame, argument, &value)?);
                self.record_construct(Construct::ToValue);
                Ok(Value::Ok(value.into()))
            }
            ("serde_json", "from_value") => {
                let value = self.eval_expr(frame, argument, &json)?;
                let (Value::Json(_, it_json), Ty::Outcome(to)) = (&value, expected) else {
                    return self.untyped(frame, it);
                };
                if to.path() != "schemars::Schema" {
                    return self.refuse(frame, it, "only a schema can be created from JSON");
                }
                self.record_construct(Construct::FromValue);
                let schema = self.schema_of(frame, it, (**it_json).clone())?;
                Ok(Value::Ok(schema.into()))
            }
            ("schemars::Schema", "try_from") => self.schema_from_json(frame, it, argument),
            ("schemars::Schema", "from") => {
                let from = self.source_type(frame, argument);
                let value = self.eval_expr(frame, argument, &from)?;
                self.record_construct(Construct::SchemaTryFrom);
                self.convert_value(frame, it, value, &Ty::foreign("schemars::Schema"))
            }
            _ => self.unsupported(frame, it),
        }
    }

    /// `json.try_into()`, where a schema is expected.
    pub fn try_into(&self, frame: &Frame, it: &ExprMethodCall, expected: &Ty) -> Eval<Value> {
        match expected {
            Ty::Outcome(to) if to.path() == "schemars::Schema" => {
                self.schema_from_json(frame, it, &it.receiver)
            }
            _ => self.unsupported(frame, it),
        }
    }

    fn schema_from_json(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        json: &Expr,
    ) -> Eval<Value> {
        let value = self.eval_expr(frame, json, &Ty::foreign("serde_json::Value"))?;
        let Value::Json(_, value) = value else { return self.unsupported(frame, at) };
        self.record_construct(Construct::SchemaTryFrom);
        let schema = self.schema_of(frame, at, (*value).clone())?;
        Ok(Value::Ok(schema.into()))
    }

    /// `Value::Bool(true)`, `Value::Array(…)`, `Value::from(…)`.
    pub fn json_value(
        &self,
        frame: &Frame,
        it: &ExprCall,
        argument: &Expr,
        name: &str,
    ) -> Eval<(Construct, Value)> {
        let to = Ty::foreign("serde_json::Value");
        let ty = match name {
            "Bool" => Ty::foreign("bool"),
            "String" => Ty::foreign("std::string::String"),
            "Object" => Ty::foreign("serde_json::Map"),
            "Array" => Ty::Foreign("std::vec::Vec".to_owned(), vec![to.clone()]),
            "from" => match self.source_type(frame, argument) {
                ty if ty.is_known() => ty,
                _ => Ty::Any,
            },
            _ => return self.unsupported(frame, it),
        };
        let value = self.eval_expr(frame, argument, &ty)?;
        let value = self.convert_json(frame, it, value)?;
        Ok((Construct::JsonValue, value))
    }

    fn convert_json(&self, frame: &Frame, it: &ExprCall, value: Value) -> Eval<Value> {
        self.convert_value(frame, it, value, &Ty::foreign("serde_json::Value"))
    }
}

/// The result of a function of a hand-written `JsonSchema`.
pub enum Evaluated {
    Text(String),
    Flag(bool),
    Schema(Schema),
    Nothing,
}

impl Evaluator<'_> {
    /// A function of an `impl JsonSchema`; none where the impl leaves it out.
    pub fn json_schema_function(
        &self,
        of: &JsonSchemaImpl,
        name: &str,
    ) -> Result<Option<Evaluated>, Box<Problem>> {
        let function = Self::into_result(self.function_of(&self.world.impls[of.imp], name))?;
        let Some(it) = function else { return Ok(None) };
        let function = ProjectFunction {
            scope: of.scope.clone(),
            signature: &it.sig,
            attrs: &it.attrs,
            block: &it.block,
        };
        let arguments = if it.sig.inputs.is_empty() {
            Arguments::Values(Vec::new())
        } else {
            Arguments::Generator
        };
        let frame = Frame::in_scope(of.scope.clone());
        let path = ExprPath { attrs: Vec::new(), qself: None, path: it.sig.ident.clone().into() };
        let found =
            self.call_function(&frame, &path, function, &arguments).and_then(|value| match value {
                Value::Text(it) => Ok(Evaluated::Text(it.to_string())),
                Value::Bool(it) => Ok(Evaluated::Flag(it)),
                Value::Json(JsonKind::Schema, it) => match Schema::try_from((*it).clone()) {
                    Ok(schema) => Ok(Evaluated::Schema(schema)),
                    Err(_) => self.unsupported(&frame, &path),
                },
                _ => self.unsupported(&frame, &path),
            });
        Self::into_result(found).map(Some)
    }

    /// The function that `schema_with` names.
    pub fn schema_with(&self, scope: &Scope, path: &ExprPath) -> Result<Schema, Box<Problem>> {
        let frame = Frame::in_scope(scope.clone());
        let schema = Ty::foreign("schemars::Schema");
        let found = self.call_path(&frame, path, &Arguments::Generator, &schema);
        let found = found.and_then(|value| match value {
            Value::Json(JsonKind::Schema, it) => match Schema::try_from((*it).clone()) {
                Ok(schema) => Ok(schema),
                Err(_) => self.unsupported(&frame, path),
            },
            _ => self.refuse(&frame, path, "it does not return a schema"),
        });
        Self::into_result(found)
    }
}

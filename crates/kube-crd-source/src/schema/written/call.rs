//! Calls in a function that makes a schema: of the project's own functions, of schemars', serde_json's and std's.

use schemars::Schema;
use serde_json::{Map, Value as Json};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprPath, Token};

use super::expr::object_of;
use super::run::{Frame, Ran, Run, Stop};
use super::value::Value;
use crate::builtin::Dyn;
use crate::names::{Named, Space};
use crate::schema::standing::standing_for;
use crate::types::{Scope, Type};
use crate::world::{Kind, Path, plain};

type Arguments = Punctuated<Expr, Token![,]>;

impl Run<'_> {
    /// `Type::name` and `<Type as Trait>::name` as the type and the name.
    pub fn split(
        &mut self,
        frame: &Frame,
        path: &ExprPath,
    ) -> Ran<Option<(std::rc::Rc<Type>, String)>> {
        let mut segments: Vec<_> = path.path.segments.iter().cloned().collect();
        let Some(last) = segments.pop() else { return Ok(None) };
        let ty = match &path.qself {
            Some(it) => (*it.ty).clone(),
            None if segments.is_empty() => return Ok(None),
            None => syn::Type::Path(syn::TypePath {
                attrs: Vec::new(),
                qself: None,
                path: syn::Path {
                    leading_colon: path.path.leading_colon,
                    segments: segments.into_iter().collect(),
                },
            }),
        };
        match self.reader.world.type_in(&frame.scope, &ty) {
            Ok(ty) => Ok(Some((ty, plain(&last.ident)))),
            Err(problem) => Err(Stop::Problem(Box::new(problem))),
        }
    }

    /// The types between `<` and `>` at the end of a path.
    pub fn turbofish(
        &self,
        frame: &Frame,
        arguments: &syn::PathArguments,
    ) -> Ran<Vec<std::rc::Rc<Type>>> {
        let syn::PathArguments::AngleBracketed(it) = arguments else { return Ok(Vec::new()) };
        self.types(frame, it)
    }

    pub fn types(
        &self,
        frame: &Frame,
        arguments: &syn::AngleBracketedGenericArguments,
    ) -> Ran<Vec<std::rc::Rc<Type>>> {
        let mut res = Vec::new();
        for it in &arguments.args {
            match it {
                syn::GenericArgument::Type(ty) => {
                    let found = self.reader.world.type_in(&frame.scope, ty);
                    res.push(found.map_err(|it| Stop::Problem(Box::new(it)))?);
                }
                syn::GenericArgument::Lifetime(_) => {}
                it => return self.refuse(frame, it, "is no type that is read"),
            }
        }
        Ok(res)
    }

    pub fn call_expr(&mut self, frame: &Frame, it: &syn::ExprCall) -> Ran<Value> {
        let Expr::Path(path) = &*it.func else {
            return self.refuse(frame, it, "calls what is not read");
        };
        let last = path.path.segments.last();
        let name = last.map(|it| plain(&it.ident)).unwrap_or_default();
        // What every type with a schema has.
        let of_trait = ["json_schema", "schema_name", "schema_id", "inline_schema"];
        if of_trait.contains(&name.as_str())
            && (path.qself.is_some() || 1 < path.path.segments.len())
            && self.associated(frame, path)?.is_none()
        {
            return self.asked(frame, it, path, &name);
        }
        let world = self.reader.world.clone();
        let named = match path.qself {
            Some(_) => None,
            None => world.resolve(frame.scope.module, &Path::from(&path.path), Space::Values).ok(),
        };
        match named {
            Some(Named::Foreign(known)) => self.foreign(frame, it, &known),
            Some(Named::Item(id)) => match &world.items[id].kind {
                Kind::Fn(function) => {
                    let given = self.given(frame, &it.args)?;
                    let said = match last {
                        Some(last) => self.turbofish(frame, &last.arguments)?,
                        None => Vec::new(),
                    };
                    let scope = Scope::from(world.items[id].module);
                    let generics = &function.sig.generics;
                    let there = self.frame_of(frame, scope, generics, &said, it)?;
                    self.call(&there, &function.sig, &function.attrs, &function.block, given)
                }
                _ => self.refuse(frame, it, "calls what is no function"),
            },
            _ => match self.associated(frame, path)? {
                Some((there, syn::ImplItem::Fn(function))) => {
                    let given = self.given(frame, &it.args)?;
                    let said = match last {
                        Some(last) => self.turbofish(frame, &last.arguments)?,
                        None => Vec::new(),
                    };
                    let generics = &function.sig.generics;
                    let there = self.frame_of(frame, there.scope, generics, &said, it)?;
                    self.call(&there, &function.sig, &function.attrs, &function.block, given)
                }
                _ => self.refuse(frame, path, "is no function that is read"),
            },
        }
    }

    fn given(&mut self, frame: &Frame, arguments: &Arguments) -> Ran<Vec<Value>> {
        arguments.iter().map(|it| self.owned(frame, it)).collect()
    }

    /// `T::json_schema(generator)`, `T::schema_name()` and the like.
    fn asked(
        &mut self,
        frame: &Frame,
        call: &syn::ExprCall,
        path: &ExprPath,
        name: &str,
    ) -> Ran<Value> {
        let Some((ty, _)) = self.split(frame, path)? else {
            return self.refuse(frame, call, "calls what is not read");
        };
        let count = usize::from(name == "json_schema");
        if call.args.len() != count {
            return self.refuse(frame, call, "calls what is not read");
        }
        let reader = self.reader;
        Ok(match name {
            "schema_name" => Value::Text(reader.name(&ty)),
            "schema_id" => Value::Text(reader.id(&ty)),
            "inline_schema" => Value::from(reader.inline(&ty)),
            _ => {
                let generator = self.expr(frame, &call.args[0])?;
                let (Value::Generator, Some(generator)) =
                    (generator, self.generator.as_deref_mut())
                else {
                    return self.refuse(frame, &call.args[0], "is no generator that is read");
                };
                Value::Json(reader.schema(&ty, generator).to_value())
            }
        })
    }

    /// `generator.subschema_for::<T>()`.
    pub fn subschema(&mut self, frame: &Frame, it: &syn::ExprMethodCall) -> Ran<Value> {
        let said = match &it.turbofish {
            Some(said) => self.types(frame, said)?,
            None => Vec::new(),
        };
        match (&said[..], self.generator.as_deref_mut()) {
            ([ty], Some(generator)) if it.args.is_empty() => {
                let schema =
                    standing_for(std::slice::from_ref(ty), || generator.subschema_for::<Dyn<0>>());
                Ok(Value::Json(schema.to_value()))
            }
            _ => self.refuse(frame, it, "is a call that is not read"),
        }
    }

    /// Functions of std, serde_json and schemars.
    fn foreign(&mut self, frame: &Frame, it: &syn::ExprCall, path: &str) -> Ran<Value> {
        let mut arguments = it.args.iter();
        let (first, more) = (arguments.next(), arguments.next());
        if more.is_some() {
            return self.refuse(frame, it, "calls what is not read");
        }
        let last = path.rsplit("::").next().unwrap_or_default();
        let of = path.strip_suffix(last).and_then(|it| it.strip_suffix("::")).unwrap_or_default();
        let Some(first) = first else {
            return match (of, last) {
                ("serde_json::Map" | "std::collections::BTreeMap", "new" | "default")
                | ("schemars::Schema", "default") => Ok(Value::Json(Json::Object(Map::new()))),
                ("std::vec::Vec", "new") => Ok(Value::Json(Json::Array(Vec::new()))),
                ("std::string::String", "new") => Ok(Value::Text(String::new())),
                _ => self.refuse(frame, it, "calls what is not read"),
            };
        };
        match (of, last) {
            ("std::option::Option", "Some") | ("std::result::Result", "Ok") => {
                let value = self.owned(frame, first)?;
                Ok(Value::some(value))
            }
            ("std::boxed::Box" | "std::rc::Rc" | "std::sync::Arc", "new") => {
                self.owned(frame, first)
            }
            ("std::borrow::Cow", "Borrowed" | "Owned" | "from")
            | ("std::string::String", "from") => {
                let text = self.text_of(frame, first)?;
                Ok(Value::Text(text))
            }
            ("serde_json::Value", "String") => {
                let text = self.text_of(frame, first)?;
                Ok(Value::Json(text.into()))
            }
            ("serde_json::Value", "Object" | "Array" | "Bool" | "from")
            | ("serde_json", "to_value")
            | ("serde_json::Map" | "std::collections::BTreeMap", "from") => {
                let json = self.data(frame, first)?;
                let json = match (last, of, json) {
                    // A list of pairs.
                    (
                        "from",
                        "serde_json::Map" | "std::collections::BTreeMap",
                        Json::Array(pairs),
                    ) => match object_of(pairs) {
                        Some(it) => it,
                        None => return self.refuse(frame, it, "is no list of pairs"),
                    },
                    (_, _, json) => json,
                };
                let json = Value::Json(json);
                Ok(if last == "to_value" { Value::some(json) } else { json })
            }
            ("schemars::Schema", "from" | "try_from") | ("serde_json", "from_value") => {
                let json = self.data(frame, first)?;
                let schema = self.schema_of(frame, it, json)?;
                Ok(if last == "from" { schema } else { Value::some(schema) })
            }
            ("schemars::Schema", "new_ref") => {
                let text = self.text_of(frame, first)?;
                Ok(Value::Json(Schema::new_ref(text).to_value()))
            }
            _ => self.refuse(frame, it, &format!("calls `{path}`, which is not read")),
        }
    }
}

//! Macros in a function that makes a schema: `json_schema!`, `json!`, `format!` and their like.

use schemars::Schema;
use serde_json::{Map, Value as Json};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, spanned::Spanned as _};

use super::json::Written;
use super::run::{Frame, Ran, Run, Stop};
use super::value::Value;
use crate::builtin::Dyn;
use crate::names::{Named, Space};
use crate::schema::standing::standing_for;
use crate::types::text;
use crate::world::Path;

type Arguments = Punctuated<Expr, Token![,]>;

impl Run<'_> {
    pub fn macro_(&mut self, frame: &Frame, mac: &syn::Macro) -> Ran<Value> {
        let world = self.reader.world.clone();
        self.told(frame, world.check_is_no_own_macro(frame.scope.module, mac))?;
        let path = Path::from(&mac.path);
        // A macro of another crate's that only has the name is none of these.
        if let Ok(Named::Foreign(it)) = world.resolve(frame.scope.module, &path, Space::Macros) {
            let known = ["serde_json::json", "schemars::json_schema", "schemars::schema_for"];
            if !known.contains(&it.as_str()) && !it.starts_with("std::") {
                return self.refuse(frame, mac, "calls a macro that is not read");
            }
        }
        let name = path.parts.last().cloned().unwrap_or_default();
        let arguments = || mac.parse_body_with(Arguments::parse_terminated);
        match name.as_str() {
            "json" => {
                let written = mac.parse_body::<Written>();
                let written = self.told(frame, written)?;
                self.json(frame, &written).map(Value::Json)
            }
            "json_schema" => {
                let written = mac.parse_body::<Written>();
                let written = self.told(frame, written)?;
                let json = self.json(frame, &written)?;
                self.schema_of(frame, mac, json)
            }
            "vec" => {
                let arguments = self.told(frame, arguments())?;
                let items: Ran<Vec<Json>> =
                    arguments.iter().map(|it| self.data(frame, it)).collect();
                Ok(Value::Json(Json::Array(items?)))
            }
            "concat" => {
                let mut res = String::new();
                for it in &self.told(frame, arguments())? {
                    res += &self.text_of(frame, it)?;
                }
                Ok(Value::Text(res))
            }
            "env" | "include_str" => {
                let found = world.outside(frame.scope.module, mac);
                self.told(frame, found).map(Value::Text)
            }
            "module_path" => Ok(Value::Text(world.modules[frame.scope.module].path.clone())),
            "stringify" => match mac.parse_body::<syn::Ident>() {
                Ok(it) => Ok(Value::Text(it.to_string())),
                Err(_) => self.refuse(frame, mac, "is spaced as the compiler pleases"),
            },
            "format" => {
                let arguments = self.told(frame, arguments())?;
                self.format(frame, mac, &arguments)
            }
            "schema_for" => {
                let ty = mac.parse_body::<syn::Type>();
                let ty = self.told(frame, ty)?;
                let found = world.type_in(&frame.scope, &ty);
                let ty = found.map_err(|it| Stop::Problem(Box::new(it)))?;
                let schema = standing_for(&[ty], || {
                    schemars::SchemaGenerator::default().into_root_schema_for::<Dyn<0>>()
                });
                Ok(Value::Json(schema.to_value()))
            }
            _ => self.refuse(frame, mac, "calls a macro that is not read"),
        }
    }

    /// What must be an object or a boolean, to be a schema.
    pub fn schema_of(&self, frame: &Frame, at: &impl quote::ToTokens, json: Json) -> Ran<Value> {
        match Schema::try_from(json) {
            Ok(it) => Ok(Value::Json(it.to_value())),
            Err(_) => self.refuse(frame, at, "is no schema, and panics when it runs"),
        }
    }

    fn json(&mut self, frame: &Frame, written: &Written) -> Ran<Json> {
        Ok(match written {
            Written::Null => Json::Null,
            Written::List(items) => {
                let items: Ran<Vec<_>> = items.iter().map(|it| self.json(frame, it)).collect();
                Json::Array(items?)
            }
            Written::Object(entries) => {
                let mut res = Map::new();
                for (key, value) in entries {
                    res.insert(self.text_of(frame, key)?, self.json(frame, value)?);
                }
                Json::Object(res)
            }
            Written::Value(expr) => self.data(frame, expr)?,
        })
    }

    /// `format!` with `{}` and `{name}` in it, and nothing after a colon.
    fn format(&mut self, frame: &Frame, mac: &syn::Macro, arguments: &Arguments) -> Ran<Value> {
        let mut arguments = arguments.iter();
        let Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(shape), .. })) = arguments.next()
        else {
            return self.refuse(frame, mac, "is not read");
        };
        let shape = shape.value();
        let (named, arguments): (Vec<_>, Vec<_>) =
            arguments.partition(|it| matches!(it, Expr::Assign(_)));
        let named: Vec<(String, &Expr)> = named
            .into_iter()
            .filter_map(|it| match it {
                Expr::Assign(it) => Some((text(&it.left), &*it.right)),
                _ => None,
            })
            .collect();
        let mut arguments = arguments.into_iter();
        let mut res = String::new();
        let mut rest = shape.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            res += &rest[..at];
            let tail = &rest[at..];
            if tail.starts_with("{{") || tail.starts_with("}}") {
                res += &tail[..1];
                rest = &tail[2..];
                continue;
            }
            let Some((name, after)) = tail[1..].split_once('}') else {
                return self.refuse(frame, mac, "is not read");
            };
            let value = match name {
                "" => match arguments.next() {
                    Some(it) => self.expr(frame, it)?,
                    None => return self.refuse(frame, mac, "is not read"),
                },
                name => match (named.iter().find(|(it, _)| it == name), syn::parse_str(name)) {
                    (Some((_, it)), _) => self.expr(frame, it)?,
                    (None, Ok::<syn::Ident, _>(it)) => {
                        let expr: Expr = syn::parse_quote_spanned!(mac.span()=> #it);
                        self.expr(frame, &expr)?
                    }
                    (None, Err(_)) => return self.refuse(frame, mac, "is not read"),
                },
            };
            match value {
                Value::Text(it) => res += &it,
                value => match value.json() {
                    Some(Json::Number(it)) if it.is_i64() || it.is_u64() => res += &it.to_string(),
                    _ => return self.refuse(frame, mac, "writes what is not read"),
                },
            }
            rest = after;
        }
        match arguments.next() {
            Some(_) => self.refuse(frame, mac, "is not read"),
            None => Ok(Value::Text(res + rest)),
        }
    }
}

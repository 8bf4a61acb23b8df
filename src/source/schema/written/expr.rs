//! Expressions in a function that makes a schema. What is not here is refused at its place.

use schemars::Schema;
use serde_json::{Map, Value as Json};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprPath, Token, spanned::Spanned as _};

use super::json::Written;
use super::run::{Frame, Ran, Run, Stop};
use super::value::{Key, Value};
use crate::source::builtin::{Answers as _, Dyn, standing_for};
use crate::source::eval;
use crate::source::names::{Named, Space};
use crate::source::types::{Scope, Type, text};
use crate::source::values::Values;
use crate::source::world::{Kind, Path, plain};

type Arguments = Punctuated<Expr, Token![,]>;

impl Run<'_> {
    pub fn expr(&mut self, frame: &Frame, expr: &Expr) -> Ran<Value> {
        if let Some(attr) = eval::attribute(expr) {
            return self.refuse(frame, attr, "on an expression is not read");
        }
        self.deeper(frame, expr, |run| run.expr_(frame, expr))
    }

    fn expr_(&mut self, frame: &Frame, expr: &Expr) -> Ran<Value> {
        match expr {
            Expr::Paren(it) => self.expr(frame, &it.expr),
            Expr::Group(it) => self.expr(frame, &it.expr),
            Expr::Reference(it) => self.expr(frame, &it.expr),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Deref(_)) => self.expr(frame, &it.expr),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Not(_)) => {
                match self.expr(frame, &it.expr)?.json() {
                    Some(Json::Bool(it)) => Ok(Value::from(!it)),
                    _ => self.refuse(frame, expr, "is no condition that is read"),
                }
            }
            Expr::Block(it) if it.label.is_none() => self.block(frame, &it.block),
            Expr::Path(it) => self.path(frame, it),
            Expr::Macro(it) => self.macro_(frame, &it.mac),
            Expr::Call(it) => self.call_expr(frame, it),
            Expr::MethodCall(it) => self.method(frame, it),
            Expr::If(it) => self.if_(frame, it),
            Expr::Match(it) => {
                let value = self.owned(frame, &it.expr)?;
                for arm in &it.arms {
                    if !arm.attrs.is_empty() {
                        return self.refuse(frame, &arm.pat, "is a pattern that is not read");
                    }
                    let before = frame.bound();
                    if self.matches(frame, &arm.pat, value.clone())? {
                        let res = self.owned(frame, &arm.body);
                        frame.forget(before);
                        return res;
                    }
                }
                self.refuse(frame, expr, "matches nothing")
            }
            Expr::ForLoop(it) if it.label.is_none() => {
                let Some(Json::Array(items)) = self.expr(frame, &it.expr)?.json() else {
                    return self.refuse(frame, &it.expr, "is no list that is read");
                };
                for item in items {
                    let before = frame.bound();
                    let item = match item {
                        Json::String(it) => Value::Text(it),
                        item => Value::Json(item),
                    };
                    self.bind(frame, &it.pat, item)?;
                    self.block(frame, &it.body)?;
                    frame.forget(before);
                }
                Ok(Value::Unit)
            }
            Expr::Return(it) => Err(Stop::Return(match &it.expr {
                Some(it) => self.owned(frame, it)?,
                None => Value::Unit,
            })),
            Expr::Assign(it) => {
                let value = self.owned(frame, &it.right)?;
                if let Expr::Path(path) = &*it.left
                    && let Some(name) = path.path.get_ident()
                    && frame.rebind(&plain(name), value.clone())
                {
                    return Ok(Value::Unit);
                }
                let left = self.place_to_write(frame, &it.left)?;
                match (left, value.json()) {
                    (Some(place), Some(value)) if place.write(value.clone()).is_some() => {
                        Ok(Value::Unit)
                    }
                    _ => self.refuse(frame, expr, "gives a value to what is no place"),
                }
            }
            Expr::Index(_) => match self.place_to_write(frame, expr)? {
                // What is not there is `null` to serde_json.
                Some(place) => match place.look(|_| ()) {
                    Some(()) => Ok(Value::Place(place)),
                    None => self.refuse(frame, expr, "is not there"),
                },
                None => self.refuse(frame, expr, "is no place that is read"),
            },
            Expr::Array(it) => {
                let items: Ran<Vec<Json>> =
                    it.elems.iter().map(|it| self.data(frame, it)).collect();
                Ok(Value::Json(Json::Array(items?)))
            }
            Expr::Tuple(it) if it.elems.is_empty() => Ok(Value::Unit),
            Expr::Tuple(it) => {
                let items: Ran<Vec<Json>> =
                    it.elems.iter().map(|it| self.data(frame, it)).collect();
                Ok(Value::Json(Json::Array(items?)))
            }
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Ok(Value::Text(it.value())),
            Expr::Lit(_) | Expr::Unary(_) | Expr::Binary(_) => {
                let values = Values { world: &self.reader.world, module: frame.scope.module };
                let found = values.free(expr);
                self.told(frame, found).map(Value::Json)
            }
            expr => self.refuse(frame, expr, "is code that is not read"),
        }
    }

    /// An expression as serde writes it.
    pub fn data(&mut self, frame: &Frame, expr: &Expr) -> Ran<Json> {
        match self.expr(frame, expr)?.json() {
            Some(it) => Ok(it),
            None => self.refuse(frame, expr, "is no data"),
        }
    }

    pub fn text_of(&mut self, frame: &Frame, expr: &Expr) -> Ran<String> {
        match self.expr(frame, expr)?.text() {
            Some(it) => Ok(it),
            None => self.refuse(frame, expr, "is no text"),
        }
    }

    fn place_to_write(&mut self, frame: &Frame, expr: &Expr) -> Ran<Option<super::value::Place>> {
        match expr {
            Expr::Index(it) => {
                let Some(place) = self.place_to_write(frame, &it.expr)? else { return Ok(None) };
                let key = match self.data(frame, &it.index)? {
                    Json::String(it) => Key::Name(it),
                    Json::Number(number) => match number.as_u64().map(usize::try_from) {
                        Some(Ok(index)) => Key::Index(index),
                        _ => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                Ok(Some(place.then(key)))
            }
            expr => Ok(self.expr(frame, expr)?.place()),
        }
    }

    fn if_(&mut self, frame: &Frame, it: &syn::ExprIf) -> Ran<Value> {
        let before = frame.bound();
        let holds = match &*it.cond {
            Expr::Let(condition) => {
                let value = self.expr(frame, &condition.expr)?;
                self.matches(frame, &condition.pat, value)?
            }
            condition => match self.expr(frame, condition)?.json() {
                Some(Json::Bool(it)) => it,
                _ => return self.refuse(frame, condition, "is no condition that is read"),
            },
        };
        let res = match (holds, &it.else_branch) {
            (true, _) => self.block(frame, &it.then_branch),
            (false, Some((_, other))) => self.owned(frame, other),
            (false, None) => Ok(Value::Unit),
        };
        frame.forget(before);
        res
    }

    fn path(&mut self, frame: &Frame, it: &ExprPath) -> Ran<Value> {
        if let Some(name) = it.path.get_ident()
            && let Some(value) = frame.local(&plain(name))
        {
            return Ok(value);
        }
        let world = self.reader.world.clone();
        match world.resolve(frame.scope.module, &Path::from(&it.path), Space::Values) {
            Ok(Named::Foreign(path)) if path == "std::option::Option::None" => {
                Ok(Value::Option(None))
            }
            Ok(Named::Foreign(path)) if path == "serde_json::Value::Null" => {
                Ok(Value::Json(Json::Null))
            }
            Ok(Named::Item(id)) => match &world.items[id].kind {
                Kind::Const(constant) => {
                    let there = Frame::new(Scope::from(world.items[id].module));
                    self.deeper(frame, it, |run| run.expr(&there, &constant.expr))
                }
                _ => self.refuse(frame, it, "is no constant"),
            },
            _ => match self.associated(frame, it)? {
                Some((there, syn::ImplItem::Const(constant))) => {
                    self.deeper(frame, it, |run| run.expr(&there, &constant.expr))
                }
                _ => self.refuse(frame, it, "is no value that is read"),
            },
        }
    }

    /// What of an `impl Type` a path like `Type::name` or `Self::name` names.
    pub fn associated(
        &mut self,
        frame: &Frame,
        path: &ExprPath,
    ) -> Ran<Option<(Frame, syn::ImplItem)>> {
        let Some((of, name)) = self.split(frame, path)? else { return Ok(None) };
        let (Type::Data(id, _) | Type::Root(id)) = &*of else { return Ok(None) };
        let world = self.reader.world.clone();
        let item = match &*of {
            Type::Root(spec) => world.root_of(*spec).unwrap_or(*id),
            _ => *id,
        };
        let mut found = Vec::new();
        for imp in &world.impls {
            if imp.trait_.is_some() || !world.is_impl_for(imp, item) {
                continue;
            }
            for it in &imp.syntax.items {
                let here = match it {
                    syn::ImplItem::Fn(it) => it.sig.ident == name,
                    syn::ImplItem::Const(it) => it.ident == name,
                    _ => false,
                };
                if here {
                    found.push((imp, it));
                }
            }
        }
        match &found[..] {
            [(imp, it)] if imp.syntax.generics.params.is_empty() => {
                let mut scope = Scope::from(imp.module);
                let parameters = std::rc::Rc::make_mut(&mut scope.parameters);
                parameters.insert("Self".to_owned(), of);
                Ok(Some((Frame::new(scope), (*it).clone())))
            }
            [] => Ok(None),
            _ => self.refuse(frame, path, "is not read"),
        }
    }

    /// `Type::name` and `<Type as Trait>::name` as the type and the name.
    fn split(
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

    fn call_expr(&mut self, frame: &Frame, it: &syn::ExprCall) -> Ran<Value> {
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

    pub fn macro_(&mut self, frame: &Frame, mac: &syn::Macro) -> Ran<Value> {
        let world = self.reader.world.clone();
        let opened = world.opened_value(frame.scope.module, mac);
        if let Some(stmts) = self.told(frame, opened)? {
            let block = syn::Block { brace_token: syn::token::Brace::default(), stmts };
            return self.block(frame, &block);
        }
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

/// A list of pairs as the map that it is collected into.
pub fn object_of(pairs: Vec<Json>) -> Option<Json> {
    let mut res = Map::new();
    for it in pairs {
        let Json::Array(pair) = it else { return None };
        let [Json::String(key), value] = <[Json; 2]>::try_from(pair).ok()? else { return None };
        res.insert(key, value);
    }
    Some(Json::Object(res))
}

/// The last name of a path that is written as a value: `Value::as_object_mut`.
pub fn last_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(it) => it.path.segments.last().map(|it| plain(&it.ident)),
        expr => Some(text(expr)).filter(|_| false),
    }
}

//! Default values, as serde would write them: `Default::default()`, functions with a plain body, their constants.

use std::rc::Rc;

use serde_derive_internals::{Derive, ast, attr};
use serde_json::{Map, Value};
use syn::{Expr, Lit, spanned::Spanned as _};

use super::attributes::serde;
use super::derives::Derived;
use super::names::{Named, Space};
use super::types::{Type, text};
use super::values::{Values, peel, range};
use super::world::{ItemId, Kind, Path};
use crate::model::Problem;

type Read<T> = Result<T, Problem>;

const WAY_OUT: &str =
    "write a literal, or leave the default out of the schema with `#[schemars(extend(…))]`";

impl Values<'_> {
    fn refuse<T>(&self, expr: &impl quote::ToTokens, what: &str) -> Read<T> {
        let span = expr.to_token_stream().span();
        Err(self.world.problem(self.module, span, format!("`{}` {what}", text(expr)), WAY_OUT))
    }

    fn told<T>(&self, found: syn::Result<T>) -> Read<T> {
        found.map_err(|it| self.world.problem(self.module, it.span(), it.to_string(), WAY_OUT))
    }

    /// What `path()` returns, as a value of type `ty`.
    pub fn call(&self, path: &syn::ExprPath, ty: &Type) -> Read<Value> {
        let named = self.world.resolve(self.module, &Path::from(&path.path), Space::Values);
        let known = match &named {
            _ if path.qself.is_some() => return self.refuse(path, "is not read as a default yet"),
            Ok(Named::Foreign(name)) => name.as_str(),
            Ok(Named::Item(id)) => match &self.world.items[*id].kind {
                Kind::Fn(function) => {
                    let there = Self { module: self.world.items[*id].module, ..*self };
                    return there.body(&function.sig, &function.attrs, &function.block, ty);
                }
                _ => return self.refuse(path, "is no function"),
            },
            Ok(Named::Member(id, name)) => return self.associated(*id, name, path, ty),
            _ => return self.refuse(path, "is not found"),
        };
        match known.rsplit_once("::") {
            Some(("std::default::Default", "default")) => self.default_of(ty, path),
            Some((of, "default" | "new")) if !of.is_empty() && of == ty.path() => {
                self.default_of(ty, path)
            }
            _ => self.refuse(path, "is not read as a default yet"),
        }
    }

    /// `Type::function()` of a type of the project.
    fn associated(&self, id: ItemId, name: &str, path: &syn::ExprPath, ty: &Type) -> Read<Value> {
        let of_this =
            |it: &&super::world::Impl| self.world.is_impl_for(it, id) && it.trait_.is_none();
        let mut found = Vec::new();
        for imp in self.world.impls.iter().filter(of_this) {
            for item in &imp.syntax.items {
                if let syn::ImplItem::Fn(it) = item
                    && it.sig.ident == name
                {
                    found.push((imp.module, it));
                }
            }
        }
        match found[..] {
            [(module, it)] => Self { module, ..*self }.body(&it.sig, &it.attrs, &it.block, ty),
            [] if name == "default" => match ty {
                Type::Data(it) if *it == id => self.default_of(ty, path),
                _ => self.refuse(path, "is of another type"),
            },
            _ => self.refuse(path, "is not read as a default yet"),
        }
    }

    fn body(
        &self,
        signature: &syn::Signature,
        attrs: &[syn::Attribute],
        block: &syn::Block,
        ty: &Type,
    ) -> Read<Value> {
        let inert = ["doc", "must_use", "inline", "allow", "expect", "cold"];
        let plain = attrs.iter().all(|it| inert.iter().any(|name| it.path().is_ident(name)));
        let none = signature.inputs.is_empty() && signature.generics.params.is_empty();
        if !none || !plain || signature.asyncness.is_some() {
            return self.refuse(&signature.ident, "is no plain function without arguments");
        }
        match (&signature.output, &block.stmts[..]) {
            (syn::ReturnType::Type(_, returned), [syn::Stmt::Expr(expr, None)]) => {
                // What is evaluated as a type must be of that type.
                let returned = self.world.type_(self.module, returned)?;
                if !same(&returned, ty) {
                    return self.refuse(&signature.ident, "returns another type");
                }
                self.evaluate(expr, ty)
            }
            _ => self
                .refuse(&signature.ident, "has more in it than one value, which is not read yet"),
        }
    }

    /// An expression of a known type.
    pub fn evaluate(&self, expr: &Expr, ty: &Type) -> Read<Value> {
        let expr = peel(expr);
        if let Expr::Block(it) = expr
            && let ([syn::Stmt::Expr(inner, None)], None) = (&it.block.stmts[..], &it.label)
        {
            return self.evaluate(inner, ty);
        }
        if let Expr::Call(call) = expr
            && let (Expr::Path(path), true) = (peel(&call.func), call.args.is_empty())
        {
            return self.call(path, ty);
        }
        match ty {
            Type::Data(id) => self.data(expr, *id),
            Type::Root(_) => self.refuse(expr, "is not read as a default"),
            Type::Foreign { path, arguments, .. } => self.foreign(expr, path, arguments),
        }
    }

    fn foreign(&self, expr: &Expr, path: &str, arguments: &[Rc<Type>]) -> Read<Value> {
        match (path, arguments) {
            ("bool", _) => match expr {
                Expr::Lit(syn::ExprLit { lit: Lit::Bool(it), .. }) => Ok(it.value.into()),
                _ => self.refuse(expr, "is computed, which is not read yet"),
            },
            ("char", _) => match expr {
                Expr::Lit(syn::ExprLit { lit: Lit::Char(it), .. }) => {
                    Ok(it.value().to_string().into())
                }
                _ => self.refuse(expr, "is computed, which is not read yet"),
            },
            ("f32" | "f64", _) => self.told(self.number_as(expr, path)),
            ("std::string::String", _) => self.string(expr).map(Value::from),
            ("std::option::Option", [inner]) => match expr {
                Expr::Path(it) if self.is(&it.path, "std::option::Option::None") => Ok(Value::Null),
                Expr::Call(it) => match (peel(&it.func), it.args.first()) {
                    (Expr::Path(func), Some(value))
                        if it.args.len() == 1
                            && self.is(&func.path, "std::option::Option::Some") =>
                    {
                        self.evaluate(value, inner)
                    }
                    _ => self.refuse(expr, "is not read as a default yet"),
                },
                _ => self.refuse(expr, "is not read as a default yet"),
            },
            ("std::boxed::Box", [inner]) => match expr {
                Expr::Call(it) => match (peel(&it.func), it.args.first()) {
                    (Expr::Path(func), Some(value))
                        if self.is(&func.path, "std::boxed::Box::new") =>
                    {
                        self.evaluate(value, inner)
                    }
                    _ => self.refuse(expr, "is not read as a default yet"),
                },
                _ => self.refuse(expr, "is not read as a default yet"),
            },
            ("std::vec::Vec", [inner]) => self.list(expr, inner),
            ("std::collections::BTreeMap" | "std::collections::HashMap", [key, value])
                if key.path() == "std::string::String" =>
            {
                self.map(expr, path, value)
            }
            _ if range(path).is_some() => self.told(self.number_as(expr, path)),
            _ => self.refuse(expr, "is not read as a default yet"),
        }
    }

    /// `"x".to_owned()`, `"x".to_string()`, `"x".into()`, `String::from("x")`.
    fn string(&self, expr: &Expr) -> Read<String> {
        let literal = |expr: &Expr| self.told(self.text(expr));
        match expr {
            Expr::MethodCall(it)
                if it.args.is_empty()
                    && ["to_owned", "to_string", "into"].iter().any(|name| it.method == name) =>
            {
                literal(&it.receiver)
            }
            Expr::Call(it) => match (peel(&it.func), it.args.first()) {
                (Expr::Path(func), Some(value))
                    if it.args.len() == 1 && self.is(&func.path, "std::string::String::from") =>
                {
                    literal(value)
                }
                _ => self.refuse(expr, "is not read as a default yet"),
            },
            Expr::Macro(it) if it.mac.path.is_ident("format") => {
                match it.mac.parse_body::<syn::LitStr>() {
                    Ok(text) if !text.value().contains(['{', '}']) => Ok(text.value()),
                    _ => self.refuse(expr, "is not read as a default yet"),
                }
            }
            _ => self.refuse(expr, "is not read as a default yet"),
        }
    }

    fn list(&self, expr: &Expr, inner: &Type) -> Read<Value> {
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        let items = match expr {
            Expr::Macro(it) if it.mac.path.is_ident("vec") => {
                match it.mac.parse_body_with(parser) {
                    Ok(items) => items,
                    Err(_) => return self.refuse(expr, "is not read as a default yet"),
                }
            }
            Expr::MethodCall(it)
                if it.args.is_empty() && (it.method == "into" || it.method == "to_vec") =>
            {
                match peel(&it.receiver) {
                    Expr::Array(array) => array.elems.clone(),
                    _ => return self.refuse(expr, "is not read as a default yet"),
                }
            }
            _ => return self.refuse(expr, "is not read as a default yet"),
        };
        items.iter().map(|it| self.evaluate(it, inner)).collect()
    }

    /// `BTreeMap::from([("key".to_owned(), value)])`.
    fn map(&self, expr: &Expr, path: &str, value: &Type) -> Read<Value> {
        if let Expr::Call(call) = expr
            && let (Expr::Path(func), Some(Expr::Array(array)), 1) =
                (peel(&call.func), call.args.first(), call.args.len())
            && self.is(&func.path, &format!("{path}::from"))
        {
            let mut res = Map::new();
            for item in &array.elems {
                let Expr::Tuple(pair) = peel(item) else {
                    return self.refuse(item, "is no pair");
                };
                let (Some(key), Some(item), 2) =
                    (pair.elems.first(), pair.elems.last(), pair.elems.len())
                else {
                    return self.refuse(item, "is no pair");
                };
                res.insert(self.string(peel(key))?, self.evaluate(item, value)?);
            }
            return Ok(Value::Object(res));
        }
        self.refuse(expr, "is not read as a default yet")
    }

    fn is(&self, path: &syn::Path, whole: &str) -> bool {
        let found = self.world.resolve(self.module, &Path::from(path), Space::Values);
        found == Ok(Named::Foreign(whole.to_owned()))
    }

    /// `Enum::Variant`, `Struct { … }`, `Newtype(…)`.
    fn data(&self, expr: &Expr, id: ItemId) -> Read<Value> {
        match expr {
            Expr::Path(path) => {
                let named = self.world.resolve(self.module, &Path::from(&path.path), Space::Values);
                match named {
                    Ok(Named::Member(of, variant)) if of == id => self.variant(id, &variant, expr),
                    _ => match self.constant(path) {
                        Ok((there, constant)) => {
                            let ty = self.world.type_(there.module, &constant.ty)?;
                            if !same(&ty, &Type::Data(id)) {
                                return self.refuse(expr, "is of another type");
                            }
                            there.evaluate(&constant.expr, &Type::Data(id))
                        }
                        Err(_) => self.refuse(expr, "is not read as a default yet"),
                    },
                }
            }
            Expr::Struct(it) if it.rest.is_none() && it.dot2_token.is_none() => {
                let named = self.world.resolve(self.module, &Path::from(&it.path), Space::Types);
                if named != Ok(Named::Item(id)) {
                    return self.refuse(expr, "is not read as a default yet");
                }
                self.structure(id, expr, |field, ty, there| {
                    let value = it.fields.iter().find(|it| match (&it.member, field) {
                        (syn::Member::Named(one), syn::Member::Named(other)) => one == other,
                        _ => false,
                    });
                    match (value, there) {
                        (Some(value), _) => self.evaluate(&value.expr, ty),
                        (None, _) => self.refuse(expr, "lacks a field"),
                    }
                })
            }
            _ => self.refuse(expr, "is not read as a default yet"),
        }
    }

    /// `T::default()`, as serde writes it.
    pub fn default_of(&self, ty: &Type, at: &impl quote::ToTokens) -> Read<Value> {
        match ty {
            Type::Root(_) => self.refuse(at, "is not read as a default"),
            Type::Foreign { path: "std::boxed::Box", arguments, .. } => {
                self.default_of(&arguments[0], at)
            }
            Type::Foreign { builtin, path, .. } => match builtin.default.and_then(|it| it()) {
                Some(value) => Ok(value),
                None => self.refuse(at, &format!("has a default of `{path}`, which is not known")),
            },
            Type::Data(id) => {
                if self.world.derived(*id, "std::default::Default")? != Derived::Yes {
                    return self
                        .refuse(at, "has a default that is not derived, which is not read yet");
                }
                let Kind::Data(input) = &self.world.items[*id].kind else {
                    return self.refuse(at, "is no type");
                };
                let there = Self { module: self.world.items[*id].module, ..*self };
                match &input.data {
                    syn::Data::Enum(it) => {
                        let marked = it
                            .variants
                            .iter()
                            .find(|it| it.attrs.iter().any(|it| it.path().is_ident("default")));
                        match marked {
                            Some(variant) => {
                                self.variant(*id, &super::world::plain(&variant.ident), at)
                            }
                            None => self.refuse(at, "has no default variant"),
                        }
                    }
                    _ => self.structure(*id, at, |_, ty, field| there.default_of(ty, field)),
                }
            }
        }
    }

    /// A unit variant, as serde writes it.
    fn variant(&self, id: ItemId, name: &str, at: &impl quote::ToTokens) -> Read<Value> {
        let found = self.serial(id, at, |it| {
            let ast::Data::Enum(variants) = &it.data else { return None };
            let plain = matches!(it.attrs.tag(), attr::TagType::External);
            let variant = variants.iter().find(|it| super::world::plain(&it.ident) == name)?;
            let unit = matches!(variant.style, ast::Style::Unit);
            let attrs = &variant.attrs;
            let kept = !attrs.skip_serializing() && !attrs.untagged();
            let said = it.attrs.type_into().is_none() && attrs.serialize_with().is_none();
            (plain && unit && kept && said)
                .then(|| Value::from(attrs.name().serialize_name().value.clone()))
        })?;
        found.map_or_else(|| self.refuse(at, "is not read as a default yet"), Ok)
    }

    /// A struct of which `value` gives each field, as serde writes it.
    fn structure(
        &self,
        id: ItemId,
        at: &impl quote::ToTokens,
        value: impl Fn(&syn::Member, &Type, &syn::Field) -> Read<Value>,
    ) -> Read<Value> {
        let module = self.world.items[id].module;
        let there = Self { module, ..*self };
        let found = self.serial(id, at, |it| -> Option<Read<Value>> {
            let ast::Data::Struct(style, fields) = &it.data else { return None };
            let plain = it.attrs.type_into().is_none()
                && matches!(it.attrs.tag(), attr::TagType::External)
                && !it.attrs.transparent();
            let newtype = match style {
                ast::Style::Struct => false,
                ast::Style::Newtype => true,
                _ => return None,
            };
            let odd =
                |it: &ast::Field<'_>| it.attrs.flatten() || it.attrs.serialize_with().is_some();
            if !plain || fields.iter().any(odd) {
                return None;
            }
            let mut res = Map::new();
            for field in fields {
                if field.attrs.skip_serializing() {
                    continue;
                }
                let read = || -> Read<Option<Value>> {
                    let ty = self.world.type_(module, field.ty)?;
                    let value = value(&field.member, &ty, field.original)?;
                    match field.attrs.skip_serializing_if() {
                        Some(skip) if there.skips(skip, &ty, &value)? => Ok(None),
                        _ => Ok(Some(value)),
                    }
                };
                match read() {
                    Ok(Some(value)) if newtype => return Some(Ok(value)),
                    Ok(Some(value)) => {
                        res.insert(field.attrs.name().serialize_name().value.clone(), value);
                    }
                    Ok(None) => {}
                    Err(problem) => return Some(Err(problem)),
                }
            }
            Some(Ok(Value::Object(res)))
        })?;
        found.unwrap_or_else(|| self.refuse(at, "is not read as a default yet"))
    }

    fn serial<T>(
        &self,
        id: ItemId,
        at: &impl quote::ToTokens,
        f: impl FnOnce(&ast::Container<'_>) -> T,
    ) -> Read<T> {
        if self.world.derived(id, "serde::Serialize")? != Derived::Yes {
            return self.refuse(at, "is a default of a type that does not derive `Serialize`");
        }
        let input = self.world.settled(id)?;
        let there = Self { module: self.world.items[id].module, ..*self };
        there.told(serde::read(&input, Derive::Serialize, f))
    }

    /// What `skip_serializing_if` says of a value.
    pub fn skips(&self, path: &syn::ExprPath, ty: &Type, value: &Value) -> Read<bool> {
        let named = self.world.resolve(self.module, &Path::from(&path.path), Space::Values);
        let Ok(Named::Foreign(name)) = named else {
            return self.refuse(path, "is a function of your own, which is not read yet");
        };
        let of = name.rsplit_once("::").map_or("", |(of, _)| of);
        match (name.as_str(), value) {
            ("std::option::Option::is_none", value) if of == ty.path() => Ok(value.is_null()),
            ("std::option::Option::is_some", value) if of == ty.path() => Ok(!value.is_null()),
            ("std::ops::Not::not", Value::Bool(it)) => Ok(!*it),
            ("str::is_empty" | "std::string::String::is_empty", Value::String(it)) => {
                Ok(it.is_empty())
            }
            (name, Value::Array(it)) if name.ends_with("::is_empty") && of == ty.path() => {
                Ok(it.is_empty())
            }
            (name, Value::Object(it)) if name.ends_with("::is_empty") && of == ty.path() => {
                Ok(it.is_empty())
            }
            _ => self.refuse(path, "is a function that is not read yet"),
        }
    }
}

/// Whether two types are one.
fn same(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Data(one), Type::Data(other)) | (Type::Root(one), Type::Root(other)) => one == other,
        (
            Type::Foreign { path: one, arguments: left, .. },
            Type::Foreign { path: other, arguments: right, .. },
        ) => one == other && left.iter().zip(right).all(|(one, other)| same(one, other)),
        _ => false,
    }
}

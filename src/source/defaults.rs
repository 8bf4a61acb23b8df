//! Default values, as serde would write them: `Default::default()`, functions with a plain body, their constants.

use std::rc::Rc;

use serde_json::{Map, Value};
use syn::{Expr, Lit, spanned::Spanned as _};

use super::names::{Named, Space};
use super::types::{Type, text};
use super::values::{Values, peel, range};
use super::world::{ItemId, Kind, Path};
use crate::model::Problem;

type Read<T> = Result<T, Problem>;

const WAY_OUT: &str =
    "write a literal, or leave the default out of the schema with `#[schemars(extend(…))]`";

impl Values<'_> {
    pub(super) fn refuse<T>(&self, expr: &impl quote::ToTokens, what: &str) -> Read<T> {
        let span = expr.to_token_stream().span();
        Err(self.world.problem(self.module, span, format!("`{}` {what}", text(expr)), WAY_OUT))
    }

    pub(super) fn told<T>(&self, found: syn::Result<T>) -> Read<T> {
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
                Type::Data(it, _) if *it == id => self.default_of(ty, path),
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
                if *returned != *ty {
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
            Type::Data(id, _) => self.data(expr, ty, *id),
            Type::Root(_) | Type::Kubernetes(_) | Type::Constant(_) => {
                self.refuse(expr, "is not read as a default")
            }
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
    fn data(&self, expr: &Expr, of: &Type, id: ItemId) -> Read<Value> {
        match expr {
            Expr::Path(path) => {
                let named = self.world.resolve(self.module, &Path::from(&path.path), Space::Values);
                match named {
                    Ok(Named::Member(of, variant)) if of == id => self.variant(id, &variant, expr),
                    _ => match self.constant(path) {
                        Ok((there, constant)) => {
                            let ty = self.world.type_(there.module, &constant.ty)?;
                            if *ty != *of {
                                return self.refuse(expr, "is of another type");
                            }
                            there.evaluate(&constant.expr, of)
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
                self.structure(of, id, expr, |field, ty, there| {
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
}

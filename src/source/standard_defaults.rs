//! What `Default` gives: of standard types, of derived impls field by field, and as serde writes it.

use serde_derive_internals::{Derive, ast, attr};
use serde_json::{Map, Value};

use super::attributes::serde;
use super::derives::Derived;
use super::names::{Named, Space};
use super::types::Type;
use super::values::Values;
use super::world::{ItemId, Kind, Path};
use crate::model::Problem;

type Read<T> = Result<T, Problem>;

impl Values<'_> {
    /// `T::default()`, as serde writes it.
    pub fn default_of(&self, ty: &Type, at: &impl quote::ToTokens) -> Read<Value> {
        match ty {
            Type::Root(_) | Type::Constant(_) => self.refuse(at, "is not read as a default"),
            Type::Foreign { path: "std::boxed::Box", arguments, .. } => {
                self.default_of(&arguments[0], at)
            }
            Type::Kubernetes(model) => match self.world.kubernetes.default_of(&model.path) {
                Some(value) => Ok(value),
                None => self.refuse(at, "has no default that can be read"),
            },
            Type::Foreign { builtin, path, .. } => match builtin.default.and_then(|it| it()) {
                Some(value) => Ok(value),
                None => self.refuse(at, &format!("has a default of `{path}`, which is not known")),
            },
            Type::Data(id, _) => {
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
                    _ => self.structure(ty, *id, at, |_, ty, field| there.default_of(ty, field)),
                }
            }
        }
    }

    /// A unit variant, as serde writes it.
    pub(super) fn variant(&self, id: ItemId, name: &str, at: &impl quote::ToTokens) -> Read<Value> {
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
    pub(super) fn structure(
        &self,
        ty: &Type,
        id: ItemId,
        at: &impl quote::ToTokens,
        value: impl Fn(&syn::Member, &Type, &syn::Field) -> Read<Value>,
    ) -> Read<Value> {
        let scope = self.world.scope(ty);
        let there = Self { module: scope.module, ..*self };
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
                    let ty = self.world.type_in(&scope, field.ty)?;
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

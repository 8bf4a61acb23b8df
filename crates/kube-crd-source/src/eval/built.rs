//! Values of the project's own types: `Struct { … }`, `Struct(…)` and `Enum::Variant(…)`.

use syn::{ExprPath, ExprStruct};

use super::call::Given;
use super::impls::bind;
use super::named::What;
use super::ty::parameters;
use super::value::{Data, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::names::{Named, Space};
use crate::world::{ItemId, Kind, Path};

impl<'a> Evaluator<'a> {
    /// `Struct(…)` or `Enum::Variant(…)`.
    #[allow(clippy::too_many_arguments, reason = "each is another thing that a call says")]
    pub fn tuple(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        id: ItemId,
        said: Vec<Ty>,
        variant: Option<String>,
        given: Given<'_>,
        want: &Ty,
    ) -> Eval<Value> {
        let arguments = self.wanted(id, want, said);
        let there = self.inside(id, &arguments);
        let fields = self.fields(id, variant.as_deref());
        if fields.len() != given.len() {
            return self.refuse(frame, at, "is given too much or too little");
        }
        let mut res = Vec::new();
        for (index, (name, ty)) in fields.into_iter().enumerate() {
            let ty = self.ty(&there, ty)?;
            let value = self.take(frame, at, &given, index, &ty)?;
            res.push((name, self.settled(frame, at, value)?));
        }
        let arguments = self.learnt(id, variant.as_deref(), arguments, &res);
        Ok(Value::Data(Data { id, arguments, variant, fields: res }))
    }

    /// What the parameters of a type are, told from the values in it.
    fn learnt(
        &self,
        id: ItemId,
        variant: Option<&str>,
        arguments: Vec<Ty>,
        values: &[(String, Value)],
    ) -> Vec<Ty> {
        let Kind::Data(input) = &self.world.items[id].kind else { return arguments };
        if arguments.iter().all(Ty::is_whole) {
            return arguments;
        }
        let names: Vec<String> = parameters(&input.generics).map(|(it, _)| it).collect();
        let mut known: std::collections::BTreeMap<_, _> =
            names.iter().cloned().zip(arguments).collect();
        for ((_, value), (_, ty)) in values.iter().zip(self.fields(id, variant)) {
            let actual = value.ty();
            if actual.is_whole() {
                bind(ty, &actual, &mut known);
            }
        }
        names.iter().map(|it| known.get(it).cloned().unwrap_or(Ty::Unknown)).collect()
    }

    /// `Struct { … }`.
    pub fn structure(&self, frame: &Frame, it: &ExprStruct, want: &Ty) -> Eval<Value> {
        let (id, said, variant) = match self.named_struct(frame, it)? {
            Ok(found) => found,
            Err(path) => return self.foreign_structure(frame, it, &path),
        };
        let arguments = self.wanted(id, want, said);
        let there = self.inside(id, &arguments);
        let fields = self.fields(id, variant.as_deref());
        let mut given: Vec<(String, Value)> = Vec::new();
        // In the order in which they are written, as they may change what is around.
        for field in &it.fields {
            let name = super::place::member(&field.member);
            let Some((_, ty)) = fields.iter().find(|(it, _)| *it == name) else {
                return self.refuse(frame, &field.member, "is no field of it");
            };
            if let Some(attr) = field.attrs.first() {
                return self.refuse(frame, attr, "on a field is not read");
            }
            let ty = self.ty(&there, ty)?;
            given.push((name, self.part(frame, &field.expr, &ty)?));
        }
        let mut rest = None;
        if let Some(it) = &it.rest {
            let ty = Ty::Data(id, arguments.clone());
            match self.part(frame, it, &ty)? {
                Value::Data(data) if data.variant == variant => rest = Some(data),
                _ => return self.refuse(frame, it, "is of another type"),
            }
        }
        let mut res = Vec::new();
        for (name, _) in &fields {
            let at = given.iter().position(|(it, _)| it == name);
            let value = match (at, &rest) {
                (Some(at), _) => given.swap_remove(at).1,
                (None, Some(rest)) => match rest.fields.iter().find(|(it, _)| it == name) {
                    Some((_, value)) => value.clone(),
                    None => return self.refuse(frame, it, format!("lacks the field `{name}`")),
                },
                (None, None) => {
                    return self.refuse(frame, it, format!("lacks the field `{name}`"));
                }
            };
            res.push((name.clone(), value));
        }
        let arguments = self.learnt(id, variant.as_deref(), arguments, &res);
        Ok(Value::Data(Data { id, arguments, variant, fields: res }))
    }

    /// The type of a struct expression; the path of a foreign one.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    fn named_struct(
        &self,
        frame: &Frame,
        it: &ExprStruct,
    ) -> Eval<Result<(ItemId, Vec<Ty>, Option<String>), String>> {
        if it.qself.is_some() {
            return self.refuse(frame, it, "is a struct that is not read");
        }
        let expr = ExprPath { attrs: Vec::new(), qself: None, path: it.path.clone() };
        // A variant is a value, a struct a type.
        if let Some(first) = it.path.segments.first()
            && (first.ident != "Self" || 1 < it.path.segments.len())
            && !matches!(
                self.world.resolve(frame.module, &Path::from(&it.path), Space::Types),
                Ok(Named::Item(_) | Named::Foreign(_))
            )
            && let What::Variant(id, arguments, name) = self.what(frame, &expr)?
        {
            return Ok(Ok((id, arguments, Some(name))));
        }
        let ty = syn::Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: None,
            path: it.path.clone(),
        });
        // Where an expression says nothing, parameters are told by its values, never by their defaults.
        let bare = it.path.segments.iter().all(|it| it.arguments.is_none());
        let direct = match self.world.resolve(frame.module, &Path::from(&it.path), Space::Types) {
            Ok(Named::Item(id)) => matches!(self.world.items[id].kind, Kind::Data(_)),
            _ => false,
        };
        match self.ty(frame, &ty)? {
            Ty::Data(id, arguments) if bare && direct && !it.path.is_ident("Self") => {
                Ok(Ok((id, arguments.iter().map(|_| Ty::Unknown).collect(), None)))
            }
            Ty::Data(id, arguments) => Ok(Ok((id, arguments, None))),
            Ty::Known(path, _) => Ok(Err(path)),
            Ty::Unknown => self.refuse(frame, &it.path, "is a struct that is not read"),
        }
    }
}

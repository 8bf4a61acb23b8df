//! What serde's derive writes of a value: a struct, or a variant in one of its representations.

use serde_derive_internals::{Derive, ast, attr};
use serde_json::{Map, Value as Json};

use super::syntax::member;
use super::value::{Data, Value};
use super::{Eval, Evaluator, Frame, Stop};
use crate::text::plain;
use crate::types::Type;
use crate::types::serde;

/// What a variant that is tagged within holds.
enum Held {
    Unit,
    UnitVariant,
    /// What serde does not take there.
    Refused,
    Unsure,
    Other,
}

impl Evaluator<'_> {
    pub fn derives_trait(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        data: &Data,
    ) -> Eval<Json> {
        if container.attrs.type_into().is_some() || container.attrs.remote().is_some() {
            return self.refuse(frame, at, "it is written as another type");
        }
        match &container.data {
            ast::Data::Struct(style, fields) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|it| it.attrs.transparent());
                    return match field {
                        Some(it) => self.only(frame, at, it, data),
                        None => self.unsupported(frame, at),
                    };
                }
                let mut res = match style {
                    ast::Style::Struct => self.object(frame, at, fields, data)?,
                    style => self.shape(frame, at, *style, fields, data)?,
                };
                if let (attr::TagType::Internal { tag }, Json::Object(it)) =
                    (container.attrs.tag(), &mut res)
                {
                    let name = container.attrs.name().serialize_name().value.clone();
                    it.insert(tag.clone(), name.into());
                }
                Ok(res)
            }
            ast::Data::Enum(variants) => {
                let name = data.variant.as_deref().unwrap_or_default();
                match variants.iter().find(|it| plain(&it.ident) == name) {
                    Some(it) => self.variant(frame, at, container, it, data),
                    None => self.unsupported(frame, at),
                }
            }
        }
    }

    /// Serde refuses to write it.
    fn unwritten<T>(&self, frame: &Frame, at: &impl quote::ToTokens, why: &str) -> Eval<T> {
        match self.refuse(frame, at, why) {
            Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
            found => found,
        }
    }

    fn variant(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        variant: &ast::Variant<'_>,
        data: &Data,
    ) -> Eval<Json> {
        let name = variant.attrs.name().serialize_name().value.clone();
        if variant.attrs.skip_serializing() {
            return self.unwritten(frame, at, &format!("the variant `{name}` is not written"));
        }
        if variant.attrs.serialize_with().is_some() {
            return self.refuse(frame, at, "a hand-written `Serialize` is not evaluated");
        }
        let inside = || match variant.style {
            ast::Style::Struct => self.object(frame, at, &variant.fields, data),
            style => self.shape(frame, at, style, &variant.fields, data),
        };
        let is_unit = matches!(variant.style, ast::Style::Unit);
        let one = |key: String, value: Json| Json::Object(Map::from_iter([(key, value)]));
        if variant.attrs.untagged() {
            return inside();
        }
        Ok(match container.attrs.tag() {
            attr::TagType::External if is_unit => name.into(),
            attr::TagType::External => one(name, inside()?),
            attr::TagType::None => inside()?,
            attr::TagType::Internal { tag } if is_unit => one(tag.clone(), name.into()),
            attr::TagType::Internal { tag } => match (self.held(data)?, inside()?) {
                (Held::Other, Json::Object(mut it)) => {
                    // The tag goes first, and what is inside may say it again.
                    it.entry(tag.clone()).or_insert_with(|| name.into());
                    Json::Object(it)
                }
                (Held::UnitVariant, Json::String(inner)) => {
                    Json::Object(Map::from_iter([(tag.clone(), name.into()), (inner, Json::Null)]))
                }
                (Held::Unit | Held::UnitVariant, Json::Null) => one(tag.clone(), name.into()),
                (Held::Refused, _)
                | (Held::Other, Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
                    return self.unwritten(frame, at, "a tagged value must be an object");
                }
                _ => return self.refuse(frame, at, "a tagged value must be an object"),
            },
            attr::TagType::Adjacent { tag, .. } if is_unit => one(tag.clone(), name.into()),
            attr::TagType::Adjacent { tag, content } => Json::Object(Map::from_iter([
                (tag.clone(), name.into()),
                (content.clone(), inside()?),
            ])),
        })
    }

    /// What is in a unit, a newtype or a tuple.
    fn shape(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        style: ast::Style,
        fields: &[ast::Field<'_>],
        data: &Data,
    ) -> Eval<Json> {
        match (style, fields.first()) {
            (ast::Style::Unit, _) | (ast::Style::Newtype, None) => Ok(Json::Null),
            (ast::Style::Newtype, Some(it)) => self.only(frame, at, it, data),
            _ => {
                let mut res = Vec::new();
                for it in fields {
                    res.extend(self.field_json(frame, at, it, data)?);
                }
                Ok(Json::Array(res))
            }
        }
    }

    fn object(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        fields: &[ast::Field<'_>],
        data: &Data,
    ) -> Eval<Json> {
        let mut res = Map::new();
        for it in fields {
            let Some(json) = self.field_json(frame, at, it, data)? else { continue };
            if !it.attrs.flatten() {
                res.insert(it.attrs.name().serialize_name().value.clone(), json);
                continue;
            }
            match json {
                Json::Object(more) => res.extend(more),
                Json::Null => {}
                Json::String(name) if self.is_unit_variant(data, it)? => {
                    res.insert(name, Json::Null);
                }
                Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                    return self.unwritten(frame, at, "a flattened value must be an object");
                }
                Json::String(_) => {
                    return self.refuse(frame, at, "a flattened value must be an object");
                }
            }
        }
        Ok(Json::Object(res))
    }

    /// Whether a flattened field is a variant without content, of which serde makes a key.
    fn is_unit_variant(&self, data: &Data, field: &ast::Field<'_>) -> Eval<bool> {
        let name = member(&field.member);
        let mut value = data.fields.iter().find(|(it, _)| *it == name).map(|(_, it)| it);
        while let Some(Value::Option(inside)) = value {
            value = inside.as_deref();
        }
        match value {
            Some(Value::Data(of)) => self.is_plain_variant(of),
            _ => Ok(false),
        }
    }

    /// What a variant that is tagged within holds: serde takes some of it, and refuses the rest.
    fn held(&self, data: &Data) -> Eval<Held> {
        let [(name, value)] = &data.fields[..] else { return Ok(Held::Other) };
        Ok(match value {
            _ if name != "0" => Held::Other,
            Value::Option(_) | Value::Text(_) | Value::Char(_) => Held::Refused,
            Value::Tuple(items) if items.is_empty() => Held::Unit,
            Value::Data(of) if self.is_plain_variant(of)? => Held::UnitVariant,
            // What is in a newtype is looked at in its place.
            Value::Data(of) if of.variant.is_none() => match self.held(of)? {
                Held::Other => Held::Other,
                _ => Held::Unsure,
            },
            _ => Held::Other,
        })
    }

    /// Whether a value is a variant without content, written by what serde derives.
    fn is_plain_variant(&self, of: &Data) -> Eval<bool> {
        let Type::Data(id, _) = *of.ty else { return Ok(false) };
        if of.variant.is_none() || !of.fields.is_empty() {
            return Ok(false);
        }
        let input = self.world.settle(id).map_err(Stop::from)?;
        let is_plain = serde::read(&input, Derive::Serialize, |it| it.attrs.type_into().is_none());
        Ok(is_plain.unwrap_or(false))
    }

    /// The only field of a newtype, which nothing leaves out.
    fn only(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &Data,
    ) -> Eval<Json> {
        self.field_value(frame, at, field, data, |_| Ok(false))?
            .map_or_else(|| self.unsupported(frame, at), Ok)
    }

    /// A field; none where it is left out.
    fn field_json(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &Data,
    ) -> Eval<Option<Json>> {
        if field.attrs.skip_serializing() {
            return Ok(None);
        }
        self.field_value(frame, at, field, data, |value| match field.attrs.skip_serializing_if() {
            Some(path) => {
                let ty = self.schema_type(frame, field.ty)?;
                self.skips(frame, path, value, &ty)
            }
            None => Ok(false),
        })
    }

    fn field_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &Data,
        skips: impl Fn(&Value) -> Eval<bool>,
    ) -> Eval<Option<Json>> {
        let name = member(&field.member);
        let Some((_, value)) = data.fields.iter().find(|(it, _)| *it == name) else {
            return self.refuse(frame, at, format!("it lacks the field `{name}`"));
        };
        if skips(value)? {
            return Ok(None);
        }
        if field.attrs.serialize_with().is_some() {
            return self.refuse(frame, at, "a hand-written `Serialize` is not evaluated");
        }
        self.written(frame, at, value).map(Some)
    }
}

//! What serde's derive writes of a value: a struct, or a variant in one of its representations.

use serde_derive_internals::{Derive, ast, attr};
use serde_json::{Map, Value as Json};

use super::value::{Data, Value};
use super::{Eval, Evaluator, Frame, Stop, Ty};
use crate::attributes::serde;
use crate::world::plain;

impl Evaluator<'_> {
    pub fn derived(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        data: &Data,
    ) -> Eval<Json> {
        if let Some(ty) = container.attrs.type_into() {
            let ty = self.ty(frame, ty)?;
            let value = Value::Data(data.clone());
            let value = self.into(frame, at, value, &ty)?;
            return self.written_json(frame, at, &value);
        }
        if container.attrs.remote().is_some() {
            return self.refuse(frame, at, "is written for another type");
        }
        match &container.data {
            ast::Data::Struct(style, fields) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|it| it.attrs.transparent());
                    return match field {
                        Some(it) => match self.field(frame, at, it, data, true)? {
                            Some(json) => Ok(json),
                            None => self.refuse(frame, at, "writes nothing"),
                        },
                        None => self.refuse(frame, at, "has no field that it stands for"),
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
                let Some(it) = variants.iter().find(|it| plain(&it.ident) == name) else {
                    return self.refuse(frame, at, "is no variant");
                };
                self.variant(frame, at, container, it, data)
            }
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
            let what = format!("is the variant `{name}`, which cannot be written");
            return match self.refuse(frame, at, what) {
                Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                found => found,
            };
        }
        let inside = || match variant.attrs.serialize_with() {
            Some(path) => {
                let mut given: Vec<Value> = data.fields.iter().map(|(_, it)| it.clone()).collect();
                given.push(Value::Serializer);
                let given = super::call::Given::Values(given);
                let found = self.call_path(frame, path, path, given, &Ty::Unknown)?;
                self.written(frame, path, found)
            }
            None => match variant.style {
                ast::Style::Struct => self.object(frame, at, &variant.fields, data),
                style => self.shape(frame, at, style, &variant.fields, data),
            },
        };
        let unit =
            matches!(variant.style, ast::Style::Unit) && variant.attrs.serialize_with().is_none();
        let one = |key: String, value: Json| Json::Object(Map::from_iter([(key, value)]));
        if variant.attrs.untagged() {
            return inside();
        }
        Ok(match container.attrs.tag() {
            attr::TagType::External if unit => name.into(),
            attr::TagType::External => one(name, inside()?),
            attr::TagType::None => inside()?,
            attr::TagType::Internal { tag } if unit => one(tag.clone(), name.into()),
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
                    return match self.refuse(frame, at, "is tagged, and no object") {
                        Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                        found => found,
                    };
                }
                _ => return self.refuse(frame, at, "is tagged, and no object"),
            },
            attr::TagType::Adjacent { tag, .. } if unit => one(tag.clone(), name.into()),
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
        match style {
            ast::Style::Unit => Ok(Json::Null),
            ast::Style::Newtype => match fields.first() {
                Some(it) => match self.field(frame, at, it, data, true)? {
                    Some(json) => Ok(json),
                    None => self.refuse(frame, at, "writes nothing"),
                },
                None => Ok(Json::Null),
            },
            _ => {
                let mut res = Vec::new();
                for it in fields {
                    res.extend(self.field(frame, at, it, data, false)?);
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
            let Some(json) = self.field(frame, at, it, data, false)? else { continue };
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
                Json::Bool(_) | Json::Number(_) | Json::Array(_)
                    if it.attrs.serialize_with().is_none() =>
                {
                    return match self.refuse(frame, at, "flattens what is no object") {
                        Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
                        found => found,
                    };
                }
                _ => return self.refuse(frame, at, "flattens what is no object"),
            }
        }
        Ok(Json::Object(res))
    }

    /// Whether a flattened field is a variant without content, of which serde makes a key.
    fn is_unit_variant(&self, data: &Data, field: &ast::Field<'_>) -> Eval<bool> {
        let syn::Member::Named(name) = &field.member else { return Ok(false) };
        let name = plain(name);
        let mut value = data.fields.iter().find(|(it, _)| *it == name).map(|(_, it)| it);
        while let Some(Value::Option(inside)) = value {
            value = inside.as_deref();
        }
        if field.attrs.serialize_with().is_some() {
            return Ok(false);
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
            Value::Option(_) | Value::Text(..) | Value::Char(_) => Held::Refused,
            Value::Unit => Held::Unit,
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
        if of.variant.is_none() || !of.fields.is_empty() {
            return Ok(false);
        }
        if !self.functions(of.id, &of.arguments, "serialize")?.is_empty() {
            return Ok(false);
        }
        let input = self.world.settled(of.id).map_err(|it| Stop::Problem(Box::new(it)))?;
        let plain = serde::read(&input, Derive::Serialize, |it| {
            Ok::<_, syn::Error>(it.attrs.type_into().is_none())
        });
        Ok(plain.is_ok_and(|it| it.unwrap_or(false)))
    }

    /// A field; none where it is left out. `bare` says that nothing can be left out.
    fn field(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &Data,
        bare: bool,
    ) -> Eval<Option<Json>> {
        let name = match &field.member {
            syn::Member::Named(it) => plain(it),
            syn::Member::Unnamed(it) => it.index.to_string(),
        };
        if field.attrs.skip_serializing() && !bare {
            return Ok(None);
        }
        let Some((_, value)) = data.fields.iter().find(|(it, _)| *it == name) else {
            return self.refuse(frame, at, "lacks a field");
        };
        if let (Some(path), false) = (field.attrs.skip_serializing_if(), bare)
            && self.skipped(frame, path, value)?
        {
            return Ok(None);
        }
        if let Some(path) = field.attrs.serialize_with() {
            return self.written_by(frame, path, value.clone()).map(Some);
        }
        self.written_json(frame, at, value).map(Some)
    }
}

/// What a variant that is tagged within holds.
enum Held {
    Unit,
    UnitVariant,
    /// What serde does not take there.
    Refused,
    Unsure,
    Other,
}

//! Serializes a value as serde's derive does: a struct, or a variant in one of its representations.

use serde_derive_internals::{ast, attr};
use serde_json::{Map, Value as Json};

use super::syntax::member_name;
use super::value::{AdtValue, Value};
use super::{Eval, Evaluator, Frame, Stop};
use crate::text::unraw_name;

const TAGGED: &str = "internally and adjacently tagged enums are not supported";

impl Evaluator<'_> {
    pub fn derives_trait(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        data: &AdtValue,
    ) -> Eval<Json> {
        if container.attrs.type_into().is_some() || container.attrs.remote().is_some() {
            return self.refuse(frame, at, "it is written as another type");
        }
        match &container.data {
            ast::Data::Struct(style, fields) => {
                if container.attrs.transparent() {
                    let field = fields.iter().find(|field| field.attrs.transparent());
                    return match field {
                        Some(it) => self.serialize_newtype_field(frame, at, it, data),
                        None => self.unsupported(frame, at),
                    };
                }
                match (style, container.attrs.tag()) {
                    (_, attr::TagType::Internal { .. }) => self.refuse(frame, at, TAGGED),
                    (ast::Style::Struct, _) => self.serialize_fields(frame, at, fields, data),
                    (style, _) => self.serialize_shape(frame, at, *style, fields, data),
                }
            }
            ast::Data::Enum(variants) => {
                let name = data.variant.as_deref().unwrap_or_default();
                match variants.iter().find(|variant| unraw_name(&variant.ident) == name) {
                    Some(it) => self.serialize_variant(frame, at, container, it, data),
                    None => self.unsupported(frame, at),
                }
            }
        }
    }

    /// Serde refuses to write it.
    fn refuse_unwritten<T>(&self, frame: &Frame, at: &impl quote::ToTokens, why: &str) -> Eval<T> {
        match self.refuse(frame, at, why) {
            Err(Stop::Problem(it)) => Err(Stop::Unwritten(it)),
            found => found,
        }
    }

    fn serialize_variant(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        container: &ast::Container<'_>,
        variant: &ast::Variant<'_>,
        data: &AdtValue,
    ) -> Eval<Json> {
        let name = variant.attrs.name().serialize_name().value.clone();
        if variant.attrs.skip_serializing() {
            return self.refuse_unwritten(
                frame,
                at,
                &format!("the variant `{name}` is not written"),
            );
        }
        if variant.attrs.serialize_with().is_some() {
            return self.refuse(frame, at, "a hand-written `Serialize` is not evaluated");
        }
        let inside = || match variant.style {
            ast::Style::Struct => self.serialize_fields(frame, at, &variant.fields, data),
            style => self.serialize_shape(frame, at, style, &variant.fields, data),
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
            attr::TagType::Internal { .. } | attr::TagType::Adjacent { .. } => {
                return self.refuse(frame, at, TAGGED);
            }
        })
    }

    /// The content of a unit, a newtype or a tuple.
    fn serialize_shape(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        style: ast::Style,
        fields: &[ast::Field<'_>],
        data: &AdtValue,
    ) -> Eval<Json> {
        match (style, fields.first()) {
            (ast::Style::Unit, _) | (ast::Style::Newtype, None) => Ok(Json::Null),
            (ast::Style::Newtype, Some(it)) => self.serialize_newtype_field(frame, at, it, data),
            _ => {
                let mut items = Vec::new();
                for it in fields {
                    items.extend(self.field_json(frame, at, it, data)?);
                }
                Ok(Json::Array(items))
            }
        }
    }

    fn serialize_fields(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        fields: &[ast::Field<'_>],
        data: &AdtValue,
    ) -> Eval<Json> {
        let mut object = Map::new();
        for it in fields {
            let Some(json) = self.field_json(frame, at, it, data)? else { continue };
            if !it.attrs.flatten() {
                object.insert(it.attrs.name().serialize_name().value.clone(), json);
                continue;
            }
            match json {
                Json::Object(more) => object.extend(more),
                Json::Null => {}
                Json::Bool(_) | Json::Number(_) | Json::Array(_) => {
                    return self.refuse_unwritten(frame, at, "a flattened value must be an object");
                }
                Json::String(_) => {
                    return self.refuse(frame, at, "a flattened value must be an object");
                }
            }
        }
        Ok(Json::Object(object))
    }

    /// The only field of a newtype, which nothing leaves out.
    fn serialize_newtype_field(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &AdtValue,
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
        data: &AdtValue,
    ) -> Eval<Option<Json>> {
        if field.attrs.skip_serializing() {
            return Ok(None);
        }
        self.field_value(frame, at, field, data, |value| match field.attrs.skip_serializing_if() {
            Some(path) => {
                let ty = self.schema_type(frame, field.ty)?;
                self.is_skipped(frame, path, value, &ty)
            }
            None => Ok(false),
        })
    }

    fn field_value(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        field: &ast::Field<'_>,
        data: &AdtValue,
        skips: impl Fn(&Value) -> Eval<bool>,
    ) -> Eval<Option<Json>> {
        let name = member_name(&field.member);
        let Some(value) = data.fields.get(&name) else {
            return self.refuse(frame, at, format!("it lacks the field `{name}`"));
        };
        if skips(value)? {
            return Ok(None);
        }
        if field.attrs.serialize_with().is_some() {
            return self.refuse(frame, at, "a hand-written `Serialize` is not evaluated");
        }
        self.serialize_value(frame, at, value).map(Some)
    }
}

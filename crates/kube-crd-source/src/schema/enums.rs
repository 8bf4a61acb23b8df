//! Enums, in serde's four representations.

use schemars::{_private as upstream, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::container::{Container, Fallback, Shape, Tag, Variant};
use super::{Reader, This};

impl Reader {
    pub(super) fn enum_(
        &self,
        this: &This,
        variants: &[Variant],
        container: &Container,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        if variants.is_empty() {
            return Schema::from(false);
        }
        if let Tag::External = container.tag {
            return self.externally_tagged(this, variants, container.deny, generator);
        }
        let mut schemas = Vec::new();
        for variant in variants.iter().filter(|variant| !variant.skipped) {
            let content = match &container.tag {
                Tag::Adjacent(_, content) if !variant.untagged => Some(content.as_str()),
                _ => None,
            };
            let schema = self.in_path(&variant.name, content, || match &container.tag {
                Tag::Internal(tag) if !variant.untagged => {
                    self.internally_tagged(this, variant, tag, container.deny, generator)
                }
                Tag::Adjacent(tag, content) if !variant.untagged => {
                    self.adjacently_tagged(this, variant, (tag, content), container.deny, generator)
                }
                _ => self.untagged_variant(this, variant, container.deny, true, generator),
            });
            schemas.push(schema.to_value());
        }
        let untagged =
            matches!(container.tag, Tag::None) || variants.iter().any(|variant| variant.untagged);
        one_of(schemas, untagged)
    }

    fn externally_tagged(
        &self,
        this: &This,
        variants: &[Variant],
        deny: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        // Variants that are only a name go first, in one list.
        let (names, others): (Vec<_>, Vec<_>) = variants.iter().partition(|variant| {
            let unit = matches!(variant.shape, Shape::Unit);
            unit && variant.common.is_default() && variant.with.is_none() && !variant.untagged
        });
        let kept = |it: &&&Variant| !it.skipped;
        let list: Vec<Value> =
            names.iter().filter(kept).map(|variant| variant.name.clone().into()).collect();
        let mut plain = Map::new();
        plain.insert("type".to_owned(), "string".into());
        plain.insert("enum".to_owned(), list.into());
        if others.is_empty() {
            return plain.into();
        }
        let mut schemas = Vec::new();
        if !names.is_empty() {
            schemas.push(Value::Object(plain));
        }
        for variant in others.iter().filter(kept) {
            let key = (!variant.untagged).then_some(variant.name.as_str());
            let schema = self.in_path(&variant.name, key, || {
                if variant.untagged {
                    return self.untagged_variant(this, variant, deny, true, generator);
                }
                let unit = matches!(variant.shape, Shape::Unit) && variant.with.is_none();
                let mut schema = if unit {
                    upstream::new_unit_enum_variant(&variant.name)
                } else {
                    let inner = self.untagged_variant(this, variant, deny, false, generator);
                    upstream::new_externally_tagged_enum_variant(&variant.name, inner)
                };
                Self::add_description(&variant.common, &mut schema);
                variant.common.extend_schema(&mut schema);
                schema
            });
            schemas.push(schema.to_value());
        }
        one_of(schemas, variants.iter().any(|variant| variant.untagged))
    }

    fn internally_tagged(
        &self,
        this: &This,
        variant: &Variant,
        tag: &str,
        deny: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let mut schema = match (&variant.with, &variant.shape) {
            (Some(with), _) => match self.replacement_type(this, with) {
                Some(ty) => self.json_schema(&ty, generator),
                None => Schema::default(),
            },
            (None, Shape::Newtype(field)) => {
                self.described_field(this, field, None, true, generator)
            }
            (None, shape) => self.shape_schema(this, shape, &Fallback::None, deny, generator),
        };
        upstream::apply_internal_enum_variant_tag(&mut schema, tag, &variant.name, deny);
        Self::add_description(&variant.common, &mut schema);
        self.extend_variant(variant, &mut schema);
        schema
    }

    /// Extensions of a variant are applied last: those of its one field first.
    fn extend_variant(&self, variant: &Variant, schema: &mut Schema) {
        if let (None, Shape::Newtype(field)) = (&variant.with, &variant.shape) {
            self.extend_field(field, schema);
        }
        variant.common.extend_schema(schema);
    }

    fn adjacently_tagged(
        &self,
        this: &This,
        variant: &Variant,
        (tag, content): (&str, &str),
        deny: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let unit = matches!(variant.shape, Shape::Unit) && variant.with.is_none();
        let mut properties = Map::new();
        let mut required: Vec<Value> = vec![tag.into()];
        let name = json_schema!({ "type": "string", "const": &variant.name });
        properties.insert(tag.to_owned(), name.to_value());
        if !unit {
            let inner = self.untagged_variant(this, variant, deny, false, generator);
            properties.insert(content.to_owned(), inner.to_value());
            required.push(content.into());
        }
        let mut schema = json_schema!({
            "type": "object",
            "properties": properties,
            "required": required,
        });
        if deny {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        Self::add_description(&variant.common, &mut schema);
        variant.common.extend_schema(&mut schema);
        schema
    }

    /// The content of a variant. `bare`: without a tag around it.
    fn untagged_variant(
        &self,
        this: &This,
        variant: &Variant,
        deny: bool,
        bare: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let mut schema = match &variant.with {
            Some(with) => match self.replacement_type(this, with) {
                Some(ty) => self.subschema_for(&ty, generator),
                None => Schema::default(),
            },
            None => match &variant.shape {
                Shape::Newtype(field) if bare => {
                    self.described_field(this, field, None, false, generator)
                }
                shape => self.shape_schema(this, shape, &Fallback::None, deny, generator),
            },
        };
        if bare {
            Self::add_description(&variant.common, &mut schema);
            self.extend_variant(variant, &mut schema);
        }
        schema
    }
}

fn one_of(schemas: Vec<Value>, any: bool) -> Schema {
    let mut object = Map::new();
    object.insert(if any { "anyOf" } else { "oneOf" }.to_owned(), schemas.into());
    object.into()
}

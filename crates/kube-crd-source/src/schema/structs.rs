//! Structs and their fields, in the order in which schemars' derive does each thing.

use std::rc::Rc;

use kube_core::{merge_properties, merge_strategy_property, validate, validate_property};
use schemars::{_private as upstream, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::container::{Container, ContainerData, Fallback, Field, Shape};
use super::generics::DefaultWrites;
use super::older;
use super::standing::standing_for;
use super::{Reader, This};
use crate::attributes::x_kube::Merge;
use crate::builtin::Dyn;
use crate::types::Type;
use crate::values::{Evaluator, FieldDefault};

impl Reader {
    pub(super) fn container_schema(&self, this: &This, generator: &mut SchemaGenerator) -> Schema {
        let container = &*this.container;
        let mut inside = None;
        let stands = match (&container.with, &container.from) {
            (Some(with), _) => Some(self.replacement_type(this, with)),
            (None, Some(from)) if container.transparent_field().is_none() => {
                Some(self.type_(this, from))
            }
            _ => None,
        };
        let mut schema = if let Some(ty) = stands {
            ty.map_or_else(Schema::default, |ty| self.json_schema(&ty, generator))
        } else if let Some(field) = container.transparent_field() {
            inside = Some(field);
            self.described_field(this, field, None, false, generator)
        } else {
            match &container.data {
                ContainerData::Struct(Shape::Newtype(field)) if !container.into => {
                    inside = Some(&**field);
                    self.described_field(this, field, None, false, generator)
                }
                ContainerData::Struct(shape) => {
                    self.shape_schema(this, shape, &container.default, container.deny, generator)
                }
                ContainerData::Enum(variants) => self.enum_(this, variants, container, generator),
                ContainerData::Numbers(numbers) => {
                    json_schema!({ "type": "integer", "enum": numbers })
                }
            }
        };
        Self::add_description(&container.common, &mut schema);
        self.warn_of_examples(this, &container.common);
        // Extensions are applied last, the field's before the container's.
        if let Some(field) = inside {
            self.extend_field(field, &mut schema);
        }
        container.common.extend_schema(&mut schema);
        if container.kube {
            self.add_rules(this, container, &mut schema, generator);
        }
        schema
    }

    /// Returns what `KubeSchema` adds: the rules of the whole, then each field that has rules or a strategy, anew.
    fn add_rules(
        &self,
        this: &This,
        container: &Container,
        schema: &mut Schema,
        generator: &mut SchemaGenerator,
    ) {
        for rule in &container.rules {
            if let Err(error) = validate(schema, rule.clone()) {
                self.report_problem(self.world.problem_at(
                    this.scope.module,
                    self.world.items[this.id].span,
                    error.to_string(),
                    "",
                ));
            }
        }
        let ContainerData::Struct(Shape::Named(fields)) = &container.data else { return };
        for field in fields.iter().filter(|field| !field.rules.is_empty() || field.merge.is_some())
        {
            let module = this.scope.module;
            let plain =
                container.with.is_none() && container.from.is_none() && !container.transparent;
            if !plain {
                let message =
                    "a rule on a field of a type that forwards to another is not supported";
                let hint = "put the rule on the field's own type";
                self.report_problem(self.world.problem_at(module, field.span, message, hint));
                continue;
            }
            let mut alone = json_schema!({ "type": "object" });
            if field.flatten {
                let one = std::slice::from_ref(field);
                alone = self.named_fields(this, one, &Fallback::None, false, generator);
            } else {
                self.add_property(this, field, &Fallback::None, &mut alone, generator)
            }
            // kube puts it on the first property, and which that is depends on the order of the map.
            let count = alone.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            if field.flatten && count > 1 && self.world.keeps_order {
                let message = "a rule on a flattened field would apply to its first property, and serde_json's feature `preserve_order` decides which one that is";
                let hint = "put the rule on a field that is not flattened";
                self.report_problem(self.world.problem_at(module, field.span, message, hint));
                continue;
            }
            let strategy = |schema: &mut Schema| match field.merge.clone() {
                None => Ok(()),
                Some(Merge::List(it)) => merge_strategy_property(schema, 0, it),
                Some(Merge::Map(it)) => merge_strategy_property(schema, 0, it),
                Some(Merge::Struct(it)) => merge_strategy_property(schema, 0, it),
            };
            let ruled: Result<(), _> = field
                .rules
                .iter()
                .try_for_each(|rule| validate_property(&mut alone, 0, rule.clone()))
                .and_then(|()| strategy(&mut alone));
            if let Err(error) = ruled {
                let message = format!("kube cannot put the rule there: {error}");
                self.report_problem(self.world.problem_at(module, field.span, message, ""));
            }
            merge_properties(schema, &mut alone);
        }
    }

    pub(super) fn shape_schema(
        &self,
        this: &This,
        shape: &Shape,
        default: &Fallback,
        deny: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        match shape {
            Shape::Unit => generator.subschema_for::<()>(),
            Shape::Newtype(field) => self.field_schema(this, field, None, false, generator),
            Shape::Tuple(fields) => self.tuple_schema(this, fields, generator),
            Shape::Named(fields) => self.named_fields(this, fields, default, deny, generator),
        }
    }

    pub(super) fn tuple_schema(
        &self,
        this: &This,
        fields: &[Field],
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let items: Vec<Value> = fields
            .iter()
            .filter(|field| !field.skip_deserializing)
            .map(|field| self.field_schema(this, field, None, false, generator).to_value())
            .collect();
        let length = items.len();
        let mut object = Map::new();
        object.insert("type".to_owned(), "array".into());
        if !items.is_empty() || self.world.behaviour.derive.empty_items {
            object.insert("prefixItems".to_owned(), items.into());
            object.insert("minItems".to_owned(), length.into());
        }
        object.insert("maxItems".to_owned(), length.into());
        object.into()
    }

    pub(super) fn named_fields(
        &self,
        this: &This,
        fields: &[Field],
        default: &Fallback,
        deny: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let mut schema = json_schema!({ "type": "object" });
        if deny {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        for field in fields.iter().filter(|field| !field.skip_deserializing) {
            if field.flatten {
                self.warn_of_flattened(this, field);
                let Some(ty) = self.field_type(this, field) else { continue };
                let required = field.validation.is_required();
                let inner = standing_for(&[ty], || {
                    if self.world.behaviour.schemars.flatten {
                        upstream::json_schema_for_flatten::<Dyn<0>>(generator, required)
                    } else {
                        older::flattened_schema(generator, required)
                    }
                });
                upstream::flatten(&mut schema, inner);
            } else {
                self.add_property(this, field, default, &mut schema, generator);
            }
        }
        schema
    }

    fn add_property(
        &self,
        this: &This,
        field: &Field,
        whole: &Fallback,
        schema: &mut Schema,
        generator: &mut SchemaGenerator,
    ) {
        if field.skip_deserializing {
            return;
        }
        self.in_field(&field.name, || {
            self.note_place(this.scope.module, field.span);
            if let Some(ty) = self.field_type(this, field) {
                self.note_type(&ty);
            }
            self.note_null(this, field);
            let default = self.default(this, field, whole);
            let inner = self.field_schema(this, field, default, false, generator);
            if let Some(ty) = self.field_type(this, field) {
                self.note_read(field, &ty);
            }
            let has_default =
                !matches!(whole, Fallback::None) || !matches!(field.default, Fallback::None);
            let optional = || {
                let ty = self.field_type(this, field);
                ty.is_some_and(|ty| self.is_option(&ty))
            };
            let optional = has_default || (!field.validation.is_required() && optional());
            self.warn_of_optional(this, field, optional);
            upstream::insert_object_property(schema, &field.name, optional, inner);
        });
    }

    pub(super) fn field_type(&self, this: &This, field: &Field) -> Option<Rc<Type>> {
        match &field.with {
            Some(with) => self.replacement_type(this, with),
            None => self.type_(this, &field.ty),
        }
    }

    /// The schema of a field's type, with the field's own attributes.
    pub(super) fn field_schema(
        &self,
        this: &This,
        field: &Field,
        default: Option<Value>,
        internal: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let mut schema = self.described_field(this, field, default, internal, generator);
        self.extend_field(field, &mut schema);
        schema
    }

    /// Returns what extends a field, where that waits for the rest.
    pub(super) fn extend_field(&self, field: &Field, schema: &mut Schema) {
        if self.world.behaviour.derive.extend_last {
            field.common.extend_schema(schema);
        }
    }

    /// The same without extensions: around a single field, those of its container are applied first.
    pub(super) fn described_field(
        &self,
        this: &This,
        field: &Field,
        default: Option<Value>,
        internal: bool,
        generator: &mut SchemaGenerator,
    ) -> Schema {
        let Some(ty) = self.field_type(this, field) else { return Schema::default() };
        let mut schema = if field.validation.is_required() {
            self.inner_schema(&ty, generator)
        } else if internal {
            standing_for(&[ty], || {
                upstream::json_schema_for_internally_tagged_enum_newtype_variant::<Dyn<0>>(
                    generator,
                )
            })
        } else {
            self.subschema_for(&ty, generator)
        };
        self.warn_of_references(&schema, this.scope.module, field.span);
        Self::add_description(&field.common, &mut schema);
        self.warn_of_examples(this, &field.common);
        if !self.world.behaviour.derive.extend_last {
            field.common.extend_schema(&mut schema);
        }
        let ineffective = field.validation.apply_to(&mut schema);
        self.warn_of_ineffective(this, ineffective);
        if field.skip_deserializing {
            schema.insert("readOnly".to_owned(), true.into());
        }
        if field.skip_serializing {
            schema.insert("writeOnly".to_owned(), true.into());
        }
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
        schema
    }

    /// The default that the schema states.
    fn default(&self, this: &This, field: &Field, whole: &Fallback) -> Option<Value> {
        let none = matches!((&field.default, whole), (Fallback::None, Fallback::None));
        if field.skip_serializing || none {
            return None;
        }
        match this.container.parameters.writes_default_of(&field.ty, &self.world, this.scope.module)
        {
            DefaultWrites::Yes => {}
            // The derive writes what it knows to be `Serialize`, and leaves the rest out.
            DefaultWrites::No => return None,
            DefaultWrites::Unknown => {
                let message = format!(
                    "the default of `{}` is in the schema only if a type parameter implements `Serialize`, which operator-rs cannot tell",
                    field.member
                );
                let hint = "write the bound `T: Serialize` on the type, or remove the bound";
                let problem = self.world.problem_at(this.scope.module, field.span, message, hint);
                self.report_problem(problem);
                return None;
            }
        }
        let of = FieldDefault {
            scope: &this.scope,
            member: &field.member,
            span: field.span,
            ty: &field.ty,
            own: field.default.default_function(),
            whole: whole.default_function(),
            skip_if: field.skip_if.as_ref(),
            serialize_with: field.serialize_with.as_ref(),
        };
        let evaluator = Evaluator::new(&self.world, &self.budget, "a default");
        match evaluator.field_default(&of) {
            Ok(found) => found,
            Err(problem) => {
                self.report_problem(*problem);
                None
            }
        }
    }
}

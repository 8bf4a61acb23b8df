//! Makes a schema structural as kube-core does: with its code where it is built in, and its older versions rewritten.
//!
//! An older kube-core depends on an older k8s-openapi, which takes as long to compile as the rest of this
//! program; so the old steps are written anew here, and are compared with the real ones in the tests.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use schemars::transform::{AddNullable, Transform, transform_subschemas};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// The versions of kube-core whose rewriting differs, each by the first that does it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewriting {
    V2_0_0,
    V3_0_0,
    V3_0_1,
    V3_1_0,
}

impl Rewriting {
    /// The steps that kube adds to those of schemars. An error is the text of kube's panic.
    pub fn apply_to(self, schema: &mut schemars::Schema) -> Result<(), String> {
        use kube_core::schema::{OptionalEnum, OptionalIntOrString, StructuralSchemaRewriter};
        AddNullable::default().transform(schema);
        if self == Self::V3_1_0 {
            // May panic, as it does for kube.
            StructuralSchemaRewriter.transform(schema);
            OptionalEnum.transform(schema);
        } else {
            let mut structural = Structural { closed: self == Self::V3_0_1, clash: None };
            structural.transform(schema);
            if let Some(text) = structural.clash {
                return Err(text);
            }
            match self {
                Self::V2_0_0 | Self::V3_1_0 => {}
                Self::V3_0_0 => OptionalNames { alone: true }.transform(schema),
                Self::V3_0_1 => OptionalNames { alone: false }.transform(schema),
            }
        }
        if self != Self::V2_0_0 {
            OptionalIntOrString.transform(schema);
        }
        Ok(())
    }
}

/// Hoists the properties of variants to where an API server accepts them.
struct Structural {
    /// `additionalProperties: false` is taken away beside properties.
    closed: bool,
    /// Two variants that do not go together: kube panics at the first.
    clash: Option<String>,
}

impl Transform for Structural {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        transform_subschemas(self, schema);
        if self.clash.is_some() {
            return;
        }
        // kube leaves a schema unchanged if it cannot read it as its own type.
        let Ok(mut read) = serde_json::from_value::<SchemaObject>(schema.clone().to_value()) else {
            return;
        };
        if let Err(text) = read.raise_from_variants() {
            self.clash = Some(text);
            return;
        }
        if let Some(object) = &mut read.object
            && !object.properties.is_empty()
        {
            match object.additional_properties.as_deref() {
                Some(Schema::Bool(true)) => {
                    object.additional_properties = None;
                    let key = "x-kubernetes-preserve-unknown-fields".to_owned();
                    read.extensions.insert(key, true.into());
                }
                Some(Schema::Bool(false)) if self.closed => object.additional_properties = None,
                _ => {}
            }
        }
        if let Some(array) = &mut read.array {
            array.unique_items = None;
        }
        let result = serde_json::to_value(read).and_then(serde_json::from_value);
        if let Ok(value) = result {
            *schema = value;
        }
    }
}

impl SchemaObject {
    /// Raises properties, names and types from the variants.
    fn raise_from_variants(&mut self) -> Result<(), String> {
        let Some(variants) = &mut self.subschemas else { return Ok(()) };
        if let Some(one_of) = &mut variants.one_of {
            raise_properties(one_of, &mut self.object, &mut self.instance_type)?;
            let mut clash = Ok(());
            one_of.retain(|schema| {
                match hoist_enum_values(schema, &mut self.enum_values, &mut self.instance_type) {
                    Ok(raised) => !raised,
                    Err(text) => {
                        clash = std::mem::replace(&mut clash, Ok(())).and(Err(text));
                        true
                    }
                }
            });
            clash?;
            if one_of.is_empty() {
                variants.one_of = None;
            }
        }
        match &mut variants.any_of {
            Some(any_of) => raise_properties(any_of, &mut self.object, &mut self.instance_type),
            None => Ok(()),
        }
    }
}

fn raise_properties(
    variants: &mut [Schema],
    common: &mut Option<Box<ObjectValidation>>,
    common_type: &mut Option<SingleOrVec<InstanceType>>,
) -> Result<(), String> {
    for variant in variants {
        let Schema::Object(SchemaObject { instance_type, object: Some(object), metadata, .. }) =
            variant
        else {
            continue;
        };
        let common = common.get_or_insert_default();
        // The description of a variant is moved to its only property.
        if let Some(description) =
            metadata.as_mut().and_then(|metadata| metadata.description.take())
            && object.properties.len() == 1
            && let Some(Schema::Object(only)) = object.properties.values_mut().next()
        {
            only.metadata.get_or_insert_default().description = Some(description);
        }
        for (name, property) in std::mem::take(&mut object.properties) {
            match common.properties.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(property);
                }
                Entry::Occupied(entry) if property == *entry.get() => {}
                Entry::Occupied(entry) => {
                    return Err(format!(
                        "Property {:?} has the schema {property:?} but was already defined as {:?} in another subschema. The schemas for a property used in multiple subschemas must be identical",
                        entry.key(),
                        entry.get()
                    ));
                }
            }
        }
        object.additional_properties = None;
        match (&*common_type, instance_type.take()) {
            (_, None) => {}
            (None, found) => *common_type = found,
            (Some(known), Some(found)) if *known == found => {}
            (Some(known), Some(found)) => {
                return Err(format!(
                    "variant defined type {found:?}, conflicting with existing type {known:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Returns whether a variant was only names, which are now in the common list.
fn hoist_enum_values(
    variant: &Schema,
    common: &mut Option<Vec<Value>>,
    common_type: &mut Option<SingleOrVec<InstanceType>>,
) -> Result<bool, String> {
    let Schema::Object(SchemaObject { instance_type, enum_values: Some(names), .. }) = variant
    else {
        return Ok(false);
    };
    match (&*common_type, instance_type) {
        (_, None) => {}
        (None, Some(found)) => *common_type = Some(found.clone()),
        (Some(known), Some(found)) if known == found => {}
        (known, Some(found)) => {
            return Err(format!(
                "Enum variant set {names:?} has type {found:?} but was already defined as {known:?}. The instance type must be equal for all subschema variants."
            ));
        }
    }
    common.get_or_insert_default().extend(names.iter().cloned());
    Ok(true)
}

/// `anyOf` of a list of names and null → the list, nullable.
struct OptionalNames {
    /// Only where `anyOf` has no siblings.
    alone: bool,
}

impl Transform for OptionalNames {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if self.alone && object.len() != 1 {
            return;
        }
        let Some([Value::Object(names), Value::Object(null)]) =
            object.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
        else {
            return;
        };
        let optional = names.contains_key("enum")
            && !names.contains_key("nullable")
            && null.get("enum") == Some(&json!([null]))
            && null.get("nullable") == Some(&json!(true));
        if optional {
            let names = names.clone();
            object.remove("anyOf");
            object.extend(names);
            object.insert("nullable".to_owned(), true.into());
        }
    }
}

// kube's own picture of a schema: what its panics show, and what it refuses to read, hang on its form.

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(untagged)]
enum Schema {
    Bool(bool),
    Object(SchemaObject),
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase", default)]
struct SchemaObject {
    #[serde(flatten, deserialize_with = "unless_default")]
    metadata: Option<Box<Metadata>>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    instance_type: Option<SingleOrVec<InstanceType>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    enum_values: Option<Vec<Value>>,
    #[serde(flatten, deserialize_with = "unless_default")]
    subschemas: Option<Box<SubschemaValidation>>,
    #[serde(flatten, deserialize_with = "unless_default")]
    array: Option<Box<ArrayValidation>>,
    #[serde(flatten, deserialize_with = "unless_default")]
    object: Option<Box<ObjectValidation>>,
    #[serde(flatten)]
    extensions: BTreeMap<String, Value>,
    #[serde(flatten)]
    other: Value,
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "even_null")]
    default: Option<Value>,
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase", default)]
struct SubschemaValidation {
    #[serde(skip_serializing_if = "Option::is_none")]
    any_of: Option<Vec<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Schema>>,
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase", default)]
struct ArrayValidation {
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<SingleOrVec<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_items: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_items: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contains: Option<Box<Schema>>,
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq, Default)]
#[serde(rename_all = "camelCase", default)]
struct ObjectValidation {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_properties: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_properties: Option<u32>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    required: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<String, Schema>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pattern_properties: BTreeMap<String, Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    property_names: Option<Box<Schema>>,
}

#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq)]
#[serde(rename_all = "camelCase")]
enum InstanceType {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    String,
    Integer,
}

#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(untagged)]
enum SingleOrVec<T> {
    Single(Box<T>),
    Vec(Vec<T>),
}

/// `default: null` is a value too.
fn even_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A group of keys none of which is there is no group.
fn unless_default<'de, D, T>(from: D) -> Result<Option<Box<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default + PartialEq,
{
    let found = T::deserialize(from)?;
    Ok((found != T::default()).then(|| Box::new(found)))
}

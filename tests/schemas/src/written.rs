//! Schemas that are written by hand.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "written.example.com", version = "v1", kind = "ByHand")]
pub struct ByHandSpec {
    /// A field.
    pub port: Port,
    pub maybe: Option<Port>,
    pub ports: Vec<Port>,
    pub list: OneOrMany<Inner>,
    pub numbers: OneOrMany<i32>,
    pub any: Anything,
    pub quantity: Size,
    pub from_value: FromValue,
    pub tried: Tried,
    pub forwarded: Forwarded,
    pub changed: Changed,
    pub inlined: Inlined,
    pub optional: OptionLike<Inner>,
    pub only: Only<i32>,
    pub other_only: Only<bool>,
    #[serde(flatten)]
    pub flat: Flat,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    /// X.
    pub x: i32,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Port(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Anything(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Size(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct FromValue(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Tried(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Forwarded(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Changed(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Inlined(serde_json::Value);
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Flat {
    pub more: i32,
}
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Mapped(serde_json::Value);

const LOWEST: u16 = 1;
const KIND: &str = "integer";

impl JsonSchema for Port {
    fn schema_name() -> Cow<'static, str> {
        "Port".into()
    }
    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::Port").into()
    }
    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": KIND,
            "format": "port",
            "minimum": LOWEST,
            "maximum": 65535,
            "description": format!("A port, from {} to {{{}}}", LOWEST, Self::MOST),
            "x-kubernetes-validations": [{ "rule": "self != 22", "message": null }],
        })
    }
}

impl Port {
    const MOST: u32 = 65_535;
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct OneOrMany<T>(Vec<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("OneOrMany_{}", T::schema_name()))
    }
    fn schema_id() -> Cow<'static, str> {
        format!("{}::OneOrMany<{}>", module_path!(), T::schema_id()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let map = generator.subschema_for::<BTreeMap<String, T>>();
        schemars::json_schema!({
            "type": "object",
            "properties": {
                "one": one,
                "many": generator.subschema_for::<Vec<T>>(),
                "map": map,
                "fixed": { "type": "array", "items": <T>::json_schema(generator) },
            },
        })
    }
}

impl JsonSchema for Anything {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Anything")
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = Schema::default();
        schema.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
        schema.insert(String::from("type"), serde_json::Value::String("object".to_string()));
        schema
    }
}

impl schemars::JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }
    fn schema_id() -> Cow<'static, str> {
        "size".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::generate::SchemaGenerator) -> schemars::Schema {
        <k8s_openapi::apimachinery::pkg::api::resource::Quantity as JsonSchema>::json_schema(
            generator,
        )
    }
}

impl JsonSchema for FromValue {
    fn schema_name() -> Cow<'static, str> {
        "FromValue".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        serde_json::from_value(json!({
            "anyOf": [{ "type": "string" }, { "type": "integer" }],
            "x-kubernetes-int-or-string": true,
        }))
        .expect("a schema")
    }
}

impl JsonSchema for Tried {
    fn schema_name() -> Cow<'static, str> {
        "Tried".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let value = json!({ "type": "string", "enum": ["a", "b"] });
        Schema::try_from(value).unwrap()
    }
}

impl JsonSchema for Forwarded {
    fn schema_name() -> Cow<'static, str> {
        <Option<String>>::schema_name()
    }
    fn json_schema(r#gen: &mut SchemaGenerator) -> Schema {
        Option::<String>::json_schema(r#gen)
    }
}

impl JsonSchema for Changed {
    fn schema_name() -> Cow<'static, str> {
        "Changed".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Inner::json_schema(generator);
        schema.insert("description".to_owned(), json!("Changed."));
        schema
    }
}

impl JsonSchema for Inlined {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Inlined".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        enum_of(generator, vec!["x", "y"])
    }
}

fn enum_of(generator: &mut SchemaGenerator, names: Vec<&str>) -> Schema {
    let mut res = String::json_schema(generator);
    res.insert("enum".to_owned(), names.into());
    res
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct OptionLike<T>(Option<T>);

impl<T> JsonSchema for OptionLike<T>
where
    T: JsonSchema,
{
    fn schema_name() -> Cow<'static, str> {
        format!("OptionLike_{name}", name = T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Only<T>(T);

impl JsonSchema for Only<i32> {
    fn schema_name() -> Cow<'static, str> {
        "OnlyNumber".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

impl JsonSchema for Only<bool> {
    fn schema_name() -> Cow<'static, str> {
        "OnlyFlag".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

impl JsonSchema for Flat {
    fn schema_name() -> Cow<'static, str> {
        "Flat".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": { "more": { "type": "integer", "format": "int32" } },
            "required": ["more"],
        })
    }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "written.example.com", version = "v1", kind = "Functions")]
pub struct FunctionsSpec {
    /// Preserved.
    #[schemars(schema_with = "preserve")]
    pub any: serde_json::Value,
    #[schemars(schema_with = "functions::deep")]
    pub maybe: Option<Inner>,
    #[schemars(schema_with = "preserve_list::<Inner>")]
    pub list: Vec<Inner>,
    #[serde(default)]
    #[schemars(schema_with = "Functions_::assoc")]
    pub assoc: i32,
    pub choice: Choice,
    pub whole: Whole,
    pub generic: Generic<i32>,
}

pub struct Functions_;
impl Functions_ {
    fn assoc(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<i32>();
        schema.insert("minimum".into(), 3.into());
        schema
    }
}

fn preserve(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true
    })
}

fn preserve_list<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": generator.subschema_for::<T>() })
}

pub mod functions {
    use schemars::*;

    pub fn deep(generator: &mut SchemaGenerator) -> Schema {
        let mut schema: Schema = generator.subschema_for::<super::Inner>();
        schema.insert("nullable".to_string(), serde_json::Value::Bool(true));
        schema
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Choice {
    Plain(i32),
    #[schemars(schema_with = "preserve")]
    Whole(Inner),
    Field(#[schemars(schema_with = "preserve")] Inner),
    Struct {
        #[schemars(schema_with = "preserve", title = "Title")]
        a: Inner,
    },
}

/// Whole.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(schema_with = "preserve")]
pub struct Whole {
    pub x: i32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Generic<T> {
    #[schemars(schema_with = "preserve")]
    pub x: T,
}

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "written.example.com",
    version = "v1",
    kind = "Manual",
    schema = "manual",
    status = "Inner"
)]
pub struct ManualSpec {
    pub x: i32,
}

impl JsonSchema for Manual {
    fn schema_name() -> Cow<'static, str> {
        "Manual".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spec = spec_schema();
        json_schema!({
            "type": "object",
            "required": ["spec"],
            "properties": { "spec": spec, "status": Inner::json_schema(generator) }
        })
    }
}

fn spec_schema() -> Schema {
    let mut properties = serde_json::Map::new();
    properties.insert("x".to_owned(), json!({ "type": "integer" }));
    let mut res = serde_json::Map::new();
    res.insert("type".to_owned(), "object".into());
    res.insert("properties".to_owned(), serde_json::Value::Object(properties));
    res.into()
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "written.example.com", version = "v1", kind = "Helped")]
pub struct HelpedSpec {
    pub mapped: Mapped,
}

impl JsonSchema for Mapped {
    fn schema_name() -> Cow<'static, str> {
        "Mapped".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let first = Inner::json_schema(generator).to_value();
        json_schema!({
            "type": "object",
            "properties": { "first": first },
            "required": ["first"],
        })
    }
}

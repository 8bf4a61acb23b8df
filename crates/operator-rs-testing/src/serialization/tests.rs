use super::{SerializationCheck, check};
use k8s_openapi::{
    api::core::v1::ResourceRequirements,
    apimachinery::pkg::apis::meta::v1::{Condition, MicroTime, Time},
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Declares a kind whose spec has these fields.
macro_rules! kind {
    ($module:ident, $($fields:tt)*) => {
        mod $module {
            use super::*;

            #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
            #[kube(group = "test.dev", version = "v1", kind = "Thing")]
            #[serde(rename_all = "camelCase")]
            pub struct ThingSpec {
                $($fields)*
            }
        }
    };
}

/// The first line of the message of a check that fails.
fn message(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(check).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    message.split(" (seed").next().unwrap().to_owned()
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Mode {
    /// The first one.
    Fast,
    /// The other one.
    Slow,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Source {
    File { path: String },
    Http { url: String, port: Option<u16> },
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Size {
    Number { count: u32 },
    Name { name: String },
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub weight: f64,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// A number that is written as a string.
pub mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&number.to_string())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

kind! { good,
    pub inner: Inner,
    #[serde(flatten)]
    pub rest: Inner2,
    pub size: Size,
    pub source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    pub text: Option<String>,
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub number: i64,
    pub since: Option<Time>,
    pub exact: Option<MicroTime>,
    pub resources: Option<ResourceRequirements>,
    pub conditions: Vec<Condition>,
    #[schemars(extend("additionalProperties" = { "x-kubernetes-preserve-unknown-fields": true }))]
    pub free: BTreeMap<String, Value>,
    #[serde(default = "three")]
    pub replicas: u64,
    pub small: u8,
    pub signed: i16,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner2 {
    pub first: Option<bool>,
    pub second: Option<Vec<Inner>>,
}

fn three() -> u64 {
    3
}

#[test]
fn values_that_an_api_server_keeps_pass() {
    check::<good::Thing>();
}

kind! { free_form, pub values: BTreeMap<String, Value>, }
kind! { option_of_an_enum, pub mode: Option<Mode>, }
kind! { list_of_options, pub modes: Vec<Option<Mode>>, }
kind! { written_as_text, #[serde(serialize_with = "text::serialize")] pub number: i64, }
kind! { read_as_text, #[serde(deserialize_with = "text::deserialize", default)] pub number: i64, }
kind! { required_option, #[schemars(with = "String")] pub name: Option<String>, }
kind! { other_tag, #[schemars(with = "Size")] #[serde(deserialize_with = "either::deserialize")] pub size: Other, }

/// A [`Size`] with a tag.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Other {
    Number { count: u32 },
    Name { name: String },
}

pub mod either {
    use super::{Other, Size};
    use serde::{Deserialize, Deserializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Other, D::Error> {
        Ok(match Size::deserialize(deserializer)? {
            Size::Number { count } => Other::Number { count },
            Size::Name { name } => Other::Name { name },
        })
    }
}

#[test]
fn values_that_an_api_server_changes_or_refuses_are_found() {
    let found = [
        message(check::<free_form::Thing>),
        message(check::<option_of_an_enum::Thing>),
        message(check::<list_of_options::Thing>),
        message(check::<written_as_text::Thing>),
        message(check::<read_as_text::Thing>),
        message(check::<required_option::Thing>),
        message(check::<other_tag::Thing>),
    ];
    let refused = "Thing v1: API servers refuse what serde writes:";
    let removed = "which API servers remove, and refuse under strict validation: the schema does not declare it";
    let hint = "(`#[serde(skip_serializing_if = \"Option::is_none\")]` leaves it out)";
    let expected = [
        format!("Thing v1: serde writes `spec.values.example.b`, {removed}"),
        format!("{refused} `spec.mode` must be one of `Fast`, `Slow`, and is null {hint}"),
        format!("{refused} `spec.modes[0]` must be one of `Fast`, `Slow`"),
        format!("{refused} `spec.number` must be of type integer, and is of type string"),
        "Thing v1: the object cannot be read back from the API server: invalid type: integer `0`, expected a string"
            .to_owned(),
        format!("{refused} `spec.name` is required, but missing"),
        format!("Thing v1: serde writes `spec.size.number`, {removed}"),
    ];
    assert_eq!(found, expected);
}

kind! { float, pub ratio: f64, }
kind! { large, pub number: u64, }
kind! { never_read, #[serde(skip_deserializing)] pub number: i64, }

#[test]
fn numbers_that_json_or_an_api_server_does_not_have_are_not_tried() {
    check::<float::Thing>();
    check::<large::Thing>();
}

#[test]
fn a_field_that_is_written_and_never_read_is_found() {
    let removed = "which API servers remove, and refuse under strict validation: the schema does not declare it";
    let expected = format!("Thing v1: serde writes `spec.number`, {removed}");
    assert_eq!(message(check::<never_read::Thing>), expected);
}

kind! { other_type, #[serde(default)] #[schemars(with = "i32")] pub name: String, }
kind! { many_labels, #[schemars(extend("minProperties" = 9))] pub labels: BTreeMap<String, String>, }

#[test]
fn kinds_without_values_to_try_are_found() {
    let found = [message(check::<other_type::Thing>), message(check::<many_labels::Thing>)];
    let expected = [
        "things.test.dev: the type reads no value that the schema allows for `spec.name`: invalid type: integer `0`, \
         expected a string",
        "things.test.dev: none of the random values is valid (`spec.labels` must have at least 9 entries), give a sample",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_message_has_the_smallest_object_and_its_seed() {
    let panic = std::panic::catch_unwind(check::<option_of_an_enum::Thing>).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    let seed: u64 = text.split("(seed ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    let object: Value = serde_json::from_str(text.split_once("): ").unwrap().1).unwrap();
    assert_eq!(object["spec"], json!({ "mode": null }));
    let again = std::panic::catch_unwind(|| {
        SerializationCheck::<option_of_an_enum::Thing>::default().first_seed(seed).object_count(1).run()
    });
    assert_eq!(again.unwrap_err().downcast_ref::<String>(), Some(text));
}

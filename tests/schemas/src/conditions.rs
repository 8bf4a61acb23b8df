//! Code that features take parts of away: statements, fields, arguments, functions, schemas by hand.

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "conditions.example.com", version = "v1", kind = "Conditional")]
pub struct ConditionalSpec {
    #[serde(default = "tail")]
    pub tail: u8,
    #[serde(default = "statements")]
    pub statements: Vec<u8>,
    #[serde(default = "chosen")]
    pub chosen: String,
    #[serde(default)]
    pub whole: Whole,
    #[serde(default = "parts")]
    pub parts: Vec<String>,
    #[serde(skip_serializing_if = "never", default = "tail")]
    pub never: u8,
    #[serde(skip_serializing_if = "always", default = "tail")]
    pub always: u8,
    #[schemars(schema_with = "by_hand")]
    pub by_hand: i32,
    pub named: Named,
    #[serde(default = "constants")]
    pub constants: u8,
    #[serde(default = "inlined")]
    pub inlined: u8,
}

fn tail() -> u8 {
    #[cfg(feature = "narrow")]
    {
        1
    }
    #[cfg(not(feature = "narrow"))]
    {
        2
    }
}

fn statements() -> Vec<u8> {
    #[cfg(feature = "wide")]
    let four: u8 = 4;
    #[cfg(not(feature = "wide"))]
    let four: u8 = 5;
    vec![1, four]
}

#[cfg(feature = "wide")]
#[cfg_attr(feature = "wide", inline)]
fn chosen() -> String {
    "wide".to_owned()
}

#[cfg(not(feature = "wide"))]
fn chosen() -> String {
    "none".to_owned()
}

#[cfg_attr(feature = "wide", inline)]
fn inlined() -> u8 {
    7
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Whole {
    pub a: u8,
    #[cfg(feature = "narrow")]
    pub b: u8,
    #[cfg(feature = "wide")]
    pub c: u8,
}

impl Default for Whole {
    fn default() -> Self {
        Self {
            a: 1,
            #[cfg(feature = "narrow")]
            b: 2,
            #[cfg(feature = "wide")]
            c: 3,
        }
    }
}

impl Whole {
    #[cfg(feature = "narrow")]
    const MOST: u8 = 1;
    #[cfg(not(feature = "narrow"))]
    const MOST: u8 = 9;
    fn most(less: u8) -> u8 {
        Self::MOST - less
    }
}

fn constants() -> u8 {
    let whole = Whole::default();
    #[cfg(feature = "narrow")]
    {
        Whole::most(1)
    }
    #[cfg(feature = "wide")]
    Whole::most(whole.c)
}

fn parts() -> Vec<String> {
    vec![
        "a".to_string(),
        #[cfg(not(feature = "narrow"))]
        "c".to_string(),
    ]
}

fn never<T>(_: &T) -> bool {
    #[cfg(feature = "wide")]
    {
        false
    }
    #[cfg(not(feature = "wide"))]
    true
}

fn always<T: PartialEq>(it: &T) -> bool {
    #[cfg(feature = "narrow")]
    {
        let _ = it;
        false
    }
    #[cfg(not(feature = "narrow"))]
    {
        it == it
    }
}

#[cfg(feature = "wide")]
fn by_hand(_: &mut SchemaGenerator) -> Schema {
    #[cfg(feature = "narrow")]
    let kind = "string";
    #[cfg(not(feature = "narrow"))]
    let kind = "integer";
    #[allow(unused_mut)]
    let mut res = json_schema!({ "type": kind });
    #[cfg(feature = "narrow")]
    res.insert("format".to_owned(), "narrow".into());
    #[cfg(feature = "wide")]
    res.insert("format".to_owned(), "int32".into());
    res
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Named;

impl JsonSchema for Named {
    #[cfg(feature = "narrow")]
    fn inline_schema() -> bool {
        false
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Named".into()
    }

    #[cfg(not(feature = "narrow"))]
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }

    #[cfg(feature = "narrow")]
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

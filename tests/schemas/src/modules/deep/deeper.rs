use super::super::prelude::{Deserialize as De, JsonSchema as Schema, Serialize as Ser};

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Deeper {
    pub name: std::string::String,
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema, Clone, Debug)]
pub struct Status {
    pub ready: core::option::Option<bool>,
}

#[allow(unused)]
fn used<T: Schema + Ser + for<'a> De<'a>>() {}

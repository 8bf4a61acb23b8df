pub mod deeper;

use super::prelude::*;

pub const LIMIT: i32 = 10;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Globbed {
    pub deeper: deeper::Deeper,
    pub list: Vec<Private>,
}

/// Not seen from outside.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Private {
    pub x: i32,
}

#[allow(unused)]
struct Same;

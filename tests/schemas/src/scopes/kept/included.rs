use crate::scopes::{Deserialize, JsonSchema, Serialize};

pub mod behind;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Included {
    pub included: bool,
}

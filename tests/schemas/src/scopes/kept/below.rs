use crate::scopes::{Deserialize, JsonSchema, Serialize};

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Below {
    pub below: String,
}

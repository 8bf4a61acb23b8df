use crate::scopes::{Deserialize, JsonSchema, Serialize};

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Behind {
    pub behind: String,
}

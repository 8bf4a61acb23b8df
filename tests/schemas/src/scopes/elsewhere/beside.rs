use super::{Deserialize, JsonSchema, Serialize};

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Beside {
    pub beside: String,
}

use crate::modules::prelude::{Deserialize, JsonSchema, Serialize};

/// Shared.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Shared {
    #[schemars(range(max = super::deep::LIMIT))]
    pub x: i32,
}

use crate::scopes::*;

pub mod beside;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Moved {
    pub moved: super::Width,
}

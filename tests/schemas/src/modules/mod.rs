//! Types over several files and modules, named in every way that `use` knows.

mod deep;
pub mod prelude;
mod shared;

use self::deep::*;
use super::modules::shared as other;
use prelude::*;
use serde::{Deserialize, Serialize};

pub use inline::Inline as Renamed;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "modules.example.com",
    version = "v1",
    kind = "Named",
    status = "self::deep::deeper::Status"
)]
pub struct NamedSpec {
    pub a: Globbed,
    pub b: other::Shared,
    pub c: crate::modules::deep::deeper::Deeper,
    pub d: Renamed,
    pub e: Option<Same>,
    pub f: inline::nested::Nested,
    pub g: Reexported,
    pub h: Choice,
}

mod inline {
    use super::other::Shared as Same;
    use super::prelude::*;

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Inline {
        pub same: Same,
        pub own: nested::Nested,
    }

    pub(super) mod nested {
        use super::super::prelude::*;

        #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
        pub struct Nested {
            pub x: super::super::deep::deeper::Deeper,
        }
    }
}

/// Of the same name as a type in another module, and another.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Same {
    pub here: bool,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Choice {
    #[serde(default = "fast")]
    pub speed: Speed,
}

use Speed::*;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Speed {
    Slow,
    Fast,
}

fn fast() -> Speed {
    Fast
}

#[allow(unused)]
const SLOW: Speed = Slow;

/// A status of the kind above.
pub type Held = Vec<Named>;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "modules.example.com", version = "v1", kind = "Holder")]
pub struct HolderSpec {
    pub template: Option<Named>,
    pub held: Held,
}

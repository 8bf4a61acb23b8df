//! Names that are found by imports of imports, and modules that are found by their paths.

#[path = "elsewhere/moved.rs"]
mod moved;

#[path = "kept"]
mod inline {
    pub mod below;
    pub mod included;
}

extern crate alloc as heap;

use k8s_openapi::api::core::v1::*;
use kube::CustomResource;
use kube::core::ObjectMeta as Meta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::*;
use std::{fmt::*, option, time::*};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scopes.example.com", version = "v1", kind = "Scoped")]
pub struct ScopedSpec {
    pub moved: moved::Moved,
    pub beside: moved::beside::Beside,
    pub below: inline::below::Below,
    pub included: inline::included::Included,
    pub behind: inline::included::behind::Behind,
    pub own: shadows::Shadows,
    pub text: heap::string::String,
    pub maybe: option::Option<core::num::NonZeroU8>,
    pub meta: Option<Meta>,
    pub reference: Option<ObjectReference>,
    pub sorted: BTreeMap<String, BTreeSet<u8>>,
    pub took: Option<Duration>,
    pub width: Width,
    pub r#type: r#type::Struct,
    #[serde(default = "first")]
    pub choice: Chosen,
}

mod shadows {
    pub use self::hidden::String;
    use super::JsonSchema;
    use serde::{Deserialize, Serialize};

    mod hidden {
        use super::*;

        #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
        pub struct String {
            pub inner: std::string::String,
        }

        // Not seen from outside, so that a glob does not bring it.
        #[allow(unused)]
        struct Option;
    }

    #[allow(unused_imports)]
    use self::hidden::*;

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Shadows {
        pub own: String,
        pub usual: Option<bool>,
    }
}

#[cfg(test)]
pub type Width = u8;
#[cfg(not(test))]
pub type Width = u16;
#[cfg(feature = "none-such")]
pub type Width = u32;

mod r#type {
    use super::*;

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct r#Struct {
        pub r#match: bool,
    }
}

type Chosen = choices::Again;

fn first() -> Chosen {
    Chosen::First
}

mod choices {
    pub type Again = self::inner::Choice;

    mod inner {
        use crate::scopes::*;

        #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
        pub enum Choice {
            First,
            Second,
        }
    }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scopes.example.com", version = "v1", kind = "Ring")]
pub struct RingSpec {
    pub one: two::One,
    pub two: three::Two,
    pub three: one::Three,
    pub own: one::Own,
    pub other: two::Own,
}

mod one {
    pub use super::two::*;
    use crate::scopes::{Deserialize, JsonSchema, Serialize};

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct One {
        pub a: u8,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Own {
        pub one: bool,
    }
}

mod two {
    pub use super::three::*;
    use crate::scopes::{Deserialize, JsonSchema, Serialize};

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Two {
        pub b: u16,
        pub three: Three,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Own {
        pub two: bool,
    }
}

mod three {
    pub use super::one::*;
    use crate::scopes::{Deserialize, JsonSchema, Serialize};

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Three {
        pub c: u32,
        pub one: One,
    }

    #[allow(unused)]
    fn elsewhere() {
        #[derive(Debug)]
        struct One;
    }
}

/// The derive of the crate that has it, by the crate's own name.
#[derive(kube_derive::CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scopes.example.com", version = "v1", kind = "Direct")]
pub struct DirectSpec {
    pub text: String,
}

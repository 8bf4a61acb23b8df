//! Types that the crate's own macros make.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[macro_use]
mod shared;
mod attributes;
mod below;
mod docs;
mod numbers;
mod odd;

pub use attributes::Attributes;
pub use below::Shown;
pub use docs::Docs;
pub use numbers::Numbers;
pub use odd::Odd;

macro_rules! spec {
    ($(#[$meta:meta])* $vis:vis struct $name:ident: $kind:literal { $($(#[$on:meta])* $field:ident: $ty:ty = $default:expr),* $(,)? }) => {
        $(#[$meta])*
        #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
        #[kube(group = "made.example.com", version = "v1", kind = $kind)]
        #[serde(rename_all = "camelCase")]
        $vis struct $name {
            $($(#[$on])* pub $field: $ty,)*
        }
        $(
            mod $field {
                pub fn value() -> i32 { $default }
            }
        )*
    };
}

spec! {
    /// A kind that a macro makes.
    pub struct WholeSpec: "Whole" {
        /// One of them.
        #[serde(default = "first_of::value")]
        first_of: i32 = 5,
        #[schemars(range(min = 1, max = 9))]
        #[serde(default = "second::value")]
        second: i32 = -7,
    }
}

macro_rules! names {
    ($name:ident { $($variant:ident $(= $said:literal)? $(: $doc:literal)?),+ $(,)? }) => {
        #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
        pub enum $name {
            $(
                $(#[serde(rename = $said)])?
                $(#[doc = $doc])?
                $variant,
            )+
        }
    };
}

names!(Plain { One, Two = "second", Three });
names!(Told { One: "The first", Two = "second": "The next", });

macro_rules! newtypes {
    ($($name:ident($inner:ty)),* $(,)?) => {
        $(
            #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
            #[serde(transparent)]
            pub struct $name(pub $inner);
        )*
    };
}

newtypes!(Name(String), Port(u16), Tags(std::collections::BTreeMap<String, Vec<Option<u8>>>),);

macro_rules! numbers {
    ($($name:ident = $value:expr;)*) => { $(pub const $name: u32 = $value;)* };
}

numbers! {
    LOW = 2;
    HIGH = 40 + 2;
}

macro_rules! optional {
    ($ty:ty) => { Option<$ty> };
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "made.example.com", version = "v1", kind = "Used")]
pub struct UsedSpec {
    pub plain: Plain,
    pub told: Told,
    pub name: Name,
    pub port: Option<Port>,
    pub tags: Tags,
    #[schemars(range(min = LOW, max = HIGH))]
    pub between: u32,
    pub perhaps: optional!(String),
    pub lists: Vec<optional!(shared_name!())>,
    pub shared: shared::Shared,
}

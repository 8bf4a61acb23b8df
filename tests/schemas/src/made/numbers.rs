//! Enums that are written as numbers.

use kube::CustomResource;
use schemars::{JsonSchema, JsonSchema_repr};
use serde::{Deserialize, Serialize};
use serde_repr::{Deserialize_repr, Serialize_repr};

const BASE: u8 = 20;

/// A level.
#[derive(JsonSchema_repr, Serialize_repr, Deserialize_repr, Clone, Debug)]
#[repr(u8)]
pub enum Level {
    /// Not shown.
    Low,
    Middle = 5,
    Next,
    Based = BASE,
    High = 0xff,
}

#[derive(JsonSchema_repr, Serialize_repr, Deserialize_repr, Clone, Debug)]
#[schemars(title = "Signed", extend("x-kubernetes-int-or-string" = true))]
#[repr(i64)]
pub enum Signed {
    Lowest = i64::MIN,
    Below = -2,
    Then,
    Zero,
}

macro_rules! numbered {
    ($name:ident: $ty:ident { $($variant:ident = $number:expr),* }) => {
        #[derive(JsonSchema_repr, Serialize_repr, Deserialize_repr, Clone, Debug)]
        #[repr($ty)]
        pub enum $name { $($variant = $number),* }
    };
}

numbered!(Made: u16 { One = 1 + 1, Two = 1000 });

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "made.example.com", version = "v1", kind = "Numbers", plural = "numbers")]
pub struct NumbersSpec {
    pub level: Level,
    /// How signed.
    pub signed: Option<Signed>,
    pub made: Vec<Made>,
}

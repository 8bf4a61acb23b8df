//! Macros that a path leads to, and macros that macros define.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::by_path;
use super::shared::by_path as another;

// Nothing above in the text has these names: they are found when everything else is known.
crate::made::shared::by_path!(Pathed);
by_path!(Imported);
another!(Renamed);
crate::from_the_root!(Rooted, Imported);

macro_rules! define {
    ($name:ident => $ty:ty) => {
        macro_rules! $name {
            ($of:ident { $d:ident }) => {
                plain_struct!($of { $d: $ty });
            };
        }
    };
}

define!(of_numbers => u8);
of_numbers!(Defined { small });

// Takes its input apart, piece by piece.
macro_rules! chew {
    ([$($done:tt)*]) => { plain_struct!(Chewed { $($done)* }); };
    ([] text $name:ident; $($rest:tt)*) => { chew!([$name: String] $($rest)*); };
    ([$($done:tt)+] text $name:ident; $($rest:tt)*) => { chew!([$($done)+, $name: String] $($rest)*); };
    ([$($done:tt)+] list $name:ident of $ty:ty; $($rest:tt)*) => {
        chew!([$($done)+, $name: Vec<$ty>] $($rest)*);
    };
}

chew!([] text a; list b of Option<i32>; text c;);

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "made.example.com", version = "v1", kind = "Shown")]
pub struct ShownSpec {
    pub pathed: Pathed,
    pub imported: Imported,
    pub renamed: Renamed,
    pub rooted: Rooted,
    pub defined: Defined,
    pub chewed: Chewed,
}

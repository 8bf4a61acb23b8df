//! Documentation that macros make.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! told {
    ($($name:ident = $literal:literal, $expr:expr, $token:tt;)*) => {
        $(
            #[doc = $literal]
            #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
            pub struct $name {
                #[doc = $expr]
                pub expr: i32,
                #[doc = $token]
                pub token: i32,
                #[doc = concat!(" The ", stringify!($name), " of ", $literal, '.', 1, -2, 0x10, 1.50, true)]
                pub concat: i32,
                /// First.
                #[doc = $literal]
                #[doc = concat!(concat!("last ", $token))]
                pub lines: i32,
                #[doc = stringify!($name)]
                pub name: i32,
                #[doc = word!()]
                pub word: i32,
                #[schemars(description = concat!("of ", stringify!($name)), title = word!())]
                pub said: i32,
                #[schemars(description = TEXT)]
                pub by_constant: i32,
            }
        )*
    };
}

macro_rules! word {
    () => {
        " A word"
    };
}

const TEXT: &str = concat!("text ", 1, stringify!(more));

told! {
    Spaced = " Spaced", " Spaced", " Spaced";
    Bare = "Bare", "# Title", r#" Raw "quoted""#;
}

macro_rules! documented {
    ($($(#[$meta:meta])* $name:ident)*) => {
        $($(#[$meta])* #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)] pub struct $name;)*
    };
    (@tokens $($tokens:tt)*) => { $($tokens)* };
}

documented! {
    /// # Heading
    ///
    ///  Indented text,
    /// more of it.
    Headed
    /** A block */
    #[doc = " An attribute"]
    Mixed
}

documented! {@tokens
    /// Through tokens.
    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Through {
        /// A field.
        pub a: i32,
    }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "made.example.com", version = "v1", kind = "Docs")]
pub struct DocsSpec {
    pub spaced: Spaced,
    pub bare: Bare,
    pub headed: Headed,
    pub mixed: Mixed,
    pub through: Through,
}

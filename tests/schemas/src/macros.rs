//! Macros of the crate beside types: what they cannot declare is read all the same.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! constants {
    ($($name:ident = $value:expr;)*) => { $(pub const $name: u32 = $value;)* };
}

constants! {
    LOW = 2;
    HIGH = 40 + 2;
}

macro_rules! newtypes {
    ($($name:ident($inner:ty)),* $(,)?) => { $(pub struct $name(pub $inner);)* };
}

newtypes!(Name(char), Port(u16));

macro_rules! conversions {
    ($($name:ident),*) => {
        $(
            impl From<$name> for String {
                fn from(_: $name) -> Self {
                    vec![stringify!($name)].concat()
                }
            }
        )*
    };
}

conversions!(Inner, Level);

thread_local! {
    static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

const TEXT: &str = concat!("text ", 1, "more");

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Level {
    Info,
    Warning,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    #[doc = concat!(" The ", "field", '.', 1, 0x10, true)]
    pub concat: i32,
    /// First.
    #[doc = concat!(concat!("last"))]
    pub lines: i32,
    #[schemars(description = concat!("of ", "a"), title = "A word")]
    pub described: i32,
    #[schemars(description = TEXT)]
    pub by_constant: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "macros.example.com", version = "v1", kind = "Beside")]
pub struct BesideSpec {
    pub inner: Inner,
    pub level: Level,
    #[serde(default = "first")]
    pub first: String,
}

fn first() -> String {
    "first".to_owned()
}

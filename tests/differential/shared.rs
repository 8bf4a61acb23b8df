//! The crate that the cases share: a path dependency, with features that are on and off.

mod inner {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// Two numbers.
    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
    #[serde(rename_all = "camelCase")]
    pub struct Point {
        pub first_number: i32,
        #[serde(default)]
        pub second: super::Ratio,
        #[cfg(feature = "extra")]
        pub extra: Option<String>,
        #[cfg(feature = "plain")]
        pub plain: bool,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum Mode {
        #[default]
        FastOne,
        #[cfg_attr(feature = "extra", serde(rename = "slow-by-feature"))]
        SlowOne,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Page<T> {
        #[serde(default = "size")]
        pub size: u16,
        pub items: Vec<T>,
    }

    fn size() -> u16 {
        super::SIZE / 2
    }
}

pub use inner::*;

pub type Ratio = f64;
pub const SIZE: u16 = 50;

/// Made by hand, also where it is a part.
#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    pub max_size: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub choice: deep::Choice,
    pub points: std::collections::BTreeMap<String, Point>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_size: SIZE * 2, choice: deep::standard(3), name: None, points: Default::default() }
    }
}

pub mod deep {
    pub use super::*;

    #[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    #[serde(untagged)]
    pub enum Choice {
        Size(u16),
        Named { name: String, mode: Option<Mode> },
    }

    pub fn standard(size: u16) -> Choice {
        Choice::Named { name: format!("of-{size}"), mode: Some(Mode::SlowOne) }
    }
}

pub mod names {
    pub use crate::inner::{Mode as Way, Page};
    pub use crate::Ratio as Share;
}

/// Hand-written, as a string.
#[derive(serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Text(pub String);

impl schemars::JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "maxLength": 63 })
    }
}

#[derive(kube::KubeSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[x_kube(validation = ("self.low <= self.high", "in order"))]
pub struct Span {
    pub low: i64,
    #[x_kube(validation = "self < 100")]
    pub high: i64,
}

/// A macro that makes a type elsewhere.
#[macro_export]
macro_rules! define {
    ($name:ident, $field:ident) => {
        #[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
        pub struct $name {
            #[serde(rename = "from_a_macro")]
            pub $field: String,
        }
    };
}

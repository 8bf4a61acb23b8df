//! Macros for the modules after this one.

macro_rules! shared_name {
    () => {
        crate::made::shared::Shared
    };
}

macro_rules! plain_struct {
    ($name:ident { $($field:ident: $ty:ty),* }) => {
        #[derive(
            schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
        )]
        pub struct $name { $(pub $field: $ty),* }
    };
}

plain_struct!(Shared { text: String, number: Option<i64> });

macro_rules! by_path {
    ($name:ident) => {
        plain_struct!($name { made: bool });
    };
}

pub(crate) use by_path;

/// As a path alone leads here.
#[macro_export]
macro_rules! from_the_root {
    ($name:ident, $of:ident) => {
        #[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
        pub struct $name {
            pub of: $of,
            pub shared: Option<$crate::made::shared::Shared>,
        }
    };
}

//! The things that are planted: each changes an answer from where it is in effect.

/// Something that may be anywhere in a program and changes what a kind means, or is a kind itself.
pub struct Plant {
    pub name: &'static str,
    pub effect: Effect,
    /// The code around the plant; it defines `Part`, whose schema is compared.
    pub victim: &'static str,
    /// The items that are planted.
    pub items: &'static str,
    /// The names that `items` give to code outside of them.
    pub names: &'static [&'static str],
    /// In a body that is evaluated: the value, of 1 where the plant is not in effect.
    pub value: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Declares a kind, wherever it is.
    Kind,
    /// Changes `Part` from everywhere, as an `impl` does.
    Everywhere,
    /// `Part` does not compile without it, wherever it is.
    Needed,
    /// Changes `Part` where its names are in scope, even of a glob import.
    InScope,
    /// The same, but not by a glob import: it shadows one.
    Shadowing,
    /// Changes what a derive of the language is, where its name is imported; not by a macro, which could not shadow it.
    Derive,
    /// Changes a value where its names are in scope; true for one that constants may have.
    Value(bool),
}

const fn plant(
    name: &'static str,
    effect: Effect,
    victim: &'static str,
    items: &'static str,
    names: &'static [&'static str],
) -> Plant {
    Plant { name, effect, victim, items, names, value: "" }
}

/// Before each victim.
pub const HEAD: &str = "use ::schemars::JsonSchema;\nuse ::serde::{Deserialize, Serialize};\n";

const NUMBER: &str = "DERIVE pub struct Part { #[serde(default = \"f\")] pub a: u8 }\n";
const TEXT: &str =
    "DERIVE pub struct Part { #[serde(default = \"f\")] pub a: ::std::string::String }\n";
const WRAPPED: &str = "DERIVE pub struct Part { #[serde(default = \"f\")] pub a: W }\n";

/// What the short words in `victim` and `items` stand for.
pub fn written_out(text: &str) -> String {
    text.replace("NUMBER ", NUMBER)
        .replace("TEXT ", TEXT)
        .replace("WRAPPED ", WRAPPED)
        .replace("DERIVE ", "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)] ")
        .replace("DERIVES", "::schemars::JsonSchema, ::serde::Serialize, ::serde::Deserialize, Clone, Debug")
        .replace("KUBE ", "#[kube(group = \"example.com\", version = \"v1\", kind = \"Planted\")] pub struct PlantedSpec { pub a: u8 }")
}

use Effect::{Derive, Everywhere, InScope, Kind, Needed, Shadowing};

const ANY: &str = "DERIVE pub struct Part { pub a: u8 }";

pub const PLANTS: &[Plant] = &[
    plant("kind", Kind, ANY, "#[derive(::kube::CustomResource, DERIVES)] KUBE ", &["PlantedSpec"]),
    plant(
        "kind-by-another-name",
        Kind,
        ANY,
        "use ::kube::CustomResource as Made; #[derive(Made, DERIVES)] KUBE ",
        &["PlantedSpec"],
    ),
    plant(
        "kind-by-a-crate",
        Kind,
        ANY,
        "#[derive(::shared::Made, DERIVES)] KUBE ",
        &["PlantedSpec"],
    ),
    plant(
        "function-of-a-type",
        Everywhere,
        "WRAPPED DERIVE pub struct W(pub u8); impl Default for W { fn default() -> W { W(2) } } pub fn f() -> W { W::default() }",
        "impl W { pub fn default() -> W { W(1) } }",
        &[],
    ),
    plant(
        "function-of-a-renamed-type",
        Everywhere,
        "WRAPPED DERIVE pub struct W(pub u8); impl Default for W { fn default() -> W { W(2) } } pub fn f() -> W { W::default() }",
        "use W as V; impl V { pub fn default() -> V { W(1) } }",
        &[],
    ),
    plant(
        "constant-of-a-type",
        Everywhere,
        "NUMBER DERIVE pub struct W(pub u8); pub trait Has { const A: u8 = 2; } impl Has for W {} pub fn f() -> u8 { W::A }",
        "impl W { pub const A: u8 = 1; }",
        &[],
    ),
    plant(
        "method-of-a-type",
        Everywhere,
        "WRAPPED DERIVE pub struct W(pub u8); pub fn f() -> W { let w = W(3); w.clone() }",
        "impl W { pub fn clone(&self) -> W { W(1) } }",
        &[],
    ),
    plant(
        "implementation-of-a-trait-in-scope",
        Everywhere,
        "TEXT pub trait Loud { fn to_string(self) -> ::std::string::String; } pub fn f() -> ::std::string::String { let s = ::std::string::String::from(\"quiet\"); s.to_string() }",
        "impl Loud for ::std::string::String { fn to_string(self) -> ::std::string::String { \"loud\".into() } }",
        &[],
    ),
    plant(
        "default",
        Needed,
        "DERIVE #[serde(default)] pub struct Part { pub a: u8 }",
        "impl ::std::default::Default for Part { fn default() -> Part { Part { a: 3 } } }",
        &[],
    ),
    plant(
        "schema",
        Needed,
        "#[derive(Serialize, Deserialize, Clone, Debug)] pub struct Part { pub a: u8 }",
        "impl ::schemars::JsonSchema for Part { fn schema_name() -> ::std::borrow::Cow<'static, str> { \"Part\".into() } fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema { ::schemars::json_schema!({ \"type\": \"string\" }) } }",
        &[],
    ),
    plant(
        "serialization",
        Needed,
        "WRAPPED #[derive(JsonSchema, Deserialize, Clone, Debug)] pub struct W { pub a: u8 } pub fn f() -> W { W { a: 3 } }",
        "impl ::serde::Serialize for W { fn serialize<S: ::serde::Serializer>(&self, s: S) -> ::std::result::Result<S::Ok, S::Error> { s.serialize_str(\"own\") } }",
        &[],
    ),
    plant(
        "string",
        InScope,
        "DERIVE pub struct Part { pub a: String }",
        "pub type String = u8;",
        &["String"],
    ),
    plant(
        "option",
        InScope,
        "DERIVE pub struct Part { pub a: Option<u8> }",
        "pub type Option<T> = ::std::vec::Vec<T>;",
        &["Option"],
    ),
    plant(
        "vec",
        InScope,
        "DERIVE pub struct Part { pub a: Vec<u8> }",
        "pub type Vec<T> = ::std::option::Option<T>;",
        &["Vec"],
    ),
    plant(
        "number",
        InScope,
        "DERIVE pub struct Part { pub a: i32 }",
        "#[allow(non_camel_case_types)] pub type i32 = ::std::string::String;",
        &["i32"],
    ),
    plant(
        "none",
        InScope,
        "DERIVE pub struct Part { #[serde(default = \"f\")] pub a: ::std::option::Option<u8> } pub fn f() -> ::std::option::Option<u8> { None }",
        "pub const None: ::std::option::Option<::std::primitive::u8> = ::std::option::Option::Some(3);",
        &["None"],
    ),
    plant(
        "default-by-name",
        InScope,
        "NUMBER pub fn f() -> u8 { Default::default() }",
        "pub struct Default; impl Default { pub fn default() -> ::std::primitive::u8 { 7 } }",
        &["Default"],
    ),
    plant(
        "trait",
        InScope,
        "TEXT pub fn f() -> ::std::string::String { let s = ::std::string::String::from(\"quiet\"); s.to_string() }",
        "pub trait Loud { fn to_string(self) -> ::std::string::String; } impl Loud for ::std::string::String { fn to_string(self) -> ::std::string::String { \"loud\".into() } }",
        &["Loud"],
    ),
    plant(
        "trait-for-the-derive",
        InScope,
        "DERIVE #[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))] pub struct Part { pub a: u8 }",
        "pub trait Quiet { fn insert(self, _: ::std::string::String, _: ::serde_json::Value) -> ::std::option::Option<::serde_json::Value>; } impl<'a> Quiet for &'a ::schemars::Schema { fn insert(self, _: ::std::string::String, _: ::serde_json::Value) -> ::std::option::Option<::serde_json::Value> { ::std::option::Option::None } }",
        &["Quiet"],
    ),
    plant(
        "type-over-a-glob",
        Shadowing,
        "mod base { pub type Field = ::std::string::String; } use base::*; DERIVE pub struct Part { pub a: Field }",
        "pub type Field = u8;",
        &["Field"],
    ),
    plant(
        "function-over-a-glob",
        Shadowing,
        "mod base { pub fn f() -> u8 { 1 } } use base::*; NUMBER ",
        "pub fn f() -> ::std::primitive::u8 { 2 }",
        &["f"],
    ),
    plant(
        "constant-over-a-glob",
        Shadowing,
        "mod base { pub const LIMIT: u8 = 1; } use base::*; NUMBER pub fn f() -> u8 { LIMIT }",
        "pub const LIMIT: ::std::primitive::u8 = 2;",
        &["LIMIT"],
    ),
    plant(
        "derive-of-std",
        Derive,
        "DERIVE pub struct Part { #[serde(default)] pub a: W } #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)] pub struct W { pub a: u8 }",
        "pub use ::mangle::Default;",
        &["Default"],
    ),
    plant(
        "module-of-a-crate",
        InScope,
        "DERIVE pub struct Part { pub a: serde_json::Value }",
        "pub mod serde_json { pub type Value = u8; }",
        &["serde_json"],
    ),
];

const fn value(
    name: &'static str,
    is_const: bool,
    victim: &'static str,
    items: &'static str,
    names: &'static [&'static str],
    value: &'static str,
) -> Plant {
    Plant { name, effect: Effect::Value(is_const), victim, items, names, value }
}

/// In the body of a function that is evaluated, which stands for `HERE`.
pub const VALUES: &[Plant] = &[
    value(
        "type-in-a-body",
        true,
        "NUMBER pub struct P; impl P { const V: u8 = 1; } pub fn f() -> u8 { HERE }",
        "pub struct P; impl P { pub const V: u8 = 2; }",
        &["P"],
        "P::V",
    ),
    value(
        "constant-in-a-body",
        true,
        "NUMBER const V: u8 = 1; pub fn f() -> u8 { HERE }",
        "pub const V: u8 = 2;",
        &["V"],
        "V",
    ),
    value(
        "function-in-a-body",
        true,
        "NUMBER const fn v() -> u8 { 1 } pub fn f() -> u8 { HERE }",
        "pub const fn v() -> u8 { 2 }",
        &["v"],
        "v()",
    ),
    value(
        "trait-in-a-body",
        false,
        "NUMBER pub fn f() -> u8 { HERE }",
        "pub trait Loud { fn to_string(self) -> ::std::string::String; } impl Loud for u8 { fn to_string(self) -> ::std::string::String { \"12\".into() } }",
        &["Loud"],
        "(7u8.to_string().len() as u8)",
    ),
    value(
        "implementation-in-a-body",
        false,
        "NUMBER pub trait Loud { fn to_string(self) -> ::std::string::String; } pub fn f() -> u8 { HERE }",
        "impl Loud for u8 { fn to_string(self) -> ::std::string::String { \"12\".into() } }",
        &[],
        "(7u8.to_string().len() as u8)",
    ),
    value(
        "default-in-a-body",
        false,
        "NUMBER pub fn f() -> u8 { HERE }",
        "pub struct Default; impl Default { pub fn default() -> u8 { 2 } }",
        &["Default"],
        "(<u8>::MIN + 1 + Default::default())",
    ),
    value(
        "none-in-a-body",
        true,
        "NUMBER pub fn f() -> u8 { HERE }",
        "pub const None: ::std::option::Option<u8> = ::std::option::Option::Some(2);",
        &["None"],
        "(match None { ::std::option::Option::Some(x) => x, _ => 1u8 })",
    ),
    value(
        "module-of-a-primitive-in-a-body",
        true,
        "NUMBER pub fn f() -> u8 { HERE }",
        "pub mod u16 { pub const MAX: ::std::primitive::u16 = 2; }",
        &["u16"],
        "(2 - (u16::MAX % 2) as u8)",
    ),
    value(
        "variable-in-a-body",
        false,
        "NUMBER const fn v() -> u8 { 1 } pub fn f() -> u8 { HERE }",
        "let v = || 2u8;",
        &[],
        "v()",
    ),
    value(
        "macro-in-a-body",
        true,
        "NUMBER pub fn f() -> u8 { HERE }",
        "macro_rules! matches { ($($t:tt)*) => { false } }",
        &[],
        "(1 + !matches!(1u8, 1) as u8)",
    ),
];

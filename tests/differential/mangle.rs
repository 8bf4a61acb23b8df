//! Macros that change what they stand on, as attribute macros and derives of real crates may.

use proc_macro::TokenStream;

fn changed(it: TokenStream) -> TokenStream {
    it.to_string().replace("plain_name", "changed_name").parse().expect("still tokens")
}

/// Renames every `plain_name`.
#[proc_macro_attribute]
pub fn renamed(_: TokenStream, it: TokenStream) -> TokenStream {
    changed(it)
}

/// Changes nothing.
#[proc_macro_attribute]
pub fn same(_: TokenStream, it: TokenStream) -> TokenStream {
    it
}

/// The name of what is derived on.
fn name(it: &TokenStream) -> String {
    let text = it.to_string();
    let rest = text.split("struct ").nth(1).expect("a struct");
    rest.split(|c: char| !c.is_alphanumeric()).next().expect("a name").to_owned()
}

#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn json_schema(it: TokenStream) -> TokenStream {
    let text = "impl schemars::JsonSchema for NAME {
        fn schema_name() -> std::borrow::Cow<'static, str> { \"NAME\".into() }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({ \"type\": \"integer\" })
        }
    }";
    text.replace("NAME", &name(&it)).parse().expect("an impl")
}

#[proc_macro_derive(Default)]
pub fn default(it: TokenStream) -> TokenStream {
    let text = "impl std::default::Default for NAME { fn default() -> Self { Self { a: 42 } } }";
    text.replace("NAME", &name(&it)).parse().expect("an impl")
}

#[proc_macro_derive(Serialize)]
pub fn serialize(it: TokenStream) -> TokenStream {
    let text = "impl serde::Serialize for NAME {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_u8(7) }
    }";
    text.replace("NAME", &name(&it)).parse().expect("an impl")
}

/// Makes another type beside it.
#[proc_macro_derive(Twin)]
pub fn twin(_: TokenStream) -> TokenStream {
    "pub type Twin = i32;".parse().expect("an item")
}

/// Makes a type of nothing.
#[proc_macro]
pub fn make(_: TokenStream) -> TokenStream {
    "pub type Made = bool;".parse().expect("an item")
}

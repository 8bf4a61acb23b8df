//! Macros that make items of what they get, by names of their own and by well-known ones.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

#[proc_macro]
pub fn emit(tokens: TokenStream) -> TokenStream {
    tokens
}

#[proc_macro]
pub fn lazy_static(tokens: TokenStream) -> TokenStream {
    tokens
}

#[proc_macro_attribute]
pub fn becomes(arguments: TokenStream, _: TokenStream) -> TokenStream {
    arguments
}

#[proc_macro_attribute]
pub fn instrument(arguments: TokenStream, _: TokenStream) -> TokenStream {
    arguments
}

#[proc_macro_attribute]
pub fn same(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// What is in the braces of a module.
#[proc_macro_attribute]
pub fn unwrap(_: TokenStream, item: TokenStream) -> TokenStream {
    let braces = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    };
    item.into_iter().filter_map(braces).collect()
}

/// What is in `#[plant(…)]`.
fn planted(item: TokenStream) -> TokenStream {
    let is_attribute = |group: &Group| group.stream().to_string().starts_with("plant");
    let groups = |tokens: TokenStream| {
        tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group),
            _ => None,
        })
    };
    let attributes = groups(item).filter(is_attribute);
    attributes.flat_map(|attribute| groups(attribute.stream())).map(|group| group.stream()).collect()
}

#[proc_macro_derive(Plant, attributes(plant))]
pub fn plant(item: TokenStream) -> TokenStream {
    planted(item)
}

#[proc_macro_derive(Display, attributes(plant))]
pub fn display(item: TokenStream) -> TokenStream {
    planted(item)
}

#[proc_macro_derive(Error, attributes(plant))]
pub fn error(item: TokenStream) -> TokenStream {
    planted(item)
}

#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn json_schema(item: TokenStream) -> TokenStream {
    let text = "impl schemars::JsonSchema for NAME {
        fn schema_name() -> std::borrow::Cow<'static, str> { \"NAME\".into() }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({ \"type\": \"integer\" })
        }
    }";
    text.replace("NAME", &name(&item)).parse().expect("an impl")
}

#[proc_macro_derive(Default)]
pub fn default(item: TokenStream) -> TokenStream {
    let text = "impl std::default::Default for NAME { fn default() -> Self { Self { a: 42 } } }";
    text.replace("NAME", &name(&item)).parse().expect("an impl")
}

/// The name of a struct.
fn name(item: &TokenStream) -> String {
    let text = item.to_string();
    let rest = text.split("struct ").nth(1).expect("a struct");
    rest.split(|c: char| !c.is_alphanumeric()).next().expect("a name").to_owned()
}

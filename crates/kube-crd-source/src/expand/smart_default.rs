//! `#[derive(SmartDefault)]` → the `impl Default` that it writes, to be read as if it stood in the source.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Attribute, DeriveInput, Fields, Meta};

use crate::derives::{Derived, derives};
use crate::world::{Impl, ItemId, Kind, World};

const PATH: &str = "smart_default::SmartDefault";

impl World {
    /// Adds what every `SmartDefault` of the project writes. What it would refuse is left out.
    pub fn add_smart_defaults(&mut self, from: ItemId) {
        let mut made = Vec::new();
        for (id, item) in self.items.iter().enumerate().skip(from) {
            let Kind::Data(input) = &item.kind else { continue };
            let mut named = input.attrs.iter().flat_map(|it| {
                let opened =
                    if it.path().is_ident("cfg_attr") { Vec::new() } else { derives(&it.meta) };
                opened.into_iter().filter_map(|it| it.segments.last().map(|it| it.ident.clone()))
            });
            if !named.any(|it| it == "SmartDefault") {
                continue;
            }
            if !matches!(self.derived(id, PATH), Ok(Derived::Yes)) {
                continue;
            }
            if let Ok(input) = self.settled(id)
                && let Some(syntax) = implementation(&input)
            {
                made.push(Impl { module: item.module, trait_: Some("Default".to_owned()), syntax });
            }
        }
        self.impls.extend(made);
    }
}

fn implementation(input: &DeriveInput) -> Option<syn::ItemImpl> {
    let name = &input.ident;
    let value = match &input.data {
        syn::Data::Struct(it) => {
            let body = body(&it.fields)?;
            quote!(#name #body)
        }
        syn::Data::Enum(it) => {
            let mut marked = Vec::new();
            for variant in &it.variants {
                match said(&variant.attrs)? {
                    Said::Nothing => {}
                    Said::Marked => marked.push(variant),
                    Said::Value(_) => return None,
                }
            }
            let [variant] = marked[..] else { return None };
            let (variant, body) = (&variant.ident, body(&variant.fields)?);
            quote!(#name::#variant #body)
        }
        syn::Data::Union(_) => return None,
    };
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    syn::parse2(quote! {
        impl #generics ::std::default::Default for #name #arguments #bounds {
            fn default() -> Self { #value }
        }
    })
    .ok()
}

fn body(fields: &Fields) -> Option<TokenStream> {
    let values: Option<Vec<TokenStream>> = fields.iter().map(|it| field(&it.attrs)).collect();
    let values = values?;
    Some(match fields {
        Fields::Named(it) => {
            let names = it.named.iter().map(|it| &it.ident);
            quote!({ #(#names: #values),* })
        }
        Fields::Unnamed(_) => quote!((#(#values),*)),
        Fields::Unit => TokenStream::new(),
    })
}

fn field(attrs: &[Attribute]) -> Option<TokenStream> {
    match said(attrs)? {
        Said::Nothing => Some(quote!(::std::default::Default::default())),
        Said::Value(it) => Some(it),
        Said::Marked => None,
    }
}

enum Said {
    Nothing,
    /// `#[default]` alone.
    Marked,
    Value(TokenStream),
}

/// What `#[default]` says; none where SmartDefault refuses it.
fn said(attrs: &[Attribute]) -> Option<Said> {
    let mut all = attrs.iter().filter(|it| it.path().is_ident("default"));
    let Some(attr) = all.next() else { return Some(Said::Nothing) };
    if all.next().is_some() {
        return None;
    }
    let tokens = match &attr.meta {
        Meta::Path(_) => return Some(Said::Marked),
        Meta::List(it) => it.tokens.clone(),
        Meta::NameValue(it) => it.value.to_token_stream(),
    };
    if let (Meta::List(_), Ok(Meta::NameValue(pair))) = (&attr.meta, syn::parse2(tokens.clone()))
        && pair.path.is_ident("_code")
        && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(code), .. }) = &pair.value
    {
        return Some(Said::Value(code.parse().ok()?));
    }
    // A string becomes whatever the field is.
    let text = matches!(syn::parse2(tokens.clone()), Ok(syn::Lit::Str(_) | syn::Lit::ByteStr(_)));
    Some(Said::Value(if text { quote!((#tokens).into()) } else { tokens }))
}

#[cfg(test)]
mod tests {
    use super::implementation;
    use crate::types::text;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let made = implementation(&syn::parse_str(input).unwrap());
        let found = made.map(|it| match &it.items[..] {
            [syn::ImplItem::Fn(it)] => text(&it.block),
            _ => text(&it),
        });
        assert_eq!(found.as_deref().unwrap_or("nothing"), expected, "{input}");
    }

    #[test]
    fn a_smart_default_says_each_field() {
        check(
            "struct A { #[default = 12] a: i32, #[default(Some(1))] b: Option<u8>, c: bool }",
            "{A{a:12, b:Some(1), c:::std::default::Default::default()}}",
        );
        check("struct A(#[default(\"x\")] String);", "{A((\"x\").into())}");
        check("struct A(#[default(_code = \"vec![1]\")] Vec<u8>);", "{A(vec![1])}");
        check("enum A { B, #[default] C { #[default = 1] d: u8 } }", "{A::C{d:1}}");
        check("enum A { B, C }", "nothing");
        check("struct A(#[default] String);", "nothing");
    }
}

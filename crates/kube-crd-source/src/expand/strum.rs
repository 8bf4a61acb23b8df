//! `#[derive(strum::Display)]` → the `impl Display` that it writes, to be read as if it stood in the source.
//!
//! Of variants without fields only, and of the attributes that say how they are written; what else strum can do
//! is left out, and refused where it is met.

use heck::{ToKebabCase as _, ToShoutySnakeCase as _, ToSnakeCase as _, ToUpperCamelCase as _};
use quote::quote_spanned;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, Lit, Meta, Token};

use crate::derives::derives;
use crate::names::{Named, Space};
use crate::world::{Impl, ItemId, Kind, Path, World};

const PATHS: &[&str] = &["strum::Display", "strum_macros::Display"];

impl World {
    /// Adds what every `strum::Display` of the project writes.
    pub fn add_displays(&mut self, from: ItemId) {
        let mut made = Vec::new();
        for (id, item) in self.items.iter().enumerate().skip(from) {
            let Kind::Data(input) = &item.kind else { continue };
            let mut all = input.attrs.iter().flat_map(|it| derives(&it.meta));
            let strums = |it: syn::Path| {
                it.segments.last().is_some_and(|it| it.ident == "Display")
                    && matches!(
                        self.resolve(item.module, &Path::from(&it), Space::Macros),
                        Ok(Named::Foreign(found)) if PATHS.contains(&found.as_str())
                    )
            };
            if all.any(strums)
                && let Ok(input) = self.settled(id)
                && let Some(syntax) = implementation(&input)
            {
                made.push(Impl { module: item.module, trait_: Some("Display".to_owned()), syntax });
            }
        }
        self.impls.extend(made);
    }
}

fn implementation(input: &DeriveInput) -> Option<syn::ItemImpl> {
    let Data::Enum(it) = &input.data else { return None };
    let mut style = None;
    for (name, value) in said(&input.attrs)? {
        match name.as_str() {
            "serialize_all" => style = Some(value?),
            _ => return None,
        }
    }
    let span = input.ident.span();
    let mut arms = Vec::new();
    for variant in it.variants.iter().filter(|it| matches!(it.fields, Fields::Unit)) {
        let Some(text) = written(variant, style.as_deref()) else { continue };
        let ident = &variant.ident;
        arms.push(quote_spanned!(span=> Self::#ident => f.pad(#text)));
    }
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    syn::parse2(quote_spanned! {span=>
        impl #generics ::std::fmt::Display for #name #arguments #bounds {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self { #(#arms),* }
            }
        }
    })
    .ok()
}

/// The text of a variant; none where that is not certain.
fn written(variant: &syn::Variant, style: Option<&str>) -> Option<String> {
    let (mut whole, mut others): (Option<String>, Vec<String>) = (None, Vec::new());
    for (name, value) in said(&variant.attrs)? {
        match name.as_str() {
            "to_string" if whole.is_none() => whole = Some(value?),
            "serialize" => others.push(value?),
            "message" | "detailed_message" | "ascii_case_insensitive" | "props" => {}
            _ => return None,
        }
    }
    // Where two are the longest, the last of them.
    let longest = others.into_iter().max_by_key(String::len);
    let text = match whole.or(longest) {
        Some(text) => text,
        None => styled(&variant.ident.to_string(), style)?,
    };
    // Newer ones fill in what is in braces.
    (!text.contains(['{', '}'])).then_some(text)
}

fn styled(name: &str, style: Option<&str>) -> Option<String> {
    if !name.chars().all(|it| it.is_ascii_alphanumeric()) {
        return None;
    }
    Some(match style {
        None => name.to_owned(),
        Some("lowercase") => name.to_lowercase(),
        Some("UPPERCASE") => name.to_uppercase(),
        Some("PascalCase") => name.to_upper_camel_case(),
        Some("snake_case") => name.to_snake_case(),
        Some("kebab-case") => name.to_kebab_case(),
        Some("SCREAMING_SNAKE_CASE") => name.to_shouty_snake_case(),
        Some("SCREAMING-KEBAB-CASE") => name.to_kebab_case().to_uppercase(),
        Some("camelCase") => {
            let name = name.to_upper_camel_case();
            name[..1].to_lowercase() + &name[1..]
        }
        Some(_) => return None,
    })
}

/// What `#[strum(…)]` says, one by one, with the text of each that has one.
fn said(attrs: &[Attribute]) -> Option<Vec<(String, Option<String>)>> {
    let mut res = Vec::new();
    for attr in attrs.iter().filter(|it| it.path().is_ident("strum")) {
        let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
        for it in metas {
            let text = match &it {
                Meta::NameValue(it) => match &it.value {
                    Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => Some(it.value()),
                    _ => None,
                },
                _ => None,
            };
            res.push((it.path().get_ident()?.to_string(), text));
        }
    }
    Some(res)
}

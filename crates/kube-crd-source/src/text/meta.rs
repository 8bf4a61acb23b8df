//! Attributes as lists of items: `#[name(item, item = value)]`.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Meta, Token, punctuated::Punctuated, spanned::Spanned as _};

/// One item of `#[schemars(…)]`: a meta, or `!name`.
pub enum Entry {
    Meta(Box<Meta>),
    Not(syn::Path),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![!]) {
            input.parse::<Token![!]>()?;
            return Ok(Self::Not(input.parse()?));
        }
        Ok(Self::Meta(Box::new(input.parse()?)))
    }
}

impl Entry {
    pub fn name(&self) -> String {
        let path = match self {
            Self::Meta(meta) => meta.path(),
            Self::Not(path) => path,
        };
        path.get_ident().map_or_else(String::new, ToString::to_string)
    }
}

impl ToTokens for Entry {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Meta(meta) => meta.to_tokens(tokens),
            Self::Not(path) => path.to_tokens(tokens),
        }
    }
}

/// The items of every `#[name(…)]` among the attributes.
pub fn parse_entries(attrs: &[Attribute], name: &str) -> syn::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        entries.extend(attr.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated)?);
    }
    Ok(entries)
}

/// The metas of every `#[name(…)]` among the attributes.
pub fn parse_metas(attrs: &[Attribute], name: &str) -> syn::Result<Vec<Meta>> {
    let mut metas = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        metas.extend(attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?);
    }
    Ok(metas)
}

pub fn syn_error<T>(span: Span, message: impl std::fmt::Display) -> syn::Result<T> {
    Err(syn::Error::new(span, message))
}

/// The value of `name = …`.
pub fn value_of(meta: &Meta) -> syn::Result<&syn::Expr> {
    match meta {
        Meta::NameValue(it) => Ok(&it.value),
        _ => syn_error(meta.span(), format!("`{0}` needs a value: `{0} = …`", name_of(meta))),
    }
}

/// The string of `name = "…"`.
pub fn string_of(meta: &Meta) -> syn::Result<syn::LitStr> {
    match value_of(meta)? {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Ok(text.clone()),
        other => syn_error(other.span(), format!("`{}` needs a string in quotes", name_of(meta))),
    }
}

/// The items of `name(…)`.
pub fn parse_list(meta: &Meta) -> syn::Result<Vec<Meta>> {
    match meta {
        Meta::List(it) => {
            let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
            Ok(it.parse_args_with(parser)?.into_iter().collect())
        }
        _ => syn_error(meta.span(), format!("`{0}` must be of the form `{0}(…)`", name_of(meta))),
    }
}

/// Fails where the item has a value or a list.
pub fn ensure_alone(meta: &Meta) -> syn::Result<()> {
    match meta {
        Meta::Path(_) => Ok(()),
        _ => syn_error(meta.span(), format!("`{}` takes no value", name_of(meta))),
    }
}

pub fn name_of(meta: &Meta) -> String {
    super::format_tokens(meta.path())
}

/// Fills an empty slot; an error where the item is repeated.
pub fn set_once<T>(slot: &mut Option<T>, value: T, meta: &Meta) -> syn::Result<()> {
    if slot.is_some() {
        return syn_error(meta.span(), format!("`{}` is repeated", name_of(meta)));
    }
    *slot = Some(value);
    Ok(())
}

/// The paths in `derive(…)`; nothing for another attribute.
pub fn derive_paths(meta: &Meta) -> Vec<syn::Path> {
    match meta {
        Meta::List(it) if it.path.is_ident("derive") => it
            .parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
            .map(|paths| paths.into_iter().collect())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

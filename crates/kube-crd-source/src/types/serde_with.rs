//! `#[skip_serializing_none]` of serde_with, which adds an attribute to the fields of a type before its derives see them.
//! The rules are those of serde_with_macros 2.3 to 3.25.

use quote::quote_spanned;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Meta, Token, parse_quote};

use super::Types;
use crate::names::{Named, Space};
use crate::tree::attribute_macros::is_of_language_or_tool;
use crate::tree::{ModuleId, Path};

/// The whole paths of the macro.
const SKIP_SERIALIZING_NONE: &[&str] =
    &["serde_with::skip_serializing_none", "serde_with_macros::skip_serializing_none"];

impl Types {
    /// Does what `#[skip_serializing_none]` does where it stands above the derives, and takes the attribute away. Below
    /// them it stays, and is refused as any other attribute macro: they do not see what it adds.
    pub(super) fn skip_serializing_none(&self, module: ModuleId, input: &mut DeriveInput) {
        let is_derive = |attr: &Attribute| attr.path().is_ident("derive");
        let is_conditional = |attr: &Attribute| attr.path().is_ident("cfg_attr");
        let above = input.attrs.iter().take_while(|attr| !is_derive(attr) && !is_conditional(attr));
        let Some(index) = above.into_iter().position(|attr| self.is_skip(module, attr)) else {
            return;
        };
        let attr = input.attrs.remove(index);
        let add = |fields: &mut Fields| fields.iter_mut().for_each(|field| skip_none(field, &attr));
        match &mut input.data {
            Data::Struct(data) => add(&mut data.fields),
            Data::Enum(data) => {
                data.variants.iter_mut().for_each(|variant| add(&mut variant.fields))
            }
            Data::Union(_) => {}
        }
    }

    fn is_skip(&self, module: ModuleId, attr: &Attribute) -> bool {
        let Meta::Path(path) = &attr.meta else { return false };
        if is_of_language_or_tool(&attr.meta) {
            return false;
        }
        let target = self.resolve_path(module, &Path::from(path), Space::Macros);
        matches!(target, Ok(Named::Foreign(found)) if SKIP_SERIALIZING_NONE.contains(&found.as_str()))
    }
}

/// Leaves a field of type `Option` out where it is `None`, unless its own attributes decide that.
fn skip_none(field: &mut Field, attr: &Attribute) {
    if !is_option(&field.ty) {
        return;
    }
    let is_skipped = field.attrs.iter().any(skips_serializing);
    let count = field.attrs.len();
    field.attrs.retain(|attr| !attr.path().is_ident("serialize_always"));
    if !is_skipped && field.attrs.len() == count {
        let text = quote_spanned! { attr.span() => "Option::is_none" };
        let skip = quote_spanned! { attr.span() => skip_serializing_if = #text };
        field.attrs.push(parse_quote!(#[serde(#skip)]));
    }
}

fn skips_serializing(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else { return false };
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let is_skip = |meta: &Meta| matches!(meta, Meta::NameValue(pair) if pair.path.is_ident("skip_serializing_if"));
    list.path.is_ident("serde")
        && parser.parse2(list.tokens.clone()).is_ok_and(|metas| metas.iter().any(is_skip))
}

/// Returns whether a type is written as the standard library's `Option`: the macro knows no imports.
fn is_option(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Group(group) => is_option(&group.elem),
        syn::Type::Paren(paren) => is_option(&paren.elem),
        syn::Type::Path(path) if let Some(qself) = &path.qself => is_option(&qself.ty),
        syn::Type::Path(path) => {
            let names: Vec<String> =
                path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["Option"] => path.path.leading_colon.is_none(),
                ["std" | "core", "option", "Option"] => true,
                _ => false,
            }
        }
        _ => false,
    }
}

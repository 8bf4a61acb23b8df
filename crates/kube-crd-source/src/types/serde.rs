//! `#[serde(…)]`, read by serde's own reader, in the two ways that matter here: as schemars sees it
//! (`#[schemars(…)]` overrides it, and some items are left out), and as serde's derive does.

use std::collections::{BTreeMap, BTreeSet};

use quote::quote;
use serde_derive_internals::{Ctxt, Derive, ast};
use syn::{Attribute, Data, DeriveInput, parse::Parser as _, spanned::Spanned as _};

use crate::text::meta::{Entry, parse_entries, syn_error};
use crate::text::panics;

/// The attributes that schemars hands to serde's reader.
pub const SHARED: &[&str] = &[
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
    "bound",
];

/// The attributes that it reads of `#[serde]` alone, and `deserialize_with`, which changes no schema.
const SERDE_ONLY: &[&str] = &["serialize_with", "with", "deserialize_with"];

/// The input with `#[serde]` as schemars' derive sees it.
pub fn input_for_schemars(input: &DeriveInput) -> syn::Result<DeriveInput> {
    let mut output = input.clone();
    override_(&mut output.attrs)?;
    match &mut output.data {
        Data::Struct(it) => {
            it.fields.iter_mut().try_for_each(|field| override_(&mut field.attrs))?
        }
        Data::Enum(it) => {
            for variant in &mut it.variants {
                override_(&mut variant.attrs)?;
                variant.fields.iter_mut().try_for_each(|field| override_(&mut field.attrs))?;
            }
        }
        Data::Union(it) => return syn_error(it.union_token.span(), "a union has no schema"),
    }
    Ok(output)
}

fn override_(attrs: &mut Vec<Attribute>) -> syn::Result<()> {
    let mut unset = BTreeMap::new();
    let mut overriding = BTreeSet::new();
    let mut effective = Vec::new();
    for entry in parse_entries(attrs, "schemars")? {
        let name = entry.name();
        match &entry {
            Entry::Not(path) if unset.contains_key(&name) => {
                return syn_error(path.span(), format!("`!{name}` occurs twice"));
            }
            Entry::Not(path) => drop(unset.insert(name, path.span())),
            Entry::Meta(_) if SHARED.contains(&name.as_str()) => {
                overriding.insert(name);
                effective.push(entry);
            }
            Entry::Meta(_) => {}
        }
    }
    if let Some((name, span)) = unset.iter().find(|(name, _)| overriding.contains(*name)) {
        return syn_error(*span, format!("both `{name}` and `!{name}`"));
    }
    if overriding.contains("skip") {
        overriding.extend(["skip_serializing".to_owned(), "skip_deserializing".to_owned()]);
    }
    let mut names = BTreeSet::new();
    for entry in parse_entries(attrs, "serde")? {
        let name = entry.name();
        let known = SHARED.contains(&name.as_str()) || SERDE_ONLY.contains(&name.as_str());
        if known && name != "bound" && !overriding.contains(&name) && !unset.contains_key(&name) {
            effective.push(entry);
        }
        names.insert(name);
    }
    if let Some((name, span)) = unset.iter().find(|(name, _)| !names.contains(*name)) {
        return syn_error(
            *span,
            format!("`!{name}` has no effect: there is no `#[serde({name})]` here"),
        );
    }
    attrs.retain(|attr| !attr.path().is_ident("serde"));
    if !effective.is_empty() {
        let tokens = quote!(#[serde(#(#effective),*)]);
        attrs.append(&mut Attribute::parse_outer.parse2(tokens)?);
    }
    Ok(())
}

/// Reads an input with serde's own reader, and hands what it found to `f`.
pub fn with_container<T>(
    input: &DeriveInput,
    derive: Derive,
    f: impl FnOnce(&ast::Container<'_>) -> T,
) -> syn::Result<T> {
    let context = Ctxt::new();
    let private = syn::Ident::new("__private", input.ident.span());
    // It takes the first byte of a name for its first letter.
    let found = panics::catch_panic(|| ast::Container::from_ast(&context, input, derive, &private));
    let Ok(found) = found else {
        drop(context.check());
        return syn_error(
            input.ident.span(),
            format!("serde's derive panics over a name in `{}`: rename it by hand", input.ident),
        );
    };
    let found = found.map(|container| f(&container));
    context.check()?;
    found.map_or_else(|| syn_error(input.ident.span(), "serde cannot read it"), Ok)
}

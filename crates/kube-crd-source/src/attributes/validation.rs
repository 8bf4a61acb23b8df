//! `schemars(length, range, pattern, …)`: what narrows the values of a field, and what of it `validate` and `garde`
//! have, with the messages of schemars' own derive.

use proc_macro2::Span;
use serde_json::Value;
use syn::parse::{Parse as _, ParseStream};
use syn::{Meta, Token, punctuated::Punctuated, spanned::Spanned as _};

use super::{Entry, name_of, syn_error};
use crate::values::Values;

#[derive(Default)]
pub struct Validation {
    pub(super) length: Option<(Bounds, Span)>,
    pub(super) range: Option<(Bounds, Span)>,
    /// The pattern of a text, and the item that has it.
    pub(super) text: Option<(&'static str, String, Span)>,
    pub(super) format: Option<&'static str>,
    required: Option<Span>,
    pub(super) inner: Option<(Box<Self>, Span)>,
}

#[derive(Default)]
pub(super) struct Bounds {
    pub(super) min: Option<Value>,
    pub(super) max: Option<Value>,
    pub(super) equal: Option<Value>,
}

/// The attribute of an item: each has its own rules for the same items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Schemars,
    Validate,
    Garde,
}

impl Of {
    pub fn name(self) -> &'static str {
        match self {
            Self::Schemars => "schemars",
            Self::Validate => "validate",
            Self::Garde => "garde",
        }
    }

    /// Repeated and contradicting items are errors in schemars' own attribute only; elsewhere the first
    /// one holds.
    fn error_if_schemars(self, meta: &Meta, message: String) -> syn::Result<()> {
        match self {
            Self::Schemars => syn_error(meta.span(), message),
            Self::Validate | Self::Garde => Ok(()),
        }
    }

    fn duplicate_error(self, meta: &Meta) -> syn::Result<()> {
        self.error_if_schemars(
            meta,
            format!("duplicate schemars attribute item `{}`", name_of(meta)),
        )
    }

    fn conflict_error(self, meta: &Meta, other: &str) -> syn::Result<()> {
        let name = name_of(meta);
        let message = format!("schemars attribute cannot contain both `{name}` and `{other}`");
        self.error_if_schemars(meta, message)
    }
}

const FORMATS: &[(&str, &str)] =
    &[("email", "email"), ("url", "uri"), ("ip", "ip"), ("ipv4", "ipv4"), ("ipv6", "ipv6")];

/// Takes the items of `#[validate(…)]` and `#[garde(…)]` in that schemars reads too.
pub fn parse_other_crates(
    into: &mut Validation,
    attrs: &[syn::Attribute],
    values: &Values<'_>,
) -> syn::Result<()> {
    for of in [Of::Validate, Of::Garde] {
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(of.name())) {
            let parser = Punctuated::<Entry, Token![,]>::parse_terminated;
            // schemars does not read an attribute that cannot be parsed this way, either.
            for entry in attr.parse_args_with(parser).into_iter().flatten() {
                if let Entry::Meta(meta) = entry {
                    parse_item(into, &meta, of, values)?;
                }
            }
        }
    }
    Ok(())
}

/// Reads one item; false where it is none of these.
pub fn parse_item(
    into: &mut Validation,
    meta: &Meta,
    of: Of,
    values: &Values<'_>,
) -> syn::Result<bool> {
    let name = name_of(meta);
    if let Some((name, format)) = FORMATS.iter().find(|(it, _)| *it == name) {
        match into.format {
            Some(before) if before == *format => of.duplicate_error(meta)?,
            Some(before) => {
                let before = FORMATS.iter().find(|(_, it)| *it == before);
                of.conflict_error(meta, before.map_or(name, |(it, _)| it))?;
            }
            None => {
                // In `validate` it may have more: a message, a code.
                if of != Of::Validate {
                    ensure_bare(meta, of)?;
                }
                into.format = Some(format);
            }
        }
        return Ok(true);
    }
    match name.as_str() {
        "length" if into.length.is_some() => of.duplicate_error(meta)?,
        "length" => into.length = Some((parse_bounds(meta, of, values)?, meta.span())),
        "range" if into.range.is_some() => of.duplicate_error(meta)?,
        "range" => into.range = Some((parse_bounds(meta, of, values)?, meta.span())),
        "required" if into.required.is_some() => of.duplicate_error(meta)?,
        "required" => {
            ensure_bare(meta, of)?;
            into.required = Some(meta.span());
        }
        "pattern" if of != Of::Validate => {
            if into.free_for(meta, "pattern", of)? {
                let pattern = parse_inside(meta, of, syn::Expr::parse)?;
                into.text = Some(("pattern", values.eval_string(&pattern)?, meta.span()));
            }
        }
        "regex" if of != Of::Garde => {
            if into.free_for(meta, "regex", of)? {
                let pattern = parse_regex(meta, of)?;
                into.text = Some(("regex", values.eval_string(&pattern)?, meta.span()));
            }
        }
        "contains" => {
            if into.free_for(meta, "contains", of)? {
                let pattern = parse_contains(meta, of)?;
                into.text = Some(("contains", values.eval_string(&pattern)?, meta.span()));
            }
        }
        "inner" if of != Of::Validate => {
            let (inner, _) = into.inner.get_or_insert_with(|| (Box::default(), meta.span()));
            for meta in parse_metas(meta, of)? {
                if !parse_item(inner, &meta, of, values)? && of == Of::Schemars {
                    let message = format!("unknown schemars attribute `{}`", name_of(&meta));
                    return syn_error(meta.path().span(), message);
                }
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Fails where an item has a value or a list.
fn ensure_bare(meta: &Meta, of: Of) -> syn::Result<()> {
    match meta {
        Meta::Path(_) => Ok(()),
        _ => {
            let (of, name) = (of.name(), name_of(meta));
            syn_error(meta.span(), format!("unexpected value of {of} {name} attribute item"))
        }
    }
}

/// The tokens between the parentheses of `name(…)`.
fn parse_inside<F: syn::parse::Parser>(meta: &Meta, of: Of, parser: F) -> syn::Result<F::Output> {
    match meta {
        Meta::List(it) => it.parse_args_with(parser),
        _ => {
            let (of, name) = (of.name(), name_of(meta));
            let message =
                format!("expected {of} {name} attribute item to be of the form `{name}(...)`");
            syn_error(meta.span(), message)
        }
    }
}

fn parse_metas(meta: &Meta, of: Of) -> syn::Result<Vec<Meta>> {
    let entries = parse_inside(meta, of, Punctuated::<Entry, Token![,]>::parse_terminated)?;
    let metas = entries.into_iter().filter_map(|entry| match entry {
        Entry::Meta(it) => Some(*it),
        Entry::Not(_) => None,
    });
    Ok(metas.collect())
}

/// The value of `name = …`; a string holds an expression where `unquoted`.
fn parse_value(meta: &Meta, of: Of, unquoted: bool) -> syn::Result<syn::Expr> {
    let Meta::NameValue(it) = meta else {
        let (of, name) = (of.name(), name_of(meta));
        let message =
            format!("expected {of} {name} attribute item to have a value: `{name} = ...`");
        return syn_error(meta.span(), message);
    };
    match &it.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) if unquoted => {
            text.parse().map_err(|_| {
                let message = format!("failed to parse \"{}\" as a expr", text.value());
                syn::Error::new(text.span(), message)
            })
        }
        expr => Ok(expr.clone()),
    }
}

fn parse_regex(meta: &Meta, of: Of) -> syn::Result<syn::Expr> {
    let (expected, other) =
        if of == Of::Validate { ("path", "pattern") } else { ("pattern", "path") };
    let mut pattern = None;
    for inner in parse_metas(meta, of)? {
        match name_of(&inner).as_str() {
            it if it == expected && pattern.is_some() => of.duplicate_error(&inner)?,
            it if it == expected => pattern = Some(parse_value(&inner, of, of == Of::Validate)?),
            it if it == other => {
                let message =
                    format!("`{other}` is not supported in `{}(regex(...))` attribute", of.name());
                return syn_error(inner.span(), message);
            }
            unknown if of == Of::Schemars => {
                let message = format!("unknown item in schemars `regex` attribute: `{unknown}`");
                return syn_error(inner.span(), message);
            }
            _ => {}
        }
    }
    let message = format!("`{}(regex(...))` attribute requires `{expected} = ...`", of.name());
    pattern.map_or_else(|| syn_error(meta.span(), message), Ok)
}

/// `contains(pattern = …)` as `validate` has it, `contains(…)` as `garde` has it, or either.
fn parse_contains(meta: &Meta, of: Of) -> syn::Result<syn::Expr> {
    let listed = |input: ParseStream<'_>| {
        let is_list = input.peek2(Token![,]) || input.peek2(Token![=]);
        // Consumes the rest of the input; it is parsed again below.
        input.parse::<proc_macro2::TokenStream>()?;
        Ok(is_list)
    };
    let expr = match of {
        Of::Validate => false,
        Of::Garde => true,
        Of::Schemars => !parse_inside(meta, of, listed)?,
    };
    if expr {
        return parse_inside(meta, of, syn::Expr::parse);
    }
    let mut pattern = None;
    for inner in parse_metas(meta, of)? {
        match name_of(&inner).as_str() {
            "pattern" if pattern.is_some() => of.duplicate_error(&inner)?,
            "pattern" => pattern = Some(parse_value(&inner, of, false)?),
            unknown if of == Of::Schemars => {
                let message = format!("unknown item in schemars `contains` attribute: `{unknown}`");
                return syn_error(inner.span(), message);
            }
            _ => {}
        }
    }
    let message = "`contains` attribute item requires `pattern = ...`";
    pattern.map_or_else(|| syn_error(meta.span(), message), Ok)
}

fn parse_bounds(meta: &Meta, of: Of, values: &Values<'_>) -> syn::Result<Bounds> {
    let mut bounds = Bounds::default();
    for inner in parse_metas(meta, of)? {
        let is_set = |slot: &Option<Value>| slot.is_some();
        let name = name_of(&inner);
        let others: &[(&str, bool)] = match name.as_str() {
            "min" => &[("min", is_set(&bounds.min)), ("equal", is_set(&bounds.equal))],
            "max" => &[("max", is_set(&bounds.max)), ("equal", is_set(&bounds.equal))],
            "equal" => &[
                ("min", is_set(&bounds.min)),
                ("max", is_set(&bounds.max)),
                ("equal", is_set(&bounds.equal)),
            ],
            unknown => {
                let outer = name_of(meta);
                let message = format!("unknown item in schemars {outer} attribute: `{unknown}`");
                of.error_if_schemars(&inner, message)?;
                continue;
            }
        };
        match others.iter().find(|(_, is_set)| *is_set) {
            Some((other, _)) if *other == name => of.duplicate_error(&inner)?,
            Some((other, _)) => of.conflict_error(&inner, other)?,
            None => {
                let number = values.eval_number(&parse_value(&inner, of, true)?)?;
                match name.as_str() {
                    "min" => bounds.min = Some(number),
                    "max" => bounds.max = Some(number),
                    _ => bounds.equal = Some(number),
                }
            }
        }
    }
    Ok(bounds)
}

impl Validation {
    pub fn is_required(&self) -> bool {
        self.required.is_some()
    }

    pub fn required_span(&self) -> Option<Span> {
        self.required
    }

    /// Returns whether there is no pattern or format yet.
    fn free_for(&self, meta: &Meta, name: &str, of: Of) -> syn::Result<bool> {
        match &self.text {
            None => return Ok(true),
            Some((before, ..)) if *before == name => of.duplicate_error(meta)?,
            Some((before, ..)) => of.conflict_error(meta, before)?,
        }
        Ok(false)
    }

    pub fn is_default(&self) -> bool {
        let Self { length, range, text, format, required, inner } = self;
        let text = text.is_none() && format.is_none();
        length.is_none() && range.is_none() && text && required.is_none() && inner.is_none()
    }
}

//! `#[schemars(…)]` and doc comments: titles, descriptions, examples, extensions, and types in the place of others.

use serde_json::Value;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Meta, Token, punctuated::Punctuated, spanned::Spanned as _};

use super::validation::{self, Of, Validation};
use super::{
    Entry, ensure_alone, name_of, parse_entries, set_once, string_of, syn_error, value_of,
};
use crate::types::serde;
use crate::values::Values;

/// The attributes that a container, a variant and a field share.
#[derive(Default)]
pub struct Common {
    pub documented: bool,
    pub title: Option<String>,
    pub description: Option<String>,
    pub deprecated: bool,
    pub examples: Vec<Value>,
    /// The place of the last example.
    pub example_span: Option<proc_macro2::Span>,
    pub extensions: Vec<(String, Value)>,
}

impl Common {
    /// Puts what `extend(…)` says into a schema.
    pub fn extend_schema(&self, schema: &mut schemars::Schema) {
        for (key, value) in &self.extensions {
            schema.insert(key.clone(), value.clone());
        }
    }

    pub fn is_default(&self) -> bool {
        let Self { documented, title, description, deprecated, examples, extensions, .. } = self;
        let is_set = *documented || title.is_some() || description.is_some() || *deprecated;
        !is_set && examples.is_empty() && extensions.is_empty()
    }
}

/// Everything that schemars reads beside serde's items.
#[derive(Default)]
pub struct SchemarsAttributes {
    pub common: Common,
    pub with: Option<With>,
    pub inline: bool,
    /// `rename = "…"`.
    pub renamed: Option<syn::LitStr>,
    pub validation: Validation,
}

/// A replacement of a type.
pub enum With {
    /// `with = "Type"`.
    Type(Box<syn::Type>),
    /// `schema_with = "function"`.
    Function(Box<syn::Path>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum On {
    Container,
    Variant,
    Field,
}

/// Reads schemars' items. `values` evaluates constants in the item's module.
pub fn parse_attributes(
    attrs: &[Attribute],
    on: On,
    values: &Values<'_>,
) -> syn::Result<SchemarsAttributes> {
    let mut attributes = SchemarsAttributes::default();
    for entry in parse_entries(attrs, "schemars")? {
        let name = entry.name();
        let Entry::Meta(meta) = entry else { continue };
        match name.as_str() {
            "title" => set_once(
                &mut attributes.common.title,
                values.eval_string(value_of(&meta)?)?,
                &meta,
            )?,
            "description" => set_once(
                &mut attributes.common.description,
                values.eval_string(value_of(&meta)?)?,
                &meta,
            )?,
            "example" => {
                attributes.common.example_span = Some(meta.span());
                attributes.common.examples.push(example_(value_of(&meta)?, values)?);
            }
            "extend" => parse_extensions(&meta, values, &mut attributes.common.extensions)?,
            "with" | "schema_with" => {
                attributes.with = Some(parse_with(attributes.with.as_ref(), &meta)?)
            }
            "inline" if on == On::Container => {
                ensure_alone(&meta)?;
                if attributes.inline {
                    return syn_error(meta.span(), "`inline` occurs twice");
                }
                attributes.inline = true;
            }
            "crate" if on == On::Container => drop(string_of(&meta)?),
            "rename" if on == On::Container => {
                set_once(&mut attributes.renamed, string_of(&meta)?, &meta)?;
            }
            "transform" | "_unstable_ref_variants" => {
                return refuse_item(&meta, "is not supported");
            }
            name if serde::SHARED.contains(&name) => {}
            _ if on == On::Field
                && validation::parse_item(
                    &mut attributes.validation,
                    &meta,
                    Of::Schemars,
                    values,
                )? => {}
            _ => {
                let message = format!("unknown schemars attribute `{}`", name_of(&meta));
                return syn_error(meta.path().span(), message);
            }
        }
    }
    // serde's `with` replaces a type too.
    if on != On::Container && attributes.with.is_none() {
        attributes.with = stands_for(attrs)?;
    }
    if on == On::Field {
        validation::parse_other_crates(&mut attributes.validation, attrs, values)?;
    }
    attributes.common.deprecated = attrs.iter().any(|attr| attr.path().is_ident("deprecated"));
    parse_doc_comments(attrs, values, &mut attributes.common)?;
    Ok(attributes)
}

/// The replacement of a field's own type by `with` or `schema_with`.
pub fn stands_for(attrs: &[Attribute]) -> syn::Result<Option<With>> {
    for of in ["schemars", "serde"] {
        for entry in parse_entries(attrs, of)? {
            match (&entry, entry.name().as_str()) {
                (Entry::Meta(meta), "with") => return parse_with(None, meta).map(Some),
                (Entry::Meta(meta), "schema_with") if of == "schemars" => {
                    return parse_with(None, meta).map(Some);
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

fn parse_with(before: Option<&With>, meta: &Meta) -> syn::Result<With> {
    let name = name_of(meta);
    let other = match before {
        None => "",
        Some(With::Type(_)) => "with",
        Some(With::Function(_)) => "schema_with",
    };
    if name == other {
        return syn_error(meta.span(), format!("duplicate schemars attribute item `{name}`"));
    }
    if !other.is_empty() {
        let message = format!("schemars attribute cannot contain both `{name}` and `{other}`");
        return syn_error(meta.span(), message);
    }
    let text = string_of(meta)?;
    let failed = |what: &str| {
        syn::Error::new(text.span(), format!("failed to parse \"{}\" as a {what}", text.value()))
    };
    match name.as_str() {
        "with" => text.parse().map(|ty| With::Type(Box::new(ty))).map_err(|_| failed("type")),
        _ => text.parse().map(|path| With::Function(Box::new(path))).map_err(|_| failed("path")),
    }
}

fn refuse_item<T>(meta: &Meta, what: &str) -> syn::Result<T> {
    syn_error(meta.span(), format!("`{}` {what}", name_of(meta)))
}

/// `example = …`: the value as serde writes it.
fn example_(expr: &syn::Expr, values: &Values<'_>) -> syn::Result<Value> {
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = expr
        && text.parse::<syn::Path>().is_ok()
    {
        let message =
            format!("write `example = &{:?}`: schemars refuses a bare word", text.value());
        return syn_error(text.span(), message);
    }
    values.eval_to_json(expr)
}

/// `extend("key" = json, …)`.
fn parse_extensions(
    meta: &Meta,
    values: &Values<'_>,
    into: &mut Vec<(String, Value)>,
) -> syn::Result<()> {
    struct Extension(syn::LitStr, proc_macro2::TokenStream);
    impl Parse for Extension {
        fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
            let key = input.parse()?;
            input.parse::<Token![=]>()?;
            let mut tokens = proc_macro2::TokenStream::new();
            while !input.is_empty() && !input.peek(Token![,]) {
                tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
            }
            if tokens.is_empty() {
                return Err(input.error("a value is missing"));
            }
            Ok(Self(key, tokens))
        }
    }
    let Meta::List(list) = meta else {
        return syn_error(meta.span(), "`extend` must be of the form `extend(\"key\" = value)`");
    };
    let parser = Punctuated::<Extension, Token![,]>::parse_terminated;
    for Extension(key, tokens) in list.parse_args_with(parser)? {
        let name = key.value();
        if into.iter().any(|(known, _)| *known == name) {
            return syn_error(key.span(), format!("`{}` is extended twice", key.value()));
        }
        into.push((name, values.eval_json_macro(tokens)?));
    }
    Ok(())
}

/// Doc comments: a first line that starts with `#` is the title.
fn parse_doc_comments(
    attrs: &[Attribute],
    values: &Values<'_>,
    common: &mut Common,
) -> syn::Result<()> {
    let mut lines = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
        let Meta::NameValue(it) = &attr.meta else { continue };
        lines.push(match &it.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) => {
                let line = line.value();
                line.strip_prefix(' ').unwrap_or(&line).to_owned()
            }
            // A doc attribute that is not a plain string keeps its first space.
            other => values.eval_string(other)?,
        });
    }
    if lines.is_empty() {
        return Ok(());
    }
    common.documented = true;
    let text = lines.join("\n");
    let (title, description) = schemars::_private::get_title_and_description(&text);
    common.title.get_or_insert_with(|| title.to_owned());
    common.description.get_or_insert_with(|| description.to_owned());
    Ok(())
}

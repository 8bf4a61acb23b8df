//! `#[schemars(…)]` and doc comments: titles, descriptions, examples, extensions, and types in the place of others.

use serde_json::Value;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Meta, Token, punctuated::Punctuated, spanned::Spanned as _};

use super::validation::{self, Of, Validation};
use super::{Entry, alone, entries, error, name_of, once, string, value};
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
    pub fn extend(&self, schema: &mut schemars::Schema) {
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
pub struct Said {
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
pub fn read(attrs: &[Attribute], on: On, values: &Values<'_>) -> syn::Result<Said> {
    let mut res = Said::default();
    for entry in entries(attrs, "schemars")? {
        let name = entry.name();
        let Entry::Meta(meta) = entry else { continue };
        match name.as_str() {
            "title" => once(&mut res.common.title, values.text(value(&meta)?)?, &meta)?,
            "description" => once(&mut res.common.description, values.text(value(&meta)?)?, &meta)?,
            "example" => {
                res.common.example_span = Some(meta.span());
                res.common.examples.push(example_(value(&meta)?, values)?);
            }
            "extend" => extend(&meta, values, &mut res.common.extensions)?,
            "with" | "schema_with" => res.with = Some(with(res.with.as_ref(), &meta)?),
            "inline" if on == On::Container => {
                alone(&meta)?;
                if res.inline {
                    return error(meta.span(), "`inline` occurs twice");
                }
                res.inline = true;
            }
            "crate" if on == On::Container => drop(string(&meta)?),
            "rename" if on == On::Container => {
                once(&mut res.renamed, string(&meta)?, &meta)?;
            }
            "transform" | "_unstable_ref_variants" => return refuse(&meta, "is not supported"),
            name if serde::SHARED.contains(&name) => {}
            _ if on == On::Field
                && validation::item(&mut res.validation, &meta, Of::Schemars, values)? => {}
            _ => {
                let message = format!("unknown schemars attribute `{}`", name_of(&meta));
                return error(meta.path().span(), message);
            }
        }
    }
    // serde's `with` replaces a type too.
    if on != On::Container && res.with.is_none() {
        res.with = stands_for(attrs)?;
    }
    if on == On::Field {
        validation::others(&mut res.validation, attrs, values)?;
    }
    res.common.deprecated = attrs.iter().any(|it| it.path().is_ident("deprecated"));
    document(attrs, values, &mut res.common)?;
    Ok(res)
}

/// The replacement of a field's own type by `with` or `schema_with`.
pub fn stands_for(attrs: &[Attribute]) -> syn::Result<Option<With>> {
    for of in ["schemars", "serde"] {
        for entry in entries(attrs, of)? {
            match (&entry, entry.name().as_str()) {
                (Entry::Meta(meta), "with") => return with(None, meta).map(Some),
                (Entry::Meta(meta), "schema_with") if of == "schemars" => {
                    return with(None, meta).map(Some);
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

fn with(before: Option<&With>, meta: &Meta) -> syn::Result<With> {
    let name = name_of(meta);
    let other = match before {
        None => "",
        Some(With::Type(_)) => "with",
        Some(With::Function(_)) => "schema_with",
    };
    if name == other {
        return error(meta.span(), format!("duplicate schemars attribute item `{name}`"));
    }
    if !other.is_empty() {
        let message = format!("schemars attribute cannot contain both `{name}` and `{other}`");
        return error(meta.span(), message);
    }
    let text = string(meta)?;
    let failed = |what: &str| {
        syn::Error::new(text.span(), format!("failed to parse \"{}\" as a {what}", text.value()))
    };
    match name.as_str() {
        "with" => text.parse().map(|it| With::Type(Box::new(it))).map_err(|_| failed("type")),
        _ => text.parse().map(|it| With::Function(Box::new(it))).map_err(|_| failed("path")),
    }
}

fn refuse<T>(meta: &Meta, what: &str) -> syn::Result<T> {
    error(meta.span(), format!("`{}` {what}", name_of(meta)))
}

/// `example = …`: the value as serde writes it.
fn example_(expr: &syn::Expr, values: &Values<'_>) -> syn::Result<Value> {
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = expr
        && text.parse::<syn::Path>().is_ok()
    {
        let message =
            format!("write `example = &{:?}`: schemars refuses a bare word", text.value());
        return error(text.span(), message);
    }
    values.free(expr)
}

/// `extend("key" = json, …)`.
fn extend(meta: &Meta, values: &Values<'_>, into: &mut Vec<(String, Value)>) -> syn::Result<()> {
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
        return error(meta.span(), "`extend` must be of the form `extend(\"key\" = value)`");
    };
    let parser = Punctuated::<Extension, Token![,]>::parse_terminated;
    for Extension(key, tokens) in list.parse_args_with(parser)? {
        let name = key.value();
        if into.iter().any(|(known, _)| *known == name) {
            return error(key.span(), format!("`{}` is extended twice", key.value()));
        }
        into.push((name, values.json(tokens)?));
    }
    Ok(())
}

/// Doc comments: a first line that starts with `#` is the title.
fn document(attrs: &[Attribute], values: &Values<'_>, common: &mut Common) -> syn::Result<()> {
    let mut lines = Vec::new();
    for attr in attrs.iter().filter(|it| it.path().is_ident("doc")) {
        let Meta::NameValue(it) = &attr.meta else { continue };
        lines.push(match &it.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) => {
                let line = line.value();
                line.strip_prefix(' ').unwrap_or(&line).to_owned()
            }
            // What is not a plain string there keeps its first space.
            other => values.text(other)?,
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

//! The body of an `impl JsonSchema` → a schema with holes where other types go.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitBool, LitStr, Token, braced, bracketed, parenthesized, token};

/// What `json_schema!` is given there.
#[derive(Debug)]
pub enum Template {
    Value(Value),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// `generator.subschema_for::<T>()`, by T's path; then what is put into it.
    Type(String, Vec<(String, String)>),
}

/// The name and the schema that an impl gives its type.
pub fn read(code: &str) -> syn::Result<(String, Template)> {
    let Impl { name, schema } = syn::parse_str(code)?;
    Ok((name, schema))
}

impl Template {
    /// The schema, with `of` to give those of other types.
    pub fn schema(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Schema {
        // The macro takes objects only, so no other value comes out of it.
        match self.value(generator, of) {
            Value::Object(it) => it.into(),
            _ => Schema::default(),
        }
    }

    fn value(
        &self,
        generator: &mut SchemaGenerator,
        of: &impl Fn(&str, &mut SchemaGenerator) -> Schema,
    ) -> Value {
        match self {
            Self::Value(it) => it.clone(),
            Self::Array(items) => items.iter().map(|it| it.value(generator, of)).collect(),
            Self::Object(entries) => {
                let mut res = Map::new();
                for (key, it) in entries {
                    res.insert(key.clone(), it.value(generator, of));
                }
                Value::Object(res)
            }
            Self::Type(path, inserts) => {
                let mut schema = of(path, generator);
                for (key, value) in inserts {
                    schema.ensure_object().insert(key.clone(), value.clone().into());
                }
                schema.to_value()
            }
        }
    }
}

struct Impl {
    name: String,
    schema: Template,
}

impl Parse for Impl {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let it: syn::ItemImpl = input.parse()?;
        let (mut name, mut schema) = (None, None);
        for item in &it.items {
            // Whatever else there were would change what schemars does with the type.
            let syn::ImplItem::Fn(it) = item else {
                return Err(syn::Error::new_spanned(item, "it has more than functions"));
            };
            let [syn::Stmt::Expr(body, None)] = &it.block.stmts[..] else {
                return Err(syn::Error::new_spanned(&it.sig, "it does more than give a value"));
            };
            match (it.sig.ident.to_string().as_str(), body) {
                ("schema_name", syn::Expr::MethodCall(call))
                    if call.method == "into" && call.args.is_empty() =>
                {
                    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) =
                        &*call.receiver
                    {
                        name = Some(it.value());
                    }
                }
                ("json_schema", syn::Expr::Macro(it))
                    if it.mac.path.segments.last().is_some_and(|it| it.ident == "json_schema") =>
                {
                    schema = Some(it.mac.parse_body::<Template>()?);
                }
                _ => {
                    return Err(syn::Error::new_spanned(
                        &it.sig,
                        "it has a function of another form",
                    ));
                }
            }
        }
        match (name, schema) {
            (Some(name), Some(schema @ Template::Object(_))) => Ok(Self { name, schema }),
            _ => Err(syn::Error::new_spanned(&it.self_ty, "it lacks a name or a schema")),
        }
    }
}

impl Parse for Template {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(token::Brace) {
            let inner;
            braced!(inner in input);
            let entries = inner.parse_terminated(entry, Token![,])?;
            Ok(Self::Object(entries.into_iter().collect()))
        } else if input.peek(token::Bracket) {
            let inner;
            bracketed!(inner in input);
            Ok(Self::Array(inner.parse_terminated(Self::parse, Token![,])?.into_iter().collect()))
        } else if input.peek(LitStr) {
            Ok(Self::Value(input.parse::<LitStr>()?.value().into()))
        } else if input.peek(LitBool) {
            Ok(Self::Value(input.parse::<LitBool>()?.value.into()))
        } else if input.peek(token::Paren) {
            let inner;
            parenthesized!(inner in input);
            let res = match inner.peek(token::Brace) {
                true => described(&inner)?,
                false => Self::Type(subschema(&inner)?, Vec::new()),
            };
            match inner.is_empty() {
                true => Ok(res),
                false => Err(inner.error("it is followed by more")),
            }
        } else {
            Ok(Self::Type(subschema(input)?, Vec::new()))
        }
    }
}

fn entry(input: ParseStream<'_>) -> syn::Result<(String, Template)> {
    let key = input.parse::<LitStr>()?.value();
    input.parse::<Token![:]>()?;
    Ok((key, input.parse()?))
}

/// `{ let mut x = generator.subschema_for::<T>(); x.ensure_object().insert("…".into(), "…".into()); x }`.
fn described(input: ParseStream<'_>) -> syn::Result<Template> {
    let block;
    braced!(block in input);
    block.parse::<Token![let]>()?;
    block.parse::<Token![mut]>()?;
    let variable: Ident = block.parse()?;
    block.parse::<Token![=]>()?;
    let path = subschema(&block)?;
    block.parse::<Token![;]>()?;
    let mut inserts = Vec::new();
    loop {
        word(&block, &variable.to_string())?;
        if block.is_empty() {
            return Ok(Template::Type(path, inserts));
        }
        block.parse::<Token![.]>()?;
        call(&block, "ensure_object", |_| Ok(()))?;
        block.parse::<Token![.]>()?;
        inserts.push(call(&block, "insert", |it| {
            let key = text(it)?;
            it.parse::<Token![,]>()?;
            Ok((key, text(it)?))
        })?);
        block.parse::<Token![;]>()?;
    }
}

/// `generator.subschema_for::<crate::…::T>()`, as the path that a user would write.
fn subschema(input: ParseStream<'_>) -> syn::Result<String> {
    input.parse::<Ident>()?;
    input.parse::<Token![.]>()?;
    word(input, "subschema_for")?;
    input.parse::<Token![::]>()?;
    input.parse::<Token![<]>()?;
    let path = syn::Path::parse_mod_style(input)?;
    input.parse::<Token![>]>()?;
    let inner;
    parenthesized!(inner in input);
    let mut parts = path.segments.iter().map(|it| it.ident.to_string());
    if parts.next().as_deref() != Some("crate") || !inner.is_empty() {
        return Err(syn::Error::new_spanned(&path, "it asks for a type from elsewhere"));
    }
    Ok(parts.fold("k8s_openapi".to_owned(), |path, it| format!("{path}::{it}")))
}

/// `"…".into()`.
fn text(input: ParseStream<'_>) -> syn::Result<String> {
    let text = input.parse::<LitStr>()?.value();
    input.parse::<Token![.]>()?;
    call(input, "into", |_| Ok(text.clone()))
}

fn call<T>(
    input: ParseStream<'_>,
    name: &str,
    arguments: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    word(input, name)?;
    let inner;
    parenthesized!(inner in input);
    let res = arguments(&inner)?;
    match inner.is_empty() {
        true => Ok(res),
        false => Err(inner.error("it is given more than is known")),
    }
}

fn word(input: ParseStream<'_>, expected: &str) -> syn::Result<()> {
    let found: Ident = input.parse()?;
    match found == expected {
        true => Ok(()),
        false => Err(syn::Error::new(found.span(), format!("`{found}` is not known there"))),
    }
}

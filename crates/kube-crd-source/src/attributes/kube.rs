//! `#[kube(…)]`: the names of a custom resource, and all of its CRD but the schema.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceSubresourceScale, SelectableField,
};
use proc_macro2::Span;
use syn::{Attribute, DeriveInput, Expr, Lit, Meta, spanned::Spanned as _};

use super::{name_of, parse_list, parse_metas, set_once, syn_error, value_of};
use crate::attributes::summary::Storage;
use crate::versions::KubeDerive;

#[derive(Default)]
pub struct Kube {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub doc: Option<String>,
    pub root: Option<String>,
    pub plural: Option<String>,
    pub singular: Option<String>,
    pub namespaced: bool,
    pub no_spec: bool,
    pub mode: Mode,
    pub status: Option<syn::Path>,
    pub categories: Vec<String>,
    pub shortnames: Vec<String>,
    pub columns: Vec<CustomResourceColumnDefinition>,
    pub selectable: Vec<String>,
    pub scale: Option<CustomResourceSubresourceScale>,
    pub annotations: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
    pub validations: Vec<Expr>,
    pub cel: bool,
    pub storage: Option<bool>,
    pub served: Option<bool>,
    pub deprecated: Option<Deprecation>,
    /// The attributes that `attr` adds to the struct that kube generates.
    pub attrs: Vec<Meta>,
    /// The spans of items, by the JSON pointers of what they set in the version: `/additionalPrinterColumns/0`.
    pub spans: BTreeMap<String, Span>,
}

/// `#[kube(deprecated)]`, with what it warns of.
pub struct Deprecation {
    pub warning: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Derived,
    Manual,
    Disabled,
}

impl Kube {
    pub fn storage(&self) -> Storage {
        match self.storage {
            None => Storage::Unsaid,
            Some(true) => Storage::Yes,
            Some(false) => Storage::No,
        }
    }
}

/// Reads `#[kube(…)]`, with an error for each malformed item.
pub fn parse_attributes(input: &DeriveInput, known: KubeDerive) -> Result<Kube, Vec<syn::Error>> {
    let metas = parse_metas(&input.attrs, "kube").map_err(|error| vec![error])?;
    let mut kube = Kube::default();
    let mut seen = Seen::default();
    let mut errors: Vec<syn::Error> = metas
        .iter()
        .filter_map(|meta| parse_item(&mut kube, &mut seen, meta, known).err())
        .collect();
    for (name, value) in [("group", &seen.group), ("version", &seen.version), ("kind", &seen.kind)]
    {
        let is_given = metas.iter().any(|meta| meta.path().is_ident(name));
        if value.is_none() && !is_given {
            errors.push(syn::Error::new(
                input.ident.span(),
                format!("`#[kube({name} = …)]` is missing"),
            ));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    kube.group = seen.group.unwrap_or_default();
    kube.version = seen.version.unwrap_or_default();
    kube.kind = seen.kind.unwrap_or_default();
    kube.namespaced = seen.namespaced.unwrap_or_default();
    kube.no_spec = seen.no_spec.unwrap_or_default();
    kube.cel = seen.cel.unwrap_or_default();
    kube.mode = seen.mode.unwrap_or_default();
    Ok(kube)
}

#[derive(Default)]
struct Seen {
    group: Option<String>,
    version: Option<String>,
    kind: Option<String>,
    namespaced: Option<bool>,
    no_spec: Option<bool>,
    cel: Option<bool>,
    mode: Option<Mode>,
}

fn parse_item(res: &mut Kube, seen: &mut Seen, meta: &Meta, known: KubeDerive) -> syn::Result<()> {
    let text = || super::string_of(meta).map(|literal| literal.value());
    let set = match name_of(meta).as_str() {
        "printcolumn" => Some(format!("/additionalPrinterColumns/{}", res.columns.len())),
        "selectable" => Some(format!("/selectableFields/{}", res.selectable.len())),
        "scale" => Some("/subresources/scale".to_owned()),
        "served" => Some("/served".to_owned()),
        _ => None,
    };
    res.spans.extend(set.map(|pointer| (pointer, meta.span())));
    match name_of(meta).as_str() {
        "group" => set_once(&mut seen.group, text()?, meta),
        "version" => set_once(&mut seen.version, text()?, meta),
        "kind" => set_once(&mut seen.kind, text()?, meta),
        "doc" => set_once(&mut res.doc, text()?, meta),
        "root" => set_once(&mut res.root, parse_identifier(meta)?, meta),
        "plural" => set_once(&mut res.plural, text()?, meta),
        "singular" => set_once(&mut res.singular, text()?, meta),
        "namespaced" => set_once(&mut seen.namespaced, parse_flag(meta)?, meta),
        "no_spec" if known.no_spec => set_once(&mut seen.no_spec, parse_flag(meta)?, meta),
        "cel" if known.cel => set_once(&mut seen.cel, parse_flag(meta)?, meta),
        "storage" => set_once(&mut res.storage, parse_flag(meta)?, meta),
        "served" => set_once(&mut res.served, parse_flag(meta)?, meta),
        "derive" => drop_ok(text()?),
        "crates" => drop_ok(parse_list(meta)?),
        "attr" if known.attr => {
            res.attrs.extend(parse_attr(meta)?);
            Ok(())
        }
        "category" => push_item(&mut res.categories, text()?),
        "shortname" => push_item(&mut res.shortnames, text()?),
        "selectable" => push_item(&mut res.selectable, parse_selectable_field(meta, known)?),
        "validation" => {
            super::x_kube::add_rule(&mut res.validations, value_of(meta)?.clone(), meta)
        }
        "status" => set_once(&mut res.status, parse_path(meta)?, meta),
        "schema" => {
            let mode = match text()?.as_str() {
                "derived" => Mode::Derived,
                "manual" => Mode::Manual,
                "disabled" => Mode::Disabled,
                other => {
                    let message =
                        format!("`{other}` is not one of `derived`, `manual`, `disabled`");
                    return syn_error(meta.span(), message);
                }
            };
            set_once(&mut seen.mode, mode, meta)
        }
        "deprecated" => {
            let warning = match meta {
                Meta::Path(_) => None,
                _ => Some(text()?),
            };
            set_once(&mut res.deprecated, Deprecation { warning }, meta)
        }
        "annotation" => parse_pair(meta, &mut res.annotations),
        "label" => parse_pair(meta, &mut res.labels),
        "printcolumn" if known.columns => push_item(&mut res.columns, parse_column(meta)?),
        "printcolumn" => older_columns(meta).map(|columns| res.columns.extend(columns)),
        "scale" => set_once(&mut res.scale, parse_scale(meta)?, meta),
        other => {
            let message = format!("unknown kube attribute `{other}`");
            let since = |it: &&KubeDerive| match other {
                "no_spec" => it.no_spec,
                "cel" => it.cel,
                "attr" => it.attr,
                _ => false,
            };
            syn_error(meta.path().span(), known.unsupported_message(&message, since))
        }
    }
}

fn push_item<T>(list: &mut Vec<T>, value: T) -> syn::Result<()> {
    list.push(value);
    Ok(())
}

#[allow(clippy::unnecessary_wraps, reason = "an arm among arms that may fail")]
fn drop_ok<T>(_: T) -> syn::Result<()> {
    Ok(())
}

/// `name`, `name = true`, `name = "true"`.
pub fn parse_flag(meta: &Meta) -> syn::Result<bool> {
    if let Meta::Path(_) = meta {
        return Ok(true);
    }
    match value_of(meta)? {
        Expr::Lit(syn::ExprLit { lit: Lit::Bool(it), .. }) => Ok(it.value),
        Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) if it.value() == "true" => Ok(true),
        Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) if it.value() == "false" => Ok(false),
        other => syn_error(other.span(), format!("`{}` must be true or false", name_of(meta))),
    }
}

/// A name that Rust takes for a struct.
fn parse_identifier(meta: &Meta) -> syn::Result<String> {
    let text = super::string_of(meta)?;
    match text.parse::<syn::Ident>() {
        Ok(_) => Ok(text.value()),
        Err(_) => syn_error(text.span(), format!("`{}` must be an identifier", name_of(meta))),
    }
}

/// A path, in quotes or not.
pub fn parse_path(meta: &Meta) -> syn::Result<syn::Path> {
    match value_of(meta)? {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => it.parse(),
        Expr::Path(it) if it.qself.is_none() => Ok(it.path.clone()),
        other => syn_error(other.span(), format!("`{}` must be the path of a type", name_of(meta))),
    }
}

/// An attribute for the generated struct; none where the schema does not depend on it.
fn parse_attr(meta: &Meta) -> syn::Result<Option<Meta>> {
    let text = super::string_of(meta)?;
    let attr: Meta = text.parse()?;
    if is_quiet(&attr) {
        return Ok(None);
    }
    if ["doc", "deprecated", "x_kube"].iter().any(|name| attr.path().is_ident(name)) {
        return Ok(Some(attr));
    }
    if ["derive", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name)) {
        let name = name_of(&attr);
        return syn_error(text.span(), format!("kube does not accept `{name}` in `attr`"));
    }
    syn_error(
        text.span(),
        format!("`{}` may change the schema, and is not supported", text.value()),
    )
}

/// Returns whether no schema depends on an attribute, with a condition or without.
fn is_quiet(attr: &Meta) -> bool {
    const QUIET: &[&str] = &["allow", "warn", "deny", "expect", "must_use", "non_exhaustive"];
    match attr {
        Meta::List(_) if attr.path().is_ident("cfg_attr") => {
            super::parse_list(attr).is_ok_and(|metas| metas.iter().skip(1).all(is_quiet))
        }
        // Only `doc = "…"` is a description.
        Meta::List(_) if attr.path().is_ident("doc") => true,
        _ => QUIET.iter().any(|name| attr.path().is_ident(name)),
    }
}

fn parse_pair(meta: &Meta, into: &mut BTreeMap<String, String>) -> syn::Result<()> {
    let Meta::List(it) = meta else {
        return syn_error(
            meta.span(),
            format!("`{0}` must be of the form `{0}(\"key\", \"value\")`", name_of(meta)),
        );
    };
    let parser = syn::punctuated::Punctuated::<syn::LitStr, syn::Token![,]>::parse_terminated;
    let parts = it.parse_args_with(parser)?;
    match (parts.first(), parts.last(), parts.len()) {
        (Some(key), Some(value), 2) => {
            into.insert(key.value(), value.value());
            Ok(())
        }
        _ => syn_error(
            meta.span(),
            format!("`{0}` must be of the form `{0}(\"key\", \"value\")`", name_of(meta)),
        ),
    }
}

fn parse_column(meta: &Meta) -> syn::Result<CustomResourceColumnDefinition> {
    if let Meta::NameValue(_) = meta {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Column {
            description: Option<String>,
            format: Option<String>,
            json_path: String,
            name: String,
            priority: Option<i32>,
            type_: String,
        }
        let Column { description, format, json_path, name, priority, type_ } = parse_json(meta)?;
        return Ok(CustomResourceColumnDefinition {
            name,
            type_,
            json_path,
            description,
            format,
            priority,
        });
    }
    let (mut name, mut type_, mut path) = (None, None, None);
    let (mut description, mut format, mut priority) = (None, None, None);
    for inner in parse_list(meta)? {
        let text = || super::string_of(&inner).map(|literal| literal.value());
        match name_of(&inner).as_str() {
            "name" => set_once(&mut name, text()?, &inner)?,
            "type_" => set_once(&mut type_, text()?, &inner)?,
            "json_path" => set_once(&mut path, text()?, &inner)?,
            "description" => set_once(&mut description, text()?, &inner)?,
            "format" => set_once(&mut format, text()?, &inner)?,
            "priority" => set_once(&mut priority, priority_(&inner)?, &inner)?,
            other => return syn_error(inner.span(), format!("unknown printcolumn item `{other}`")),
        }
    }
    match (name, type_, path) {
        (Some(name), Some(type_), Some(json_path)) => Ok(CustomResourceColumnDefinition {
            name,
            type_,
            json_path,
            description,
            format,
            priority,
        }),
        _ => syn_error(meta.span(), "`printcolumn` needs `name`, `type_` and `json_path`"),
    }
}

/// JSON that `crd()` itself reads when it runs, between the brackets of a list.
fn older_columns(meta: &Meta) -> syn::Result<Vec<CustomResourceColumnDefinition>> {
    let text = super::string_of(meta)?;
    serde_json::from_str(&format!("[ {} ]", text.value())).map_err(|error| {
        syn::Error::new(text.span(), format!("kube panics: valid printer column json: {error}"))
    })
}

/// A JSON path; older versions of kube wrote it into JSON unescaped.
fn parse_selectable_field(meta: &Meta, known: KubeDerive) -> syn::Result<String> {
    let text = super::string_of(meta)?;
    if !known.empty {
        return Ok(text.value());
    }
    let json = format!(r#"{{ "jsonPath": "{}" }}"#, text.value());
    serde_json::from_str(&json).map(|it: SelectableField| it.json_path).map_err(|error| {
        let message = format!("kube panics: valid selectableField column json: {error}");
        syn::Error::new(text.span(), message)
    })
}

fn priority_(meta: &Meta) -> syn::Result<i32> {
    let number = match value_of(meta)? {
        Expr::Lit(syn::ExprLit { lit: Lit::Int(it), .. }) => it.base10_parse().ok(),
        Expr::Lit(syn::ExprLit { lit: Lit::Str(it), .. }) => it.value().parse().ok(),
        _ => None,
    };
    number.map_or_else(|| syn_error(meta.span(), "`priority` must be a number"), Ok)
}

fn parse_scale(meta: &Meta) -> syn::Result<CustomResourceSubresourceScale> {
    if let Meta::NameValue(_) = meta {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Paths {
            label_selector_path: Option<String>,
            spec_replicas_path: String,
            status_replicas_path: String,
        }
        let it: Paths = parse_json(meta)?;
        return Ok(CustomResourceSubresourceScale {
            spec_replicas_path: it.spec_replicas_path,
            status_replicas_path: it.status_replicas_path,
            label_selector_path: it.label_selector_path,
        });
    }
    let (mut spec, mut status, mut selector) = (None, None, None);
    for inner in parse_list(meta)? {
        let text = super::string_of(&inner)?.value();
        match name_of(&inner).as_str() {
            "spec_replicas_path" => set_once(&mut spec, text, &inner)?,
            "status_replicas_path" => set_once(&mut status, text, &inner)?,
            "label_selector_path" => set_once(&mut selector, text, &inner)?,
            other => return syn_error(inner.span(), format!("unknown scale item `{other}`")),
        }
    }
    match (spec, status) {
        (Some(spec_replicas_path), Some(status_replicas_path)) => {
            Ok(CustomResourceSubresourceScale {
                spec_replicas_path,
                status_replicas_path,
                label_selector_path: selector,
            })
        }
        _ => {
            syn_error(meta.span(), "`scale` needs `spec_replicas_path` and `status_replicas_path`")
        }
    }
}

/// The older syntax: JSON in a string.
fn parse_json<T: serde::de::DeserializeOwned>(meta: &Meta) -> syn::Result<T> {
    let text = super::string_of(meta)?;
    serde_json::from_str(&text.value()).map_err(|error| syn::Error::new(text.span(), error))
}

/// Attributes of kube that do not change a type.
pub fn is_on(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("kube"))
}

//! A struct or enum with its attributes: what schemars' derive knows when it writes its code.

use kube_core::Rule;
use serde_derive_internals::{Derive, ast, attr};
use syn::{DeriveInput, spanned::Spanned as _};

use super::generics::Parameters;
use crate::attributes::schemars::{self as schemars_attributes, Common, On, With};
use crate::attributes::syn_error;
use crate::attributes::validation::Validation;
use crate::attributes::x_kube::{self, Merge};
use crate::text::Problem;
use crate::text::unraw_name;
use crate::types::serde;
use crate::values::Values;

/// A struct or an enum, with its attributes of serde and schemars.
pub struct Container {
    /// Its name in schemars.
    pub name: String,
    pub parameters: Parameters,
    pub inline: bool,
    pub common: Common,
    pub with: Option<With>,
    pub from: Option<syn::Type>,
    /// Serialized as another type: attributes around it apply to its whole schema.
    pub into: bool,
    pub transparent: bool,
    pub deny: bool,
    pub default: Fallback,
    pub tag: Tag,
    pub data: ContainerData,
    /// Derives `KubeSchema` rather than `JsonSchema`.
    pub kube: bool,
    pub rules: Vec<Rule>,
}

pub enum ContainerData {
    Struct(Shape),
    Enum(Vec<Variant>),
    /// An enum that is written as numbers.
    Numbers(Vec<serde_json::Value>),
}

pub enum Shape {
    Unit,
    Newtype(Box<Field>),
    Tuple(Vec<Field>),
    Named(Vec<Field>),
}

pub enum Tag {
    External,
    Internal(String),
    Adjacent(String, String),
    None,
}

/// `#[serde(default)]`.
pub enum Fallback {
    None,
    Trait,
    Path(Box<syn::ExprPath>),
}

impl Fallback {
    /// The function that it names, where there is one; none where there is no default.
    #[allow(clippy::option_option, reason = "a default need not name a function")]
    pub fn default_function(&self) -> Option<Option<&syn::ExprPath>> {
        match self {
            Self::None => None,
            Self::Trait => Some(None),
            Self::Path(it) => Some(Some(it)),
        }
    }
}

pub struct Variant {
    pub name: String,
    pub shape: Shape,
    pub untagged: bool,
    pub skipped: bool,
    pub common: Common,
    pub with: Option<With>,
}

pub struct Field {
    pub member: String,
    pub name: String,
    pub ty: syn::Type,
    pub skip_deserializing: bool,
    pub skip_serializing: bool,
    pub skip_if: Option<syn::ExprPath>,
    pub serialize_with: Option<syn::ExprPath>,
    /// A function reads it.
    pub reads_with: bool,
    pub default: Fallback,
    pub flatten: bool,
    pub transparent: bool,
    pub common: Common,
    pub with: Option<With>,
    pub validation: Validation,
    pub rules: Vec<Rule>,
    pub merge: Option<Merge>,
    pub span: proc_macro2::Span,
}

/// Reads a settled input. `kube`: it derives `KubeSchema`.
pub fn parse_container(
    input: &DeriveInput,
    kube: bool,
    values: &Values<'_>,
) -> Result<Container, Problem> {
    let to_problem = |it: syn::Error| {
        let way_out = "see the derive's documentation for the attributes that it accepts";
        values.world.problem_at(values.module, it.span(), it.to_string(), way_out)
    };
    let is_supported =
        matches!(&input.data, syn::Data::Struct(it) if matches!(it.fields, syn::Fields::Named(_)));
    if kube && !is_supported {
        let message = "`KubeSchema` is for structs with named fields".to_owned();
        let way_out = "derive `schemars::JsonSchema` for this type";
        return Err(values.world.problem_at(values.module, input.ident.span(), message, way_out));
    }
    read_(input, kube, values).map_err(to_problem)
}

fn read_(input: &DeriveInput, kube: bool, values: &Values<'_>) -> syn::Result<Container> {
    let mut input = serde::input_for_schemars(input)?;
    // KubeSchema hands on only what it knows.
    if kube {
        if !input.generics.params.is_empty() {
            let message = "`KubeSchema` does not compile on a type with parameters";
            return syn_error(input.generics.params.span(), message);
        }
        whitelist(&mut input);
        names_no_generated_type(&input)?;
    } else {
        stray_rules(&input)?;
    }
    let own = schemars_attributes::parse_attributes(&input.attrs, On::Container, values)?;
    let rules = if kube { x_kube::parse_container(&input.attrs, values)? } else { Vec::new() };
    serde::with_container(&input, Derive::Deserialize, |container| -> syn::Result<Container> {
        if let Some(remote) = container.attrs.remote() {
            return syn_error(remote.span(), "`remote` is not supported");
        }
        if kube {
            refuse_default(container.attrs.default(), input.ident.span())?;
        }
        let data = match &container.data {
            ast::Data::Struct(style, fields) => {
                ContainerData::Struct(parse_shape(*style, fields, values)?)
            }
            ast::Data::Enum(variants) => {
                let variants: syn::Result<_> =
                    variants.iter().map(|variant| parse_variant(variant, values)).collect();
                ContainerData::Enum(variants?)
            }
        };
        let name = container.attrs.name().deserialize_name().value.clone();
        let rename = own.renamed.as_ref();
        let parameters = Parameters::from_input(
            &input,
            container,
            rename,
            |field| schemars_attributes::stands_for(&field.attrs),
            values.world,
            values.module,
        )?;
        Ok(Container {
            name,
            parameters,
            inline: own.inline,
            common: own.common,
            with: own.with,
            from: container.attrs.type_from().or(container.attrs.type_try_from()).cloned(),
            into: container.attrs.type_into().is_some(),
            transparent: container.attrs.transparent(),
            deny: container.attrs.deny_unknown_fields(),
            default: fallback_of(container.attrs.default()),
            tag: match container.attrs.tag() {
                attr::TagType::External => Tag::External,
                attr::TagType::Internal { tag } => Tag::Internal(tag.clone()),
                attr::TagType::Adjacent { tag, content } => {
                    Tag::Adjacent(tag.clone(), content.clone())
                }
                attr::TagType::None => Tag::None,
            },
            data,
            kube,
            rules,
        })
    })?
}

fn whitelist(input: &mut DeriveInput) {
    let kept = |it: &syn::Attribute| {
        let known = ["serde", "schemars", "doc", "validate", "x_kube"];
        known.iter().any(|name| it.path().is_ident(name))
    };
    input.attrs.retain(kept);
    if let syn::Data::Struct(it) = &mut input.data {
        it.fields.iter_mut().for_each(|field| field.attrs.retain(kept));
    }
}

/// Refuses a default of a whole type that derives `KubeSchema`.
fn refuse_default(default: &attr::Default, span: proc_macro2::Span) -> syn::Result<()> {
    match default {
        attr::Default::None => Ok(()),
        attr::Default::Default => {
            syn_error(span, "`KubeSchema` does not compile with `#[serde(default)]` on the type")
        }
        attr::Default::Path(_) => {
            syn_error(span, "`#[serde(default = …)]` on a type with `KubeSchema` is not read")
        }
    }
}

/// Refuses a field whose type has the name of a struct that `KubeSchema` declares around it.
fn names_no_generated_type(input: &DeriveInput) -> syn::Result<()> {
    let syn::Data::Struct(data) = &input.data else { return Ok(()) };
    let generated = ["Validated".to_owned(), format!("{}Validated", unraw_name(&input.ident))];
    for field in &data.fields {
        let names = crate::text::collect_identifiers(&field.ty);
        if let Some(name) = generated.iter().find(|name| names.contains(*name)) {
            let message = format!(
                "`{name}` is a struct that `KubeSchema` declares; give the type of the field another name"
            );
            return syn_error(field.ty.span(), message);
        }
    }
    Ok(())
}

/// Nothing but `KubeSchema` reads `#[x_kube]`: without it, rules would be left out in silence.
fn stray_rules(input: &DeriveInput) -> syn::Result<()> {
    let fields = match &input.data {
        syn::Data::Struct(it) => it.fields.iter().collect(),
        syn::Data::Enum(it) => {
            it.variants.iter().flat_map(|variant| &variant.fields).collect::<Vec<_>>()
        }
        syn::Data::Union(_) => Vec::new(),
    };
    let attrs = input.attrs.iter().chain(fields.iter().flat_map(|field| &field.attrs));
    match { attrs }.find(|attr| attr.path().is_ident("x_kube")) {
        Some(it) => syn_error(it.span(), "`x_kube` is read by `#[derive(KubeSchema)]` only"),
        None => Ok(()),
    }
}

fn fallback_of(default: &attr::Default) -> Fallback {
    match default {
        attr::Default::None => Fallback::None,
        attr::Default::Default => Fallback::Trait,
        attr::Default::Path(it) => Fallback::Path(Box::new(it.clone())),
    }
}

fn parse_shape(
    style: ast::Style,
    fields: &[ast::Field<'_>],
    values: &Values<'_>,
) -> syn::Result<Shape> {
    let mut fields: Vec<Field> =
        fields.iter().map(|field| parse_field(field, values)).collect::<syn::Result<_>>()?;
    Ok(match style {
        ast::Style::Unit => Shape::Unit,
        ast::Style::Newtype => match fields.pop() {
            Some(it) => Shape::Newtype(Box::new(it)),
            None => Shape::Unit,
        },
        ast::Style::Tuple => Shape::Tuple(fields),
        ast::Style::Struct => Shape::Named(fields),
    })
}

fn parse_variant(it: &ast::Variant<'_>, values: &Values<'_>) -> syn::Result<Variant> {
    let own = schemars_attributes::parse_attributes(&it.original.attrs, On::Variant, values)?;
    Ok(Variant {
        name: it.attrs.name().deserialize_name().value.clone(),
        shape: parse_shape(it.style, &it.fields, values)?,
        untagged: it.attrs.untagged(),
        skipped: it.attrs.skip_deserializing(),
        common: own.common,
        with: own.with,
    })
}

fn parse_field(it: &ast::Field<'_>, values: &Values<'_>) -> syn::Result<Field> {
    let own = schemars_attributes::parse_attributes(&it.original.attrs, On::Field, values)?;
    let kube = x_kube::parse_field(&it.original.attrs, values)?;
    Ok(Field {
        member: match &it.member {
            syn::Member::Named(ident) => unraw_name(ident),
            syn::Member::Unnamed(index) => index.index.to_string(),
        },
        name: it.attrs.name().deserialize_name().value.clone(),
        ty: it.ty.clone(),
        skip_deserializing: it.attrs.skip_deserializing(),
        skip_serializing: it.attrs.skip_serializing(),
        skip_if: it.attrs.skip_serializing_if().cloned(),
        serialize_with: it.attrs.serialize_with().cloned(),
        reads_with: it.attrs.deserialize_with().is_some(),
        default: fallback_of(it.attrs.default()),
        flatten: it.attrs.flatten(),
        transparent: it.attrs.transparent(),
        common: own.common,
        with: own.with,
        validation: own.validation,
        rules: kube.rules,
        merge: kube.merge,
        span: it.original.ident.as_ref().map_or_else(|| it.original.span(), syn::Ident::span),
    })
}

impl Container {
    /// The type that this one forwards to; none if it has attributes itself.
    pub fn forwards_to(&self) -> Option<&syn::Type> {
        if self.kube || !self.common.is_default() {
            return None;
        }
        if let Some(With::Type(ty)) = &self.with {
            return Some(ty);
        }
        let field = self.transparent_field()?;
        let plain =
            field.common.is_default() && field.validation.is_default() && field.with.is_none();
        plain.then_some(&field.ty)
    }

    pub fn transparent_field(&self) -> Option<&Field> {
        if !self.transparent {
            return None;
        }
        match &self.data {
            ContainerData::Struct(Shape::Newtype(it)) => Some(it),
            ContainerData::Struct(Shape::Named(fields) | Shape::Tuple(fields)) => {
                fields.iter().find(|field| field.transparent)
            }
            _ => None,
        }
    }
}

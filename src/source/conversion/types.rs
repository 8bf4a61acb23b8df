//! The types that a file declares, and how a value of one gets to be a value of another one.

use std::collections::BTreeMap;

use quote::ToTokens as _;
use syn::{
    Attribute, GenericArgument, Ident, Item, ItemStruct, LitStr, PathArguments, Type,
    punctuated::Punctuated,
};

/// The types of a file by name.
pub struct Types {
    pub all: BTreeMap<String, Body>,
    /// The struct with `#[kube(…)]`.
    pub spec: String,
    pub status: Option<String>,
}

pub enum Body {
    Struct(Vec<(String, Type)>),
    Tuple(Vec<Type>),
    Enum(Vec<(String, Fields)>),
    /// With generic parameters, or without fields.
    Other,
}

/// The fields of a variant.
pub enum Fields {
    None,
    Named(Vec<(String, Type)>),
    Unnamed(Vec<Type>),
}

impl Fields {
    fn of(fields: &syn::Fields) -> Self {
        match fields {
            syn::Fields::Unit => Self::None,
            syn::Fields::Named(_) => Self::Named(named(fields)),
            syn::Fields::Unnamed(it) => {
                Self::Unnamed(it.unnamed.iter().map(|it| it.ty.clone()).collect())
            }
        }
    }

    /// The names that a pattern gives the fields.
    #[allow(clippy::unnecessary_wraps)]
    pub fn names(&self) -> Option<Vec<String>> {
        Some(match self {
            Self::None => Vec::new(),
            Self::Named(fields) => fields.iter().map(|it| it.0.clone()).collect(),
            Self::Unnamed(fields) => (0..fields.len()).map(|it| format!("field{it}")).collect(),
        })
    }

    pub fn types(&self) -> Box<dyn Iterator<Item = &Type> + '_> {
        match self {
            Self::None => Box::new(std::iter::empty()),
            Self::Named(fields) => Box::new(fields.iter().map(|it| &it.1)),
            Self::Unnamed(fields) => Box::new(fields.iter()),
        }
    }

    /// A pattern for whatever is in the fields.
    pub fn any(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Named(_) => " { .. }",
            Self::Unnamed(_) => "(..)",
        }
    }

    pub fn with(&self, name: &str, names: &[String]) -> String {
        self.with_values(name, names, names)
    }

    pub fn with_values(&self, name: &str, names: &[String], values: &[String]) -> String {
        let each = |(name, value): (&String, &String)| match name == value {
            true => name.clone(),
            false => format!("{name}: {value}"),
        };
        match self {
            Self::None => name.to_owned(),
            Self::Named(_) => {
                let all: Vec<String> = names.iter().zip(values).map(each).collect();
                format!("{name} {{ {} }}", all.join(", "))
            }
            Self::Unnamed(_) => format!("{name}({})", values.join(", ")),
        }
    }
}

impl Types {
    pub fn read(text: &str, kind: &str) -> Result<Self, String> {
        let file = syn::parse_file(text).map_err(|it| it.to_string())?;
        let (mut all, mut root) = (BTreeMap::new(), None);
        for item in &file.items {
            match item {
                Item::Struct(it) => {
                    if let Some(status) = root_of(it, kind) {
                        root = Some((it.ident.to_string(), status));
                    }
                    all.insert(it.ident.to_string(), body_of(it));
                }
                Item::Enum(it) => {
                    let variants = it.variants.iter();
                    let variants =
                        variants.map(|it| (it.ident.to_string(), Fields::of(&it.fields)));
                    let body = match it.generics.params.is_empty() {
                        true => Body::Enum(variants.collect()),
                        false => Body::Other,
                    };
                    all.insert(it.ident.to_string(), body);
                }
                _ => {}
            }
        }
        let (spec, status) =
            root.ok_or_else(|| format!("no struct has `#[kube(…, kind = \"{kind}\", …)]`"))?;
        Ok(Self { all, spec, status })
    }
}

fn named(fields: &syn::Fields) -> Vec<(String, Type)> {
    let name = |it: &syn::Field| it.ident.as_ref().map(Ident::to_string);
    fields.iter().filter_map(|it| Some((name(it)?, it.ty.clone()))).collect()
}

fn body_of(it: &ItemStruct) -> Body {
    match &it.fields {
        _ if !it.generics.params.is_empty() => Body::Other,
        syn::Fields::Named(_) => Body::Struct(named(&it.fields)),
        syn::Fields::Unnamed(_) => Body::Tuple(it.fields.iter().map(|it| it.ty.clone()).collect()),
        syn::Fields::Unit => Body::Other,
    }
}

/// The status of the struct that declares this kind.
#[allow(clippy::option_option)]
fn root_of(it: &ItemStruct, kind: &str) -> Option<Option<String>> {
    let mut found = None;
    let mut status = None;
    for attribute in it.attrs.iter().filter(|it| it.path().is_ident("kube")) {
        for (name, value) in strings(attribute) {
            match name.as_str() {
                "kind" => found = Some(value.value()),
                "status" => status = Some(value.value()),
                _ => {}
            }
        }
    }
    (found.as_deref() == Some(kind)).then_some(status)
}

/// Whether a struct declares this kind.
pub fn declares(it: &ItemStruct, kind: &str) -> bool {
    root_of(it, kind).is_some()
}

/// The items of an attribute that are `name = "text"`.
pub fn strings(attribute: &Attribute) -> Vec<(String, LitStr)> {
    let parser = Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let all = attribute.parse_args_with(parser).unwrap_or_default();
    let string = |it: syn::Meta| {
        let pair = it.require_name_value().ok()?;
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else {
            return None;
        };
        Some((pair.path.get_ident()?.to_string(), text.clone()))
    };
    all.into_iter().filter_map(string).collect()
}

/// How a value gets to be one of another type.
pub enum Conversion {
    Same,
    /// These pairs of types have a conversion.
    Into(Vec<(String, String)>, How),
}

pub enum How {
    Into,
    /// `Option`
    Map(Box<How>),
    /// `Vec` and other lists
    Each(Box<How>),
    /// A map's values
    Values(Box<How>),
    Box(Box<How>),
}

impl How {
    pub fn apply(&self, value: &str) -> String {
        match self {
            Self::Into => format!("{value}.into()"),
            Self::Map(inner) => format!("{value}.map({})", inner.function()),
            Self::Each(inner) => format!("{value}.into_iter().map({}).collect()", inner.function()),
            Self::Values(inner) => {
                let inner = inner.apply("it");
                format!("{value}.into_iter().map(|(key, it)| (key, {inner})).collect()")
            }
            Self::Box(inner) => format!("Box::new({})", inner.apply(&format!("(*{value})"))),
        }
    }

    fn function(&self) -> String {
        match self {
            Self::Into => "Into::into".to_owned(),
            _ => format!("|it| {}", self.apply("it")),
        }
    }
}

/// How to convert a value; none if the types have nothing in common.
pub fn between(from: &Type, to: &Type, types: &Types, others: &Types) -> Option<Conversion> {
    let is_own = |it: &Type| mentions(it, types) || mentions(it, others);
    let tokens = |it: &Type| it.to_token_stream().to_string();
    if !is_own(from) && !is_own(to) {
        return (tokens(from) == tokens(to)).then_some(Conversion::Same);
    }
    let (from, arguments) = last(from)?;
    let (to, other_arguments) = last(to)?;
    if types.all.contains_key(&from) && others.all.contains_key(&to) {
        return (from == to).then(|| Conversion::Into(vec![(from, to)], How::Into));
    }
    if from != to || arguments.len() != other_arguments.len() {
        return None;
    }
    let inner = between(arguments.last()?, other_arguments.last()?, types, others)?;
    let Conversion::Into(pairs, how) = inner else { return None };
    let keys = arguments.iter().zip(&other_arguments).rev().skip(1);
    let has_own_keys = { keys }.any(|(one, other)| is_own(one) || tokens(one) != tokens(other));
    let how = match (from.as_str(), arguments.len()) {
        _ if has_own_keys => return None,
        ("Option", 1) => How::Map(Box::new(how)),
        ("Vec" | "VecDeque" | "BTreeSet" | "HashSet" | "IndexSet", 1) => How::Each(Box::new(how)),
        ("BTreeMap" | "HashMap" | "IndexMap", 2) => How::Values(Box::new(how)),
        ("Box", 1) => How::Box(Box::new(how)),
        _ => return None,
    };
    Some(Conversion::Into(pairs, how))
}

/// The last name of a type's path, and its arguments.
fn last(ty: &Type) -> Option<(String, Vec<Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::None => Vec::new(),
        PathArguments::AngleBracketed(it) => { it.args.iter() }
            .map(|it| match it {
                GenericArgument::Type(it) => Some(it.clone()),
                _ => None,
            })
            .collect::<Option<_>>()?,
        PathArguments::Parenthesized(_) => return None,
    };
    Some((last.ident.to_string(), arguments))
}

/// Whether a type names one that the file declares.
fn mentions(ty: &Type, types: &Types) -> bool {
    struct Visitor<'a>(&'a Types, bool);
    impl<'ast> syn::visit::Visit<'ast> for Visitor<'_> {
        fn visit_path(&mut self, it: &'ast syn::Path) {
            self.1 |= it.get_ident().is_some_and(|it| self.0.all.contains_key(&it.to_string()));
            syn::visit::visit_path(self, it);
        }
    }
    let mut visitor = Visitor(types, false);
    syn::visit::Visit::visit_type(&mut visitor, ty);
    visitor.1
}

/// A value to begin with, for a field that the other version does not have.
pub fn default(ty: &Type, types: &Types) -> &'static str {
    const KNOWN: &[&str] = &[
        "BTreeMap", "BTreeSet", "HashMap", "HashSet", "Option", "String", "Vec", "bool", "f32",
        "f64", "i16", "i32", "i64", "i8", "isize", "u16", "u32", "u64", "u8", "usize",
    ];
    match last(ty) {
        Some((name, _)) if KNOWN.contains(&name.as_str()) && !types.all.contains_key(&name) => {
            "Default::default()"
        }
        _ => "todo!(\"choose a value\")",
    }
}

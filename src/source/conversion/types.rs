//! The types that a file declares.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Attribute, Generics, Ident, Item, ItemEnum, ItemStruct, LitStr, Type, Visibility,
    punctuated::Punctuated, visit::Visit,
};

use super::{between, names::FileNames};

/// The types of a file by name.
pub struct FileTypes {
    pub all: BTreeMap<String, TypeBody>,
    /// The struct with `#[kube(…)]`.
    pub spec: String,
    pub status: Option<Type>,
    /// The lints that warn where the fields are named.
    pub lints: BTreeSet<&'static str>,
    pub names: FileNames,
}

pub enum TypeBody {
    Struct(Vec<Field>),
    Tuple(Vec<Type>),
    Enum(Vec<(String, Fields)>),
    /// One that no conversion can be written for, and why.
    Other(String),
}

/// A field of a struct.
pub struct Field {
    pub name: String,
    pub ty: Type,
    pub missing: MissingField,
}

/// The value that serde gives a field that a document does not have.
pub enum MissingField {
    /// A value that this expression gives, in a function of the type.
    Value(String),
    /// This call gives it, of a function that other files may not see.
    Function(String),
    /// An error: the field is required.
    Refused,
}

/// The fields of a variant.
pub enum Fields {
    None,
    Named(Vec<(String, Type)>),
    Unnamed(Vec<Type>),
}

impl Fields {
    fn from_syn(fields: &syn::Fields, names: &FileNames) -> Self {
        match fields {
            syn::Fields::Unit => Self::None,
            syn::Fields::Named(_) => Self::Named(named_types(fields, names)),
            syn::Fields::Unnamed(_) => Self::Unnamed(unnamed_types(fields, names)),
        }
    }

    /// Returns the names that a pattern gives the fields.
    #[allow(clippy::unnecessary_wraps)]
    pub fn binding_names(&self) -> Option<Vec<String>> {
        Some(match self {
            Self::None => Vec::new(),
            Self::Named(fields) => fields.iter().map(|pair| pair.0.clone()).collect(),
            Self::Unnamed(fields) => {
                (0..fields.len()).map(|index| format!("field{index}")).collect()
            }
        })
    }

    pub fn field_types(&self) -> Box<dyn Iterator<Item = &Type> + '_> {
        match self {
            Self::None => Box::new(std::iter::empty()),
            Self::Named(fields) => Box::new(fields.iter().map(|pair| &pair.1)),
            Self::Unnamed(fields) => Box::new(fields.iter()),
        }
    }

    /// Returns a pattern for whatever is in the fields.
    pub fn wildcard_pattern(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Named(_) => " { .. }",
            Self::Unnamed(_) => "(..)",
        }
    }

    pub fn pattern(&self, name: &str, names: &[String]) -> String {
        self.pattern_with_values(name, names, names)
    }

    pub fn pattern_with_values(&self, name: &str, names: &[String], values: &[String]) -> String {
        let each = |(name, value): (&String, &String)| {
            if name == value { name.clone() } else { format!("{name}: {value}") }
        };
        match self {
            Self::None => name.to_owned(),
            Self::Named(_) => {
                let all: Vec<String> = names.iter().zip(values).map(each).collect();
                if all.is_empty() {
                    return format!("{name} {{}}");
                }
                format!("{name} {{ {} }}", all.join(", "))
            }
            Self::Unnamed(_) => format!("{name}({})", values.join(", ")),
        }
    }
}

impl FileTypes {
    pub fn parse(text: &str, home: &[&str], kind: &str) -> Result<Self, String> {
        let file = syn::parse_file(text).map_err(|error| error.to_string())?;
        let names = FileNames::from_file(&file, home);
        let (mut all, mut root) = (BTreeMap::new(), None);
        for item in &file.items {
            match item {
                Item::Struct(it) => {
                    if let Some(status) = root_of(it, kind) {
                        root = Some((it.ident.to_string(), status));
                    }
                    all.insert(it.ident.to_string(), body_of(it, &names));
                }
                Item::Enum(it) => {
                    all.insert(it.ident.to_string(), body_of_enum(it, &names));
                }
                _ => {}
            }
        }
        let (spec, status) =
            root.ok_or_else(|| format!("no struct has `#[kube(…, kind = \"{kind}\", …)]`"))?;
        let resolve = |literal: &LitStr| literal.parse().map(|path| names.resolve(&path));
        let status = status.as_ref().map(resolve).transpose().map_err(|error| error.to_string())?;
        Ok(Self { all, spec, status, lints: allowed_lints(&file), names })
    }
}

fn named_types(fields: &syn::Fields, names: &FileNames) -> Vec<(String, Type)> {
    let name = |field: &syn::Field| field.ident.as_ref().map(Ident::to_string);
    fields.iter().filter_map(|field| Some((name(field)?, names.resolve(&field.ty)))).collect()
}

fn unnamed_types(fields: &syn::Fields, names: &FileNames) -> Vec<Type> {
    fields.iter().map(|field| names.resolve(&field.ty)).collect()
}

fn body_of(it: &ItemStruct, names: &FileNames) -> TypeBody {
    let item = Item::Struct(it.clone());
    let private = it.fields.iter().any(|field| is_private(&field.vis));
    match &it.fields {
        _ if private => TypeBody::Other("has a private field".to_owned()),
        _ if let Some(why) = conversion_obstacle(&item, &it.vis, &it.generics) => {
            TypeBody::Other(why)
        }
        syn::Fields::Unnamed(_) => TypeBody::Tuple(unnamed_types(&it.fields, names)),
        syn::Fields::Named(_) | syn::Fields::Unit => {
            let missing = it.fields.iter().map(|field| missing_field(field, &it.attrs));
            let all = named_types(&it.fields, names).into_iter().zip(missing);
            TypeBody::Struct(all.map(|((name, ty), missing)| Field { name, ty, missing }).collect())
        }
    }
}

/// Returns what serde does with a missing field, by the attributes of the field and of its struct.
fn missing_field(field: &syn::Field, of_struct: &[Attribute]) -> MissingField {
    let has = |attributes: &[Attribute], name: &str| {
        serde_items(attributes).iter().any(|meta| meta.path().is_ident(name))
    };
    let function = |attributes: &[Attribute]| {
        let all = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
        all.flat_map(string_items).find(|pair| pair.0 == "default").map(|pair| pair.1.value())
    };
    if let Some(function) = function(&field.attrs) {
        return MissingField::Function(format!("{function}()"));
    }
    if has(&field.attrs, "default") {
        return MissingField::Value("Default::default()".to_owned());
    }
    let name = field.ident.as_ref().map(Ident::to_string).unwrap_or_default();
    if let Some(function) = function(of_struct) {
        return MissingField::Function(format!("{function}().{name}"));
    }
    if has(of_struct, "default") {
        return MissingField::Value(format!("Self::default().{name}"));
    }
    // serde takes an Option that is missing as None, unless a function of the user's reads it.
    let reads = ["with", "deserialize_with", "flatten"];
    match between::last_segment(&field.ty) {
        Some((name, _))
            if name == "Option" && !reads.iter().any(|text| has(&field.attrs, text)) =>
        {
            MissingField::Value("None".to_owned())
        }
        _ => MissingField::Refused,
    }
}

/// Returns the items of the `#[serde(…)]` of a field or a type.
fn serde_items(attributes: &[Attribute]) -> Vec<syn::Meta> {
    let parser = Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let all = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    all.flat_map(|attribute| attribute.parse_args_with(parser).unwrap_or_default()).collect()
}

fn body_of_enum(it: &ItemEnum, names: &FileNames) -> TypeBody {
    if let Some(why) = conversion_obstacle(&Item::Enum(it.clone()), &it.vis, &it.generics) {
        return TypeBody::Other(why);
    }
    let variant = |variant: &syn::Variant| {
        (variant.ident.to_string(), Fields::from_syn(&variant.fields, names))
    };
    TypeBody::Enum(it.variants.iter().map(variant).collect())
}

/// Returns why no conversion of a type can be written.
fn conversion_obstacle(
    item: &Item,
    visibility: &Visibility,
    generics: &Generics,
) -> Option<String> {
    if is_private(visibility) {
        return Some("is private".to_owned());
    }
    if !generics.params.is_empty() {
        return Some("has generic parameters".to_owned());
    }
    has_attribute(item, "cfg").then(|| "has parts with `#[cfg]`".to_owned())
}

/// Returns whether the file of the conversion, in another module, cannot name it.
fn is_private(it: &Visibility) -> bool {
    match it {
        Visibility::Public(_) => false,
        Visibility::Restricted(it) => !it.path.is_ident("crate"),
        _ => true,
    }
}

/// Returns the lints that warn where code names the fields and variants of a file.
fn allowed_lints(file: &syn::File) -> BTreeSet<&'static str> {
    struct Names(bool);
    impl<'ast> Visit<'ast> for Names {
        fn visit_field(&mut self, it: &'ast syn::Field) {
            let name = it.ident.as_ref().map(Ident::to_string).unwrap_or_default();
            self.0 |= matches!(&*name, "foo" | "baz" | "quux");
        }
    }
    let mut names = Names(false);
    names.visit_file(file);
    let is_deprecated = file.items.iter().any(|item| has_attribute(item, "deprecated"));
    let all = [("clippy::disallowed_names", names.0), ("deprecated", is_deprecated)];
    all.into_iter().filter_map(|(name, applies)| applies.then_some(name)).collect()
}

/// Returns whether one of the attributes in an item has this name.
fn has_attribute(item: &Item, name: &str) -> bool {
    struct Visitor<'a>(&'a str, bool);
    impl<'ast> Visit<'ast> for Visitor<'_> {
        fn visit_attribute(&mut self, it: &'ast Attribute) {
            self.1 |= it.path().is_ident(self.0);
        }
    }
    let mut visitor = Visitor(name, false);
    visitor.visit_item(item);
    visitor.1
}

/// Returns the status of the struct that declares this kind.
#[allow(clippy::option_option)]
fn root_of(it: &ItemStruct, kind: &str) -> Option<Option<LitStr>> {
    let mut found = None;
    let mut status = None;
    for attribute in it.attrs.iter().filter(|attribute| attribute.path().is_ident("kube")) {
        for (name, value) in string_items(attribute) {
            match name.as_str() {
                "kind" => found = Some(value.value()),
                "status" => status = Some(value),
                _ => {}
            }
        }
    }
    (found.as_deref() == Some(kind)).then_some(status)
}

/// Returns whether a struct declares this kind.
pub fn declares_kind(it: &ItemStruct, kind: &str) -> bool {
    root_of(it, kind).is_some()
}

/// Returns the items of an attribute that are `name = "text"`.
pub fn string_items(attribute: &Attribute) -> Vec<(String, LitStr)> {
    let parser = Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
    let all = attribute.parse_args_with(parser).unwrap_or_default();
    let string = |meta: syn::Meta| {
        let pair = meta.require_name_value().ok()?;
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else {
            return None;
        };
        Some((pair.path.get_ident()?.to_string(), text.clone()))
    };
    all.into_iter().filter_map(string).collect()
}

//! The expressions that convert a value of one type into a value of another.

use quote::ToTokens as _;
use syn::{GenericArgument, PathArguments, Type, visit::Visit};

use super::types::FileTypes;

/// A conversion of a value to another type.
pub enum Conversion {
    Same,
    /// These pairs of types have a conversion.
    Into(Vec<(String, String)>, ConversionExpression),
}

pub enum ConversionExpression {
    Into,
    /// `Option`
    Map(Box<ConversionExpression>),
    /// `Vec` and other lists
    Each(Box<ConversionExpression>),
    /// A map's values
    Values(Box<ConversionExpression>),
    Box(Box<ConversionExpression>),
}

impl ConversionExpression {
    /// Returns the source of an expression that converts `value`, which is the source of an expression, too.
    pub fn applied_source(&self, value: &str) -> String {
        match self {
            Self::Into => format!("{value}.into()"),
            Self::Map(inner) => format!("{value}.map({})", inner.closure_source()),
            Self::Each(inner) => {
                format!("{value}.into_iter().map({}).collect()", inner.closure_source())
            }
            Self::Values(inner) => {
                let inner = inner.applied_source("it");
                format!("{value}.into_iter().map(|(key, it)| (key, {inner})).collect()")
            }
            Self::Box(inner) => {
                format!("Box::new({})", inner.applied_source(&format!("(*{value})")))
            }
        }
    }

    fn closure_source(&self) -> String {
        match self {
            Self::Into => "Into::into".to_owned(),
            _ => format!("|it| {}", self.applied_source("it")),
        }
    }
}

/// Returns the conversion of a value; none if the types have nothing in common.
pub fn find_conversion(
    from: &Type,
    to: &Type,
    types: &FileTypes,
    others: &FileTypes,
) -> Option<Conversion> {
    let is_own = |ty: &Type| mentions_declared(ty, types) || mentions_declared(ty, others);
    let tokens = |it: &Type| it.to_token_stream().to_string();
    if !is_own(from) && !is_own(to) {
        let is_same = tokens(from) == tokens(to) && types.names.is_shared(from, &others.names);
        return is_same.then_some(Conversion::Same);
    }
    if let (Some(from), Some(to)) = (declared_name(from, types), declared_name(to, others)) {
        return (from == to)
            .then(|| Conversion::Into(vec![(from, to)], ConversionExpression::Into));
    }
    let (from, arguments) = last_segment(from)?;
    let (to, other_arguments) = last_segment(to)?;
    if from != to || arguments.len() != other_arguments.len() {
        return None;
    }
    let inner = find_conversion(arguments.last()?, other_arguments.last()?, types, others)?;
    let Conversion::Into(pairs, how) = inner else { return None };
    let keys = arguments.iter().zip(&other_arguments).rev().skip(1);
    let is_other = |one: &Type, other: &Type| {
        tokens(one) != tokens(other) || !types.names.is_shared(one, &others.names)
    };
    let has_own_keys = { keys }.any(|(one, other)| is_own(one) || is_other(one, other));
    let how = match (from.as_str(), arguments.len()) {
        _ if has_own_keys => return None,
        ("Option", 1) => ConversionExpression::Map(Box::new(how)),
        ("Vec" | "VecDeque" | "BTreeSet" | "HashSet" | "IndexSet", 1) => {
            ConversionExpression::Each(Box::new(how))
        }
        ("BTreeMap" | "HashMap" | "IndexMap", 2) => ConversionExpression::Values(Box::new(how)),
        ("Box", 1) => ConversionExpression::Box(Box::new(how)),
        _ => return None,
    };
    Some(Conversion::Into(pairs, how))
}

/// Returns the name of a type that the file declares.
pub fn declared_name(ty: &Type, types: &FileTypes) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let only = path.path.segments.first().filter(|_| path.path.segments.len() == 1);
    only.map(|segment| segment.ident.to_string()).filter(|name| types.all.contains_key(name))
}

/// Returns the last name of a type's path, and its arguments.
pub fn last_segment(ty: &Type) -> Option<(String, Vec<Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::None => Vec::new(),
        PathArguments::AngleBracketed(it) => { it.args.iter() }
            .map(|argument| match argument {
                GenericArgument::Type(it) => Some(it.clone()),
                _ => None,
            })
            .collect::<Option<_>>()?,
        PathArguments::Parenthesized(_) => return None,
    };
    Some((last.ident.to_string(), arguments))
}

/// Returns whether a type names one that the file declares.
fn mentions_declared(ty: &Type, types: &FileTypes) -> bool {
    struct Visitor<'a>(&'a FileTypes, bool);
    impl<'ast> Visit<'ast> for Visitor<'_> {
        fn visit_path(&mut self, it: &'ast syn::Path) {
            let only = it.segments.first().filter(|_| it.segments.len() == 1);
            self.1 |=
                only.is_some_and(|segment| self.0.all.contains_key(&segment.ident.to_string()));
            syn::visit::visit_path(self, it);
        }
    }
    let mut visitor = Visitor(types, false);
    visitor.visit_type(ty);
    visitor.1
}

//! How a value of one type gets to be a value of another one.

use quote::ToTokens as _;
use syn::{GenericArgument, PathArguments, Type, visit::Visit};

use super::types::Types;

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
        let is_same = tokens(from) == tokens(to) && types.names.is_shared(from, &others.names);
        return is_same.then_some(Conversion::Same);
    }
    if let (Some(from), Some(to)) = (own(from, types), own(to, others)) {
        return (from == to).then(|| Conversion::Into(vec![(from, to)], How::Into));
    }
    let (from, arguments) = last(from)?;
    let (to, other_arguments) = last(to)?;
    if from != to || arguments.len() != other_arguments.len() {
        return None;
    }
    let inner = between(arguments.last()?, other_arguments.last()?, types, others)?;
    let Conversion::Into(pairs, how) = inner else { return None };
    let keys = arguments.iter().zip(&other_arguments).rev().skip(1);
    let is_other = |one: &Type, other: &Type| {
        tokens(one) != tokens(other) || !types.names.is_shared(one, &others.names)
    };
    let has_own_keys = { keys }.any(|(one, other)| is_own(one) || is_other(one, other));
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

/// The name of a type that the file declares.
pub fn own(ty: &Type, types: &Types) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let only = path.path.segments.first().filter(|_| path.path.segments.len() == 1);
    only.map(|it| it.ident.to_string()).filter(|it| types.all.contains_key(it))
}

/// The last name of a type's path, and its arguments.
pub fn last(ty: &Type) -> Option<(String, Vec<Type>)> {
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
    impl<'ast> Visit<'ast> for Visitor<'_> {
        fn visit_path(&mut self, it: &'ast syn::Path) {
            let only = it.segments.first().filter(|_| it.segments.len() == 1);
            self.1 |= only.is_some_and(|it| self.0.all.contains_key(&it.ident.to_string()));
            syn::visit::visit_path(self, it);
        }
    }
    let mut visitor = Visitor(types, false);
    visitor.visit_type(ty);
    visitor.1
}

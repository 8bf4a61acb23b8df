//! The effect of a generic type's parameters on its name, its identity and the defaults of its fields, as in
//! schemars' derive: a derived impl knows only the bounds of a parameter.

use std::collections::BTreeSet;

use serde_derive_internals::{ast, attr};
use syn::{DeriveInput, GenericArgument, Type as Syntax, WherePredicate};

use crate::attributes::{error, schemars::With};
use crate::names::{Named, Space};
use crate::text::plain;
use crate::tree::{ModuleId, Path};
use crate::types::Types;

#[derive(Default)]
pub struct Parameters {
    /// Those that fields use: they are part of the type's identity.
    pub relevant: BTreeSet<String>,
    all: BTreeSet<String>,
    /// Which of them are known to be `Serialize`.
    known: BTreeSet<String>,
    /// Which of them might be, by a bound that is not understood.
    doubtful: BTreeSet<String>,
}

/// Whether the derived impl can write a value of some type.
pub enum Writes {
    Yes,
    No,
    Unknown,
}

/// Bounds that do not make anything `Serialize`.
const QUIET: &[&str] = &[
    "schemars::JsonSchema",
    "serde::Deserialize",
    "serde::DeserializeOwned",
    "std::default::Default",
    "std::clone::Clone",
    "std::marker::Copy",
    "std::cmp::Eq",
    "std::cmp::PartialEq",
    "std::cmp::Ord",
    "std::cmp::PartialOrd",
    "std::fmt::Debug",
    "std::fmt::Display",
    "std::hash::Hash",
    "std::str::FromStr",
    "std::marker::Send",
    "std::marker::Sync",
    "std::marker::Sized",
    "Send",
    "Sync",
    "Sized",
];

impl Parameters {
    pub fn read(
        input: &DeriveInput,
        of: &ast::Container<'_>,
        rename: Option<&syn::LitStr>,
        stands: impl Fn(&syn::Field) -> syn::Result<Option<With>>,
        world: &Types,
        module: ModuleId,
    ) -> syn::Result<Self> {
        let mut res = Self::default();
        res.all.extend(input.generics.type_params().map(|it| plain(&it.ident)));
        if let Some(name) = rename.filter(|it| it.value().contains('{')) {
            return error(name.span(), "parameters in a name are not supported");
        }
        let fields: Vec<&ast::Field<'_>> = match &of.data {
            ast::Data::Struct(_, fields) => fields.iter().collect(),
            ast::Data::Enum(variants) => variants
                .iter()
                .filter(|it| !(it.attrs.skip_deserializing() && it.attrs.skip_serializing()))
                .flat_map(|it| &it.fields)
                .collect(),
        };
        let skipped = |it: &attr::Field| it.skip_deserializing() && it.skip_serializing();
        for field in fields.into_iter().filter(|it| !skipped(&it.attrs)) {
            let mentioned = match stands(field.original)? {
                None => res.mentioned(field.ty),
                Some(With::Type(ty)) => res.mentioned(&ty),
                // A function has a schema of its own.
                Some(With::Function(_)) => BTreeSet::new(),
            };
            res.relevant.extend(mentioned);
            if field.attrs.de_bound().is_some() && !res.all.is_empty() {
                return error(input.ident.span(), "`bound` on a field is not supported");
            }
        }
        if of.attrs.de_bound().is_some() && !res.all.is_empty() {
            res.doubtful = res.all.clone();
        }
        for it in input.generics.type_params() {
            res.bounds(&plain(&it.ident), &it.bounds, world, module);
        }
        for it in input.generics.where_clause.iter().flat_map(|it| &it.predicates) {
            let WherePredicate::Type(it) = it else { continue };
            match &it.bounded_ty {
                Syntax::Path(ty) if ty.path.get_ident().is_some() && ty.qself.is_none() => {
                    let name = ty.path.get_ident().map(plain).unwrap_or_default();
                    res.bounds(&name, &it.bounds, world, module);
                }
                ty => {
                    let mentioned = res.mentioned(ty);
                    res.doubtful.extend(mentioned);
                }
            }
        }
        Ok(res)
    }

    fn bounds(
        &mut self,
        name: &str,
        bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>,
        world: &Types,
        module: ModuleId,
    ) {
        for bound in bounds {
            let syn::TypeParamBound::Trait(bound) = bound else { continue };
            match world.resolve(module, &Path::from(&bound.path), Space::Types) {
                Ok(Named::Foreign(it)) if it == "serde::Serialize" => {
                    self.known.insert(name.to_owned());
                }
                Ok(Named::Foreign(it)) if QUIET.contains(&it.as_str()) => {}
                // `Send` and its like are in the prelude, of which we know less.
                Err(_) if QUIET.iter().any(|it| bound.path.is_ident(it)) => {}
                _ => drop(self.doubtful.insert(name.to_owned())),
            }
        }
    }

    /// The parameters that a type has in it, beside those in `PhantomData`.
    fn mentioned(&self, ty: &Syntax) -> BTreeSet<String> {
        let mut res = BTreeSet::new();
        if !self.all.is_empty() {
            self.look(ty, &mut res);
        }
        res
    }

    fn look(&self, ty: &Syntax, found: &mut BTreeSet<String>) {
        match ty {
            Syntax::Array(it) => self.look(&it.elem, found),
            Syntax::Group(it) => self.look(&it.elem, found),
            Syntax::Paren(it) => self.look(&it.elem, found),
            Syntax::Reference(it) => self.look(&it.elem, found),
            Syntax::Slice(it) => self.look(&it.elem, found),
            Syntax::Tuple(it) => it.elems.iter().for_each(|it| self.look(it, found)),
            Syntax::Path(it) => {
                if let Some(it) = &it.qself {
                    self.look(&it.ty, found);
                }
                if it.path.segments.last().is_some_and(|it| it.ident == "PhantomData") {
                    return;
                }
                if let (None, Some(first)) = (it.path.leading_colon, it.path.segments.first()) {
                    let first = plain(&first.ident);
                    if self.all.contains(&first) {
                        found.insert(first);
                    }
                }
                let inside = it.path.segments.iter().flat_map(types);
                inside.for_each(|it| self.look(it, found));
            }
            _ => {}
        }
    }

    /// Whether the derived impl knows how to write the default of a field of this type.
    pub fn writes(&self, ty: &Syntax, world: &Types, module: ModuleId) -> Writes {
        let mentioned = self.mentioned(ty);
        if mentioned.is_subset(&self.known) {
            return Writes::Yes;
        }
        let sure = mentioned.is_disjoint(&self.doubtful);
        if sure && self.only_std(ty, world, module) { Writes::No } else { Writes::Unknown }
    }

    /// Whether only types of std are around the parameters: those are `Serialize` if their arguments are.
    fn only_std(&self, ty: &Syntax, world: &Types, module: ModuleId) -> bool {
        if self.mentioned(ty).is_empty() {
            return true;
        }
        let inside = |ty: &Syntax| self.only_std(ty, world, module);
        match ty {
            Syntax::Array(it) => inside(&it.elem),
            Syntax::Group(it) => inside(&it.elem),
            Syntax::Paren(it) => inside(&it.elem),
            Syntax::Reference(it) => inside(&it.elem),
            Syntax::Slice(it) => inside(&it.elem),
            Syntax::Tuple(it) => it.elems.iter().all(inside),
            Syntax::Path(it) if it.qself.is_some() => false,
            Syntax::Path(it) if it.path.get_ident().is_some() => true,
            Syntax::Path(it) => {
                let named = world.resolve(module, &Path::from(&it.path), Space::Types);
                let std = matches!(named, Ok(Named::Foreign(it)) if it.starts_with("std::"));
                std && it.path.segments.last().is_some_and(|it| types(it).into_iter().all(inside))
            }
            _ => false,
        }
    }
}

/// The types between `<` and `>`.
fn types(segment: &syn::PathSegment) -> Vec<&Syntax> {
    let syn::PathArguments::AngleBracketed(it) = &segment.arguments else { return Vec::new() };
    let inside = it.args.iter().filter_map(|it| match it {
        GenericArgument::Type(it) => Some(it),
        GenericArgument::AssocType(it) => Some(&it.ty),
        _ => None,
    });
    inside.collect()
}

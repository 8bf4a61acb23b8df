//! The effect of a generic type's parameters on its name, its identity and the defaults of its fields, as in
//! schemars' derive: a derived impl knows only the bounds of a parameter.

use std::collections::BTreeSet;

use serde_derive_internals::{ast, attr};
use syn::{DeriveInput, GenericArgument, Type as Syntax, WherePredicate};

use crate::attributes::{schemars::With, syn_error};
use crate::names::{Named, Space};
use crate::text::unraw_name;
use crate::tree::{ModuleId, Path};
use crate::types::Types;

#[derive(Default)]
pub struct Parameters {
    /// Those that fields use: they are part of the type's identity.
    pub relevant: BTreeSet<String>,
    all: BTreeSet<String>,
    /// The parameters that are known to be `Serialize`.
    known: BTreeSet<String>,
    /// The parameters that may be `Serialize`, by a bound that is not understood.
    doubtful: BTreeSet<String>,
}

/// Tells if the derived impl can write a value of some type.
pub enum DefaultWrites {
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
    pub fn from_input(
        input: &DeriveInput,
        of: &ast::Container<'_>,
        rename: Option<&syn::LitStr>,
        stands: impl Fn(&syn::Field) -> syn::Result<Option<With>>,
        world: &Types,
        module: ModuleId,
    ) -> syn::Result<Self> {
        let mut parameters = Self::default();
        parameters
            .all
            .extend(input.generics.type_params().map(|parameter| unraw_name(&parameter.ident)));
        if let Some(name) = rename.filter(|literal| literal.value().contains('{')) {
            return syn_error(name.span(), "parameters in a name are not supported");
        }
        let fields: Vec<&ast::Field<'_>> = match &of.data {
            ast::Data::Struct(_, fields) => fields.iter().collect(),
            ast::Data::Enum(variants) => variants
                .iter()
                .filter(|variant| {
                    !(variant.attrs.skip_deserializing() && variant.attrs.skip_serializing())
                })
                .flat_map(|variant| &variant.fields)
                .collect(),
        };
        let skipped = |it: &attr::Field| it.skip_deserializing() && it.skip_serializing();
        for field in fields.into_iter().filter(|field| !skipped(&field.attrs)) {
            let mentioned = match stands(field.original)? {
                None => parameters.parameters_in(field.ty),
                Some(With::Type(ty)) => parameters.parameters_in(&ty),
                // A function writes the schema itself.
                Some(With::Function(_)) => BTreeSet::new(),
            };
            parameters.relevant.extend(mentioned);
            if field.attrs.de_bound().is_some() && !parameters.all.is_empty() {
                return syn_error(input.ident.span(), "`bound` on a field is not supported");
            }
        }
        if of.attrs.de_bound().is_some() && !parameters.all.is_empty() {
            parameters.doubtful = parameters.all.clone();
        }
        for it in input.generics.type_params() {
            parameters.add_bounds(&unraw_name(&it.ident), &it.bounds, world, module);
        }
        for it in input.generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            let WherePredicate::Type(it) = it else { continue };
            match &it.bounded_ty {
                Syntax::Path(ty) if ty.path.get_ident().is_some() && ty.qself.is_none() => {
                    let name = ty.path.get_ident().map(unraw_name).unwrap_or_default();
                    parameters.add_bounds(&name, &it.bounds, world, module);
                }
                ty => {
                    let mentioned = parameters.parameters_in(ty);
                    parameters.doubtful.extend(mentioned);
                }
            }
        }
        Ok(parameters)
    }

    fn add_bounds(
        &mut self,
        name: &str,
        bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>,
        world: &Types,
        module: ModuleId,
    ) {
        for bound in bounds {
            let syn::TypeParamBound::Trait(bound) = bound else { continue };
            match world.resolve_path(module, &Path::from(&bound.path), Space::Types) {
                Ok(Named::Foreign(it)) if it == "serde::Serialize" => {
                    self.known.insert(name.to_owned());
                }
                Ok(Named::Foreign(it)) if QUIET.contains(&it.as_str()) => {}
                // `Send` and other marker traits are in the prelude, which is not fully known.
                Err(_) if QUIET.iter().any(|name| bound.path.is_ident(name)) => {}
                _ => drop(self.doubtful.insert(name.to_owned())),
            }
        }
    }

    /// The parameters that a type has in it, beside those in `PhantomData`.
    fn parameters_in(&self, ty: &Syntax) -> BTreeSet<String> {
        let mut mentioned = BTreeSet::new();
        if !self.all.is_empty() {
            self.collect_parameters_in(ty, &mut mentioned);
        }
        mentioned
    }

    fn collect_parameters_in(&self, ty: &Syntax, found: &mut BTreeSet<String>) {
        match ty {
            Syntax::Array(it) => self.collect_parameters_in(&it.elem, found),
            Syntax::Group(it) => self.collect_parameters_in(&it.elem, found),
            Syntax::Paren(it) => self.collect_parameters_in(&it.elem, found),
            Syntax::Reference(it) => self.collect_parameters_in(&it.elem, found),
            Syntax::Slice(it) => self.collect_parameters_in(&it.elem, found),
            Syntax::Tuple(it) => {
                it.elems.iter().for_each(|ty| self.collect_parameters_in(ty, found))
            }
            Syntax::Path(it) => {
                if let Some(it) = &it.qself {
                    self.collect_parameters_in(&it.ty, found);
                }
                if it.path.segments.last().is_some_and(|segment| segment.ident == "PhantomData") {
                    return;
                }
                if let (None, Some(first)) = (it.path.leading_colon, it.path.segments.first()) {
                    let first = unraw_name(&first.ident);
                    if self.all.contains(&first) {
                        found.insert(first);
                    }
                }
                let inside = it.path.segments.iter().flat_map(type_arguments);
                inside.for_each(|ty| self.collect_parameters_in(ty, found));
            }
            _ => {}
        }
    }

    /// Returns whether the derived impl knows how to write the default of a field of this type.
    pub fn writes_default_of(&self, ty: &Syntax, world: &Types, module: ModuleId) -> DefaultWrites {
        let mentioned = self.parameters_in(ty);
        if mentioned.is_subset(&self.known) {
            return DefaultWrites::Yes;
        }
        let sure = mentioned.is_disjoint(&self.doubtful);
        if sure && self.only_std(ty, world, module) {
            DefaultWrites::No
        } else {
            DefaultWrites::Unknown
        }
    }

    /// Returns whether only types of std are around the parameters: those are `Serialize` if their arguments are.
    fn only_std(&self, ty: &Syntax, world: &Types, module: ModuleId) -> bool {
        if self.parameters_in(ty).is_empty() {
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
                let named = world.resolve_path(module, &Path::from(&it.path), Space::Types);
                let std = matches!(named, Ok(Named::Foreign(it)) if it.starts_with("std::"));
                std && it
                    .path
                    .segments
                    .last()
                    .is_some_and(|segment| type_arguments(segment).into_iter().all(inside))
            }
            _ => false,
        }
    }
}

/// The types between `<` and `>`.
fn type_arguments(segment: &syn::PathSegment) -> Vec<&Syntax> {
    let syn::PathArguments::AngleBracketed(it) = &segment.arguments else { return Vec::new() };
    let inside = it.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(it) => Some(it),
        GenericArgument::AssocType(it) => Some(&it.ty),
        _ => None,
    });
    inside.collect()
}

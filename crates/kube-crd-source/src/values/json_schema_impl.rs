//! Hand-written `impl JsonSchema`s, and which `impl`s are for a type of given arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use syn::{ImplItem, spanned::Spanned as _};

use super::impls::scope_of;
use crate::cargo::cfg::{self, Cfg};
use crate::names::{Named, Space};
use crate::text::{Problem, collect_identifiers, unraw_name};
use crate::tree::{Impl, Path};
use crate::types::{Scope, Type, Types};

/// An `impl JsonSchema` that is written by hand.
pub struct JsonSchemaImpl {
    /// The index in all impls.
    pub imp: usize,
    pub scope: Scope,
}

impl Types {
    /// The `impl JsonSchema` of a type that is written by hand; none where there is none.
    pub fn json_schema_impl(&self, ty: &Type) -> Result<Option<JsonSchemaImpl>, Problem> {
        let (item, arguments) = match ty {
            Type::Data(id, arguments) => (*id, &arguments[..]),
            Type::Root(id) => (self.root_of(*id).unwrap_or(*id), &[][..]),
            _ => return Ok(None),
        };
        let mut found: Option<JsonSchemaImpl> = None;
        for (index, imp) in self.impls.iter().enumerate() {
            let Some((trait_, _)) = &imp.syntax.trait_ else { continue };
            if !self.is_impl_for(imp, item) {
                continue;
            }
            let named = self.resolve_path(imp.module, &Path::from(trait_), Space::Types);
            let named = named == Ok(Named::Foreign("schemars::JsonSchema".to_owned()));
            // It may go by the name that it was imported by.
            if imp.trait_.as_deref() != Some("JsonSchema") && !named {
                continue;
            }
            self.check_json_schema_impl(imp, named)?;
            let Some(bound) = self.unify_parameters(imp, arguments)? else { continue };
            if found.is_some() {
                let span = imp.syntax.self_ty.span();
                let message = "this type has more than one `impl JsonSchema`";
                return Err(self.problem_at(imp.module, span, message, "keep one of them"));
            }
            let scope = scope_of(imp, bound, &Rc::new(ty.clone()));
            found = Some(JsonSchemaImpl { imp: index, scope });
        }
        Ok(found)
    }

    fn check_json_schema_impl(&self, imp: &Impl, is_known: bool) -> Result<(), Problem> {
        let refuse = |what: &str| {
            let span = imp.syntax.self_ty.span();
            Err(self.problem_at(imp.module, span, format!("this `impl JsonSchema` {what}"), ""))
        };
        if !is_known {
            return refuse("may be of another trait than schemars'");
        }
        let inert = ["doc", "allow", "expect", "automatically_derived", "cfg"];
        let settled = cfg::resolve_cfgs(&imp.syntax.attrs, self.features_of(imp.module));
        let is_sure =
            settled.is_ok_and(|settled| settled.cfg == Cfg::Yes && settled.doubtful.is_empty());
        if !is_sure || self.modules[imp.module].cfg == Cfg::Depends {
            return refuse("depends on a `cfg` that only the compiler can evaluate");
        }
        if imp.syntax.items.iter().any(|item| matches!(item, ImplItem::Macro(_))) {
            return refuse("calls a macro, which is not expanded");
        }
        if !imp.syntax.attrs.iter().all(|attr| inert.iter().any(|name| attr.path().is_ident(name)))
        {
            return refuse("has attributes that may change it");
        }
        for name in ["schema_name", "json_schema"] {
            let is_it = |it: &ImplItem| matches!(it, ImplItem::Fn(it) if it.sig.ident == name);
            if !imp.syntax.items.iter().any(is_it) {
                return refuse(&format!("lacks `{name}`"));
            }
        }
        Ok(())
    }

    /// Returns what the parameters of an impl stand for, where it is for a type of these arguments.
    pub fn unify_parameters(
        &self,
        imp: &Impl,
        arguments: &[Rc<Type>],
    ) -> Result<Option<BTreeMap<String, Rc<Type>>>, Problem> {
        let ty = match &*imp.syntax.self_ty {
            syn::Type::Path(ty) => ty,
            syn::Type::Macro(ty) => {
                let message = "a macro writes the type of this `impl`, and is not expanded";
                return Err(self.problem_at(
                    imp.module,
                    ty.span(),
                    message,
                    "write the type itself",
                ));
            }
            _ => return Ok(None),
        };
        let own: BTreeSet<String> = crate::types::parameter_names(&imp.syntax.generics).collect();
        let mut parameters = BTreeMap::new();
        let given: Vec<&syn::GenericArgument> =
            match ty.path.segments.last().map(|segment| &segment.arguments) {
                Some(syn::PathArguments::AngleBracketed(it)) => it
                    .args
                    .iter()
                    .filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)))
                    .collect(),
                _ => Vec::new(),
            };
        if given.is_empty() {
            // No arguments: every parameter is its default.
            let there = self.type_in(&Scope::from(imp.module), &imp.syntax.self_ty)?;
            let is_same = matches!(&*there, Type::Data(_, of) if **of == *arguments);
            return Ok((arguments.is_empty() || is_same).then_some(parameters));
        }
        for (given, argument) in given.into_iter().zip(arguments) {
            match given {
                syn::GenericArgument::Type(syn::Type::Path(it))
                    if it
                        .path
                        .get_ident()
                        .is_some_and(|ident| own.contains(&unraw_name(ident))) =>
                {
                    let name = it.path.get_ident().map(unraw_name).unwrap_or_default();
                    let before = parameters.insert(name, argument.clone());
                    if before.is_some_and(|ty| ty != *argument) {
                        return Ok(None);
                    }
                }
                syn::GenericArgument::Type(it) if !collect_identifiers(it).is_disjoint(&own) => {
                    let message = "whether this `impl` applies is not evaluated";
                    let hint = "write an `impl` for each type with its arguments";
                    return Err(self.problem_at(imp.module, it.span(), message, hint));
                }
                syn::GenericArgument::Type(it) => {
                    if self.type_in(&Scope::from(imp.module), it)? != *argument {
                        return Ok(None);
                    }
                }
                _ => {
                    let message = "this `impl` is for types that are not evaluated";
                    return Err(self.problem_at(imp.module, given.span(), message, ""));
                }
            }
        }
        Ok(Some(parameters))
    }
}

//! Resolves types in code.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::spanned::Spanned as _;

use super::{Scope, Type, Types};
use crate::names::{Miss, Named, Space};
use crate::text::{Problem, format_tokens, peel_parens, unraw_name};
use crate::tree::{ItemId, ItemKind, ModuleId, Path};

pub(super) const WAY_OUT: &str = "write the type out, or use one whose schema can be read";

impl Types {
    /// Resolves a type, with arguments for the parameters in it.
    pub fn type_in(&self, scope: &Scope, ty: &syn::Type) -> Result<Rc<Type>, Problem> {
        self.type_steps.set(0);
        self.type_at(scope, ty, Depth::default())
    }

    pub(super) fn type_at(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        depth: Depth,
    ) -> Result<Rc<Type>, Problem> {
        let refuse = |what: &str| {
            self.problem_at(
                scope.module,
                ty.span(),
                format!("`{}` {what}", format_tokens(ty)),
                WAY_OUT,
            )
        };
        if depth.aliases > MOST_ALIASES {
            return Err(refuse("is an alias that leads to itself"));
        }
        if depth.nested > MOST_NESTED {
            let message = "a type is nested too deep";
            return Err(match depth.aliases {
                0..20 => self.problem_at(scope.module, ty.span(), message, WAY_OUT),
                _ => refuse("is an alias that leads to itself"),
            });
        }
        self.type_steps.set(self.type_steps.get() + 1);
        if self.type_steps.get() > MOST_TYPES {
            return Err(refuse("nests too many types"));
        }
        let depth = Depth { nested: depth.nested + 1, ..depth };
        let foreign = |path: &str, arguments| {
            Type::foreign(path, arguments).ok_or_else(|| refuse("has no schema"))
        };
        match ty {
            syn::Type::Paren(it) => self.type_at(scope, &it.elem, depth),
            syn::Type::Group(it) => self.type_at(scope, &it.elem, depth),
            syn::Type::Reference(it) if it.mutability.is_none() => {
                foreign("&", vec![self.type_at(scope, &it.elem, depth)?])
            }
            syn::Type::Slice(it) => foreign("[]", vec![self.type_at(scope, &it.elem, depth)?]),
            syn::Type::Array(it) => {
                let Some(length) = self.array_length(scope.module, &it.len) else {
                    return Err(refuse("has a length that is not a number or a constant"));
                };
                foreign(&format!("[;{length}]"), vec![self.type_at(scope, &it.elem, depth)?])
            }
            syn::Type::Tuple(it) if it.elems.is_empty() => foreign("()", Vec::new()),
            syn::Type::Tuple(it) => {
                let parts: Result<Vec<_>, _> =
                    it.elems.iter().map(|ty| self.type_at(scope, ty, depth)).collect();
                foreign(&format!("({})", it.elems.len()), parts?)
            }
            syn::Type::Macro(_) => Err(refuse("is a macro, which is not expanded")),
            syn::Type::Path(it) if it.qself.is_some() => {
                Err(refuse("is an associated type, which is not supported"))
            }
            syn::Type::Path(it) => self.path_type(scope, ty, &it.path, depth),
            _ => Err(refuse("is an unsupported type")),
        }
    }

    /// The digits of the length of an array: a literal, or a constant that is one.
    fn array_length<'a>(
        &'a self,
        mut module: ModuleId,
        mut length: &'a syn::Expr,
    ) -> Option<String> {
        const MOST_CONSTANTS: usize = 16;
        for _ in 0..MOST_CONSTANTS {
            match peel_parens(length) {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) => {
                    return Some(number.base10_digits().to_owned());
                }
                syn::Expr::Path(syn::ExprPath { qself: None, path, .. }) => {
                    let found = self.resolve_path(module, &Path::from(path), Space::Values);
                    let Ok(Named::Item(id)) = found else { return None };
                    let ItemKind::Const(constant) = &self.items[id].kind else { return None };
                    (module, length) = (self.items[id].module, &constant.expr);
                }
                _ => return None,
            }
        }
        None
    }

    fn path_type(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        path: &syn::Path,
        depth: Depth,
    ) -> Result<Rc<Type>, Problem> {
        let refuse = |what: &str, hint: &str| {
            Err(self.problem_at(
                scope.module,
                path.span(),
                format!("`{}` {what}", format_tokens(path)),
                hint,
            ))
        };
        let Some(arguments) = arguments_of(path) else {
            return refuse("is an unsupported type", WAY_OUT);
        };
        if let Some(first) = path.segments.first()
            && path.leading_colon.is_none()
            && let Some(parameter) = scope.parameters.get(&unraw_name(&first.ident))
        {
            return match path.segments.len() {
                1 => Ok(parameter.clone()),
                _ => refuse("is an associated type, which is not supported", WAY_OUT),
            };
        }
        if path.is_ident("Self") {
            return refuse("is not supported in a type", "write the type's name");
        }
        match self.resolve_path(scope.module, &Path::from(path), Space::Types) {
            Ok(Named::Item(id)) => self.item_type(scope, ty, id, &arguments, depth),
            Ok(Named::Foreign(name)) => self.foreign_type(scope, path, &name, arguments, depth),
            Ok(Named::Module(_)) => refuse("is a module", ""),
            Ok(Named::Member(..)) => refuse("is not a type", WAY_OUT),
            Err(Miss::Nothing | Miss::Unreachable) => {
                refuse("is not found", "define it, or import it by name")
                    .map_err(|problem| Problem { does_not_compile: true, ..problem })
            }
            Err(Miss::Doubt(doubt) | Miss::Perhaps(doubt)) => {
                self.need_for(&doubt);
                let what = format!("cannot be resolved with certainty: {doubt}");
                if self.is_absent(&doubt) {
                    refuse(
                        &format!("{what}, and its source is not on this machine"),
                        "run `cargo fetch`, which downloads the packages in Cargo.lock, or import the type by its name",
                    )
                } else {
                    refuse(&what, "import the type by its name")
                }
            }
        }
    }

    fn item_type(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        id: ItemId,
        arguments: &[&syn::GenericArgument],
        depth: Depth,
    ) -> Result<Rc<Type>, Problem> {
        let item = &self.items[id];
        let refuse = |what: &str| {
            self.problem_at(
                scope.module,
                ty.span(),
                format!("`{}` {what}", format_tokens(ty)),
                WAY_OUT,
            )
        };
        let found = match &item.kind {
            ItemKind::Data(input) => {
                let bound =
                    self.bind_arguments(scope, ty, item.module, &input.generics, arguments, depth)?;
                let arguments =
                    parameter_names(&input.generics).map(|name| bound[&name].clone()).collect();
                Rc::new(Type::Data(id, arguments))
            }
            ItemKind::Root(_) if !arguments.is_empty() => {
                return Err(refuse("takes no type arguments"));
            }
            ItemKind::Root(spec) => return Ok(Rc::new(Type::Root(*spec))),
            ItemKind::Alias(it) => {
                let parameters =
                    self.bind_arguments(scope, ty, item.module, &it.generics, arguments, depth)?;
                let there = Scope { module: item.module, parameters: Rc::new(parameters) };
                let depth = Depth { aliases: depth.aliases + 1, ..depth };
                let plain = there.parameters.is_empty();
                let known = plain.then(|| self.aliases.borrow().get(&id).cloned()).flatten();
                let found = match known {
                    Some(found) => found,
                    None => self.type_at(&there, &it.ty, depth)?,
                };
                if plain {
                    self.aliases.borrow_mut().insert(id, found.clone());
                }
                found
            }
            ItemKind::Trait(_) => return Err(refuse("is a trait, which has no schema")),
            ItemKind::Union => return Err(refuse("is a union, which has no schema")),
            _ => return Err(refuse("is not a type")),
        };
        if found.fits_within(&mut { MOST_TYPES }) {
            Ok(found)
        } else {
            Err(refuse("nests too many types"))
        }
    }

    /// The argument of each parameter of a definition, or its default.
    fn bind_arguments(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        module: ModuleId,
        generics: &syn::Generics,
        arguments: &[&syn::GenericArgument],
        depth: Depth,
    ) -> Result<BTreeMap<String, Rc<Type>>, Problem> {
        let refuse = |what: &str| {
            let message = format!("`{}` {what}", format_tokens(ty));
            Err(self.problem_at(scope.module, ty.span(), message, WAY_OUT))
        };
        let mut bound = Scope::from(module);
        let mut given = arguments.iter();
        for parameter in &generics.params {
            let (name, found) = match (parameter, given_for(parameter, &mut given)) {
                (syn::GenericParam::Lifetime(_), _) => continue,
                (syn::GenericParam::Type(it), Some(syn::GenericArgument::Type(given))) => {
                    (&it.ident, self.type_at(scope, given, depth)?)
                }
                (syn::GenericParam::Type(it), None) => match &it.default {
                    Some((_, default)) => (&it.ident, self.type_at(&bound, default, depth)?),
                    None => return refuse(&format!("lacks an argument for `{}`", it.ident)),
                },
                (syn::GenericParam::Const(_), _) => {
                    return refuse("has a `const` parameter, which is not supported");
                }
                _ => return refuse("has an unsupported generic argument"),
            };
            Rc::make_mut(&mut bound.parameters).insert(unraw_name(name), found);
        }
        match given.next() {
            Some(_) => refuse("has too many generic arguments"),
            None => Ok(Rc::unwrap_or_clone(bound.parameters)),
        }
    }
}

/// The depth in nested types.
#[derive(Clone, Copy, Default)]
pub(super) struct Depth {
    aliases: u8,
    nested: u8,
}

const MOST_ALIASES: u8 = 64;
const MOST_NESTED: u8 = 96;
const MOST_TYPES: usize = 10_000;

/// Returns whether a definition has parameters beside lifetimes.
pub fn has_parameters(generics: &syn::Generics) -> bool {
    generics.type_params().next().is_some() || generics.const_params().next().is_some()
}

/// The names of type parameters.
pub fn parameter_names(generics: &syn::Generics) -> impl Iterator<Item = String> {
    generics.type_params().map(|parameter| unraw_name(&parameter.ident))
}

fn given_for<'a>(
    parameter: &syn::GenericParam,
    given: &mut std::slice::Iter<'_, &'a syn::GenericArgument>,
) -> Option<&'a syn::GenericArgument> {
    match parameter {
        syn::GenericParam::Lifetime(_) => None,
        _ => given.next().copied(),
    }
}

/// The arguments of a path's last segment, lifetimes aside; none where another segment has some.
fn arguments_of(path: &syn::Path) -> Option<Vec<&syn::GenericArgument>> {
    let mut arguments = Vec::new();
    for (index, segment) in path.segments.iter().enumerate() {
        match &segment.arguments {
            syn::PathArguments::None => {}
            syn::PathArguments::AngleBracketed(it) if index + 1 == path.segments.len() => {
                let is_lifetime =
                    |it: &&syn::GenericArgument| matches!(it, syn::GenericArgument::Lifetime(_));
                arguments.extend(it.args.iter().filter(|argument| !is_lifetime(argument)));
            }
            _ => return None,
        }
    }
    Some(arguments)
}

//! Looks up what a type is that stands in code.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::spanned::Spanned as _;

use super::type_::stands_for;
use super::{Scope, Type, Types};
use crate::builtin::kubernetes::Miss as NoType;
use crate::builtin::{self, crates};
use crate::names::{Miss, Named, Space};
use crate::text::{Problem, plain, text};
use crate::tree::{ItemId, Kind, ModuleId, Path};

const WAY_OUT: &str = "write the type out, or use one whose schema can be read";

impl Types {
    /// What a type is where parameters stand for others.
    pub fn type_in(&self, scope: &Scope, ty: &syn::Type) -> Result<Rc<Type>, Problem> {
        self.type_steps.set(0);
        self.type_at(scope, ty, Depth::default())
    }

    fn type_at(&self, scope: &Scope, ty: &syn::Type, depth: Depth) -> Result<Rc<Type>, Problem> {
        let refuse = |what: &str| {
            self.problem(scope.module, ty.span(), format!("`{}` {what}", text(ty)), WAY_OUT)
        };
        if MOST_ALIASES < depth.aliases {
            return Err(refuse("is an alias that leads to itself"));
        }
        if MOST_NESTED < depth.nested {
            let message = "a type is nested too deep to be read";
            return Err(match depth.aliases {
                0..20 => self.problem(scope.module, ty.span(), message, WAY_OUT),
                _ => refuse("is an alias that leads to itself"),
            });
        }
        self.type_steps.set(self.type_steps.get() + 1);
        if MOST_TYPES < self.type_steps.get() {
            return Err(refuse("has too many types in it to be read"));
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
                let length = self.constant(scope, &it.len, "usize")?;
                foreign(&format!("[;{length}]"), vec![self.type_at(scope, &it.elem, depth)?])
            }
            syn::Type::Tuple(it) if it.elems.is_empty() => foreign("()", Vec::new()),
            syn::Type::Tuple(it) => {
                let parts: Result<Vec<_>, _> =
                    it.elems.iter().map(|it| self.type_at(scope, it, depth)).collect();
                foreign(&format!("({})", it.elems.len()), parts?)
            }
            syn::Type::Macro(_) => Err(refuse("is a macro, which is not expanded")),
            syn::Type::Path(it) if it.qself.is_some() => {
                Err(refuse("is a type of a trait, which is not read"))
            }
            syn::Type::Path(it) => self.path_type(scope, ty, &it.path, depth),
            _ => Err(refuse("is a kind of type that is not read")),
        }
    }

    fn path_type(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        path: &syn::Path,
        depth: Depth,
    ) -> Result<Rc<Type>, Problem> {
        let refuse = |what: String, hint: &str| {
            self.problem(scope.module, path.span(), format!("`{}` {what}", text(path)), hint)
        };
        let mut arguments = Vec::new();
        for (index, segment) in path.segments.iter().enumerate() {
            let last = index + 1 == path.segments.len();
            match &segment.arguments {
                syn::PathArguments::None => {}
                syn::PathArguments::AngleBracketed(it) if last => {
                    let lifetime = |it: &&syn::GenericArgument| {
                        matches!(it, syn::GenericArgument::Lifetime(_))
                    };
                    arguments.extend(it.args.iter().filter(|it| !lifetime(it)));
                }
                _ => return Err(refuse("is a kind of type that is not read".into(), WAY_OUT)),
            }
        }
        if let Some(first) = path.segments.first()
            && path.leading_colon.is_none()
            && let Some(found) = scope.parameters.get(&plain(&first.ident))
        {
            return match (path.segments.len(), &**found) {
                (1, Type::Constant(_)) => Err(refuse("is a number, and no type".into(), WAY_OUT)),
                (1, _) => Ok(found.clone()),
                _ => Err(refuse("is a type of a trait, which is not read".into(), WAY_OUT)),
            };
        }
        if path.is_ident("Self") {
            return Err(refuse("names the type it stands in".into(), "write the type's name"));
        }
        match self.resolve(scope.module, &Path::from(path), Space::Types) {
            Ok(Named::Item(id)) => self.item_type(scope, ty, id, &arguments, depth),
            Ok(Named::Foreign(name)) => {
                let zone = arguments.first().and_then(|it| self.foreign_path(scope.module, it));
                arguments.truncate(crates::arguments_that_count(&name));
                let parts: Result<Vec<_>, _> = arguments
                    .iter()
                    .map(|it| match it {
                        syn::GenericArgument::Type(it) => self.type_at(scope, it, depth),
                        _ => Err(refuse("takes what is not read".into(), WAY_OUT)),
                    })
                    .collect();
                let parts = parts?;
                if let Some(found) = self.kubernetes.find(&name) {
                    return match found {
                        Ok(model) if parts.is_empty() => Ok(Rc::new(Type::Kubernetes(model))),
                        Ok(_) => Err(refuse("takes no types".into(), WAY_OUT)),
                        Err(miss) => Err(self.no_type(scope.module, path, &name, &miss)),
                    };
                }
                let (name, parts) = stands_for(&name, parts, zone.as_deref());
                if builtin::find(&name).is_none() {
                    self.need(&name);
                }
                match builtin::find(&name) {
                    Some((_, it)) if it.arguments == parts.len() => {
                        Ok(Type::foreign(&name, parts).expect("it is there, with as many types"))
                    }
                    Some((_, it)) => Err(refuse(
                        format!("has {} types in it, not {}", parts.len(), it.arguments),
                        WAY_OUT,
                    )),
                    None if crates::TWOFOLD.contains(&&*name) => Err(refuse(
                        format!(
                            "is `{name}`, which may be of two types in JSON: no CRD can say that"
                        ),
                        "say what it is with `#[schemars(with = \"String\")]` on the field",
                    )),
                    None if self.absent.contains_key(first(&name)) => Err(refuse(
                        self.absent[first(&name)].clone(),
                        "run `cargo fetch`, which brings the source of what is locked",
                    )),
                    None => Err(refuse(
                        format!("is `{name}`, whose schema is not known"),
                        "use a type of this project, of std or of k8s-openapi",
                    )),
                }
            }
            Ok(Named::Module(_)) => Err(refuse("is a module".into(), "")),
            Ok(Named::Member(..)) => Err(refuse("is no type by itself".into(), WAY_OUT)),
            Err(Miss::Nothing | Miss::Lost) => {
                Err(refuse("is not found".into(), "define it, or import it by name"))
            }
            Err(Miss::Doubt(why) | Miss::Perhaps(why)) => {
                self.need_for(&why);
                if self.is_absent(&why) {
                    return Err(refuse(
                        format!(
                            "cannot be resolved with certainty: {why}, and its source is not on this machine"
                        ),
                        "run `cargo fetch`, which brings the source of what is locked, or import the type by its name",
                    ));
                }
                Err(refuse(
                    format!("cannot be resolved with certainty: {why}"),
                    "import the type by its name",
                ))
            }
        }
    }

    /// Why there is no type of k8s-openapi at a path.
    fn no_type(&self, module: ModuleId, path: &syn::Path, name: &str, miss: &NoType) -> Problem {
        let (what, hint) = match miss {
            NoType::Absent => (
                format!("is `{name}`, which k8s-openapi does not have at this version and feature"),
                "choose the `v1_…` feature of k8s-openapi that has it",
            ),
            NoType::Bare => (
                format!("is `{name}`, which has no schema"),
                "use a type that implements `JsonSchema`",
            ),
            NoType::Unread { file, what } => (
                format!("is `{name}`, but k8s-openapi's {file} cannot be read: {what}"),
                "bring the crate's source with `cargo fetch`",
            ),
        };
        self.problem(module, path.span(), format!("`{}` {what}", text(path)), hint)
    }

    /// The path of a type that is not of this project.
    fn foreign_path(&self, module: ModuleId, ty: &syn::GenericArgument) -> Option<String> {
        let syn::GenericArgument::Type(syn::Type::Path(it)) = ty else { return None };
        match self.resolve(module, &Path::from(&it.path), Space::Types) {
            Ok(Named::Foreign(path)) if it.qself.is_none() => Some(path),
            _ => None,
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
            self.problem(scope.module, ty.span(), format!("`{}` {what}", text(ty)), WAY_OUT)
        };
        let found = match &item.kind {
            Kind::Data(input) => {
                let bound =
                    self.bound(scope, ty, item.module, &input.generics, arguments, depth)?;
                let arguments = names(&input.generics).map(|it| bound[&it].clone()).collect();
                Rc::new(Type::Data(id, arguments))
            }
            Kind::Root(_) if !arguments.is_empty() => return Err(refuse("takes no types")),
            Kind::Root(spec) => return Ok(Rc::new(Type::Root(*spec))),
            Kind::Alias(it) => {
                let parameters =
                    self.bound(scope, ty, item.module, &it.generics, arguments, depth)?;
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
            Kind::Trait(_) => return Err(refuse("is a trait, which has no schema")),
            Kind::Union => return Err(refuse("is a union, which has no schema")),
            _ => return Err(refuse("is no type")),
        };
        match found.fits(&mut { MOST_TYPES }) {
            true => Ok(found),
            false => Err(refuse("has too many types in it to be read")),
        }
    }

    /// What each parameter of a definition stands for: what is given, then its own defaults.
    fn bound(
        &self,
        scope: &Scope,
        ty: &syn::Type,
        module: ModuleId,
        generics: &syn::Generics,
        arguments: &[&syn::GenericArgument],
        depth: Depth,
    ) -> Result<BTreeMap<String, Rc<Type>>, Problem> {
        let refuse = |what: &str| {
            let message = format!("`{}` {what}", text(ty));
            Err(self.problem(scope.module, ty.span(), message, WAY_OUT))
        };
        let mut res = Scope::from(module);
        let mut given = arguments.iter();
        for parameter in &generics.params {
            let (name, found) = match (parameter, given_for(parameter, &mut given)) {
                (syn::GenericParam::Lifetime(_), _) => continue,
                (syn::GenericParam::Type(it), Some(syn::GenericArgument::Type(given))) => {
                    (&it.ident, self.type_at(scope, given, depth)?)
                }
                (syn::GenericParam::Type(it), None) => match &it.default {
                    Some((_, default)) => (&it.ident, self.type_at(&res, default, depth)?),
                    None => return refuse(&format!("does not say what its `{}` is", it.ident)),
                },
                (syn::GenericParam::Const(it), given) => {
                    let (scope, value) = match (given, &it.default) {
                        (Some(syn::GenericArgument::Const(given)), _) => (scope, given.clone()),
                        // A name may be a type or a constant to the parser.
                        (Some(syn::GenericArgument::Type(syn::Type::Path(given))), _) => {
                            let path = given.path.clone();
                            let path = syn::ExprPath { attrs: Vec::new(), qself: None, path };
                            (scope, syn::Expr::Path(path))
                        }
                        (None, Some((_, default))) => (&res, default.clone()),
                        _ => {
                            return refuse(&format!("does not say what its `{}` is", it.ident));
                        }
                    };
                    let found = self.constant(scope, &value, &text(&it.ty))?;
                    (&it.ident, Rc::new(Type::Constant(found)))
                }
                _ => return refuse("takes what is not read"),
            };
            Rc::make_mut(&mut res.parameters).insert(plain(name), found);
        }
        match given.next() {
            Some(_) => refuse("has more types in it than it takes"),
            None => Ok(Rc::unwrap_or_clone(res.parameters)),
        }
    }
}

/// How deep we are in a type.
#[derive(Clone, Copy, Default)]
struct Depth {
    aliases: u8,
    nested: u8,
}

const MOST_ALIASES: u8 = 64;
const MOST_NESTED: u8 = 96;
const MOST_TYPES: usize = 10_000;

/// The parameters that stand for types and numbers.
pub fn names(generics: &syn::Generics) -> impl Iterator<Item = String> {
    generics.params.iter().filter_map(|it| match it {
        syn::GenericParam::Type(it) => Some(plain(&it.ident)),
        syn::GenericParam::Const(it) => Some(plain(&it.ident)),
        syn::GenericParam::Lifetime(_) => None,
    })
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

/// The first word of a path.
fn first(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}

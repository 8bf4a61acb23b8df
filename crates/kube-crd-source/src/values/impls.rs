//! The `impl`s of the project for a type: its own functions and constants, `Default`, `JsonSchema`.

use std::collections::BTreeMap;
use std::rc::Rc;

use syn::ImplItem;

use super::construct::Construct;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame, Stop};
use crate::cargo::cfg::{self, Cfg};
use crate::names::{Named, Space};
use crate::text::unraw_name;
use crate::tree::{Impl, ItemId, Path};
use crate::types::derives::Derived;
use crate::types::{Scope, Type};

/// A function of the project, and what the parameters in its code stand for.
pub struct ProjectFunction<'a> {
    pub scope: Scope,
    pub signature: &'a syn::Signature,
    pub attrs: &'a [syn::Attribute],
    pub block: &'a syn::Block,
}

impl<'a> Evaluator<'a> {
    /// The only item of this name in the `impl`s that a type has by itself; traits do not count.
    fn own_item(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        of: &Rc<Type>,
        name: &str,
    ) -> Eval<Option<(Scope, &'a ImplItem)>> {
        let (item, arguments) = match &**of {
            Type::Data(id, arguments) => (*id, &arguments[..]),
            Type::Root(spec) => match self.world.root_of(*spec) {
                Some(root) => (root, &[][..]),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut found = None;
        let world = self.world;
        let all = self.impls_for(item);
        for imp in all.filter(|imp| imp.syntax.trait_.is_none()) {
            for it in &imp.syntax.items {
                let (ident, attrs, vis) = match it {
                    ImplItem::Fn(it) => (&it.sig.ident, &it.attrs, &it.vis),
                    ImplItem::Const(it) => (&it.ident, &it.attrs, &it.vis),
                    ImplItem::Macro(it) => {
                        return self.refuse(frame, &it.mac, "a macro in an `impl` is not expanded");
                    }
                    _ => continue,
                };
                if unraw_name(ident) != name {
                    continue;
                }
                let there = Frame::new(imp.module);
                let Some(bound) = world.unify_parameters(imp, arguments).map_err(Stop::from)?
                else {
                    continue;
                };
                if !self.is_active(&there, attrs, "an item")? || !self.is_active_impl(imp)? {
                    continue;
                }
                if !world.can_see(frame.scope.module, world.reach_of(imp.module, vis)) {
                    continue;
                }
                self.require_certain(frame, at, imp, of, name)?;
                if found.is_some() {
                    return self.refuse(frame, at, format!("`{name}` is defined more than once"));
                }
                found = Some((scope_of(imp, bound, of), it));
            }
        }
        if found.is_none()
            && let Some(why) = world.why_written(item, name)
        {
            return self.refuse(frame, at, why);
        }
        Ok(found)
    }

    /// Refuses an item of an `impl` where a trait's may be meant: the bounds of the `impl` may not hold, and generic code
    /// means what holds for every type.
    fn require_certain(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        imp: &Impl,
        of: &Rc<Type>,
        name: &str,
    ) -> Eval<()> {
        if has_bounds(&imp.syntax.generics) {
            let why = format!("the bounds of the `impl` with `{name}` are not evaluated");
            return self.refuse(frame, at, why);
        }
        let is_parameter = frame.parameter_types().any(|parameter| parameter == of);
        if is_parameter
            || frame.parameter_types().next().is_some() && !is_for_every_argument(imp, of)
        {
            let why = format!("only the compiler can tell which `{name}` this generic code means");
            return self.refuse(frame, at, why);
        }
        Ok(())
    }

    /// A function that a type has by itself.
    pub fn own_function(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        of: &Rc<Type>,
        name: &str,
    ) -> Eval<Option<ProjectFunction<'a>>> {
        Ok(match self.own_item(frame, at, of, name)? {
            Some((scope, ImplItem::Fn(it))) => Some(ProjectFunction {
                scope,
                signature: &it.sig,
                attrs: &it.attrs,
                block: &it.block,
            }),
            _ => None,
        })
    }

    pub fn associated_constant(
        &self,
        frame: &Frame,
        at: &syn::ExprPath,
        of: &Rc<Type>,
        name: &str,
    ) -> Eval<Value> {
        match self.own_item(frame, at, of, name)? {
            Some((scope, ImplItem::Const(it))) => {
                self.record_construct(Construct::AssociatedConstant);
                let there = Frame::in_scope(scope);
                let ty = self.resolve_type(&there, &it.ty)?;
                self.eval_expr(&there, &it.expr, &ty)
            }
            _ => self.unsupported(frame, at),
        }
    }

    pub fn associated_type(
        &self,
        frame: &Frame,
        at: &syn::ExprPath,
        of: &Rc<Type>,
        name: &str,
    ) -> Ty {
        match self.own_item(frame, at, of, name) {
            Ok(Some((scope, ImplItem::Const(it)))) => {
                self.resolve_type(&Frame::in_scope(scope), &it.ty).unwrap_or(Ty::Unknown)
            }
            _ => Ty::Unknown,
        }
    }

    /// The only function of a trait of another crate that the project implements for a type.
    pub fn trait_function(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        of: &Rc<Type>,
        trait_: &str,
        name: &str,
    ) -> Eval<Option<ProjectFunction<'a>>> {
        let Type::Data(id, arguments) = &**of else { return Ok(None) };
        let mut found = None;
        for imp in self.trait_impls(*id, trait_)? {
            let Some(bound) = self.world.unify_parameters(imp, arguments).map_err(Stop::from)?
            else {
                continue;
            };
            if !self.is_active_impl(imp)? {
                continue;
            }
            let function = self.function_of(imp, name)?;
            let Some(it) = function.filter(|_| found.is_none()) else {
                return self.refuse(
                    frame,
                    at,
                    format!("only the compiler can tell which `impl {trait_}` applies"),
                );
            };
            let scope = scope_of(imp, bound, of);
            found = Some(ProjectFunction {
                scope,
                signature: &it.sig,
                attrs: &it.attrs,
                block: &it.block,
            });
        }
        Ok(found)
    }

    /// The function of an `impl` by this name, as its `cfg`s leave it.
    pub fn function_of(&self, imp: &'a Impl, name: &str) -> Eval<Option<&'a syn::ImplItemFn>> {
        let there = Frame::new(imp.module);
        let mut found = None;
        for it in &imp.syntax.items {
            match it {
                ImplItem::Fn(it)
                    if unraw_name(&it.sig.ident) == name
                        && self.is_active(&there, &it.attrs, "a function")? =>
                {
                    found = Some(it);
                }
                ImplItem::Macro(it) => {
                    return self.refuse(&there, &it.mac, "a macro in an `impl` is not expanded");
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns whether the project implements a trait of another crate for a type, derives aside.
    pub fn has_impl(&self, id: ItemId, trait_: &str) -> Eval<bool> {
        Ok(!self.trait_impls(id, trait_)?.is_empty())
    }

    /// Returns whether the project implements a trait of another crate with this function for a type, or may.
    pub fn may_have_impl(&self, id: ItemId, trait_: &str, function: &str) -> Eval<bool> {
        Ok(self.has_impl(id, trait_)? || self.world.why_written(id, function).is_some())
    }

    fn trait_impls(&self, id: ItemId, trait_: &str) -> Eval<Vec<&'a Impl>> {
        let world = self.world;
        let mut impls = Vec::new();
        for imp in self.impls_for(id) {
            let Some((path, _)) = &imp.syntax.trait_ else { continue };
            let named = world.resolve_path(imp.module, &Path::from(path), Space::Types);
            let last = trait_.rsplit("::").next().unwrap_or(trait_);
            match named {
                Ok(Named::Foreign(name)) if name == trait_ => impls.push(imp),
                Ok(_) => {}
                // It may be the trait by a name that is not certain.
                Err(_) if path.segments.last().is_some_and(|segment| segment.ident == last) => {
                    impls.push(imp)
                }
                Err(_) => {}
            }
        }
        Ok(impls)
    }

    /// The `impl`s for a type, by its own name or by another.
    fn impls_for(&self, id: ItemId) -> impl Iterator<Item = &'a Impl> {
        let world = self.world;
        self.budget
            .index(world)
            .impls_for(id, &world.items[id].name)
            .map(|index| &world.impls[index])
    }

    fn is_active_impl(&self, imp: &Impl) -> Eval<bool> {
        let there = Frame::new(imp.module);
        if self.world.modules[imp.module].cfg == Cfg::Depends {
            let why = "its `impl` depends on a `cfg` that only the compiler can evaluate";
            return self.refuse(&there, &imp.syntax.self_ty, why);
        }
        self.is_active(&there, &imp.syntax.attrs, "an `impl`")
    }

    /// Returns whether a type derives a trait, for certain.
    pub fn derives_for_certain(&self, id: ItemId, trait_: &str) -> Eval<bool> {
        self.world
            .derives_trait(id, trait_)
            .map(|derived| derived == Derived::Yes)
            .map_err(Stop::from)
    }

    /// Returns whether attributes leave code in place, or a `cfg` removes it. Any other attribute is refused.
    pub fn is_active(&self, frame: &Frame, attrs: &[syn::Attribute], on: &str) -> Eval<bool> {
        const QUIET: &[&str] = &[
            "doc",
            "allow",
            "expect",
            "warn",
            "deny",
            "inline",
            "must_use",
            "deprecated",
            "cold",
            "automatically_derived",
            "track_caller",
            "rustfmt",
            "clippy",
        ];
        if attrs.is_empty() {
            return Ok(true);
        }
        let settled = cfg::resolve_cfgs(attrs, self.world.features_of(frame.scope.module));
        let settled = self.syntax(frame, settled)?;
        let quiet = |path: &syn::Path| {
            path.segments
                .first()
                .is_some_and(|segment| QUIET.iter().any(|name| segment.ident == name))
        };
        let odd = settled.attrs.iter().find(|attr| !quiet(attr.path()));
        if let Some(attr) = odd {
            return self.refuse(frame, attr, format!("the attribute of {on} may change it"));
        }
        if let Some(meta) = settled.doubtful.iter().find(|meta| !quiet(meta.path())) {
            return self.refuse(
                frame,
                meta,
                "only the compiler can tell whether this `cfg_attr` applies",
            );
        }
        let conditional = attrs.iter().any(|attr| attr.path().is_ident("cfg"));
        match settled.cfg {
            Cfg::Depends => match attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
                Some(attr) => self.refuse(
                    frame,
                    attr,
                    "only the compiler can tell whether this `cfg` applies",
                ),
                None => Ok(false),
            },
            cfg => {
                if conditional {
                    self.record_construct(Construct::CfgStatement);
                }
                Ok(cfg == Cfg::Yes)
            }
        }
    }
}

/// Returns whether an `impl` asks more of its parameters than every type has.
fn has_bounds(generics: &syn::Generics) -> bool {
    let asks = |bound: &syn::TypeParamBound| {
        !matches!(bound, syn::TypeParamBound::Lifetime(_))
            && !matches!(bound, syn::TypeParamBound::Trait(bound) if bound.maybe.is_some())
    };
    let mut of_where = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    generics.type_params().any(|parameter| parameter.bounds.iter().any(asks))
        || of_where.any(|predicate| !matches!(predicate, syn::WherePredicate::Lifetime(_)))
}

/// Returns whether an `impl` is for a type whose arguments are all different parameters: `impl<T> Foo<T>`, `impl Foo`.
fn is_for_every_argument(imp: &Impl, of: &Type) -> bool {
    let syn::Type::Path(ty) = &*imp.syntax.self_ty else { return false };
    let Some(syn::PathArguments::AngleBracketed(given)) =
        ty.path.segments.last().map(|segment| &segment.arguments)
    else {
        // By an alias, or by defaults of its parameters, it may have arguments all the same.
        return !matches!(of, Type::Data(_, arguments) if !arguments.is_empty());
    };
    let mut left: Vec<String> = crate::types::parameter_names(&imp.syntax.generics).collect();
    given.args.iter().all(|argument| match argument {
        syn::GenericArgument::Lifetime(_) => true,
        syn::GenericArgument::Type(syn::Type::Path(ty)) => {
            let name = ty.path.get_ident().map(unraw_name);
            let index = name.and_then(|name| left.iter().position(|own| *own == name));
            index.map(|index| left.remove(index)).is_some()
        }
        _ => false,
    })
}

pub fn scope_of(imp: &Impl, mut bound: BTreeMap<String, Rc<Type>>, of: &Rc<Type>) -> Scope {
    bound.insert("Self".to_owned(), of.clone());
    Scope { module: imp.module, parameters: Rc::new(bound) }
}

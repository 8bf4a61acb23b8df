//! What the project's own `impl`s say of a type: functions, constants, traits.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ty::parameters;
use super::value::{Data, Value};
use super::{Eval, Evaluator, Frame, Ty};
use crate::cfg::{self, Cfg};
use crate::derives::Derived;
use crate::names::{Named, Space};
use crate::world::{Impl, ItemId, Kind, Path, plain};

/// A function of the project, and the frame that it runs in.
pub struct Own<'a> {
    pub frame: Frame,
    pub signature: &'a syn::Signature,
    pub attrs: &'a [syn::Attribute],
    pub block: &'a syn::Block,
    /// The trait that it is of, and what stands in its `<…>`.
    pub of: Option<(String, Vec<Ty>)>,
}

impl<'a> Evaluator<'a> {
    /// The `impl`s for a type with these arguments.
    pub fn impls(&self, id: ItemId, arguments: &[Ty]) -> Eval<Vec<(Frame, &'a Impl)>> {
        let mut res = Vec::new();
        let world = self.world;
        if let Some(call) = world.macro_that_may_implement(id) {
            let item = &world.items[id];
            let message =
                format!("{call} may write an `impl` for `{}`; macros are not expanded", item.name);
            return Err(self.stop(&Frame::new(item.module), item.span, message));
        }
        for it in world.impls.iter().filter(|it| world.is_impl_for(it, id)) {
            let mut there = Frame::new(it.module);
            let names: BTreeMap<String, Ty> =
                parameters(&it.syntax.generics).map(|(it, _)| (it, Ty::Unknown)).collect();
            there.parameters = Rc::new(names);
            let itself = self.ty(&there, &it.syntax.self_ty)?;
            let wanted = Ty::Data(id, arguments.to_vec());
            if !itself.fits(&wanted) {
                continue;
            }
            let mut parameters = (*there.parameters).clone();
            bind(&it.syntax.self_ty, &wanted, &mut parameters);
            there.parameters = Rc::new(parameters);
            there.itself = Some(wanted);
            let settled = cfg::settle(&it.syntax.attrs, world.features(it.module));
            let doubt = !matches!(settled, Ok(it) if it.cfg == Cfg::Yes);
            if doubt || world.modules[it.module].cfg == Cfg::Depends {
                return self.refuse(
                    &there,
                    &it.syntax.self_ty,
                    "has an `impl` that depends on a `cfg`, which the source does not settle",
                );
            }
            res.push((there, it));
        }
        Ok(res)
    }

    /// The functions of this name that a type has, its traits' among them.
    pub fn functions(&self, id: ItemId, arguments: &[Ty], name: &str) -> Eval<Vec<Own<'a>>> {
        let mut res = Vec::new();
        let mut traits = Vec::new();
        for (frame, imp) in self.impls(id, arguments)? {
            let of = self.trait_of(&frame, imp)?;
            let mut found = false;
            for item in &imp.syntax.items {
                match item {
                    syn::ImplItem::Fn(it) if plain(&it.sig.ident) == name => {
                        found = true;
                        res.push(Own {
                            frame: frame.clone(),
                            signature: &it.sig,
                            attrs: &it.attrs,
                            block: &it.block,
                            of: of.clone(),
                        });
                    }
                    syn::ImplItem::Macro(it) => {
                        return self.refuse(&frame, &it.mac, "in an `impl` is not read");
                    }
                    _ => {}
                }
            }
            if !found && let Some((path, _)) = imp.syntax.trait_.as_ref().map(|(it, _)| (it, ())) {
                traits.push((frame, path));
            }
        }
        // What the type does not say itself, its traits may.
        for (frame, path) in traits {
            let found = self.world.resolve(frame.module, &Path::from(path), Space::Types);
            let Ok(Named::Item(of)) = found else { continue };
            let Kind::Trait(it) = &self.world.items[of].kind else { continue };
            for item in &it.items {
                if let syn::TraitItem::Fn(it) = item
                    && plain(&it.sig.ident) == name
                    && let Some(block) = &it.default
                {
                    let module = self.world.items[of].module;
                    res.push(Own {
                        frame: Frame { module, ..frame.clone() },
                        signature: &it.sig,
                        attrs: &it.attrs,
                        block,
                        of: Some((self.world.items[of].name.clone(), Vec::new())),
                    });
                }
            }
        }
        Ok(res)
    }

    fn trait_of(&self, frame: &Frame, imp: &Impl) -> Eval<Option<(String, Vec<Ty>)>> {
        let Some((path, _)) = &imp.syntax.trait_ else { return Ok(None) };
        let arguments = match path.segments.last() {
            Some(it) => self.turbofish(frame, &it.arguments)?,
            None => Vec::new(),
        };
        let name = match self.world.resolve(frame.module, &Path::from(path), Space::Types) {
            Ok(Named::Foreign(name)) => name,
            Ok(Named::Item(id)) => self.world.items[id].name.clone(),
            _ => crate::types::text(path),
        };
        Ok(Some((name, arguments)))
    }

    /// The only function of a trait of std; none where the type has none of the project's own.
    pub fn of_trait(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: (ItemId, &[Ty]),
        trait_: &str,
        name: &str,
    ) -> Eval<Option<Own<'a>>> {
        let mut found = self.functions(ty.0, ty.1, name)?;
        found.retain(|it| it.of.as_ref().is_some_and(|(it, _)| it == trait_));
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => self.refuse(frame, at, format!("has more than one `{trait_}` to choose from")),
        }
    }

    /// The value of an associated constant of a type.
    pub fn associated(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        ty: (ItemId, &[Ty]),
        name: &str,
    ) -> Eval<Option<Value>> {
        let mut found = Vec::new();
        for (there, imp) in self.impls(ty.0, ty.1)? {
            let mut has = false;
            for item in &imp.syntax.items {
                if let syn::ImplItem::Const(it) = item
                    && plain(&it.ident) == name
                {
                    has = true;
                    if it.attrs.iter().any(|it| it.path().is_ident("cfg")) {
                        return self.refuse(&there, &it.ident, "depends on a `cfg`");
                    }
                    found.push((there.clone(), &it.ty, &it.expr));
                }
            }
            let Some((path, _)) = imp.syntax.trait_.as_ref().filter(|_| !has) else { continue };
            let of = self.world.resolve(there.module, &Path::from(path), Space::Types);
            let Ok(Named::Item(of)) = of else { continue };
            let Kind::Trait(it) = &self.world.items[of].kind else { continue };
            for item in &it.items {
                if let syn::TraitItem::Const(it) = item
                    && plain(&it.ident) == name
                    && let Some((_, expr)) = &it.default
                {
                    let module = self.world.items[of].module;
                    found.push((Frame { module, ..there.clone() }, &it.ty, expr));
                }
            }
        }
        match &found[..] {
            [] => Ok(None),
            [(there, ty, expr)] => {
                let ty = self.ty(there, ty)?;
                self.expr_as(there, expr, &ty).map(Some)
            }
            _ => self.refuse(frame, at, "is there more than once"),
        }
    }

    /// The frame of the code in which a type is declared.
    pub fn inside(&self, id: ItemId, arguments: &[Ty]) -> Frame {
        let mut res = Frame::new(self.world.items[id].module);
        if let Kind::Data(input) = &self.world.items[id].kind {
            let names = parameters(&input.generics).map(|(it, _)| it);
            let rest = std::iter::repeat(&Ty::Unknown);
            res.parameters = Rc::new(
                names.zip(arguments.iter().chain(rest)).map(|(it, ty)| (it, ty.clone())).collect(),
            );
        }
        res.itself = Some(Ty::Data(id, arguments.to_vec()));
        res
    }

    /// The fields of a struct or a variant, as declared.
    pub fn fields(&self, id: ItemId, variant: Option<&str>) -> Vec<(String, &'a syn::Type)> {
        let Kind::Data(input) = &self.world.items[id].kind else { return Vec::new() };
        let fields = match (&input.data, variant) {
            (syn::Data::Struct(it), None) => &it.fields,
            (syn::Data::Enum(it), Some(name)) => {
                match it.variants.iter().find(|it| plain(&it.ident) == name) {
                    Some(it) => &it.fields,
                    None => return Vec::new(),
                }
            }
            _ => return Vec::new(),
        };
        let features = self.world.features(self.world.items[id].module);
        let there =
            |it: &&syn::Field| !cfg::settle(&it.attrs, features).is_ok_and(|it| it.cfg == Cfg::No);
        let name = |(index, it): (usize, &'a syn::Field)| {
            (it.ident.as_ref().map_or_else(|| index.to_string(), plain), &it.ty)
        };
        fields.iter().filter(there).enumerate().map(name).collect()
    }

    pub fn is_variant(&self, id: ItemId, name: &str) -> bool {
        match &self.world.items[id].kind {
            Kind::Data(input) => match &input.data {
                syn::Data::Enum(it) => it.variants.iter().any(|it| plain(&it.ident) == name),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a type derives a trait of std, for certain.
    pub fn derives(&self, id: ItemId, path: &str) -> Eval<bool> {
        match self.world.derived(id, path) {
            Ok(it) => Ok(it == Derived::Yes),
            Err(problem) => Err(super::Stop::Problem(Box::new(problem))),
        }
    }

    /// Whether two values of a type of the project are one; none where no code says so.
    pub fn equal(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        id: ItemId,
        one: &Value,
        other: &Value,
    ) -> Eval<Option<bool>> {
        let (Value::Data(left), Value::Data(right)) = (one, other) else { return Ok(None) };
        if right.id != id {
            return Ok(None);
        }
        let own = self.of_trait(frame, at, (id, &left.arguments), "std::cmp::PartialEq", "eq")?;
        if let Some(own) = own {
            let given = vec![one.clone(), other.clone()];
            let found = self.run(frame, at, own, given, &Ty::known("bool"))?;
            return Ok(match found {
                Value::Bool(it) => Some(it),
                _ => None,
            });
        }
        if !self.derives(id, "std::cmp::PartialEq")? {
            return Ok(None);
        }
        if left.variant != right.variant {
            return Ok(Some(false));
        }
        for ((_, one), (_, other)) in left.fields.iter().zip(&right.fields) {
            if !self.same(frame, at, one, other)? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// The number of a variant, for `as`.
    pub fn discriminant(
        &self,
        frame: &Frame,
        at: &impl quote::ToTokens,
        data: &Data,
    ) -> Eval<Option<i128>> {
        let Kind::Data(input) = &self.world.items[data.id].kind else { return Ok(None) };
        let syn::Data::Enum(it) = &input.data else { return Ok(None) };
        let there = self.inside(data.id, &[]);
        let mut next: i128 = 0;
        for variant in &it.variants {
            if variant.attrs.iter().any(|it| it.path().is_ident("cfg")) {
                return self.refuse(frame, at, "depends on a `cfg`");
            }
            if let Some((_, expr)) = &variant.discriminant {
                match self.expr(&there, expr, &Ty::Unknown)? {
                    Value::Int(number, _) => next = number,
                    _ => return Ok(None),
                }
            }
            if Some(plain(&variant.ident)) == data.variant {
                return Ok(Some(next));
            }
            next += 1;
        }
        Ok(None)
    }

    /// Whether a trait of the project gives a method of this name to a type that is not the project's.
    pub fn extends(&self, name: &str) -> bool {
        let gives = |it: &crate::world::Item| match &it.kind {
            Kind::Trait(it) => it.items.iter().any(|it| match it {
                syn::TraitItem::Fn(it) => plain(&it.sig.ident) == name,
                syn::TraitItem::Macro(_) => true,
                _ => false,
            }),
            _ => false,
        };
        let traits: Vec<&str> =
            self.world.items.iter().filter(|it| gives(it)).map(|it| it.name.as_str()).collect();
        if traits.is_empty() {
            return false;
        }
        // A trait may go by another name where it is implemented.
        self.world.impls.iter().any(|it| match it.trait_.as_deref() {
            Some(of) => (traits.contains(&of) || self.renames(it)) && !self.is_for_own(it),
            None => false,
        })
    }

    /// Whether the trait of an `impl` goes by a name that it was imported by.
    fn renames(&self, imp: &Impl) -> bool {
        let Some((path, _)) = &imp.syntax.trait_ else { return false };
        match self.world.resolve(imp.module, &Path::from(path), Space::Types) {
            Ok(Named::Item(id)) => path.segments.last().is_some_and(|it| {
                matches!(self.world.items[id].kind, Kind::Trait(_))
                    && it.ident != self.world.items[id].name
            }),
            _ => false,
        }
    }

    /// Whether an `impl` is for one type of the project.
    fn is_for_own(&self, imp: &Impl) -> bool {
        let syn::Type::Path(ty) = &*imp.syntax.self_ty else { return false };
        let generic = |it: &syn::Ident| {
            imp.syntax.generics.type_params().any(|parameter| parameter.ident == *it)
        };
        if ty.qself.is_some() || ty.path.get_ident().is_some_and(generic) {
            return false;
        }
        match self.world.resolve(imp.module, &Path::from(&ty.path), Space::Types) {
            Ok(Named::Item(id)) => {
                matches!(self.world.items[id].kind, Kind::Data(_) | Kind::Root(_))
            }
            _ => false,
        }
    }

    /// Whether some `impl` of a trait may be for a type that is not told by its name: by an alias, or for all.
    pub fn may_be_for_any(&self, trait_: &str) -> bool {
        let of = |it: &&Impl| it.trait_.as_deref() == Some(trait_) || self.renamed_from(it, trait_);
        self.world.impls.iter().filter(of).any(|it| match &*it.syntax.self_ty {
            syn::Type::Path(ty) => match self.is_for_own(it) {
                // By its own name it would have been found.
                true => {
                    let named = self.world.resolve(it.module, &Path::from(&ty.path), Space::Types);
                    let last = ty.path.segments.last();
                    match named {
                        Ok(Named::Item(id)) => {
                            last.is_none_or(|it| it.ident != self.world.items[id].name)
                        }
                        _ => true,
                    }
                }
                false => {
                    let named = self.world.resolve(it.module, &Path::from(&ty.path), Space::Types);
                    !matches!(named, Ok(Named::Foreign(_)))
                }
            },
            _ => true,
        })
    }

    fn renamed_from(&self, imp: &Impl, trait_: &str) -> bool {
        let Some((path, _)) = &imp.syntax.trait_ else { return false };
        match self.world.resolve(imp.module, &Path::from(path), Space::Types) {
            Ok(Named::Foreign(it)) => it.rsplit("::").next() == Some(trait_),
            _ => false,
        }
    }
}

/// What parameters a type as written is made of, told from the type that it is.
pub fn bind(pattern: &syn::Type, actual: &Ty, into: &mut BTreeMap<String, Ty>) {
    match pattern {
        syn::Type::Paren(it) => bind(&it.elem, actual, into),
        syn::Type::Group(it) => bind(&it.elem, actual, into),
        syn::Type::Reference(it) => bind(&it.elem, actual, into),
        syn::Type::Slice(it) => bind(&it.elem, &actual.inside(0), into),
        syn::Type::Array(it) => bind(&it.elem, &actual.inside(0), into),
        syn::Type::Tuple(it) => {
            for (index, it) in it.elems.iter().enumerate() {
                bind(it, &actual.inside(index), into);
            }
        }
        syn::Type::Path(it) if it.qself.is_none() => {
            let Some(last) = it.path.segments.last() else { return };
            if let Some(slot) = it.path.get_ident().and_then(|it| into.get_mut(&plain(it))) {
                if *slot == Ty::Unknown {
                    *slot = actual.clone();
                }
                return;
            }
            let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return };
            let inside = match actual {
                Ty::Data(_, inside) | Ty::Known(_, inside) => inside,
                Ty::Unknown => return,
            };
            let types = arguments.args.iter().filter_map(|it| match it {
                syn::GenericArgument::Type(it) => Some(it),
                _ => None,
            });
            for (it, actual) in types.zip(inside) {
                bind(it, actual, into);
            }
        }
        _ => {}
    }
}

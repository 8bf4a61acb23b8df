//! Indexes `impl`s by their types, and the project's traits by their functions, so that each is looked up once.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::names::{Miss, Named, Space};
use crate::text::unraw_name;
use crate::tree::attribute_macros::is_of_language_or_tool;
use crate::tree::{Impl, ItemId, ItemKind, ModuleId, Path};
use crate::types::{Scope, Type, Types, Unread};

#[derive(Debug, Default)]
pub struct Index {
    /// The `impl`s of each type of the project, by their numbers.
    impls: BTreeMap<ItemId, Vec<usize>>,
    /// Those whose type is not certain, by the last name of its path.
    unclear: BTreeMap<String, Vec<usize>>,
    /// The `impl`s whose type a macro writes.
    of_any: Vec<usize>,
    /// The traits of all crates that are read, by the names of their functions.
    traits: BTreeMap<String, Vec<ItemId>>,
    /// Those with a macro in them, which may write any function.
    open_traits: Vec<ItemId>,
    /// The code that may bring a trait that is not read into scope, by module.
    possible_traits: RefCell<BTreeMap<(ModuleId, Unread), Option<String>>>,
}

impl Index {
    pub fn new(types: &Types) -> Self {
        let mut index = Self::default();
        for (number, imp) in types.impls.iter().enumerate() {
            match impl_target(types, imp) {
                ImplTarget::Item(id) => index.impls.entry(id).or_default().push(number),
                ImplTarget::Unclear(name) => index.unclear.entry(name).or_default().push(number),
                ImplTarget::Any => index.of_any.push(number),
                ImplTarget::Other => {}
            }
        }
        for (id, item) in types.items.iter().enumerate() {
            let ItemKind::Trait(it) = &item.kind else { continue };
            for it in &it.items {
                if has_macros(it) {
                    index.open_traits.push(id);
                }
                match it {
                    syn::TraitItem::Fn(it) => {
                        index.traits.entry(unraw_name(&it.sig.ident)).or_default().push(id);
                    }
                    syn::TraitItem::Const(_) | syn::TraitItem::Type(_) => {}
                    _ => index.open_traits.push(id),
                }
            }
        }
        index
    }

    /// The `impl`s that are, or may be, for a type.
    pub fn impls_for(&self, id: ItemId, name: &str) -> impl Iterator<Item = usize> {
        let unclear = self.unclear.get(name).into_iter().flatten();
        self.impls.get(&id).into_iter().flatten().chain(unclear).chain(&self.of_any).copied()
    }

    /// Returns what may bring a trait that is not read into scope of a module.
    pub fn possible_trait(
        &self,
        types: &Types,
        module: ModuleId,
        unread: Unread,
    ) -> Option<String> {
        let known = self.possible_traits.borrow().get(&(module, unread)).cloned();
        known.unwrap_or_else(|| {
            let found = types.possible_trait_in_scope(module, unread);
            self.possible_traits.borrow_mut().insert((module, unread), found.clone());
            found
        })
    }

    /// The traits in scope of a module that have, or may have, a function of a name.
    pub fn traits_with(&self, types: &Types, module: ModuleId, function: &str) -> Vec<ItemId> {
        let with_function = self.traits.get(function).into_iter().flatten();
        let candidates = with_function.chain(&self.open_traits).copied();
        candidates.filter(|trait_| types.is_trait_in_scope(module, *trait_)).collect()
    }
}

/// Returns whether an attribute macro is at an item of a trait, to which it may add others.
fn has_macros(item: &syn::TraitItem) -> bool {
    let attributes = match item {
        syn::TraitItem::Const(it) => &it.attrs,
        syn::TraitItem::Fn(it) => &it.attrs,
        syn::TraitItem::Type(it) => &it.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| !is_of_language_or_tool(&attribute.meta))
}

enum ImplTarget {
    Item(ItemId),
    /// A type of another crate, or all types.
    Other,
    /// With the last name of its path.
    Unclear(String),
    /// A macro writes the type.
    Any,
}

fn impl_target(types: &Types, imp: &Impl) -> ImplTarget {
    let ty = match &*imp.syntax.self_ty {
        syn::Type::Path(ty) => ty,
        syn::Type::Macro(_) => return ImplTarget::Any,
        _ => return ImplTarget::Other,
    };
    if ty.qself.is_some() {
        return ImplTarget::Other;
    }
    let name = last_name(&imp.syntax.self_ty).unwrap_or_default();
    match types.resolve_path(imp.module, &Path::from(&ty.path), Space::Types) {
        Ok(Named::Item(id)) if matches!(types.items[id].kind, ItemKind::Alias(_)) => {
            let behind = match &types.items[id].kind {
                ItemKind::Alias(it) => last_name(&it.ty),
                _ => None,
            };
            match types.type_in(&Scope::from(imp.module), &imp.syntax.self_ty) {
                Ok(it) => match *it {
                    Type::Data(id, _) => ImplTarget::Item(id),
                    _ => ImplTarget::Other,
                },
                Err(_) => ImplTarget::Unclear(behind.unwrap_or(name)),
            }
        }
        Ok(Named::Item(id)) => ImplTarget::Item(id),
        Err(Miss::Doubt(_) | Miss::Perhaps(_)) => ImplTarget::Unclear(name),
        _ => ImplTarget::Other,
    }
}

fn last_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(it) => it.path.segments.last().map(|segment| unraw_name(&segment.ident)),
        _ => None,
    }
}

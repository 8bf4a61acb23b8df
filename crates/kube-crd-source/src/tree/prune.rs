//! Takes out of code that runs what its `cfg`s take away: statements, arms, fields, arguments, items within.
//!
//! What a `cfg` keeps loses the attribute. What the source does not settle keeps it, and is refused where a run
//! comes to it: whoever runs code refuses every attribute that it does not know.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Stmt};

use crate::cargo::cfg::{Cfg, Features, settle};

/// Prunes an item that was read, itself settled already.
pub fn item(item: &mut syn::Item, features: &Features) {
    let mut prune = Prune { features };
    match item {
        syn::Item::Fn(it) => {
            prune.keeps(&mut it.attrs);
            prune.visit_item_fn_mut(it);
        }
        syn::Item::Const(it) => prune.visit_item_const_mut(it),
        syn::Item::Static(it) => prune.visit_item_static_mut(it),
        syn::Item::Impl(it) => prune.visit_item_impl_mut(it),
        syn::Item::Trait(it) => prune.visit_item_trait_mut(it),
        _ => {}
    }
}

struct Prune<'a> {
    features: &'a Features,
}

impl Prune<'_> {
    /// Whether what has these attributes is there. Those that are certain are opened and taken away.
    fn keeps(&self, attrs: &mut Vec<Attribute>) -> bool {
        let conditional =
            |it: &Attribute| it.path().is_ident("cfg") || it.path().is_ident("cfg_attr");
        if !attrs.iter().any(conditional) {
            return true;
        }
        match settle(attrs, self.features) {
            Ok(it) if it.cfg == Cfg::No => false,
            Ok(it) if it.cfg == Cfg::Yes && it.doubtful.is_empty() => {
                *attrs = it.attrs;
                true
            }
            _ => true,
        }
    }

    fn arguments<P: Default>(&self, all: &mut Punctuated<Expr, P>) {
        self.parts(all, attributes);
    }

    fn parts<T, P: Default>(
        &self,
        all: &mut Punctuated<T, P>,
        attributes: impl Fn(&mut T) -> Option<&mut Vec<Attribute>>,
    ) {
        if all.iter_mut().any(|it| attributes(it).is_some_and(|it| !it.is_empty())) {
            let trailing = all.trailing_punct();
            let kept = std::mem::take(all).into_iter();
            *all = kept
                .filter_map(|mut it| {
                    attributes(&mut it).is_none_or(|it| self.keeps(it)).then_some(it)
                })
                .collect();
            // `(a,)` is a tuple, `(a)` is none.
            if trailing && !all.is_empty() {
                all.push_punct(P::default());
            }
        }
    }
}

impl VisitMut for Prune<'_> {
    fn visit_block_mut(&mut self, it: &mut syn::Block) {
        it.stmts.retain_mut(|it| match it {
            Stmt::Local(it) => self.keeps(&mut it.attrs),
            Stmt::Macro(it) => self.keeps(&mut it.attrs),
            Stmt::Item(it) => item_attributes(it).is_none_or(|it| self.keeps(it)),
            Stmt::Expr(it, _) => attributes(it).is_none_or(|it| self.keeps(it)),
        });
        visit_mut::visit_block_mut(self, it);
    }

    fn visit_signature_mut(&mut self, it: &mut syn::Signature) {
        self.parts(&mut it.inputs, |it| match it {
            syn::FnArg::Receiver(it) => Some(&mut it.attrs),
            syn::FnArg::Typed(it) => Some(&mut it.attrs),
        });
    }

    fn visit_expr_array_mut(&mut self, it: &mut syn::ExprArray) {
        self.arguments(&mut it.elems);
        visit_mut::visit_expr_array_mut(self, it);
    }

    fn visit_expr_call_mut(&mut self, it: &mut syn::ExprCall) {
        self.arguments(&mut it.args);
        visit_mut::visit_expr_call_mut(self, it);
    }

    fn visit_expr_method_call_mut(&mut self, it: &mut syn::ExprMethodCall) {
        self.arguments(&mut it.args);
        visit_mut::visit_expr_method_call_mut(self, it);
    }

    fn visit_expr_tuple_mut(&mut self, it: &mut syn::ExprTuple) {
        self.arguments(&mut it.elems);
        visit_mut::visit_expr_tuple_mut(self, it);
    }

    fn visit_expr_struct_mut(&mut self, it: &mut syn::ExprStruct) {
        self.parts(&mut it.fields, |it| Some(&mut it.attrs));
        visit_mut::visit_expr_struct_mut(self, it);
    }

    fn visit_pat_struct_mut(&mut self, it: &mut syn::PatStruct) {
        self.parts(&mut it.fields, |it| Some(&mut it.attrs));
        visit_mut::visit_pat_struct_mut(self, it);
    }

    fn visit_expr_match_mut(&mut self, it: &mut syn::ExprMatch) {
        it.arms.retain_mut(|it| self.keeps(&mut it.attrs));
        visit_mut::visit_expr_match_mut(self, it);
    }

    fn visit_item_impl_mut(&mut self, it: &mut syn::ItemImpl) {
        it.items.retain_mut(|it| match it {
            syn::ImplItem::Const(it) => self.keeps(&mut it.attrs),
            syn::ImplItem::Fn(it) => self.keeps(&mut it.attrs),
            syn::ImplItem::Type(it) => self.keeps(&mut it.attrs),
            syn::ImplItem::Macro(it) => self.keeps(&mut it.attrs),
            _ => true,
        });
        visit_mut::visit_item_impl_mut(self, it);
    }

    fn visit_item_trait_mut(&mut self, it: &mut syn::ItemTrait) {
        it.items.retain_mut(|it| match it {
            syn::TraitItem::Const(it) => self.keeps(&mut it.attrs),
            syn::TraitItem::Fn(it) => self.keeps(&mut it.attrs),
            syn::TraitItem::Type(it) => self.keeps(&mut it.attrs),
            syn::TraitItem::Macro(it) => self.keeps(&mut it.attrs),
            _ => true,
        });
        visit_mut::visit_item_trait_mut(self, it);
    }

    // Nothing in these is taken away.
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_path_mut(&mut self, _: &mut syn::Path) {}
    fn visit_generics_mut(&mut self, _: &mut syn::Generics) {}
    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
}

/// The attributes of a statement or an argument that is an expression. Before an operator an attribute
/// is its left side's, where none may take anything away.
fn attributes(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    macro_rules! of {
        ($($kind:ident)*) => {
            match expr {
                $(Expr::$kind(it) => Some(&mut it.attrs),)*
                _ => None,
            }
        };
    }
    of! {
        Array Await Block Break Call Closure Const Continue Field ForLoop Group If Index Let Lit Loop Macro
        Match MethodCall Paren Path Reference Repeat Return Struct Try Tuple Unary Unsafe While
    }
}

fn item_attributes(item: &mut syn::Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        syn::Item::Const(it) => &mut it.attrs,
        syn::Item::Enum(it) => &mut it.attrs,
        syn::Item::Fn(it) => &mut it.attrs,
        syn::Item::Impl(it) => &mut it.attrs,
        syn::Item::Macro(it) => &mut it.attrs,
        syn::Item::Static(it) => &mut it.attrs,
        syn::Item::Struct(it) => &mut it.attrs,
        syn::Item::Trait(it) => &mut it.attrs,
        syn::Item::Type(it) => &mut it.attrs,
        syn::Item::Use(it) => &mut it.attrs,
        _ => return None,
    })
}

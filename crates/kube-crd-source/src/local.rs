//! `use` inside of a function: what it names is written out in the code of its block, and the `use` is gone.
//!
//! A `use` that cannot be written out for certain stays, and is refused where a run comes to it.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Item, Pat, PathSegment, Stmt, UseTree};

use super::world::plain;

/// Macros whose input is code as any other.
const OPEN: &[&str] = &[
    "vec",
    "format",
    "json",
    "json_schema",
    "write",
    "writeln",
    "assert",
    "assert_eq",
    "matches",
    "panic",
];

/// Writes out what is imported in the functions of an item.
pub fn item(item: &mut Item) {
    match item {
        Item::Fn(it) => Blocks.visit_item_fn_mut(it),
        Item::Const(it) => Blocks.visit_item_const_mut(it),
        Item::Static(it) => Blocks.visit_item_static_mut(it),
        Item::Impl(it) => Blocks.visit_item_impl_mut(it),
        Item::Trait(it) => Blocks.visit_item_trait_mut(it),
        _ => {}
    }
}

struct Blocks;

impl VisitMut for Blocks {
    fn visit_block_mut(&mut self, it: &mut syn::Block) {
        // What is imported further in hides what is imported here.
        visit_mut::visit_block_mut(self, it);
        let is_use = |it: &Stmt| matches!(it, Stmt::Item(Item::Use(_)));
        if !it.stmts.iter().any(is_use) {
            return;
        }
        let Some(names) = imported(&it.stmts) else { return };
        let mut doubt = Doubt { names: &names, found: false };
        it.stmts.iter().filter(|it| !is_use(it)).for_each(|it| doubt.visit_stmt(it));
        if !doubt.found {
            it.stmts.retain(|it| !is_use(it));
            it.stmts.iter_mut().for_each(|it| Written { names: &names }.visit_stmt_mut(it));
        }
    }

    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_path_mut(&mut self, _: &mut syn::Path) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
}

/// The names that a block's `use`s bring, each with its path.
type Names = BTreeMap<String, syn::Path>;

fn imported(stmts: &[Stmt]) -> Option<Names> {
    let mut res = Names::new();
    for it in stmts {
        let Stmt::Item(Item::Use(it)) = it else { continue };
        let allow = |it: &syn::Attribute| it.path().is_ident("allow");
        if !it.attrs.iter().all(allow) {
            return None;
        }
        let leading_colon = it.leading_colon;
        brought(&it.tree, &syn::Path { leading_colon, segments: Default::default() }, &mut res)?;
    }
    // One of them that leads through another is left.
    let through = |it: &syn::Path| {
        let first = it.segments.first().map(|it| plain(&it.ident));
        it.leading_colon.is_none()
            && first.is_none_or(|first| {
                // `use a::a` leads to the one outside.
                res.get(&first).is_some_and(|other| other != it)
            })
    };
    (!res.values().any(through)).then_some(res)
}

fn brought(tree: &UseTree, before: &syn::Path, res: &mut Names) -> Option<()> {
    let with = |ident: &syn::Ident| {
        let mut path = before.clone();
        // `a::{self}` is `a`.
        if ident != "self" || path.segments.is_empty() {
            path.segments.push(PathSegment::from(ident.clone()));
        }
        path
    };
    let (name, path) = match tree {
        UseTree::Path(it) => return brought(&it.tree, &with(&it.ident), res),
        UseTree::Group(it) => return it.items.iter().try_for_each(|it| brought(it, before, res)),
        UseTree::Glob(_) => return None,
        UseTree::Name(it) => {
            let path = with(&it.ident);
            (plain(&path.segments.last()?.ident), path)
        }
        UseTree::Rename(it) => (plain(&it.rename), with(&it.ident)),
    };
    (name == "_" || res.insert(name, path).is_none()).then_some(())
}

/// Whether a name may mean something else somewhere in a block.
struct Doubt<'a> {
    names: &'a Names,
    found: bool,
}

impl Doubt<'_> {
    fn tokens(&mut self, tokens: &TokenStream, open: bool) {
        let mut tokens = tokens.clone().into_iter().peekable();
        while let Some(it) = tokens.next() {
            match it {
                TokenTree::Ident(it) => {
                    let name = plain(&it);
                    // What is called or leads further is no field.
                    let begins = match tokens.peek() {
                        Some(TokenTree::Group(it)) => it.delimiter() == Delimiter::Parenthesis,
                        Some(TokenTree::Punct(it)) => {
                            it.as_char() == '!'
                                || it.as_char() == ':' && it.spacing() == Spacing::Joint
                        }
                        _ => false,
                    };
                    let sure = open && (begins || is_type(&name));
                    self.found |= self.names.contains_key(&name) && !sure || name == "stringify";
                }
                TokenTree::Group(it) => self.tokens(&it.stream(), open),
                // `format!("{NAME}")` names it too.
                TokenTree::Literal(it) => {
                    let text = it.to_string();
                    self.found |= self.names.keys().any(|it| text.contains(&format!("{{{it}")));
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Doubt<'_> {
    fn visit_pat_ident(&mut self, it: &'a syn::PatIdent) {
        let name = plain(&it.ident);
        // What is no variant nor a constant is a variable of this name.
        let plain = it.by_ref.is_none() && it.mutability.is_none() && it.subpat.is_none();
        self.found |= self.names.contains_key(&name) && !(plain && is_type(&name));
        visit::visit_pat_ident(self, it);
    }

    fn visit_macro(&mut self, it: &'a syn::Macro) {
        let open =
            it.path.segments.last().is_some_and(|it| OPEN.iter().any(|name| it.ident == name));
        self.tokens(&it.tokens, open);
    }

    fn visit_item(&mut self, _: &'a Item) {
        // It sees what is imported, and its own names besides.
        self.found = true;
    }
}

/// Writes paths out.
struct Written<'a> {
    names: &'a Names,
}

impl Written<'_> {
    fn path_of(&self, ident: &syn::Ident) -> Option<syn::Path> {
        let mut path = self.names.get(&plain(ident))?.clone();
        // What is wrong with it is told where it is used.
        path.segments.iter_mut().for_each(|it| it.ident.set_span(ident.span()));
        Some(path)
    }

    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut behind = false;
        let each = tokens.into_iter().map(|it| match it {
            TokenTree::Ident(it) => {
                let first = !std::mem::take(&mut behind);
                let found = self.path_of(&it).filter(|_| first);
                found.map_or_else(|| TokenTree::Ident(it).into(), |it| quote::quote!(#it))
            }
            TokenTree::Group(it) => {
                behind = false;
                let mut group = Group::new(it.delimiter(), self.tokens(it.stream()));
                group.set_span(it.span());
                TokenTree::Group(group).into()
            }
            it => {
                // A name behind `::` or `.` is of something else.
                behind = matches!(&it, TokenTree::Punct(it) if matches!(it.as_char(), ':' | '.')
                    && (it.as_char() == '.' || behind || it.spacing() == Spacing::Joint));
                it.into()
            }
        });
        each.collect()
    }

    fn grown(&mut self, path: &mut syn::Path, qself: &mut Option<syn::QSelf>) {
        let before = path.segments.len();
        self.visit_path_mut(path);
        if let Some(it) = qself {
            self.visit_type_mut(&mut it.ty);
            if 0 < it.position {
                it.position += path.segments.len() - before;
            }
        }
    }
}

impl VisitMut for Written<'_> {
    fn visit_path_mut(&mut self, it: &mut syn::Path) {
        visit_mut::visit_path_mut(self, it);
        let Some(first) = it.segments.first().filter(|_| it.leading_colon.is_none()) else {
            return;
        };
        let Some(mut path) = self.path_of(&first.ident) else { return };
        let mut rest = std::mem::take(&mut it.segments).into_iter();
        if let (Some(last), Some(first)) = (path.segments.last_mut(), rest.next()) {
            last.arguments = first.arguments;
        }
        path.segments.extend(rest);
        *it = path;
    }

    fn visit_expr_path_mut(&mut self, it: &mut syn::ExprPath) {
        self.grown(&mut it.path, &mut it.qself);
    }

    fn visit_type_path_mut(&mut self, it: &mut syn::TypePath) {
        self.grown(&mut it.path, &mut it.qself);
    }

    fn visit_pat_mut(&mut self, it: &mut Pat) {
        if let Pat::Ident(ident) = it
            && let Some(path) = self.path_of(&ident.ident)
        {
            *it = Pat::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path });
            return;
        }
        visit_mut::visit_pat_mut(self, it);
    }

    fn visit_macro_mut(&mut self, it: &mut syn::Macro) {
        self.visit_path_mut(&mut it.path);
        it.tokens = self.tokens(std::mem::take(&mut it.tokens));
    }

    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
}

fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

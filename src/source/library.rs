//! Checks that the operator runs what src/webhook/mod.rs returns, in every build.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, Item, Path, Token, parse::Parser as _, punctuated::Punctuated, visit::Visit,
};

/// Returns whether `all()` of a library has `webhook::all()` in a list of it, once, and the module is in every build.
pub fn all_includes_webhooks(text: &str) -> bool {
    let Ok(file) = syn::parse_file(text) else { return false };
    let has_module = file.items.iter().any(
        |item| matches!(item, Item::Mod(it) if it.ident == "webhook" && !is_conditional(&it.attrs)),
    );
    let functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(it) if it.sig.ident == "all" && !is_conditional(&it.attrs) => Some(it),
        _ => None,
    });
    let mut calls = Calls(0);
    functions.for_each(|function| calls.visit_item_fn(function));
    has_module && calls.0 == 1
}

/// Returns whether the code of a file, which comments are no part of, names the function that returns the webhooks.
pub fn names_webhooks(text: &str) -> bool {
    let tokens = text.parse::<TokenStream>().unwrap_or_default();
    tokens.to_string().replace(' ', "").contains("webhook::all")
}

/// Calls of `webhook::all` that are elements of lists.
struct Calls(usize);

impl<'ast> Visit<'ast> for Calls {
    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        let elements = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(it.tokens.clone());
        let is_it = |token: &Expr| match token {
            Expr::Call(it) if it.attrs.is_empty() => {
                matches!(&*it.func, Expr::Path(it) if it.attrs.is_empty() && is_webhook_all(&it.path))
            }
            _ => false,
        };
        self.0 += elements.into_iter().flatten().filter(is_it).count();
    }
}

fn is_webhook_all(path: &Path) -> bool {
    let names: Vec<String> =
        path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(&names[..], ["webhook", "all"] | ["crate" | "self", "webhook", "all"])
}

/// Returns whether only some builds have what these attributes are on.
pub fn is_conditional<'a>(attributes: impl IntoIterator<Item = &'a Attribute>) -> bool {
    attributes.into_iter().any(|attribute| attribute.path().is_ident("cfg"))
}

#[test]
fn webhooks_are_run_by_every_build() {
    let library = "pub mod webhook; pub fn all() { let parts = vec![controller::all(), webhook::all()]; parts }";
    assert!(all_includes_webhooks(library));
    for (from, to) in [
        ("pub mod", "#[cfg(a)] pub mod"),
        ("pub fn", "#[cfg(a)] pub fn"),
        (" webhook::all()", " #[cfg(a)] webhook::all()"),
        (" webhook::all()", " if a { webhook::all() } else { vec![] }"),
        (" webhook::all()", ""),
        (" webhook::all()", " /* webhook::all() */"),
        (" webhook::all()", " webhook::all(), webhook::all()"),
        (" let parts", " vec![] } pub fn unused() { let parts"),
        ("pub mod webhook;", ""),
    ] {
        assert!(library.contains(from), "{from}");
        assert!(!all_includes_webhooks(&library.replace(from, to)), "{to}");
    }
}

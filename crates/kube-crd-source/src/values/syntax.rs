//! Helpers over syntax that know no names and no types.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr};

pub use crate::text::peel_parens;

pub fn comma_separated(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match (token, parts.last_mut()) {
            (TokenTree::Punct(it), _) if it.as_char() == ',' => parts.push(Vec::new()),
            (token, Some(last)) => last.push(token),
            (_, None) => {}
        }
    }
    // A comma at the end separates nothing.
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts.into_iter().map(|tokens| tokens.into_iter().collect()).collect()
}

/// Returns the attributes of an expression; none for an expression that is not evaluated.
pub fn attributes_of(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Binary(it) => &it.attrs,
        Expr::Block(it) => &it.attrs,
        Expr::Call(it) => &it.attrs,
        Expr::Field(it) => &it.attrs,
        Expr::If(it) => &it.attrs,
        Expr::Lit(it) => &it.attrs,
        Expr::Macro(it) => &it.attrs,
        Expr::MethodCall(it) => &it.attrs,
        Expr::Paren(it) => &it.attrs,
        Expr::Path(it) => &it.attrs,
        Expr::Reference(it) => &it.attrs,
        Expr::Struct(it) => &it.attrs,
        Expr::Unary(it) => &it.attrs,
        _ => &[],
    }
}

/// The name or number of a field.
pub fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(it) => crate::text::unraw_name(it),
        syn::Member::Unnamed(it) => it.index.to_string(),
    }
}

/// The beginning of a long text.
pub fn shorten_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

//! Helpers over syntax that know no names and no types.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr};

pub use crate::text::peel;

pub fn comma_separated(tokens: TokenStream) -> Vec<TokenStream> {
    let mut res = vec![Vec::new()];
    for token in tokens {
        match (token, res.last_mut()) {
            (TokenTree::Punct(it), _) if it.as_char() == ',' => res.push(Vec::new()),
            (token, Some(last)) => last.push(token),
            (_, None) => {}
        }
    }
    // A comma at the end separates nothing.
    if res.last().is_some_and(Vec::is_empty) {
        res.pop();
    }
    res.into_iter().map(|it| it.into_iter().collect()).collect()
}

/// The attributes of an expression; all of one that is none of those evaluated are empty.
pub fn attributes(expr: &Expr) -> &[Attribute] {
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
pub fn member(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(it) => crate::text::plain(it),
        syn::Member::Unnamed(it) => it.index.to_string(),
    }
}

/// The beginning of a long text.
pub fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

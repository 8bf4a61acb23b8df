//! Small questions about syntax.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::Expr;

/// An identifier without `r#`.
pub fn plain(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

/// The identifiers among tokens, without `r#`.
pub fn identifiers(tokens: &impl ToTokens) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut streams = vec![tokens.to_token_stream()];
    while let Some(stream) = streams.pop() {
        for token in stream {
            match token {
                TokenTree::Ident(ident) => drop(found.insert(plain(&ident))),
                TokenTree::Group(group) => streams.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    found
}

/// Tokens as a person would write them, for messages.
pub fn text(tokens: &impl ToTokens) -> String {
    let mut res = String::new();
    for part in tokens.to_token_stream().to_string().split(' ') {
        let before = res.chars().last();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if (word(before) && word(part.chars().next())) || before == Some(',') {
            res.push(' ');
        }
        res.push_str(part);
    }
    res
}

/// An expression without parentheses around it.
pub fn peel(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(it) if it.attrs.is_empty() => peel(&it.expr),
        Expr::Group(it) => peel(&it.expr),
        expr => expr,
    }
}

#[test]
fn types_are_shown_as_they_are_written() {
    let ty: syn::Type = syn::parse_quote!(BTreeMap<String, Option<&'static str>>);
    assert_eq!(text(&ty), "BTreeMap<String, Option<&'static str>>");
}

//! Small questions about syntax.

use std::collections::BTreeSet;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::Expr;

/// An identifier without `r#`.
pub fn unraw_name(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

/// The identifiers among tokens, without `r#`.
pub fn collect_identifiers(tokens: &impl ToTokens) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut streams = vec![tokens.to_token_stream()];
    while let Some(stream) = streams.pop() {
        for token in stream {
            match token {
                TokenTree::Ident(ident) => drop(found.insert(unraw_name(&ident))),
                TokenTree::Group(group) => streams.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    found
}

/// Tokens as a person would write them, for messages.
pub fn format_tokens(tokens: &impl ToTokens) -> String {
    let mut text = String::new();
    for part in tokens.to_token_stream().to_string().split(' ') {
        let before = text.chars().last();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if (word(before) && word(part.chars().next())) || before == Some(',') {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}

/// An expression without parentheses around it.
pub fn peel_parens(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(it) if it.attrs.is_empty() => peel_parens(&it.expr),
        Expr::Group(it) => peel_parens(&it.expr),
        expr => expr,
    }
}

#[test]
fn types_are_shown_as_they_are_written() {
    let ty: syn::Type = syn::parse_quote!(BTreeMap<String, Option<&'static str>>);
    assert_eq!(format_tokens(&ty), "BTreeMap<String, Option<&'static str>>");
}

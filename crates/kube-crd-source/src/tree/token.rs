//! The tokens of macros: metavariables are one token each, and repetitions are unrolled once.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::text::unraw_name;

/// The metavariables of a matcher, each with its fragment specifier.
pub fn read_fragments(matcher: TokenStream, into: &mut BTreeMap<String, String>) {
    let tokens: Vec<TokenTree> = matcher.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, tokens.get(index + 1), tokens.get(index + 2), tokens.get(index + 3)) {
            (TokenTree::Group(it), ..) => read_fragments(it.stream(), into),
            (
                TokenTree::Punct(dollar),
                Some(TokenTree::Ident(name)),
                Some(TokenTree::Punct(colon)),
                Some(TokenTree::Ident(kind)),
            ) if dollar.as_char() == '$' && colon.as_char() == ':' => {
                into.insert(name.to_string(), kind.to_string());
            }
            _ => {}
        }
    }
}

/// A token, with metavariables as one.
pub enum Token {
    Word(String),
    Punct(char),
    Text(String),
    Group(Vec<Self>),
    /// A metavariable, or an end of `$(…)*`.
    Variable(Fragment),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fragment {
    /// It may be whole items.
    Items,
    /// It may be a name or a keyword.
    Word,
    /// It declares nothing: a type, an expression, a visibility.
    Other,
}

/// Tokens with what is in `$(…)*` beside all else. `fragments` is none for the arguments of a call.
pub fn flatten_tokens(
    tokens: TokenStream,
    fragments: Option<&BTreeMap<String, String>>,
) -> Vec<Token> {
    let mut flat = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(it) => flat.push(Token::Word(unraw_name(&it))),
            TokenTree::Literal(it) => flat.push(Token::Text(it.to_string())),
            TokenTree::Group(it) if it.delimiter() == Delimiter::None => {
                flat.extend(flatten_tokens(it.stream(), fragments));
            }
            TokenTree::Group(it) => {
                flat.push(Token::Group(flatten_tokens(it.stream(), fragments)));
            }
            TokenTree::Punct(it) if it.as_char() == '$' && fragments.is_some() => {
                match tokens.next() {
                    Some(TokenTree::Ident(it)) if it == "crate" => {
                        flat.push(Token::Word("$crate".to_owned()));
                    }
                    Some(TokenTree::Ident(it)) => {
                        let kind = fragments.and_then(|all| all.get(&it.to_string()));
                        flat.push(Token::Variable(fragment_of(kind)));
                    }
                    Some(TokenTree::Group(it)) => {
                        flat.push(Token::Variable(Fragment::Word));
                        flat.extend(flatten_tokens(it.stream(), fragments));
                        flat.push(Token::Variable(Fragment::Word));
                        // A separator perhaps, and how often.
                        let is_end = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if matches!(it.as_char(), '*' | '+' | '?'));
                        for _ in 0..3 {
                            if tokens.next().is_none_or(|token| is_end(&token)) {
                                break;
                            }
                        }
                    }
                    _ => flat.push(Token::Variable(Fragment::Items)),
                }
            }
            TokenTree::Punct(it) => flat.push(Token::Punct(it.as_char())),
        }
    }
    flat
}

fn fragment_of(kind: Option<&String>) -> Fragment {
    match kind.map(String::as_str) {
        Some("ident") => Fragment::Word,
        Some(
            "block" | "expr" | "expr_2021" | "ty" | "pat" | "pat_param" | "path" | "literal"
            | "lifetime" | "vis" | "meta",
        ) => Fragment::Other,
        _ => Fragment::Items,
    }
}

//! Tokens as macros see them: `=>` and `'a` are one token each, and what a fragment matched is one that no
//! other macro looks into.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::buffer::Cursor;

use super::fragments::Fragment;

#[derive(Clone)]
pub enum Token {
    Ident(Ident),
    Lifetime(Punct, Ident),
    Literal(Literal),
    /// One operator, of up to three characters.
    Punct(Vec<Punct>),
    /// What a fragment matched, and as what; none where that is not known.
    Opaque(Option<Fragment>, Group),
    /// A group that a cursor may go into.
    Open(Group),
    Close,
    End,
}

/// Operators of more than one character, longer ones first.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "...", "..=", "<-", "->", "=>", "==", "<=", ">=", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "::", "..", "<<", ">>",
];

impl Token {
    /// The token at a cursor, and what follows. Where nothing is left: [`Token::End`].
    pub fn at(cursor: Cursor<'_>) -> (Self, Cursor<'_>) {
        let Some((tree, rest)) = cursor.token_tree() else { return (Self::End, cursor) };
        match tree {
            TokenTree::Ident(it) => (Self::Ident(it), rest),
            TokenTree::Literal(it) => (Self::Literal(it), rest),
            TokenTree::Group(it) if it.delimiter() == Delimiter::None => {
                (Self::Opaque(Fragment::marked(&it), it), rest)
            }
            TokenTree::Group(it) => (Self::Open(it), rest),
            TokenTree::Punct(it) if it.as_char() == '\'' => match rest.token_tree() {
                Some((TokenTree::Ident(name), rest)) => (Self::Lifetime(it, name), rest),
                _ => (Self::Punct(vec![it]), rest),
            },
            TokenTree::Punct(it) => operator(it, rest),
        }
    }

    /// Whether a token of a definition and one of a call are the same.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ident(one), Self::Ident(other)) => one == other,
            (Self::Lifetime(_, one), Self::Lifetime(_, other)) => one == other,
            (Self::Literal(one), Self::Literal(other)) => one.to_string() == other.to_string(),
            (Self::Punct(_), Self::Punct(_)) => self.operator() == other.operator(),
            _ => false,
        }
    }

    /// The characters of an operator; empty for another token.
    pub fn operator(&self) -> String {
        match self {
            Self::Punct(parts) => parts.iter().map(Punct::as_char).collect(),
            _ => String::new(),
        }
    }

    pub fn is(&self, operator: &str) -> bool {
        self.operator() == operator
    }

    /// An identifier that is not raw.
    pub fn word(&self) -> String {
        match self {
            Self::Ident(it) => it.to_string(),
            _ => String::new(),
        }
    }

    pub fn opens(&self, delimiter: Delimiter) -> bool {
        matches!(self, Self::Open(it) if it.delimiter() == delimiter)
    }

    pub fn span(&self) -> Span {
        match self {
            Self::Ident(it) | Self::Lifetime(_, it) => it.span(),
            Self::Literal(it) => it.span(),
            Self::Punct(parts) => parts.first().map_or_else(Span::call_site, Punct::span),
            Self::Opaque(_, it) | Self::Open(it) => it.span_open(),
            Self::Close | Self::End => Span::call_site(),
        }
    }

    pub fn write(&self, tokens: &mut TokenStream) {
        let trees: Vec<TokenTree> = match self {
            Self::Ident(it) => vec![it.clone().into()],
            Self::Lifetime(tick, it) => vec![tick.clone().into(), it.clone().into()],
            Self::Literal(it) => vec![it.clone().into()],
            Self::Punct(parts) => {
                let last = parts.len().saturating_sub(1);
                // What follows in the definition may not follow in what is made.
                let spaced = |(at, it): (usize, &Punct)| -> TokenTree {
                    let spacing = if at == last { it.spacing() } else { Spacing::Joint };
                    let mut res = Punct::new(it.as_char(), spacing);
                    res.set_span(it.span());
                    res.into()
                };
                parts.iter().enumerate().map(spaced).collect()
            }
            Self::Opaque(_, it) | Self::Open(it) => vec![it.clone().into()],
            Self::Close | Self::End => Vec::new(),
        };
        tokens.extend(trees);
    }
}

/// The longest operator that starts with this character.
fn operator(first: Punct, rest: Cursor<'_>) -> (Token, Cursor<'_>) {
    let mut parts = vec![(first, rest)];
    while parts.len() < 3 {
        let Some((last, rest)) = parts.last() else { break };
        match (last.spacing(), rest.token_tree()) {
            (Spacing::Joint, Some((TokenTree::Punct(next), rest))) if next.as_char() != '\'' => {
                parts.push((next, rest));
            }
            _ => break,
        }
    }
    let text: String = parts.iter().map(|(it, _)| it.as_char()).collect();
    let length = OPERATORS.iter().find(|it| text.starts_with(**it)).map_or(1, |it| it.len());
    let rest = parts[length - 1].1;
    (Token::Punct(parts.into_iter().take(length).map(|(it, _)| it).collect()), rest)
}

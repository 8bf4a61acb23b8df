//! The text of a `macro_rules!` → its arms: a matcher each, and what is made of what it matches.

use proc_macro2::{Delimiter, Group, Ident, Span};
use syn::buffer::{Cursor, TokenBuffer};

use super::fragments::Fragment;
use super::tokens::Token;

pub struct Arm {
    pub matcher: Vec<Pattern>,
    pub made: Vec<Made>,
}

/// What may follow `$(…)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    Any,
    Some,
    Once,
}

/// One piece of a matcher.
pub enum Pattern {
    Token(Token),
    Group(Delimiter, Vec<Self>),
    Repeat(Vec<Self>, Option<Token>, Times),
    Variable(String, Fragment),
}

/// One piece of what is made.
pub enum Made {
    Token(Token),
    Group(Group, Vec<Self>),
    Repeat(Vec<Self>, Option<Token>, Times, Span),
    /// Its `$` is made too where nothing has that name.
    Variable(Token, Ident),
    /// `$crate`.
    Crate(Span),
}

fn error<T>(span: Span, message: impl std::fmt::Display) -> syn::Result<T> {
    Err(syn::Error::new(span, message))
}

/// Reads the arms of a definition.
pub fn arms(tokens: proc_macro2::TokenStream) -> syn::Result<Vec<Arm>> {
    let buffer = TokenBuffer::new2(tokens);
    let mut at = buffer.begin();
    let mut res = Vec::new();
    while !at.eof() {
        let (matcher, rest) = Token::at(at);
        let (arrow, rest) = Token::at(rest);
        let (made, rest) = Token::at(rest);
        let (Token::Open(matcher), true, Token::Open(made)) = (&matcher, arrow.is("=>"), &made)
        else {
            return error(matcher.span(), "is no arm: `(…) => { … }`");
        };
        res.push(Arm {
            matcher: patterns(TokenBuffer::new2(matcher.stream()).begin())?,
            made: makes(TokenBuffer::new2(made.stream()).begin())?,
        });
        let (next, after) = Token::at(rest);
        at = match next {
            Token::End => rest,
            it if it.is(";") => after,
            it => return error(it.span(), "arms are separated by `;`"),
        };
    }
    Ok(res)
}

fn patterns(mut at: Cursor<'_>) -> syn::Result<Vec<Pattern>> {
    let mut res = Vec::new();
    while !at.eof() {
        let (token, rest) = Token::at(at);
        at = rest;
        res.push(match token {
            Token::Open(group) => Pattern::Group(group.delimiter(), inner(&group, patterns)?),
            Token::Opaque(..) => return error(token.span(), "is a fragment in a matcher"),
            token if token.is("$") => {
                let (name, rest) = Token::at(at);
                match name {
                    Token::Open(group) if group.delimiter() == Delimiter::Parenthesis => {
                        let (separator, times, rest) = times(rest)?;
                        at = rest;
                        Pattern::Repeat(inner(&group, patterns)?, separator, times)
                    }
                    Token::Ident(name) => {
                        let (colon, rest) = Token::at(rest);
                        let (kind, rest) = Token::at(rest);
                        let Some(kind) = Fragment::named(&kind.word()).filter(|_| colon.is(":"))
                        else {
                            return error(name.span(), "has no fragment specifier that is known");
                        };
                        at = rest;
                        Pattern::Variable(name.to_string(), kind)
                    }
                    other => return error(other.span(), "cannot follow `$` in a matcher"),
                }
            }
            token => Pattern::Token(token),
        });
    }
    Ok(res)
}

fn makes(mut at: Cursor<'_>) -> syn::Result<Vec<Made>> {
    let mut res = Vec::new();
    while !at.eof() {
        let (token, rest) = Token::at(at);
        at = rest;
        res.push(match token {
            Token::Open(group) => {
                let inner = inner(&group, makes)?;
                Made::Group(group, inner)
            }
            token if token.is("$") => {
                let (name, rest) = Token::at(at);
                match name {
                    Token::Open(group) if group.delimiter() == Delimiter::Parenthesis => {
                        let (separator, times, rest) = times(rest)?;
                        at = rest;
                        Made::Repeat(inner(&group, makes)?, separator, times, group.span_open())
                    }
                    Token::Ident(name) => {
                        at = rest;
                        match name == "crate" {
                            true => Made::Crate(name.span()),
                            false => Made::Variable(token, name),
                        }
                    }
                    other => return error(other.span(), "cannot follow `$`"),
                }
            }
            token => Made::Token(token),
        });
    }
    Ok(res)
}

fn inner<T>(
    group: &Group,
    read: impl Fn(Cursor<'_>) -> syn::Result<Vec<T>>,
) -> syn::Result<Vec<T>> {
    read(TokenBuffer::new2(group.stream()).begin())
}

/// What follows `$(…)`: a separator perhaps, and how often.
fn times(at: Cursor<'_>) -> syn::Result<(Option<Token>, Times, Cursor<'_>)> {
    let times = |token: &Token| match token.operator().as_str() {
        "*" => Some(Times::Any),
        "+" => Some(Times::Some),
        "?" => Some(Times::Once),
        _ => None,
    };
    let (first, rest) = Token::at(at);
    if let Some(it) = times(&first) {
        return Ok((None, it, rest));
    }
    let (second, rest) = Token::at(rest);
    match (times(&second), &first) {
        (_, Token::Open(_) | Token::Opaque(..) | Token::End) | (None, _) => {
            error(first.span(), "`$(…)` is followed by `*`, `+` or `?`")
        }
        (Some(it), _) => Ok((Some(first), it, rest)),
    }
}

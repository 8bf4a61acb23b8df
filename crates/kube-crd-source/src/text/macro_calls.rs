//! The macros that tokens call.

use proc_macro2::{Span, TokenStream, TokenTree};

use super::syntax::BEFORE_NOT;
use super::unraw_name;

/// A call of a macro.
pub struct MacroCall {
    /// The last name of its path.
    pub name: String,
    pub arguments: TokenStream,
    /// The place of the name.
    pub span: Span,
}

/// Returns the calls in tokens, at whatever depth.
pub fn macro_calls(tokens: &TokenStream) -> Vec<MacroCall> {
    calls_outside(tokens, |_| false)
}

/// Returns the calls in tokens but for those in the arguments of calls of certain macros.
pub fn calls_outside(tokens: &TokenStream, is_closed: impl Fn(&str) -> bool) -> Vec<MacroCall> {
    let mut calls = Vec::new();
    let mut open = vec![tokens.clone()];
    while let Some(tokens) = open.pop() {
        let mut before: [Option<TokenTree>; 2] = [None, None];
        for token in tokens {
            if let TokenTree::Group(group) = &token {
                if let [Some(TokenTree::Ident(name)), Some(TokenTree::Punct(not))] = &before
                    && not.as_char() == '!'
                    && !BEFORE_NOT.iter().any(|word| name == word)
                {
                    let (name, span) = (unraw_name(name), name.span());
                    let is_closed = is_closed(&name);
                    calls.push(MacroCall { name, arguments: group.stream(), span });
                    if is_closed {
                        before = [None, None];
                        continue;
                    }
                }
                open.push(group.stream());
            }
            let [_, last] = before;
            before = [last, Some(token)];
        }
    }
    calls
}

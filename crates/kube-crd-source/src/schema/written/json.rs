//! The text of `json!` and `json_schema!`, taken apart but not yet evaluated.

use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token, token};

pub enum Written {
    Null,
    List(Vec<Self>),
    Object(Vec<(Expr, Self)>),
    Value(Box<Expr>),
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Ident) && input.fork().parse::<syn::Ident>()? == "null" {
            input.parse::<syn::Ident>()?;
            return Ok(Self::Null);
        }
        if input.peek(token::Bracket) && ends_after_one(input) {
            let inner;
            syn::bracketed!(inner in input);
            let items = inner.parse_terminated(Self::parse, Token![,])?;
            return Ok(Self::List(items.into_iter().collect()));
        }
        if input.peek(token::Brace) && ends_after_one(input) {
            let inner;
            syn::braced!(inner in input);
            let mut res = Vec::new();
            while !inner.is_empty() {
                let key = inner.parse()?;
                inner.parse::<Token![:]>()?;
                res.push((key, inner.parse()?));
                if !inner.is_empty() {
                    inner.parse::<Token![,]>()?;
                }
            }
            return Ok(Self::Object(res));
        }
        Ok(Self::Value(Box::new(input.parse()?)))
    }
}

/// Whether a group stands alone: `[1, 2].len()` is an expression.
fn ends_after_one(input: ParseStream<'_>) -> bool {
    input.peek2(Token![,]) || {
        let ahead = input.fork();
        ahead.parse::<proc_macro2::TokenTree>().is_ok() && ahead.is_empty()
    }
}

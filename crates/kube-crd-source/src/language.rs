//! Text that macros of the language give: `concat!`, `stringify!`, `env!`, `include_str!`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Expr, Lit, UnOp, punctuated::Punctuated, spanned::Spanned as _};

use crate::text::text;
use crate::tree::ModuleId;
use crate::types::Types;
use crate::values::peel;

/// How deep such macros may be nested.
const DEEP: usize = 128;

impl Types {
    /// A literal as `concat!` takes it, or what such a macro makes.
    pub fn literal_text(&self, module: ModuleId, expr: &Expr) -> syn::Result<String> {
        self.text_at(module, expr, 0)
    }

    fn text_at(&self, module: ModuleId, expr: &Expr, depth: usize) -> syn::Result<String> {
        let refuse =
            |what: &str| Err(syn::Error::new(expr.span(), format!("`{}` {what}", text(expr))));
        if DEEP < depth {
            return refuse("macros in macros have no end");
        }
        match peel(expr) {
            Expr::Lit(it) => match &it.lit {
                Lit::Str(it) => Ok(it.value()),
                Lit::Char(it) => Ok(it.value().to_string()),
                Lit::Bool(it) => Ok(it.value.to_string()),
                Lit::Int(it) => Ok(it.base10_digits().to_owned()),
                Lit::Float(it) => Ok(it.base10_digits().to_owned()),
                _ => refuse("is no literal that a text can be made of"),
            },
            Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr: inner, .. })
                if matches!(peel(inner), Expr::Lit(_)) =>
            {
                Ok(format!("-{}", self.text_at(module, inner, depth + 1)?))
            }
            Expr::Macro(it) => self.macro_text(module, &it.mac, depth),
            _ => refuse("is computed, which is not read; write the text itself"),
        }
    }

    fn macro_text(&self, module: ModuleId, call: &syn::Macro, depth: usize) -> syn::Result<String> {
        self.check_is_no_own_macro(module, call)?;
        let path: Vec<String> = call.path.segments.iter().map(|it| it.ident.to_string()).collect();
        let name = match &path[..] {
            [name] => name.as_str(),
            [krate, name] if matches!(krate.as_str(), "std" | "core") => name.as_str(),
            _ => "",
        };
        match name {
            "concat" => {
                let parts =
                    call.parse_body_with(Punctuated::<Expr, syn::Token![,]>::parse_terminated)?;
                parts.iter().map(|it| self.text_at(module, it, depth + 1)).collect()
            }
            "env" | "include_str" => self.outside(module, call),
            "stringify" => one_token(call.tokens.clone()).map_or_else(
                || Err(syn::Error::new(call.span(), "`stringify!` is read of one token only")),
                Ok,
            ),
            _ => {
                let message = "is computed, which is not read; write the text itself";
                Err(syn::Error::new(call.span(), format!("`{}` {message}", text(call))))
            }
        }
    }
}

/// The text of a token; of more than one it depends on how they are spaced.
fn one_token(tokens: TokenStream) -> Option<String> {
    let mut tokens = tokens.into_iter();
    match (tokens.next(), tokens.next()) {
        (None, _) => Some(String::new()),
        (Some(TokenTree::Group(it)), None) if it.delimiter() == Delimiter::None => {
            one_token(it.stream())
        }
        (Some(it @ (TokenTree::Ident(_) | TokenTree::Literal(_))), None) => Some(it.to_string()),
        _ => None,
    }
}

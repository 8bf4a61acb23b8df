//! `format!` with `{}` and `{name}` of texts, integers and booleans, and nothing after a colon.

use syn::punctuated::Punctuated;
use syn::{Expr, ExprPath, Token, spanned::Spanned as _};

use super::syntax::peel_parens;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::text::format_tokens;

impl Evaluator<'_> {
    pub fn eval_format(
        &self,
        frame: &Frame,
        mac: &syn::Macro,
        arguments: &Punctuated<Expr, Token![,]>,
    ) -> Eval<String> {
        let mut arguments = arguments.iter();
        let shape = match arguments.next().map(peel_parens) {
            Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. })) => it.value(),
            _ => return self.unsupported(frame, mac),
        };
        let (named, unnamed): (Vec<_>, Vec<_>) =
            arguments.partition(|expr| matches!(expr, Expr::Assign(_)));
        let mut unnamed = unnamed.into_iter();
        let mut text = String::new();
        let mut rest = shape.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            let tail = &rest[at..];
            if tail.starts_with("{{") || tail.starts_with("}}") {
                text.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let Some((name, after)) = tail[1..].split_once('}') else {
                return self.unsupported(frame, mac);
            };
            let shown = match name {
                "" => match unnamed.next() {
                    Some(it) => self.format_argument(frame, it)?,
                    None => return self.unsupported(frame, mac),
                },
                name => {
                    let given = named.iter().find_map(|expr| match expr {
                        Expr::Assign(it) if format_tokens(&it.left) == name => Some(&*it.right),
                        _ => None,
                    });
                    match (given, syn::parse_str::<syn::Ident>(name)) {
                        (Some(it), _) => self.format_argument(frame, it)?,
                        (None, Ok(mut ident)) => {
                            ident.set_span(mac.span());
                            let path =
                                ExprPath { attrs: Vec::new(), qself: None, path: ident.into() };
                            self.format_argument(frame, &Expr::Path(path))?
                        }
                        (None, Err(_)) => return self.unsupported(frame, mac),
                    }
                }
            };
            text.push_str(&shown);
            self.spend(frame, mac, 1 + text.len() / 64)?;
            rest = after;
        }
        match unnamed.next() {
            Some(_) => self.unsupported(frame, mac),
            None => Ok(text + rest),
        }
    }

    fn format_argument(&self, frame: &Frame, expr: &Expr) -> Eval<String> {
        let known = self.type_of(frame, expr);
        let ty = if known.is_known() { known } else { Ty::Any };
        Ok(match self.eval_expr(frame, expr, &ty)? {
            Value::Text(it) => it.to_string(),
            Value::Int(it, _) => it.to_string(),
            Value::Bool(it) => it.to_string(),
            Value::Char(it) => it.to_string(),
            _ => {
                return self.refuse(
                    frame,
                    expr,
                    "formatting a value of this type is not supported",
                );
            }
        })
    }
}

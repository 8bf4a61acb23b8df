//! The text of `json!` and `json_schema!`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::{Map, Value as Json};
use syn::{Expr, spanned::Spanned as _};

use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame, Stop, comma_separated};

impl Evaluator<'_> {
    /// The value of `json!`: expressions in it are serialized as serde does.
    pub fn json_macro(&self, frame: &Frame, tokens: &TokenStream) -> Eval<Json> {
        self.step(frame, tokens)?;
        let Some(_level) = self.meter.enter_level() else {
            return self.refuse(frame, tokens, "it is nested too deep");
        };
        let parts: Vec<TokenTree> = tokens.clone().into_iter().collect();
        match &parts[..] {
            [TokenTree::Ident(it)] if it == "null" => Ok(Json::Null),
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
                let items = comma_separated(group.stream());
                let items: Eval<Vec<_>> =
                    items.iter().map(|tokens| self.json_macro(frame, tokens)).collect();
                Ok(Json::Array(items?))
            }
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                self.json_object(frame, group.stream())
            }
            [] => {
                let why = "a value is missing".to_owned();
                Err(Stop::Problem(self.problem(frame, tokens.span(), why, super::HINT)))
            }
            _ => {
                let expr = self.syntax(frame, syn::parse2::<Expr>(tokens.clone()))?;
                let known = self.type_of(frame, &expr);
                let ty = if known.is_known() { known } else { Ty::Any };
                let value = self.eval_expr(frame, &expr, &ty)?;
                self.json_of(frame, &expr, &value)
            }
        }
    }

    fn json_object(&self, frame: &Frame, tokens: TokenStream) -> Eval<Json> {
        let mut object = Map::new();
        for entry in comma_separated(tokens) {
            let mut parts: Vec<TokenTree> = entry.clone().into_iter().collect();
            let colon = parts.iter().position(|it| {
                matches!(it, TokenTree::Punct(it) if it.as_char() == ':'
                    && it.spacing() == proc_macro2::Spacing::Alone)
            });
            // The second colon of `a::b` stands alone, too.
            let colon = colon.filter(|at| {
                !matches!(at.checked_sub(1).and_then(|index| parts.get(index)),
                    Some(TokenTree::Punct(it)) if it.as_char() == ':')
            });
            let Some(colon) = colon else {
                return self.refuse(frame, &entry, "its key is not evaluated");
            };
            let rest: TokenStream = parts.split_off(colon + 1).into_iter().collect();
            parts.pop();
            let key: TokenStream = parts.into_iter().collect();
            let key = self.syntax(frame, syn::parse2::<Expr>(key))?;
            let Value::Text(key) = self.eval_expr(frame, &key, &Ty::foreign("str"))? else {
                return self.unsupported(frame, &key);
            };
            object.insert(key.to_string(), self.json_macro(frame, &rest)?);
        }
        Ok(Json::Object(object))
    }
}

/// Number of values in a value, itself included.
pub fn count_values(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Json::Object(items) => 1 + items.values().map(count_values).sum::<usize>(),
        Json::String(text) => 1 + text.len() / 64,
        _ => 1,
    }
}

//! Macros of std and serde_json. A macro of the project's own with such a name is never taken for it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::{Map, Value as Json};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, spanned::Spanned as _};

use super::value::Value;
use super::{Eval, Evaluator, Frame, Ty};
use crate::cfg::{self, Cfg};
use crate::names::{Miss, Named, Space};
use crate::values::comma_separated;
use crate::world::Path;

type Arguments = Punctuated<Expr, Token![,]>;

impl Evaluator<'_> {
    pub fn macro_(&self, frame: &Frame, mac: &syn::Macro, want: &Ty) -> Eval<Value> {
        self.world
            .check_is_no_own_macro(frame.module, mac)
            .map_err(|it| self.stop(frame, it.span(), it.to_string()))?;
        let Some(name) = self.macro_name(frame, &mac.path) else {
            return self.refuse(frame, mac, "calls a macro that is not read");
        };
        let arguments = || -> Eval<Arguments> {
            mac.parse_body_with(Arguments::parse_terminated)
                .map_err(|it| self.stop(frame, it.span(), it.to_string()))
        };
        let str = Ty::known("str");
        match name.as_str() {
            "vec" => {
                if let Ok(it) = mac.parse_body_with(repeat) {
                    let value = self.part(frame, &it.0, &want.inside(0))?;
                    let usize = Ty::known("usize");
                    let Value::Int(count, _) = self.expr_as(frame, &it.1, &usize)? else {
                        return self.refuse(frame, &it.1, "is no length");
                    };
                    return Ok(Value::List(
                        self.repeated(frame, mac, value, count)?,
                        "std::vec::Vec",
                    ));
                }
                let items = self.items(frame, &arguments()?, want)?;
                Ok(Value::List(items, "std::vec::Vec"))
            }
            "format" => Ok(Value::text(self.formatted(frame, mac, &arguments()?)?)),
            "write" | "writeln" => {
                let mut arguments = arguments()?.into_iter();
                let Some(target) = arguments.next() else {
                    return self.refuse(frame, mac, "writes to nothing");
                };
                let rest: Arguments = arguments.collect();
                let mut text = self.formatted(frame, mac, &rest)?;
                if name == "writeln" {
                    text.push('\n');
                }
                let place = match self.place(frame, &target)? {
                    Some(place) => place,
                    None => super::pattern::place_of(self.expr(frame, &target, &Ty::Unknown)?),
                };
                match place.read() {
                    Some(Value::Formatter(into)) => into.borrow_mut().push_str(&text),
                    Some(Value::Text(before, true)) => {
                        self.bounded(frame, mac, before.len() + text.len())?;
                        if !place.write(Value::text(before + &text)) {
                            return self.refuse(frame, &target, "is no place");
                        }
                    }
                    _ => return self.refuse(frame, &target, "is written to, which is not read"),
                }
                Ok(Value::ok(Value::Unit))
            }
            "concat" => {
                let mut res = String::new();
                for it in &arguments()? {
                    let value = self.part_any(frame, it, &Ty::Unknown)?;
                    res.push_str(&self.display(frame, it, &value)?);
                }
                Ok(Value::str(res))
            }
            "stringify" => match mac.tokens.clone().into_iter().collect::<Vec<_>>()[..] {
                [TokenTree::Ident(ref it)] => Ok(Value::str(it.to_string())),
                _ => self.refuse(frame, mac, "is spaced as the compiler pleases, and not read"),
            },
            "module_path" if mac.tokens.is_empty() => {
                Ok(Value::str(self.world.modules[frame.module].path.clone()))
            }
            "matches" => {
                let (expr, pat, guard) = mac
                    .parse_body_with(matches)
                    .map_err(|it| self.stop(frame, it.span(), it.to_string()))?;
                let value = self.part_any(frame, &expr, &Ty::Unknown)?;
                let before = frame.bound();
                let mut res = self.matches(frame, &pat, &value)?;
                if let (true, Some(guard)) = (res, guard) {
                    let bool = Ty::known("bool");
                    res = matches!(self.part(frame, &guard, &bool)?, Value::Bool(true));
                }
                frame.forget(before);
                Ok(Value::Bool(res))
            }
            "assert" | "debug_assert" => {
                let arguments = arguments()?;
                let Some(first) = arguments.first() else {
                    return self.refuse(frame, mac, "asserts nothing");
                };
                match self.part(frame, first, &Ty::known("bool"))? {
                    Value::Bool(true) => Ok(Value::Unit),
                    _ => self.panics(frame, mac, "what it asserts does not hold"),
                }
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                self.panics(frame, mac, "it says so")
            }
            "cfg" => {
                let met = mac.parse_body::<syn::Meta>();
                let met = met.and_then(|it| cfg::predicate(&it, self.world.features(frame.module)));
                match met.map_err(|it| self.stop(frame, it.span(), it.to_string()))? {
                    Cfg::Yes => Ok(Value::Bool(true)),
                    Cfg::No => Ok(Value::Bool(false)),
                    Cfg::Depends => self.refuse(frame, mac, "depends on how the project is built"),
                }
            }
            "json" => Ok(Value::Json(self.json(frame, mac.tokens.clone())?)),
            "env" | "include_str" => match self.world.outside(frame.module, mac) {
                Ok(it) => Ok(Value::str(it)),
                Err(error) => Err(self.stop(frame, error.span(), error.to_string())),
            },
            "option_env" | "line" | "file" | "column" => {
                self.refuse(frame, mac, "takes what is outside of the code, and is not read")
            }
            _ => {
                let _ = &str;
                self.refuse(frame, mac, "calls a macro that is not read")
            }
        }
    }

    /// The name of a macro that is certainly std's, or serde_json's `json`.
    pub fn macro_name(&self, frame: &Frame, path: &syn::Path) -> Option<String> {
        let path = Path::from(path);
        let last = path.parts.last()?.clone();
        match self.world.resolve(frame.module, &path, Space::Macros) {
            Ok(Named::Foreign(found)) => match found.as_str() {
                "serde_json::json" => Some("json".to_owned()),
                found => (found == format!("std::{last}")).then_some(last),
            },
            Err(Miss::Nothing) if path.parts.len() == 1 && !path.global && last != "json" => {
                Some(last)
            }
            _ => None,
        }
    }

    /// The text of a `json!`, its expressions as serde writes them.
    pub fn json(&self, frame: &Frame, tokens: TokenStream) -> Eval<Json> {
        let span = tokens.span();
        let parts: Vec<TokenTree> = tokens.into_iter().collect();
        match &parts[..] {
            [TokenTree::Ident(it)] if it == "null" => Ok(Json::Null),
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
                let items = comma_separated(group.stream());
                let items: Eval<Vec<_>> = items
                    .into_iter()
                    .map(|it| self.deeper(frame, &it.clone(), || self.json(frame, it)))
                    .collect();
                Ok(Json::Array(items?))
            }
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                self.json_object(frame, group.stream())
            }
            [] => Err(self.stop(frame, span, "a value is missing")),
            _ => {
                let expr: Expr = syn::parse2(parts.into_iter().collect())
                    .map_err(|it| self.stop(frame, it.span(), it.to_string()))?;
                let value = self.part_any(frame, &expr, &Ty::Unknown)?;
                self.json_of(frame, &expr, &value)
            }
        }
    }

    fn json_object(&self, frame: &Frame, tokens: TokenStream) -> Eval<Json> {
        let mut res = Map::new();
        for entry in comma_separated(tokens) {
            let span = entry.span();
            let mut parts: Vec<TokenTree> = entry.into_iter().collect();
            let colon = parts.iter().position(|it| {
                matches!(it, TokenTree::Punct(it) if it.as_char() == ':'
                    && it.spacing() == proc_macro2::Spacing::Alone)
            });
            let Some(colon) = colon else {
                return Err(self.stop(frame, span, "a key and a value are separated by `:`"));
            };
            let rest = parts.split_off(colon + 1);
            parts.pop();
            let key: Expr = syn::parse2(parts.into_iter().collect())
                .map_err(|it| self.stop(frame, it.span(), it.to_string()))?;
            let Value::Text(key, _) = self.part_any(frame, &key, &Ty::Unknown)? else {
                return Err(self.stop(frame, span, "a key is no text"));
            };
            let rest: TokenStream = rest.into_iter().collect();
            let value = self.deeper(frame, &rest.clone(), || self.json(frame, rest))?;
            res.insert(key, value);
        }
        Ok(Json::Object(res))
    }
}

/// `value; count`.
fn repeat(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, Expr)> {
    let value = input.parse()?;
    input.parse::<Token![;]>()?;
    Ok((value, input.parse()?))
}

/// `expression, pattern if guard`.
fn matches(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, syn::Pat, Option<Expr>)> {
    let expr = input.parse()?;
    input.parse::<Token![,]>()?;
    let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    input.parse::<Option<Token![,]>>()?;
    Ok((expr, pat, guard))
}

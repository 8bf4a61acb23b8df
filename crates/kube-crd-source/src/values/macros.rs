//! Macros of std, serde_json and schemars. One of the project's own with such a name is never taken for it.

use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, Token};

use super::construct::Construct;
use super::ty::Ty;
use super::value::Value;
use super::{Eval, Evaluator, Frame};
use crate::cargo::cfg::{self, Cfg};
use crate::names::{Miss, Named, Space};
use crate::tree::{Path, included_file};

type MacroArguments = Punctuated<Expr, Token![,]>;

impl Evaluator<'_> {
    pub fn macro_call(&self, frame: &Frame, mac: &syn::Macro, expected: &Ty) -> Eval<Value> {
        let Some(name) = self.macro_name(frame, &mac.path) else {
            return self.refuse(frame, mac, "this macro is not expanded");
        };
        let arguments =
            || self.syntax(frame, mac.parse_body_with(MacroArguments::parse_terminated));
        let (construct, value) = match name.as_str() {
            "vec" => {
                // `vec![x; 3]` clones.
                let Ok(items) = mac.parse_body_with(MacroArguments::parse_terminated) else {
                    return self.unsupported(frame, mac);
                };
                (Construct::Vec, Value::List(self.eval_items(frame, items.iter(), expected)?))
            }
            "format" => {
                (Construct::Format, Value::text(self.eval_format(frame, mac, &arguments()?)?))
            }
            "concat" => {
                let mut text = String::new();
                for it in &arguments()? {
                    text.push_str(&self.concat_part(frame, it)?);
                }
                self.spend(frame, mac, text.len() / 64)?;
                (Construct::Concat, Value::text(text))
            }
            "module_path" if mac.tokens.is_empty() => {
                let path = self.world.modules[frame.scope.module].path.as_str();
                (Construct::ModulePath, Value::text(path))
            }
            "include_str" => (Construct::IncludeStr, self.included_text(frame, mac)?),
            "env" => (Construct::Env, Value::text(self.env_variable(frame, mac)?)),
            "cfg" => (Construct::CfgMacro, Value::Bool(self.cfg_macro(frame, mac)?)),
            "matches" => return self.matches_macro(frame, mac),
            "json" => (Construct::Json, Value::json(self.json_macro(frame, &mac.tokens)?)),
            "json_schema" => {
                let json = self.json_macro(frame, &mac.tokens)?;
                (Construct::JsonSchema, self.schema_of(frame, mac, json)?)
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                return self.panics(frame, mac, "the macro always panics");
            }
            _ => return self.refuse(frame, mac, "this macro is not expanded"),
        };
        self.record_construct(construct);
        Ok(value)
    }

    /// The text of the file that `include_str!` names. It is read before the kind is looked at again.
    fn included_text(&self, frame: &Frame, mac: &syn::Macro) -> Eval<Value> {
        let (world, module) = (self.world, frame.scope.module);
        let file = world.place_in(module, mac.path.span()).path;
        let folder = file.parent().map_or_else(String::new, |folder| folder.to_string());
        let package = &world.crates[world.modules[module].krate].folder;
        let path = match included_file(&mac.tokens, &folder, package) {
            Ok(path) => path,
            Err(why) => return self.refuse(frame, mac, why),
        };
        match world.included_texts.get(&path) {
            Some(Ok(text)) => {
                self.spend(frame, mac, text.len() / 64)?;
                Ok(Value::text(&**text))
            }
            Some(Err(why)) => self.refuse(frame, mac, why.clone()),
            None => {
                world.need_text(module, path);
                self.refuse(frame, mac, "the file is not read")
            }
        }
    }

    /// Returns whether the condition of `cfg!` holds.
    fn cfg_macro(&self, frame: &Frame, mac: &syn::Macro) -> Eval<bool> {
        let features = self.world.features_of(frame.scope.module);
        match self.syntax(frame, cfg::predicate_in(&mac.tokens.to_string(), features))? {
            Cfg::Yes => Ok(true),
            Cfg::No => Ok(false),
            Cfg::Depends => {
                self.refuse(frame, mac, "only the compiler can tell whether this `cfg` applies")
            }
        }
    }

    /// The environment variable that `env!` names, as cargo sets it for the crate of the code.
    fn env_variable(&self, frame: &Frame, mac: &syn::Macro) -> Eval<&str> {
        let name = mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let name: syn::LitStr = input.parse()?;
            // The message of a variable that is not set.
            input.parse::<proc_macro2::TokenStream>()?;
            Ok(name.value())
        });
        let Ok(name) = name else { return self.unsupported(frame, mac) };
        let krate = &self.world.crates[self.world.modules[frame.scope.module].krate];
        let possible = &krate.features.possible;
        if possible.any || possible.variables {
            return self.refuse(frame, mac, "the build script may set environment variables");
        }
        match krate.variables.get(name.as_str()) {
            Some(value) => Ok(value),
            None if name == "CARGO_CRATE_NAME" => Ok(&krate.name),
            None => self.refuse(frame, mac, "this environment variable depends on the build"),
        }
    }

    /// The name of a macro that is certainly std's, serde_json's `json` or schemars' `json_schema`.
    fn macro_name(&self, frame: &Frame, path: &syn::Path) -> Option<String> {
        let module = frame.scope.module;
        let path = Path::from(path);
        let last = path.parts.last()?.clone();
        if self.world.may_be_own_macro(module, &path) {
            return None;
        }
        match self.world.resolve_path(module, &path, Space::Macros) {
            Ok(Named::Foreign(found)) => match found.as_str() {
                "serde_json::json" => Some("json".to_owned()),
                "schemars::json_schema" => Some("json_schema".to_owned()),
                found => (found == format!("std::{last}")).then_some(last),
            },
            Err(Miss::Nothing) if path.parts.len() == 1 && !path.global => {
                (!matches!(last.as_str(), "json" | "json_schema")).then_some(last)
            }
            _ => None,
        }
    }

    /// A literal, or another such macro, in `concat!`.
    fn concat_part(&self, frame: &Frame, expr: &Expr) -> Eval<String> {
        use syn::Lit;
        match expr {
            Expr::Lit(it) => match &it.lit {
                Lit::Str(it) => Ok(it.value()),
                Lit::Char(it) => Ok(it.value().to_string()),
                Lit::Bool(it) => Ok(it.value.to_string()),
                Lit::Int(it) => Ok(it.base10_digits().to_owned()),
                _ => self.unsupported(frame, expr),
            },
            Expr::Macro(_) => match self.eval_expr(frame, expr, &Ty::foreign("str"))? {
                Value::Text(it) => Ok(it.to_string()),
                _ => self.unsupported(frame, expr),
            },
            _ => self.unsupported(frame, expr),
        }
    }

    fn matches_macro(&self, frame: &Frame, mac: &syn::Macro) -> Eval<Value> {
        let parse = |input: syn::parse::ParseStream<'_>| {
            let expr: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Option<Token![,]>>()?;
            Ok((expr, pat))
        };
        let Ok((expr, pat)) = mac.parse_body_with(parse) else {
            return self.unsupported(frame, mac);
        };
        let value = self.eval_expr(frame, &expr, &self.type_of(frame, &expr))?;
        let found = self.matches_pattern(frame, &pat, &value)?;
        self.record_construct(Construct::Matches);
        Ok(Value::Bool(found))
    }
}

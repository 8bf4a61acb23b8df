//! Macros at the place of items, summarized: the names that their tokens could declare, the macros that they call.
//!
//! Macros are never expanded. `names::calls` decides from these summaries what a call may declare; whatever a
//! call may declare is refused where it is needed, and left to the compiled code.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned as _;

use super::source_file::UnparsedItem;
use super::tokens::Tokens;
use super::world::ModuleId;
use crate::text::panics::excerpt;
use crate::text::{format_tokens, unraw_name};

pub type RulesId = usize;

/// One `macro_rules!`.
pub struct Rules {
    pub name: String,
    pub module: ModuleId,
    pub krate: usize,
    /// `#[macro_export]`: it is at the root of its crate.
    pub exported: bool,
    /// The tokens that its bodies expand to; none if the definition cannot be read.
    pub body: Option<Tokens>,
}

impl Rules {
    pub fn new(it: &syn::ItemMacro, module: ModuleId, krate: usize) -> Option<Self> {
        let exported = it.attrs.iter().any(|attr| attr.path().is_ident("macro_export"));
        let name = unraw_name(it.ident.as_ref()?);
        Some(Self { name, module, krate, exported, body: Tokens::of_arms(it.mac.tokens.clone()) })
    }
}

/// A call at the place of an item, an attribute macro on an item, or an item that is not understood.
pub struct Call {
    /// The call as it is written, for messages.
    pub text: String,
    /// The segments of its path.
    pub path: Vec<String>,
    /// Its arguments, or the item that the attribute is on.
    pub arguments: Tokens,
    /// The nearest definition of its name above it in the text.
    pub rules: Option<RulesId>,
    pub form: CallForm,
    /// Why nothing at all is known of it.
    pub unknown: Option<String>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq)]
pub enum CallForm {
    Macro,
    Attribute,
    /// It declares no other names than those in its tokens.
    Item,
}

impl Call {
    pub fn new(item: &syn::ItemMacro, rules: Option<RulesId>) -> Self {
        let path = path_segments(&item.mac.path);
        Self {
            text: format!("{}!", path.last().map_or("", String::as_str)),
            path,
            arguments: Tokens::of_arguments(item.mac.tokens.clone()),
            rules,
            form: CallForm::Macro,
            unknown: None,
            span: item.mac.path.span(),
        }
    }

    /// A call of which nothing is known, and why.
    pub fn of_unknown(item: &syn::ItemMacro, why: &str) -> Self {
        Self { unknown: Some(why.to_owned()), ..Self::new(item, None) }
    }

    pub fn of_attribute(path: &syn::Path, item: &impl quote::ToTokens) -> Self {
        let path_text = path_segments(path);
        Self {
            text: format!("#[{}]", path_text.join("::")),
            path: path_text,
            arguments: Tokens::of_arguments(item.to_token_stream()),
            rules: None,
            form: CallForm::Attribute,
            unknown: None,
            span: path.span(),
        }
    }

    /// An item in a syntax that is not understood.
    pub fn not_understood(item: &impl quote::ToTokens) -> Self {
        let why = "operator-rs does not understand this syntax".to_owned();
        Self::unread_item(format_tokens(item), item.to_token_stream(), item.span(), why)
    }

    /// An item that cannot be parsed.
    pub fn of_unparsed(item: &UnparsedItem) -> Self {
        let text = excerpt(&item.tokens.to_string());
        Self::unread_item(text, item.tokens.clone(), item.error.span(), item.error.to_string())
    }

    fn unread_item(text: String, tokens: TokenStream, span: Span, why: String) -> Self {
        Self {
            text,
            path: Vec::new(),
            arguments: Tokens::of_arguments(tokens),
            rules: None,
            form: CallForm::Item,
            unknown: Some(why),
            span,
        }
    }
}

fn path_segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| unraw_name(&segment.ident)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a definition may declare by itself, and of the arguments.
    #[track_caller]
    fn check(arms: &str, expected: &str) {
        let definition: syn::ItemMacro =
            syn::parse_str(&format!("macro_rules! m {{ {arms} }}")).unwrap();
        let rules = Rules::new(&definition, 0, 0).unwrap();
        let found = rules.body.map_or("unreadable".to_owned(), |it| {
            let mut res: Vec<String> = it.declared.into_iter().collect();
            res.extend(it.calls.iter().map(|it| format!("{}!", it.join("::"))));
            res.extend(it.forwards.then(|| "arguments".to_owned()));
            res.extend(it.is_open.then(|| "anything".to_owned()));
            res.join(" ")
        });
        assert_eq!(found, expected, "{arms}");
    }

    #[test]
    fn names_stand_behind_keywords_and_in_imports() {
        check("() => { struct A; pub enum B { C } mod d { struct E; } }", "A B d");
        check(
            "() => { const fn f<const N: usize>() { let x = 1; } static mut S: u8 = 1; }",
            "N S f",
        );
        check("() => { use a::{b, c as d, e::{self, f}}; extern crate g as h; }", "b d e f h");
        check("() => { use a::*; }", "anything");
        check("() => { extern \"C\" { fn f(); } impl A { fn g() {} const H: u8 = 1; } }", "f");
    }

    #[test]
    fn arguments_may_be_declared_behind_keywords_and_as_token_trees() {
        check("($a:ident) => { impl Default for $a {} }", "");
        check("($a:ident, $t:ty) => { struct $a($t); }", "arguments");
        check("($($a:tt)*) => { $($a)* }", "arguments");
        check("($a:item) => { $a }", "arguments");
        check("($a:ident) => { $a B; }", "B");
        check("($($a:ident),*) => { $(impl C for $a {})* }", "impl");
        check("($a:ident) => { use a::$a; }", "arguments");
        check("($($a:ident),*) => { use a::{$($a),*}; }", "arguments");
        check("($($a:tt)*) => { fn f() { $($a)* } }", "f");
    }

    #[test]
    fn calls_where_items_stand_are_noted_with_their_paths() {
        check(
            "($($a:tt)*) => { $crate::b! { $($a)* } fn f() { c!(); } }",
            "f $crate::b! arguments",
        );
        check("($a:ident) => { $a! { B } }", "anything");
        check("($a:path) => { $a::b! { C } }", "$::b!");
        check("a => b", "unreadable");
    }
}

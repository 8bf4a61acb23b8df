//! The project's own `macro_rules!`: their definitions, and what a call of one makes.
//!
//! Matches and transcribes as rustc does, with every token's own place kept. No crate for it is near: what
//! rust-analyzer has stands on its own syntax trees and a dozen crates with them, and on no place of ours.
//! Locals of a definition and of a call are never told apart; where that could matter it is refused.

mod calls;
mod define;
mod fragments;
mod hygiene;
mod matching;
mod plain;
mod scope;
mod smart_default;
mod strum;
#[cfg(test)]
mod tests;
mod tokens;
mod transcribe;

use std::cell::Cell;

use proc_macro2::{Span, TokenStream};

use super::cfg::Cfg;
use super::world::plain;
use define::Made;
use matching::{Bindings, Matcher};
use transcribe::Transcriber;

pub use calls::{MadeItems, Work};
pub use scope::{Called, Scope};

pub type RulesId = usize;

/// How many macros may stand in what macros make, as rustc has it unless told otherwise.
pub const DEEP: usize = 128;
/// How many tokens all macros together may make.
pub const BUDGET: usize = 1_000_000;

/// What begins the name by which a macro's own crate is known elsewhere; no one writes such a name.
pub const DOLLAR_CRATE: &str = "crateǃ";

/// One `macro_rules!`.
pub struct Rules {
    pub name: String,
    pub krate: usize,
    pub cfg: Cfg,
    /// `#[macro_export]`: it is at the root of its crate.
    pub exported: bool,
    arms: syn::Result<Vec<(Matcher, Vec<Made>)>>,
}

impl Rules {
    pub fn new(it: &syn::ItemMacro, krate: usize, cfg: Cfg) -> Option<Self> {
        let name = plain(it.ident.as_ref()?);
        let export = it.attrs.iter().find(|it| it.path().is_ident("macro_export"));
        let arms = match export {
            Some(it) if !matches!(it.meta, syn::Meta::Path(_)) => {
                Err(syn::Error::new(name_span(it), "`local_inner_macros` is not read"))
            }
            _ => define::arms(it.mac.tokens.clone()).map(|arms| {
                arms.into_iter().map(|it| (Matcher::new(&it.matcher), it.made)).collect()
            }),
        };
        Some(Self { name, krate, cfg, exported: export.is_some(), arms })
    }

    /// What a call in this crate makes; an error tells why it cannot be said.
    pub fn expand(
        &self,
        call: &syn::Macro,
        from: usize,
        spent: &Cell<usize>,
    ) -> syn::Result<TokenStream> {
        self.arm(call)?.made(self, from, spent)
    }

    /// The same where locals may be: refused where one of the definition and one of the call have one name,
    /// which are two for rustc and would be one here.
    pub fn expand_value(
        &self,
        call: &syn::Macro,
        from: usize,
        spent: &Cell<usize>,
    ) -> syn::Result<TokenStream> {
        let arm = self.arm(call)?;
        if let Some(name) = hygiene::clash(arm.made, &arm.bindings) {
            let message = format!("`{name}` is a name of the macro's own and one of its call's");
            return Err(syn::Error::new(name.span(), message));
        }
        arm.made(self, from, spent)
    }

    fn arm(&self, call: &syn::Macro) -> syn::Result<Arm<'_>> {
        if self.cfg == Cfg::Depends {
            let message = "its definition depends on a `cfg` that the source does not settle";
            return Err(syn::Error::new(name_span(call), message));
        }
        for (matcher, made) in self.arms.as_ref().map_err(Clone::clone)? {
            if let Some(bindings) = matcher.matches(call.tokens.clone())? {
                return Ok(Arm { made, bindings });
            }
        }
        Err(syn::Error::new(name_span(call), "no arm of it matches"))
    }
}

/// The arm that a call takes.
struct Arm<'a> {
    made: &'a [Made],
    bindings: Bindings,
}

impl Arm<'_> {
    fn made(&self, of: &Rules, from: usize, spent: &Cell<usize>) -> syn::Result<TokenStream> {
        let krate = match of.krate == from {
            true => "crate".to_owned(),
            false => format!("{DOLLAR_CRATE}{}", of.krate),
        };
        let transcriber = Transcriber { bindings: &self.bindings, krate: &krate, spent };
        transcriber.write(self.made, &mut Vec::new())
    }
}

fn name_span(it: &impl syn::spanned::Spanned) -> Span {
    it.span()
}

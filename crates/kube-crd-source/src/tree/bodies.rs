//! Bodies of functions that were left out when a file was parsed. One is parsed once a value needs it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{LineColumn, TokenStream, TokenTree};

use crate::text::syntax;

/// The bodies of a file that are left out.
#[derive(Debug, Default)]
pub struct OmittedBodies {
    /// The text of the file, as its spans count in it.
    text: String,
    /// The names of the macros that are called in these bodies.
    pub called_macros: BTreeSet<String>,
    /// The bodies by the places of their braces, once the file is split into tokens again.
    tokens: OnceCell<BTreeMap<LineColumn, TokenStream>>,
    /// The bodies that were parsed.
    blocks: BTreeMap<LineColumn, OnceCell<syn::Result<syn::Block>>>,
}

impl OmittedBodies {
    pub fn new(text: String, places: Vec<LineColumn>, called_macros: BTreeSet<String>) -> Self {
        let blocks = places.into_iter().map(|place| (place, OnceCell::new())).collect();
        Self { text, called_macros, tokens: OnceCell::new(), blocks }
    }

    #[cfg(test)]
    pub fn places(&self) -> impl Iterator<Item = LineColumn> {
        self.blocks.keys().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the tokens of the body whose brace is at a place, with its braces.
    pub fn tokens(&self, place: LineColumn) -> Option<&TokenStream> {
        self.blocks.get(&place)?;
        let tokens = self.tokens.get_or_init(|| self.split_again());
        tokens.get(&place)
    }

    /// Returns the statements of the body whose brace is at a place.
    pub fn block(&self, place: LineColumn) -> Option<&syn::Result<syn::Block>> {
        let block = self.blocks.get(&place)?;
        let tokens = self.tokens(place)?;
        Some(block.get_or_init(|| {
            syntax::refuse_deep_nesting(tokens)?;
            syn::parse2(tokens.clone())
        }))
    }

    fn split_again(&self) -> BTreeMap<LineColumn, TokenStream> {
        let mut bodies = BTreeMap::new();
        let mut open = vec![syntax::parse_tokens(&self.text).unwrap_or_default()];
        while let Some(tokens) = open.pop() {
            for token in tokens {
                let TokenTree::Group(group) = &token else { continue };
                let place = group.span_open().start();
                if self.blocks.contains_key(&place) {
                    bodies.insert(place, TokenStream::from(token));
                } else {
                    open.push(group.stream());
                }
            }
        }
        bodies
    }
}

/// Returns whether `_` stands for a body that is left out.
pub fn is_omitted(block: &syn::Block) -> bool {
    matches!(block.stmts[..], [syn::Stmt::Expr(syn::Expr::Infer(_), None)])
}

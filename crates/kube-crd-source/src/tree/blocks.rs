//! Items inside of blocks: in functions, constants and lengths of arrays.
//!
//! Rust lets an `impl` stand in any block, and it counts for the whole crate. Such items are not read; what they may
//! decide is refused.

use proc_macro2::{LineColumn, TokenStream};
use quote::ToTokens;
use syn::visit::{self, Visit};

use super::bodies::is_omitted;
use super::world::ModuleId;
use crate::text::plain;

/// An `impl`, a type or a macro call inside of a block.
pub struct BlockItem {
    pub module: ModuleId,
    pub tokens: TokenStream,
    /// The name of the macro, where it is a call.
    pub macro_name: Option<String>,
    pub span: proc_macro2::Span,
}

/// What is in the blocks of an item.
pub struct Blocks {
    module: ModuleId,
    pub items: Vec<BlockItem>,
    /// The places of the bodies that are left out.
    pub omitted: Vec<LineColumn>,
}

/// Returns what is in all blocks of an item of a module.
pub fn block_items(item: &syn::Item, module: ModuleId) -> Blocks {
    let mut blocks = Blocks { module, items: Vec::new(), omitted: Vec::new() };
    if !matches!(item, syn::Item::Mod(_) | syn::Item::Macro(_)) {
        visit::visit_item(&mut blocks, item);
    }
    blocks
}

impl Blocks {
    fn note(&mut self, tokens: &impl ToTokens, macro_name: Option<String>) {
        let span = syn::spanned::Spanned::span(tokens);
        let tokens = tokens.to_token_stream();
        self.items.push(BlockItem { module: self.module, tokens, macro_name, span });
    }
}

impl<'ast> Visit<'ast> for Blocks {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Impl(it) => self.note(it, None),
            syn::Item::Struct(it) if !it.attrs.is_empty() => self.note(it, None),
            // Whatever it writes, it writes in a block.
            syn::Item::Macro(it) if it.ident.is_some() => self.note(it, None),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        if is_omitted(block) {
            self.omitted.push(block.brace_token.span.open().start());
        } else {
            visit::visit_block(self, block);
        }
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        if let Some(name) = it.path.segments.last() {
            self.note(&it.tokens, Some(plain(&name.ident)));
        }
    }
}

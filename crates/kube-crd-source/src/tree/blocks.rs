//! Items inside of blocks: in functions, constants and lengths of arrays.
//!
//! Rust lets an `impl` stand in any block, and it counts for the whole crate. Such items are not read; what they may
//! decide is refused.

use proc_macro2::{LineColumn, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::attribute_macros::may_be_macro;
use super::block_files::BlockFile;
use super::bodies::is_omitted;
use super::world::ModuleId;
use crate::text::{macro_calls, unraw_name};

/// An `impl`, a type, an attribute, a macro call or a file inside of a block.
#[derive(Clone)]
pub struct BlockItem {
    pub module: ModuleId,
    pub tokens: TokenStream,
    /// The names of the macro and of those that its arguments call, where it is a call; none otherwise.
    pub macro_names: Vec<String>,
    pub span: proc_macro2::Span,
}

/// The contents of the blocks of an item.
pub struct Blocks {
    module: ModuleId,
    pub items: Vec<BlockItem>,
    /// The files that blocks include, and those of modules in blocks.
    pub files: Vec<BlockFile>,
    /// The places of the bodies that are left out.
    pub omitted: Vec<LineColumn>,
    /// The modules in braces that are around, inside of a block.
    around: Vec<String>,
    /// Attributes of a module's items are looked at elsewhere.
    is_inside: bool,
}

/// Returns what is in all blocks of an item of a module.
pub fn block_items(item: &syn::Item, module: ModuleId) -> Blocks {
    let mut blocks = Blocks {
        module,
        items: Vec::new(),
        files: Vec::new(),
        omitted: Vec::new(),
        around: Vec::new(),
        is_inside: false,
    };
    if !matches!(item, syn::Item::Mod(_) | syn::Item::Macro(_)) {
        visit::visit_item(&mut blocks, item);
    }
    blocks
}

impl Blocks {
    fn note_item(&mut self, tokens: &impl ToTokens) {
        let span = tokens.span();
        let tokens = tokens.to_token_stream();
        self.items.push(BlockItem { module: self.module, tokens, macro_names: Vec::new(), span });
    }

    fn visit_inside(&mut self, visit: impl FnOnce(&mut Self)) {
        let was_inside = std::mem::replace(&mut self.is_inside, true);
        visit(self);
        self.is_inside = was_inside;
    }
}

impl<'ast> Visit<'ast> for Blocks {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Impl(it) => self.note_item(it),
            syn::Item::Struct(it) if !it.attrs.is_empty() => self.note_item(it),
            // Whatever it writes, it writes in a block.
            syn::Item::Macro(it) if it.ident.is_some() => self.note_item(it),
            syn::Item::Mod(module) if module.content.is_none() => {
                self.files.push(BlockFile::of_module(module, &self.around));
            }
            _ => {}
        }
        match item {
            syn::Item::Mod(module) => {
                self.around.push(unraw_name(&module.ident));
                visit::visit_item(self, item);
                self.around.pop();
            }
            _ => visit::visit_item(self, item),
        }
    }

    /// An import that renames a macro stands for a call of it.
    fn visit_use_rename(&mut self, import: &'ast syn::UseRename) {
        if self.is_inside {
            self.items.push(BlockItem {
                module: self.module,
                tokens: import.to_token_stream(),
                macro_names: vec![unraw_name(&import.ident)],
                span: import.ident.span(),
            });
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        self.visit_inside(|blocks| visit::visit_impl_item(blocks, item));
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        self.visit_inside(|blocks| visit::visit_trait_item(blocks, item));
    }

    fn visit_foreign_item(&mut self, item: &'ast syn::ForeignItem) {
        self.visit_inside(|blocks| visit::visit_foreign_item(blocks, item));
    }

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        if self.is_inside && may_be_macro(&attr.meta) {
            self.note_item(attr);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        if is_omitted(block) {
            self.omitted.push(block.brace_token.span.open().start());
        } else {
            self.visit_inside(|blocks| visit::visit_block(blocks, block));
        }
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        // The call itself is the first one.
        let calls = macro_calls(&it.to_token_stream());
        self.items.push(BlockItem {
            module: self.module,
            tokens: it.tokens.clone(),
            macro_names: calls.iter().map(|call| call.name.clone()).collect(),
            span: it.path.span(),
        });
        let included = calls.into_iter().filter(|call| call.name == "include");
        self.files.extend(included.map(BlockFile::from_include));
    }
}

//! The effects of items and macro calls in blocks, such as the bodies of functions. None of them is declared in a module.

use std::collections::BTreeSet;
use std::rc::Rc;

use proc_macro2::{Span, TokenStream, TokenTree};

use super::Names;
use super::calls::{Calls, MacroEffect, Written};
use crate::text::{MacroCall, calls_outside, macro_calls};
use crate::tree::tokens::Tokens;
use crate::tree::{BlockItem, ItemKind, ModuleId, World};

/// An item or a macro call in a block that may have an effect outside of it.
pub struct InBlock {
    pub module: ModuleId,
    pub span: Span,
    /// The macro that is called; none for an attribute, for the definition of a macro, and for another item.
    pub macro_name: Option<String>,
    pub effect: MacroEffect,
}

/// Returns the items and calls in all blocks that may have an effect outside of them.
pub(super) fn effects_of_blocks(calls: &Calls<'_>) -> Rc<[InBlock]> {
    let unseen = [calls_in_omitted_bodies(calls), renamed_macros(calls)].concat();
    let all = calls.world.block_items.iter().chain(&unseen);
    let with_effect = all.map(|item| in_block(calls, item));
    with_effect.filter(|found| found.effect.is_any()).collect()
}

/// Returns the calls of macros of the project in the bodies that are left out. Macros of other crates write nothing that
/// is not in their arguments, and a body with an item in it is not left out.
fn calls_in_omitted_bodies(calls: &Calls<'_>) -> Vec<BlockItem> {
    let World { omitted_calls, .. } = calls.world;
    let is_own = |name: &String| is_own(calls, name);
    let mut found = Vec::new();
    for (module, place) in omitted_calls {
        for bodies in calls.world.omitted_bodies(*module) {
            if !bodies.called_macros.iter().any(is_own) {
                continue;
            }
            let Some(tokens) = bodies.tokens(*place) else { continue };
            found.extend(own_calls(calls, *module, tokens));
        }
    }
    found
}

/// Returns a call for each macro of the project that an import gives another name: one in a block has that name.
fn renamed_macros(calls: &Calls<'_>) -> Vec<BlockItem> {
    let renamed = calls.world.items.iter().filter_map(|item| {
        let ItemKind::Use(path) = &item.kind else { return None };
        let name = path.parts.last().filter(|name| **name != item.name)?;
        calls.rules.contains_key(name.as_str()).then(|| BlockItem {
            module: item.module,
            tokens: TokenStream::new(),
            macro_names: vec![name.clone()],
            span: item.span,
        })
    });
    renamed.collect()
}

fn is_own(calls: &Calls<'_>, name: &str) -> bool {
    calls.rules.contains_key(name) || calls.unread_macros.contains(name)
}

/// Returns the calls of macros of the project in tokens, each with those in its arguments.
fn own_calls(calls: &Calls<'_>, module: ModuleId, tokens: &TokenStream) -> Vec<BlockItem> {
    let is_own = |name: &str| is_own(calls, name);
    let outer = calls_outside(tokens, is_own).into_iter().filter(|call| is_own(&call.name));
    outer
        .map(|MacroCall { name, arguments, span }| {
            let inner = macro_calls(&arguments).into_iter().map(|call| call.name);
            let macro_names = [name].into_iter().chain(inner).collect();
            BlockItem { module, tokens: arguments, macro_names, span }
        })
        .collect()
}

/// Returns an item or a call in a block with its effect on the whole crate.
fn in_block(calls: &Calls<'_>, item: &BlockItem) -> InBlock {
    let names: BTreeSet<&str> = item.macro_names.iter().map(String::as_str).collect();
    let rules: Vec<_> = names.iter().filter_map(|name| calls.rules.get(name)).flatten().collect();
    let is_foreign = !names.is_empty() && rules.is_empty();
    let tokens = Tokens::of_arguments(item.tokens.clone());
    // Files that a block includes by that name are read.
    let called = item.macro_names.iter().chain(&tokens.called).filter(|name| *name != "include");
    // Other items are visited, and the files of the modules in them are read.
    let is_of_macro = !names.is_empty() || tokens.words.contains("macro_rules");
    let mut runs_unread_code = is_of_macro && tokens.loads_files
        || calls.are_unread(called.chain(&tokens.renamed))
        || begins_with_attribute(item) && calls.are_unread(&tokens.words);
    // Macros of other crates write nothing but what is in their arguments.
    let tokens = if is_foreign && !has_items(&tokens) { Tokens::default() } else { tokens };
    let Written { mut words, mut functions, mut any, .. } = Written::from_arguments(calls, &tokens);
    for body in rules.into_iter().filter_map(|id| calls.world.rules[*id].body.as_ref()) {
        if !calls.count_words(body) {
            any = true;
            break;
        }
        runs_unread_code |= body.loads_files || calls.are_unread(body.called.union(&body.renamed));
        words.extend(body.words.iter().cloned());
        functions.extend(body.functions.iter().cloned());
        if body.has_open_functions {
            functions.extend(tokens.words.iter().cloned());
        }
    }
    let may_declare_kinds = any || calls.derives.iter().any(|derive| words.contains(*derive));
    let effect = MacroEffect {
        names: Some(BTreeSet::new()),
        words: Rc::new(words),
        functions,
        writes_anything: any,
        runs_unread_code,
        is_known: true,
        may_declare_kinds,
    };
    let macro_name = item.macro_names.first().cloned();
    InBlock { module: item.module, span: item.span, macro_name, effect }
}

fn begins_with_attribute(item: &BlockItem) -> bool {
    let first = item.tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Punct(punct)) if punct.as_char() == '#')
}

/// Returns whether there may be items among tokens that have an effect outside of a block.
fn has_items(tokens: &Tokens) -> bool {
    ["impl", "macro_rules", "struct", "trait"].iter().any(|word| tokens.words.contains(*word))
}

impl Names {
    /// The items and calls in blocks of a module that may declare kinds.
    pub fn blocks_that_may_declare_kinds(
        &self,
        module: ModuleId,
    ) -> impl Iterator<Item = &InBlock> {
        let all = self.solved_imports().in_blocks.iter();
        all.filter(move |found| found.module == module && found.effect.may_declare_kinds)
    }

    /// The calls and items in blocks of a module that may expand to anything.
    pub fn unknown_macros_in_blocks(&self, module: ModuleId) -> impl Iterator<Item = &InBlock> {
        let all = self.solved_imports().in_blocks.iter();
        all.filter(move |found| found.module == module && found.effect.runs_unread_code)
    }
}

//! Derives and attribute macros of which it is not known what they declare beside their item.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{LineColumn, Span};
use quote::ToTokens as _;

use super::calls::MacroEffect;
use super::globs::GlobTarget;
use super::imports::PathReader;
use super::known_macros::{DERIVES_OF_STD, MacroWrites, known_effect};
use super::{Lookup, Miss, Named, Space};
use crate::cargo::Extern;
use crate::text::unraw_name;
use crate::tree::attribute_macros::{AttributeMacro, DecoratedItem, LANGUAGE};
use crate::tree::tokens::Tokens;
use crate::tree::{ItemId, ItemKind, ModuleId};

/// A macro that is not expanded, with its place and its effect.
#[derive(Clone)]
pub struct Unexpanded {
    /// The attribute as it is written, for messages.
    pub text: String,
    pub span: Span,
    /// Why nothing at all is known of it.
    pub unknown: Option<String>,
    pub effect: MacroEffect,
}

/// Those among all derives and attribute macros but those at the indices in `earlier` that are not known or write items
/// with names of their own, each with its index and module.
pub fn unknown_attribute_macros(
    lookup: &Lookup<'_>,
    earlier: &BTreeSet<usize>,
) -> Vec<(usize, ModuleId, Unexpanded)> {
    let all = lookup.world.attribute_macros.iter().enumerate();
    let mut words = Words::default();
    let mut effect_of = |macro_: &AttributeMacro| match known_writes(lookup, macro_) {
        Some(MacroWrites::Impls) => None,
        Some(MacroWrites::Items) => Some(MacroEffect::of_named_items(named_items(lookup, macro_))),
        None => Some(effect_of(lookup, macro_, words.of_item(lookup, macro_))),
    };
    let unknown = all.filter(|(index, _)| !earlier.contains(index));
    unknown
        .filter_map(|(index, macro_)| {
            let unexpanded = Unexpanded {
                text: macro_.text.clone(),
                span: macro_.path.span,
                unknown: None,
                effect: effect_of(macro_)?,
            };
            Some((index, macro_.module, unexpanded))
        })
        .collect()
}

/// Limit of the names that are collected for one macro.
const MOST_NAMES: usize = 100_000;

/// The words that a known macro may take for names of items: those in the attributes of its struct or enum; with
/// `suffix`, as snafu has it, also each variant with such a word behind it. Of another item, every word. None where they
/// are too many.
fn named_items(lookup: &Lookup<'_>, macro_: &AttributeMacro) -> Option<BTreeSet<String>> {
    let id = match &macro_.item {
        DecoratedItem::Words(words, _) => return Some((**words).clone()),
        DecoratedItem::Data(id) => *id,
    };
    let ItemKind::Data(input) = &lookup.world.items[id].kind else { return Some(BTreeSet::new()) };
    let is_helper = |attr: &&syn::Attribute| {
        !LANGUAGE.iter().any(|name| attr.path().is_ident(name)) || attr.path().is_ident("cfg_attr")
    };
    let words_of = |attrs: &[syn::Attribute]| -> BTreeSet<String> {
        let tokens = attrs.iter().filter(is_helper).map(|attr| attr.meta.to_token_stream());
        tokens.flat_map(|tokens| Tokens::of_arguments(tokens).words).collect()
    };
    let of_input = words_of(&input.attrs);
    let mut names = of_input.clone();
    if let syn::Data::Enum(data) = &input.data {
        for variant in &data.variants {
            let of_variant = words_of(&variant.attrs);
            if of_input.contains("suffix") || of_variant.contains("suffix") {
                let name = unraw_name(&variant.ident);
                let words = of_input.iter().chain(&of_variant);
                names.extend(words.map(|word| format!("{name}{word}")));
                names.insert(name);
            }
            if names.len() > MOST_NAMES {
                return None;
            }
        }
    }
    Some(names)
}

impl MacroEffect {
    /// The effect of a known macro that writes items with these names, and implementations; with any names if there are
    /// none here.
    pub fn of_named_items(names: Option<BTreeSet<String>>) -> Self {
        let may_declare_kinds = names.as_ref().is_none_or(|names| names.contains("CustomResource"));
        Self { names, is_known: true, may_declare_kinds, ..Self::of_unknown(Rc::default()) }
    }
}

fn effect_of(
    lookup: &Lookup<'_>,
    macro_: &AttributeMacro,
    words: Rc<BTreeSet<String>>,
) -> MacroEffect {
    let mut effect = MacroEffect::of_unknown(words);
    effect.runs_unread_code = !is_published(lookup, macro_);
    if macro_.is_in_impl {
        // The tokens inside an `impl` are not names of the module.
        effect.names = Some(BTreeSet::new());
    }
    effect
}

/// The words of items, each collected once.
#[derive(Default)]
struct Words {
    of_data: BTreeMap<ItemId, Rc<BTreeSet<String>>>,
    /// By the first body that is left out.
    with_bodies: BTreeMap<(ModuleId, LineColumn), Rc<BTreeSet<String>>>,
}

impl Words {
    fn of_item(&mut self, lookup: &Lookup<'_>, macro_: &AttributeMacro) -> Rc<BTreeSet<String>> {
        match &macro_.item {
            DecoratedItem::Words(words, omitted) => {
                let Some(first) = omitted.first() else { return words.clone() };
                let bodies = lookup.world.omitted_bodies(macro_.module);
                let tokens = omitted
                    .iter()
                    .flat_map(|place| bodies.iter().filter_map(|file| file.tokens(*place)));
                let collect = || {
                    let in_bodies =
                        tokens.flat_map(|tokens| Tokens::of_arguments(tokens.clone()).words);
                    Rc::new(words.iter().cloned().chain(in_bodies).collect())
                };
                let key = (macro_.module, *first);
                self.with_bodies.entry(key).or_insert_with(collect).clone()
            }
            DecoratedItem::Data(id) => {
                let collect = || match &lookup.world.items[*id].kind {
                    ItemKind::Data(input) => Tokens::of_arguments(input.to_token_stream()).words,
                    _ => BTreeSet::new(),
                };
                self.of_data.entry(*id).or_insert_with(|| Rc::new(collect())).clone()
            }
        }
    }
}

/// Returns what a macro writes; none if that is not known.
fn known_writes(lookup: &Lookup<'_>, macro_: &AttributeMacro) -> Option<MacroWrites> {
    let AttributeMacro { module, path, is_derive, .. } = macro_;
    // The derives of std need no import. Whatever makes one of them doubtful is in the list itself.
    let is_of_std = || match &path.parts[..] {
        [name] if !path.global => *is_derive && DERIVES_OF_STD.contains(&name.as_str()),
        _ => false,
    };
    let (is_known, is_helper) =
        match lookup.resolve_path(*module, path, Space::Macros, PathReader::Early) {
            Ok(Named::Foreign(found)) => return published_effect(lookup, &found),
            // A helper attribute of a derive is not imported.
            Err(Miss::Nothing) => match uses_of_macros(lookup, *module) {
                _ if is_attribute_of_project(lookup, macro_) => (false, false),
                MacroUses::Unknown => (false, false),
                MacroUses::Known => (path.parts.len() == 1, !is_derive),
                MacroUses::None => (is_of_std() || !is_derive && path.parts.len() == 1, true),
            },
            // A glob that is not read would have to import another derive of such a name.
            Err(Miss::Doubt(_) | Miss::Perhaps(_)) => {
                let of_std = is_of_std();
                let is_single = path.parts.len() == 1;
                (
                    of_std || is_single && imports_known_crates_only(lookup, *module),
                    of_std || !is_derive,
                )
            }
            Ok(_) | Err(Miss::Unreachable) => (false, false),
        };
    // It is not known which of the known crates has this derive.
    is_known.then_some(if is_helper { MacroWrites::Impls } else { MacroWrites::Items })
}

/// Returns whether a path leads to an attribute macro of the project: a function of a crate for macros.
fn is_attribute_of_project(lookup: &Lookup<'_>, macro_: &AttributeMacro) -> bool {
    let function =
        lookup.resolve_path(macro_.module, &macro_.path, Space::Values, PathReader::Early);
    let Ok(Named::Item(item)) = function else { return false };
    match &lookup.world.items[item].kind {
        ItemKind::Fn(function) => {
            function.attrs.iter().any(|attr| attr.path().is_ident("proc_macro_attribute"))
        }
        _ => false,
    }
}

/// Returns whether a macro is of a crate from crates.io, whose macros know no type of the project.
fn is_published(lookup: &Lookup<'_>, macro_: &AttributeMacro) -> bool {
    let found = lookup.resolve_path(macro_.module, &macro_.path, Space::Macros, PathReader::Early);
    let path = match found {
        Ok(Named::Foreign(path)) => Some(path),
        Err(Miss::Doubt(doubt) | Miss::Perhaps(doubt)) => doubt.glob,
        _ => None,
    };
    let word = |path: &str| path.split("::").next().unwrap_or(path).to_owned();
    path.is_some_and(|path| !lookup.world.unpublished.contains(&word(&path)))
}

/// Returns what a macro writes whose path leads into a known crate, from crates.io.
fn published_effect(lookup: &Lookup<'_>, path: &str) -> Option<MacroWrites> {
    let word = path.split("::").next().unwrap_or(path);
    known_effect(path).filter(|_| !lookup.world.unpublished.contains(word))
}

/// Returns whether all that the globs of a module may import is of known crates or read.
fn imports_known_crates_only(lookup: &Lookup<'_>, module: ModuleId) -> bool {
    let (mut open, mut seen) = (vec![module], BTreeSet::from([module]));
    while let Some(here) = open.pop() {
        for index in 0..lookup.world.modules[here].globs.len() {
            match lookup.imports.globs.targets.get(&(here, index)) {
                Some(GlobTarget::Module(next)) if seen.insert(*next) => open.push(*next),
                Some(GlobTarget::Module(_) | GlobTarget::Enum(_)) => {}
                Some(GlobTarget::Foreign(path)) if published_effect(lookup, path).is_some() => {}
                Some(GlobTarget::Foreign(_) | GlobTarget::Uncertain(_)) | None => return false,
            }
        }
    }
    true
}

/// The names that `#[macro_use] extern crate` imports in a crate: one for each macro of the other crate.
enum MacroUses {
    None,
    Known,
    Unknown,
}

fn uses_of_macros(lookup: &Lookup<'_>, module: ModuleId) -> MacroUses {
    let krate = lookup.world.modules[module].krate;
    let is_known = |name: &String| match lookup.world.crates[krate].externs.get(name) {
        Some(Extern::Elsewhere(word)) => published_effect(lookup, word).is_some(),
        Some(Extern::ItemLocation(_)) => false,
        None => matches!(name.as_str(), "std" | "core" | "alloc"),
    };
    let mut found = MacroUses::None;
    for (_, name) in lookup.world.macro_uses.iter().filter(|(user, _)| *user == krate) {
        if !is_known(name) {
            return MacroUses::Unknown;
        }
        found = MacroUses::Known;
    }
    found
}

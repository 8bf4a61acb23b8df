//! Finds macros, items in blocks and files that are not read, and that may write code for a type.
//!
//! A procedural macro of the project may write an `impl` of which nothing is in its arguments. A published one cannot
//! know the names of the project's types.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens as _;

use super::Names;
use super::calls::{Calls, MacroEffect};
use crate::cargo::Extern;
use crate::tree::tokens::Tokens;
use crate::tree::{Item, ItemId, ItemKind, ModuleId, UnreadPlace, World};

/// The macro of std that reads a file. A call of it that [`crate::tree`] reads is none of these macros.
const INCLUDE: &str = "include";

/// Returns the names of macros whose calls may expand to what no token shows: procedural macros of the crates that are
/// read, all that is imported from crates that are neither read nor published, `include!`, macros of the project that
/// run one of these or load the file of a module, and what imports name these.
pub(super) fn unread_macros(world: &World, further_names: &FurtherNames) -> BTreeSet<String> {
    let imported = world.items.iter().filter(|item| is_imported_from_unpublished(world, item));
    let mut names: Vec<String> = imported.map(|item| item.name.clone()).collect();
    names.extend(world.items.iter().flat_map(names_of_macro));
    names.extend(written_by_macros(world));
    names.push(INCLUDE.to_owned());
    let mut all = with_further_names(names, further_names);
    loop {
        let of_rules = names_of_rules(world, &all);
        if of_rules.is_empty() {
            return all;
        }
        all.extend(with_further_names(of_rules, further_names));
    }
}

/// Returns the names of further macros of the project that load the file of a module or run one of these macros.
fn names_of_rules(world: &World, unread: &BTreeSet<String>) -> Vec<String> {
    let runs_unread_code = |body: &Tokens| {
        body.loads_files || body.called.union(&body.renamed).any(|name| unread.contains(name))
    };
    let further = world.rules.iter().filter(|rules| !unread.contains(&rules.name));
    let found = further.filter(|rules| rules.body.as_ref().is_some_and(runs_unread_code));
    found.map(|rules| rules.name.clone()).collect()
}

/// Further names of types and macros: those of aliases and of imports that rename, by the last name of what they lead to.
pub type FurtherNames = BTreeMap<String, BTreeSet<String>>;

pub fn further_names(world: &World) -> FurtherNames {
    let mut names = FurtherNames::new();
    for item in &world.items {
        let of: Vec<String> = match &item.kind {
            ItemKind::Alias(it) => {
                Tokens::of_arguments(it.ty.to_token_stream()).words.into_iter().collect()
            }
            ItemKind::Use(path) => path.parts.last().cloned().into_iter().collect(),
            _ => continue,
        };
        for it in of.into_iter().filter(|name| *name != item.name) {
            names.entry(it).or_default().insert(item.name.clone());
        }
    }
    names
}

/// Returns names with all further names of what they lead to.
fn with_further_names(names: Vec<String>, further_names: &FurtherNames) -> BTreeSet<String> {
    let (mut all, mut open) = (BTreeSet::new(), names);
    while let Some(name) = open.pop() {
        if all.contains(&name) {
            continue;
        }
        open.extend(further_names.get(&name).into_iter().flatten().cloned());
        all.insert(name);
    }
    all
}

fn names_of_macro(item: &Item) -> Vec<String> {
    let ItemKind::Fn(function) = &item.kind else { return Vec::new() };
    let mut names = Vec::new();
    for attr in &function.attrs {
        let words = Tokens::of_arguments(attr.meta.to_token_stream()).words;
        if words.contains("proc_macro_derive") {
            names.extend(words);
        } else if is_of_macro(&words) {
            names.push(item.name.clone());
        }
    }
    names
}

/// Returns whether the attribute of a function that is a procedural macro is among words.
fn is_of_macro(words: &BTreeSet<String>) -> bool {
    ["proc_macro", "proc_macro_attribute", "proc_macro_derive"]
        .iter()
        .any(|word| words.contains(*word))
}

fn is_imported_from_unpublished(world: &World, item: &Item) -> bool {
    let ItemKind::Use(path) = &item.kind else { return false };
    path.parts.len() > 1 && is_unpublished(world, item.module, &path.parts[0])
}

/// Returns whether a crate by the name that a module knows it by is neither read nor published.
fn is_unpublished(world: &World, module: ModuleId, name: &str) -> bool {
    match world.crates[world.modules[module].krate].externs.get(name) {
        Some(Extern::Elsewhere(word)) => world.unpublished.contains(word),
        _ => false,
    }
}

/// Returns the words that may be names of procedural macros which a `macro_rules!` writes.
fn written_by_macros(world: &World) -> impl Iterator<Item = String> {
    let bodies = world.rules.iter().filter_map(|rules| Some((rules.krate, rules.body.as_ref()?)));
    let writing: Vec<_> = bodies.filter(|(_, body)| is_of_macro(&body.words)).collect();
    let crates: BTreeSet<usize> = writing.iter().map(|(krate, _)| *krate).collect();
    let modules = world.modules.iter().filter(move |module| crates.contains(&module.krate));
    let arguments = modules.flat_map(|module| &module.macros).map(|call| &call.arguments);
    let functions = writing.into_iter().flat_map(|(_, body)| &body.functions);
    functions.chain(arguments.flat_map(|tokens| &tokens.words)).cloned()
}

impl Calls<'_> {
    /// Returns whether a call of a macro that is not read is among calls of these names.
    pub fn are_unread<'n, N: AsRef<str> + 'n + ?Sized>(
        &self,
        names: impl IntoIterator<Item = &'n N>,
    ) -> bool {
        names.into_iter().any(|name| self.unread_macros.contains(name.as_ref()))
    }

    /// Returns whether a path begins with a crate that is neither read nor published.
    pub fn is_unpublished(&self, module: ModuleId, path: &[&str]) -> bool {
        path.len() > 1 && is_unpublished(self.world, module, path[0])
    }
}

impl Names {
    /// A macro call, or an item in a block, that may write a function of a type, as its tokens show; for a message.
    ///
    /// A crate writes the `impl`s of its types: those without a trait, and those of other crates' traits.
    pub fn macro_that_may_write(&self, item: ItemId, function: &str) -> Option<String> {
        let names = self.all_names_of(&self.items[item].name);
        let krate = self.modules[self.items[item].module].krate;
        self.what_may(|module, effect| {
            self.modules[module].krate == krate
                && names.iter().any(|name| effect.may_write(name, function))
        })
    }

    /// Why something may write a function of a type: what is not read may, whatever its tokens are.
    pub fn why_written(&self, item: ItemId, function: &str) -> Option<String> {
        let krate = self.modules[self.items[item].module].krate;
        let is_here = |module: ModuleId| self.modules[module].krate == krate;
        if let Some(unread) = self.unread_files().find(|unread| is_here(unread.module)) {
            let place = self.place_in(unread.module, unread.span);
            return Some(format!("`include!` at {place} may define `{function}`: {}", unread.why));
        }
        let call = self
            .macro_that_may_write(item, function)
            .or_else(|| self.what_may(|module, effect| is_here(module) && effect.runs_unread_code));
        Some(format!("{} may define `{function}`, and macros are not expanded", call?))
    }

    /// Returns whether a macro may write a function that one of these traits of the project gives to a type of another
    /// crate.
    pub fn may_be_extended(&self, traits: &[ItemId], function: &str) -> bool {
        let is_any = !traits.is_empty();
        let traits: BTreeSet<&str> =
            traits.iter().map(|item| self.items[*item].name.as_str()).collect();
        let may_extend = |effect: &MacroEffect| {
            is_any && effect.runs_unread_code || effect.may_extend(&traits, function)
        };
        is_any && self.unread_files().next().is_some()
            || self.what_may(|_, effect| may_extend(effect)).is_some()
    }

    /// The files that are not read, which may have an `impl` for any type of their crates.
    fn unread_files(&self) -> impl Iterator<Item = &UnreadPlace> {
        self.unread.iter().filter(|unread| !unread.is_item)
    }

    /// The first call or item in a block whose effect is so, as a message names it.
    fn what_may(&self, is_so: impl Fn(ModuleId, &MacroEffect) -> bool) -> Option<String> {
        let imports = self.solved_imports();
        let of_calls = imports.unexpanded.iter().find_map(|(module, effects)| {
            let found = effects.iter().find(|unexpanded| is_so(*module, &unexpanded.effect))?;
            Some(format!("`{}` in {}", found.text, self.modules[*module].file))
        });
        of_calls.or_else(|| {
            let mut all = imports.in_blocks.iter();
            let found = all.find(|in_block| is_so(in_block.module, &in_block.effect))?;
            Some(format!("what is in a block at {}", self.place_in(found.module, found.span)))
        })
    }

    /// A type's name, and those of aliases and imports that lead to it.
    fn all_names_of(&self, name: &str) -> BTreeSet<String> {
        with_further_names(vec![name.to_owned()], &self.solved_imports().further_names)
    }
}

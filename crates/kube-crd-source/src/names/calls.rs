//! The names that a call of a macro may declare, found without expanding it.
//!
//! A call declares only names in its own arguments, in the body of its macro, or in the bodies of the
//! macros that are called there in turn. Where a macro is not known for certain, it may declare anything.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Names;
use super::known_macros::{CRATES, QUIET, TRANSPARENT};
use super::unknown::Unexpanded;
use super::unread_macros::{FurtherNames, unread_macros};
use crate::builtin::names as foreign;
use crate::cargo::Extern;
use crate::tree::tokens::Tokens;
use crate::tree::{Call, CallForm, Item, ItemId, ItemKind, ModuleId, Path, Rules, RulesId, World};

/// The words and functions that a call may write.
pub(super) struct Written {
    pub words: BTreeSet<String>,
    pub functions: BTreeSet<String>,
    /// Any others, too: there are too many to collect them.
    pub any: bool,
    /// A macro or a file that is not read is among what it runs.
    pub runs_unread_code: bool,
}

impl Written {
    /// Those of its arguments.
    pub fn from_arguments(calls: &Calls<'_>, arguments: &Tokens) -> Self {
        let mut functions = arguments.functions.clone();
        // The keyword may come to stand before any name.
        if arguments.words.contains("fn") {
            functions.extend(arguments.words.iter().cloned());
        }
        let runs_unread_code =
            arguments.loads_files || calls.are_unread(arguments.called.union(&arguments.renamed));
        Self { words: arguments.words.clone(), functions, any: false, runs_unread_code }
    }
}

/// The names that a call may declare, and the tokens that it may expand to.
#[derive(Clone)]
pub struct MacroEffect {
    /// The names that it may declare; none where that may be any.
    pub names: Option<BTreeSet<String>>,
    /// Every word of its arguments and of the macros that it runs.
    pub(super) words: Rc<BTreeSet<String>>,
    /// Functions that it may write, by their names.
    pub(super) functions: BTreeSet<String>,
    /// It may write anything: there are too many words to collect them.
    pub(super) writes_anything: bool,
    /// It runs a macro of the project or includes a file, which is not read: that may have an `impl` for any type of the
    /// crate.
    pub(super) runs_unread_code: bool,
    /// Every macro that it runs is read.
    pub(super) is_known: bool,
    /// Kube's derive is among the words.
    pub(super) may_declare_kinds: bool,
}

impl MacroEffect {
    /// The effect of a macro that may declare anything, and gets these words.
    pub fn of_unknown(words: Rc<BTreeSet<String>>) -> Self {
        Self {
            names: None,
            words,
            functions: BTreeSet::new(),
            writes_anything: false,
            runs_unread_code: false,
            is_known: false,
            may_declare_kinds: false,
        }
    }

    /// Returns whether there is an effect on other code.
    pub fn is_any(&self) -> bool {
        self.writes_anything || self.runs_unread_code || !self.words.is_empty()
    }

    pub fn runs_unread_code(&self) -> bool {
        self.runs_unread_code
    }

    pub fn may_declare_kinds(&self) -> bool {
        self.may_declare_kinds
    }

    pub fn may_declare(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(name))
    }

    /// Returns whether it may write an `impl` of one of these traits, or a new trait with a function of this name.
    pub(super) fn may_extend(&self, traits: &BTreeSet<&str>, function: &str) -> bool {
        let is_written = |it: &&str| self.words.contains(*it);
        self.writes_anything
            || self.words.contains("trait") && self.functions.contains(function)
            || self.words.contains("impl") && traits.iter().any(is_written)
    }

    /// Returns whether it may write a function of a type, by their names. One that is not known may take the function's
    /// name from anywhere.
    pub(super) fn may_write(&self, ty: &str, function: &str) -> bool {
        let is_written = || self.words.contains("impl") && self.words.contains(function);
        self.writes_anything || self.words.contains(ty) && (!self.is_known || is_written())
    }
}

/// The calls of all modules.
pub(super) fn unexpanded_calls(calls: &Calls<'_>) -> BTreeMap<ModuleId, Vec<Unexpanded>> {
    let world = calls.world;
    let with_calls = world.modules.iter().enumerate().filter(|(_, it)| !it.macros.is_empty());
    let unexpanded = |module: ModuleId, call: &Call| Unexpanded {
        text: call.text.clone(),
        span: call.span,
        unknown: call.unknown.clone(),
        effect: calls.effect_of(module, call),
    };
    with_calls
        .map(|(id, module)| (id, module.macros.iter().map(|call| unexpanded(id, call)).collect()))
        .collect()
}

/// The crates that have a macro of a name; none for one that is exported.
pub fn macro_crates(world: &World) -> BTreeMap<String, BTreeSet<Option<usize>>> {
    let mut crates: BTreeMap<String, BTreeSet<Option<usize>>> = BTreeMap::new();
    for rules in &world.rules {
        let krate = (!rules.exported).then_some(rules.krate);
        crates.entry(rules.name.clone()).or_default().insert(krate);
    }
    crates
}

pub(super) struct Calls<'a> {
    pub world: &'a World,
    /// Imports by the name that they give.
    imports: BTreeMap<&'a str, Vec<ItemId>>,
    /// Definitions by their names.
    pub rules: BTreeMap<&'a str, Vec<RulesId>>,
    /// Names of macros that only other macros define.
    hidden: BTreeSet<&'a str>,
    /// The names of kube's derive.
    pub derives: BTreeSet<&'a str>,
    /// The names of macros that are not read.
    pub unread_macros: BTreeSet<String>,
    /// The number of words that may still be collected.
    words_left: Cell<usize>,
}

/// Limit of the words of macros' bodies that are collected, for all calls together.
const MOST_WORDS: usize = 1_000_000;

impl<'a> Calls<'a> {
    pub fn new(world: &'a World, further_names: &FurtherNames) -> Self {
        let mut imports: BTreeMap<&str, Vec<ItemId>> = BTreeMap::new();
        for (id, item) in world.items.iter().enumerate() {
            if matches!(item.kind, ItemKind::Use(_)) {
                imports.entry(&item.name).or_default().push(id);
            }
        }
        let mut rules: BTreeMap<&str, Vec<RulesId>> = BTreeMap::new();
        for (id, it) in world.rules.iter().enumerate() {
            rules.entry(&it.name).or_default().push(id);
        }
        let arguments =
            || world.modules.iter().flat_map(|module| &module.macros).map(|it| &it.arguments);
        let bodies = world.rules.iter().filter_map(|rules| rules.body.as_ref());
        let mut hidden: BTreeSet<&str> = bodies
            .chain(arguments())
            .flat_map(|tokens| &tokens.defined)
            .map(String::as_str)
            .collect();
        // A macro whose name is an argument has that of any argument.
        if hidden.contains("$") {
            hidden.extend(arguments().flat_map(|tokens| &tokens.words).map(String::as_str));
        }
        let is_derive = |it: &&Item| match &it.kind {
            ItemKind::Use(path) => path.parts.last().is_some_and(|name| name == "CustomResource"),
            _ => false,
        };
        let renamed = world.items.iter().filter(is_derive).map(|item| item.name.as_str());
        let derives = renamed.chain(["CustomResource"]).collect();
        let unread_macros = unread_macros(world, further_names);
        let words_left = Cell::new(MOST_WORDS);
        Self { world, imports, rules, hidden, derives, unread_macros, words_left }
    }

    /// Counts the words of a macro's body; false if they are too many.
    pub fn count_words(&self, body: &Tokens) -> bool {
        let left = self.words_left.get().checked_sub(1 + body.words.len());
        self.words_left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn effect_of(&self, module: ModuleId, call: &Call) -> MacroEffect {
        let (names, written) = self.names_and_words(module, call);
        let Written { words, functions, any, runs_unread_code } = written;
        let quiet = names.as_ref().is_some_and(BTreeSet::is_empty);
        // Attributes are reported where they stand.
        let names_derive = any || self.derives.iter().any(|derive| words.contains(*derive));
        let may_declare_kinds = !quiet && call.form == CallForm::Macro && names_derive;
        let is_known = names.is_some() && call.form == CallForm::Macro;
        let words = Rc::new(words);
        MacroEffect {
            names,
            words,
            functions,
            writes_anything: any,
            runs_unread_code,
            is_known,
            may_declare_kinds,
        }
    }

    /// The names that a call may declare, and all words of what it runs.
    fn names_and_words(
        &self,
        module: ModuleId,
        call: &Call,
    ) -> (Option<BTreeSet<String>>, Written) {
        let mut written = Written::from_arguments(self, &call.arguments);
        let words = &mut written.words;
        if call.form != CallForm::Macro && !(call.form == CallForm::Item && call.arguments.is_open)
        {
            // It declares no names of the language.
            return (Some(outside_prelude(words)), written);
        }
        let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
        written.runs_unread_code |=
            self.are_unread(path.last().copied()) || self.is_unpublished(module, &path);
        let first = match (call.unknown.is_some(), call.rules) {
            (true, _) => None,
            (_, Some(it)) if !self.hidden.contains(path.last().unwrap_or(&"")) => Some(vec![it]),
            _ => self.find_definitions(module, &path),
        };
        let Some(first) = first else { return (None, written) };
        if first.is_empty() {
            let quiet = path.last().is_some_and(|name| QUIET.contains(name));
            let names = if quiet { BTreeSet::new() } else { call.arguments.declared.clone() };
            let names = (!call.arguments.is_open || quiet).then_some(names);
            return (names, written);
        }
        let (mut names, mut known) = (BTreeSet::new(), true);
        let mut reached: BTreeSet<RulesId> = first.iter().copied().collect();
        let (mut open, mut forwards, mut has_open_functions) = (first, false, false);
        let (mut has_open_imports, mut has_star) = (false, call.arguments.has_star);
        while let Some(id) = open.pop() {
            let Rules { module, body: Some(body), .. } = &self.world.rules[id] else {
                known = false;
                continue;
            };
            if !self.count_words(body) {
                written.any = true;
                return (None, written);
            }
            words.extend(body.words.iter().cloned());
            written.functions.extend(body.functions.iter().cloned());
            written.runs_unread_code |=
                body.loads_files || self.are_unread(body.called.union(&body.renamed));
            has_open_imports |= body.has_open_imports;
            has_star |= body.has_star;
            has_open_functions |= body.has_open_functions;
            names.extend(body.declared.iter().cloned());
            forwards |= body.forwards;
            known &= !body.is_open;
            for path in &body.calls {
                // Below its definition, a macro's name is that of the macro.
                if call.rules.is_some() && path.len() == 1 && path.last() == call.path.last() {
                    continue;
                }
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                match self.find_definitions(*module, &path) {
                    Some(found) => open.extend(found.into_iter().filter(|id| reached.insert(*id))),
                    None => known = false,
                }
            }
        }
        if forwards {
            known &= !call.arguments.words.contains("use") || !has_star;
            known &= !has_open_imports || !call.arguments.has_star;
            // Macros pass on their arguments and words of their own.
            match reached.len() {
                1 => names.extend(call.arguments.words.iter().cloned()),
                _ => names.extend(words.iter().cloned()),
            }
        }
        if has_open_functions {
            written.functions.extend(call.arguments.words.iter().cloned());
        }
        // A macro that writes kinds has the names of their structs in quotes.
        if self.derives.iter().any(|derive| words.contains(*derive)) {
            names.extend(outside_prelude(words));
        }
        (known.then_some(names), written)
    }

    /// The definitions that a path may mean; none where it may be a macro that is not read. Empty for those
    /// of other crates that are known.
    fn find_definitions(&self, module: ModuleId, path: &[&str]) -> Option<Vec<RulesId>> {
        let (name, front) = path.split_last()?;
        let is_known = QUIET.contains(name) || TRANSPARENT.contains(name);
        if self.hidden.contains(name) {
            return None;
        }
        for id in self.imports.get(name).into_iter().flatten() {
            let item = &self.world.items[*id];
            let ItemKind::Use(import) = &item.kind else { continue };
            let renamed = import.parts.last().is_none_or(|part| part != name);
            let first = import.parts.first().filter(|_| !renamed)?;
            if import.parts.len() > 1
                && self.is_elsewhere(item.module, first)
                && !(is_known && CRATES.contains(&first.as_str()))
            {
                return None;
            }
        }
        let krate = self.world.modules[module].krate;
        let visible = |it: &RulesId| {
            let it = &self.world.rules[*it];
            it.krate == krate || it.exported
        };
        let all = self.rules.get(name).into_iter().flatten().copied();
        let found: Vec<RulesId> = all.filter(visible).collect();
        let first = front.first().filter(|name| self.is_elsewhere(module, name));
        match (found.is_empty(), first) {
            (true, first) => {
                (is_known && first.is_none_or(|name| CRATES.contains(name))).then_some(found)
            }
            (false, Some(_)) => None,
            // The glob may import a macro of the same name from elsewhere.
            (false, None) if front.is_empty() && self.has_foreign_glob(module) => None,
            (false, None) => Some(found),
        }
    }

    /// Returns whether a path that begins so may lead out of the crates that are read.
    fn is_elsewhere(&self, module: ModuleId, first: &str) -> bool {
        let here = &self.world.modules[module];
        if matches!(first, "crate" | "self" | "super" | "$crate") {
            return false;
        }
        match self.world.crates[here.krate].externs.get(first) {
            Some(Extern::ItemLocation(_)) => false,
            Some(Extern::Elsewhere(_)) => true,
            None => {
                let module =
                    |id: &ItemId| matches!(self.world.items[*id].kind, ItemKind::Module(_));
                !here.types.get(first).is_some_and(|ids| ids.iter().all(module))
            }
        }
    }

    fn has_foreign_glob(&self, module: ModuleId) -> bool {
        let mut firsts =
            self.world.modules[module].globs.iter().map(|glob| glob.path.parts.first());
        firsts.any(|name| name.is_none_or(|it| self.is_elsewhere(module, it)))
    }
}

impl Names {
    /// The calls in a module that may declare kinds.
    pub fn calls_that_may_declare_kinds(
        &self,
        module: ModuleId,
    ) -> impl Iterator<Item = &Unexpanded> {
        let all = self.solved_imports().unexpanded.get(&module).into_iter().flatten();
        all.filter(|unexpanded| unexpanded.effect.may_declare_kinds)
    }

    /// Returns the macro calls and unread files of a module, each of which may declare anything.
    pub fn unknown_items(&self, module: ModuleId) -> impl Iterator<Item = &Unexpanded> {
        let all = self.solved_imports().unexpanded.get(&module).into_iter().flatten();
        all.filter(|unexpanded| unexpanded.effect.names.is_none())
    }

    /// The calls in a module that may declare what no token shows. An included file that is not read is none of them.
    pub fn unknown_macros(&self, module: ModuleId) -> impl Iterator<Item = &Unexpanded> {
        let all = self.solved_imports().unexpanded.get(&module).into_iter().flatten();
        all.filter(|unexpanded| {
            let MacroEffect { names, runs_unread_code, .. } = &unexpanded.effect;
            unexpanded.unknown.is_none() && (names.is_none() || *runs_unread_code)
        })
    }

    /// Returns whether a path in code may name a macro of the project, which is not expanded.
    pub fn may_be_own_macro(&self, module: ModuleId, path: &Path) -> bool {
        let Some(name) = path.parts.last() else { return false };
        let renamed = |id: &ItemId| match &self.items[*id].kind {
            ItemKind::Use(path) => path.parts.last() != Some(name),
            _ => false,
        };
        let krate = self.modules[module].krate;
        let crates = self.solved_imports().macro_crates.get(name);
        let is_own = crates.is_some_and(|all| all.contains(&None) || all.contains(&Some(krate)));
        let mut imports = self.modules[module].values.get(name).into_iter().flatten();
        is_own || imports.any(renamed)
    }
}

/// Returns the words that are no names of Rust's prelude.
fn outside_prelude(words: &BTreeSet<String>) -> BTreeSet<String> {
    words.iter().filter(|word| foreign::prelude_path(word).is_none()).cloned().collect()
}

//! What a call of a macro may declare, without expanding it.
//!
//! A call declares only names in its own arguments, in the body of its macro, or in the bodies of the
//! macros that are called there in turn. Where a macro is not known for certain, it may declare anything.

use std::collections::{BTreeMap, BTreeSet};

use super::Names;
use crate::builtin::names as foreign;
use crate::cargo::Extern;
use crate::tree::{Call, Item, ItemId, Kind, ModuleId, Path, Rules, RulesId, World};

/// Macros of other crates that declare nothing.
const QUIET: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "bail",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "const_assert",
    "debug_assert",
    "env",
    "eprintln",
    "file",
    "format",
    "json",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "println",
    "static_assertions",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Macros of other crates that declare what their arguments do.
const TRANSPARENT: &[&str] = &["cfg_if", "lazy_static", "task_local", "thread_local"];

/// The crates of all of these.
const CRATES: &[&str] = &[
    "alloc",
    "anyhow",
    "cfg_if",
    "core",
    "lazy_static",
    "serde_json",
    "static_assertions",
    "std",
    "tokio",
];

/// What a call may declare and write.
pub struct Effect {
    /// The names that it may declare; none where that may be any.
    pub names: Option<BTreeSet<String>>,
    /// Every word of its arguments and of the macros that it runs.
    words: BTreeSet<String>,
    /// Every macro that it runs is read.
    is_known: bool,
    /// Kube's derive is among the words.
    may_declare_kinds: bool,
}

impl Effect {
    pub fn may_declare(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|it| it.contains(name))
    }

    /// Whether it may write a function of a type, by their names. One that is not known may take the function's
    /// name from anywhere.
    fn may_write(&self, ty: &str, function: &str) -> bool {
        let is_written = || self.words.contains("impl") && self.words.contains(function);
        self.words.contains(ty) && (!self.is_known || is_written())
    }
}

/// The effects of all calls, by their modules, in the order of each module's calls.
pub fn effects(world: &World) -> BTreeMap<ModuleId, Vec<Effect>> {
    let calls = Calls::new(world);
    let with_calls = world.modules.iter().enumerate().filter(|(_, it)| !it.macros.is_empty());
    with_calls
        .map(|(id, it)| (id, it.macros.iter().map(|it| calls.effect(id, it)).collect()))
        .collect()
}

struct Calls<'a> {
    world: &'a World,
    /// Imports by the name that they give.
    imports: BTreeMap<&'a str, Vec<ItemId>>,
    /// Definitions by their names.
    rules: BTreeMap<&'a str, Vec<RulesId>>,
    /// Names of macros that only other macros define.
    hidden: BTreeSet<&'a str>,
    /// The names of kube's derive.
    derives: BTreeSet<&'a str>,
}

impl<'a> Calls<'a> {
    fn new(world: &'a World) -> Self {
        let mut imports: BTreeMap<&str, Vec<ItemId>> = BTreeMap::new();
        for (id, item) in world.items.iter().enumerate() {
            if matches!(item.kind, Kind::Use(_)) {
                imports.entry(&item.name).or_default().push(id);
            }
        }
        let mut rules: BTreeMap<&str, Vec<RulesId>> = BTreeMap::new();
        for (id, it) in world.rules.iter().enumerate() {
            rules.entry(&it.name).or_default().push(id);
        }
        let arguments = || world.modules.iter().flat_map(|it| &it.macros).map(|it| &it.arguments);
        let bodies = world.rules.iter().filter_map(|it| it.body.as_ref());
        let mut hidden: BTreeSet<&str> =
            bodies.chain(arguments()).flat_map(|it| &it.defined).map(String::as_str).collect();
        // A macro whose name is an argument has that of any argument.
        if hidden.contains("$") {
            hidden.extend(arguments().flat_map(|it| &it.words).map(String::as_str));
        }
        let is_derive = |it: &&Item| match &it.kind {
            Kind::Use(path) => path.parts.last().is_some_and(|it| it == "CustomResource"),
            _ => false,
        };
        let renamed = world.items.iter().filter(is_derive).map(|it| it.name.as_str());
        let derives = renamed.chain(["CustomResource"]).collect();
        Self { world, imports, rules, hidden, derives }
    }

    fn effect(&self, module: ModuleId, call: &Call) -> Effect {
        let (names, words) = self.names(module, call);
        let quiet = names.as_ref().is_some_and(BTreeSet::is_empty);
        // Attributes are reported where they stand.
        let may_declare_kinds =
            !quiet && !call.is_attribute && self.derives.iter().any(|it| words.contains(*it));
        let is_known = names.is_some() && !call.is_attribute;
        Effect { names, words, is_known, may_declare_kinds }
    }

    /// The names that a call may declare, and all words of what it runs.
    fn names(&self, module: ModuleId, call: &Call) -> (Option<BTreeSet<String>>, BTreeSet<String>) {
        let mut words = call.arguments.words.clone();
        if call.is_attribute {
            // It declares no names of the language.
            let names = words.iter().filter(|it| foreign::prelude(it).is_none()).cloned().collect();
            return (Some(names), words);
        }
        let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
        let first = match (call.unknown.is_some(), call.rules) {
            (true, _) => None,
            (_, Some(it)) if !self.hidden.contains(path.last().unwrap_or(&"")) => Some(vec![it]),
            _ => self.definitions(module, &path),
        };
        let Some(first) = first else { return (None, words) };
        if first.is_empty() {
            let quiet = path.last().is_some_and(|it| QUIET.contains(it));
            let names = if quiet { BTreeSet::new() } else { call.arguments.declared.clone() };
            let names = (!call.arguments.is_open || quiet).then_some(names);
            return (names, words);
        }
        let (mut names, mut known) = (BTreeSet::new(), true);
        let mut reached: BTreeSet<RulesId> = first.iter().copied().collect();
        let (mut open, mut forwards) = (first, false);
        while let Some(id) = open.pop() {
            let Rules { module, body: Some(body), .. } = &self.world.rules[id] else {
                known = false;
                continue;
            };
            words.extend(body.words.iter().cloned());
            names.extend(body.declared.iter().cloned());
            forwards |= body.forwards;
            known &= !body.is_open;
            for path in &body.calls {
                // Below its definition, a macro's name is that of the macro.
                if call.rules.is_some() && path.len() == 1 && path.last() == call.path.last() {
                    continue;
                }
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                match self.definitions(*module, &path) {
                    Some(found) => open.extend(found.into_iter().filter(|it| reached.insert(*it))),
                    None => known = false,
                }
            }
        }
        if forwards {
            known &= !call.arguments.words.contains("use") || !call.arguments.is_open;
            // Macros pass on their arguments and words of their own.
            match reached.len() {
                1 => names.extend(call.arguments.words.iter().cloned()),
                _ => names.extend(words.iter().cloned()),
            }
        }
        // A macro that writes kinds has the names of their structs in quotes.
        if self.derives.iter().any(|it| words.contains(*it)) {
            names.extend(words.iter().filter(|it| foreign::prelude(it).is_none()).cloned());
        }
        (known.then_some(names), words)
    }

    /// The definitions that a path may mean; none where it may be a macro that is not read. Empty for those
    /// of other crates that are known.
    fn definitions(&self, module: ModuleId, path: &[&str]) -> Option<Vec<RulesId>> {
        let (name, front) = path.split_last()?;
        let is_known = QUIET.contains(name) || TRANSPARENT.contains(name);
        if self.hidden.contains(name) {
            return None;
        }
        for id in self.imports.get(name).into_iter().flatten() {
            let item = &self.world.items[*id];
            let Kind::Use(import) = &item.kind else { continue };
            let renamed = import.parts.last().is_none_or(|it| it != name);
            let first = import.parts.first().filter(|_| !renamed)?;
            if 1 < import.parts.len()
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
        let first = front.first().filter(|it| self.is_elsewhere(module, it));
        match (found.is_empty(), first) {
            (true, first) => {
                (is_known && first.is_none_or(|it| CRATES.contains(it))).then_some(found)
            }
            (false, Some(_)) => None,
            // The glob may import a macro of the same name from elsewhere.
            (false, None) if front.is_empty() && self.has_foreign_glob(module) => None,
            (false, None) => Some(found),
        }
    }

    /// Whether a path that begins so may lead out of the crates that are read.
    fn is_elsewhere(&self, module: ModuleId, first: &str) -> bool {
        let here = &self.world.modules[module];
        if matches!(first, "crate" | "self" | "super" | "$crate") {
            return false;
        }
        match self.world.crates[here.krate].externs.get(first) {
            Some(Extern::Here(_)) => false,
            Some(Extern::Elsewhere(_)) => true,
            None => {
                let module = |id: &ItemId| matches!(self.world.items[*id].kind, Kind::Module(_));
                !here.types.get(first).is_some_and(|it| it.iter().all(module))
            }
        }
    }

    fn has_foreign_glob(&self, module: ModuleId) -> bool {
        let mut firsts = self.world.modules[module].globs.iter().map(|it| it.path.parts.first());
        firsts.any(|it| it.is_none_or(|it| self.is_elsewhere(module, it)))
    }
}

impl Names {
    /// A macro call that may write a function of a type, for a message.
    pub fn macro_that_may_write(&self, item: ItemId, function: &str) -> Option<String> {
        let ty = &self.items[item].name;
        self.imports().effects.iter().find_map(|(module, effects)| {
            let mut calls = self.modules[*module].macros.iter().zip(effects);
            let (call, _) = calls.find(|(_, it)| it.may_write(ty, function))?;
            Some(format!("`{}` in {}", call.text(), self.modules[*module].file))
        })
    }

    /// The calls in a module that may declare kinds.
    pub fn calls_that_may_declare_kinds(&self, module: ModuleId) -> impl Iterator<Item = &Call> {
        let effects = self.imports().effects.get(&module).into_iter().flatten();
        let calls = self.modules[module].macros.iter().zip(effects);
        calls.filter(|(_, it)| it.may_declare_kinds).map(|(call, _)| call)
    }

    /// Whether a path in code may name a macro of the project, which is not expanded.
    pub fn may_be_own_macro(&self, module: ModuleId, path: &Path) -> bool {
        let Some(name) = path.parts.last() else { return false };
        let renamed = |id: &ItemId| match &self.items[*id].kind {
            Kind::Use(path) => path.parts.last() != Some(name),
            _ => false,
        };
        let krate = self.modules[module].krate;
        let own = |it: &Rules| it.name == *name && (it.krate == krate || it.exported);
        let mut imports = self.modules[module].values.get(name).into_iter().flatten();
        self.rules.iter().any(own) || imports.any(renamed)
    }
}

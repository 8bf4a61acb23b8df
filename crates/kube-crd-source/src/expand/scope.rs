//! Which macro a name names: the nearest definition above it in the text, or one by its path.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::RulesId;
use crate::names::{Named, Space};
use crate::world::{ItemId, Kind, ModuleId, Path, World};

/// The definitions above a place in the text, nearest first.
#[derive(Clone, Default)]
pub struct Scope(Option<Rc<Above>>);

struct Above {
    name: String,
    rules: RulesId,
    before: Scope,
}

impl Scope {
    pub fn with(&self, name: String, rules: RulesId) -> Self {
        Self(Some(Rc::new(Above { name, rules, before: self.clone() })))
    }

    pub fn find(&self, name: &str) -> Option<RulesId> {
        self.all(name).next()
    }

    /// Every definition of a name, nearest first.
    fn all(&self, name: &str) -> impl Iterator<Item = RulesId> {
        let links = std::iter::successors(self.0.as_deref(), |it| it.before.0.as_deref());
        links.filter(move |it| it.name == name).map(|it| it.rules)
    }
}

impl Drop for Above {
    // One by one: a chain of thousands must not be dropped by recursion.
    fn drop(&mut self) {
        let mut next = self.before.0.take();
        while let Some(mut it) = next.and_then(Rc::into_inner) {
            next = it.before.0.take();
        }
    }
}

/// What a macro's path names.
#[derive(Debug, PartialEq, Eq)]
pub enum Called {
    Rules(RulesId),
    /// A macro of the language or of a crate that is not read.
    Elsewhere,
    /// It is not told which.
    Doubt(String),
}

impl World {
    /// Whether a path may name a macro of the project: one has its name, or an import gives another that name.
    pub fn may_be_ours(&self, module: ModuleId, path: &Path) -> bool {
        let Some(name) = path.parts.last() else { return false };
        let renamed = |id: &ItemId| match &self.items[*id].kind {
            Kind::Use(path) => path.parts.last() != Some(name),
            _ => false,
        };
        let mut imports = self.modules[module].values.get(name).into_iter().flatten();
        self.rules.iter().any(|it| it.name == *name) || imports.any(renamed)
    }

    /// The macro of a path in a module, wherever in it that stands.
    pub fn called(&self, module: ModuleId, path: &Path) -> Called {
        if let [name] = &path.parts[..]
            && !path.global
        {
            let scope = self.modules[module].scope.clone();
            let mut found: Vec<_> = scope.all(name).collect();
            found.dedup();
            match found[..] {
                [] => {}
                [one] => return Called::Rules(one),
                _ => return Called::Doubt(format!("`{name}!` is defined more than once")),
            }
        }
        self.macro_at(module, path, 0)
    }

    /// The macro of a path, by imports and crates.
    pub fn macro_at(&self, module: ModuleId, path: &Path, depth: usize) -> Called {
        let Some((name, front)) = path.parts.split_last() else { return Called::Elsewhere };
        if 16 < depth {
            return Called::Doubt("its imports lead to themselves".to_owned());
        }
        if front.is_empty() {
            return match path.global {
                true => Called::Elsewhere,
                false => self.macro_in(module, name, depth),
            };
        }
        let front = Path { global: path.global, parts: front.to_vec(), span: path.span };
        match self.resolve(module, &front, Space::Types) {
            Ok(Named::Module(found)) => self.macro_in(found, name, depth),
            _ => Called::Elsewhere,
        }
    }

    fn macro_in(&self, module: ModuleId, name: &str, depth: usize) -> Called {
        self.macro_among(module, name, depth, &mut BTreeSet::new())
    }

    /// The same, by way of every module once: `use …::*` may lead in circles.
    fn macro_among(
        &self,
        module: ModuleId,
        name: &str,
        depth: usize,
        seen: &mut BTreeSet<ModuleId>,
    ) -> Called {
        if !seen.insert(module) {
            return Called::Elsewhere;
        }
        let here = &self.modules[module];
        let root = here.parent.is_none();
        let exported = |it: &&super::Rules| it.exported && it.krate == here.krate;
        let mut found: Vec<RulesId> = Vec::new();
        if root {
            let all = self.rules.iter().enumerate();
            found.extend(all.filter(|(_, it)| exported(it) && it.name == name).map(|it| it.0));
        }
        let ids = here.types.get(name).into_iter().chain(here.values.get(name)).flatten();
        for id in ids {
            let item = &self.items[*id];
            let Kind::Use(path) = &item.kind else { continue };
            let called = match &path.parts[..] {
                // `pub(crate) use name;` shows what is defined above it.
                [_] if !path.global => self.shown(item.module, path, depth + 1),
                _ => self.macro_at(item.module, path, depth + 1),
            };
            match called {
                Called::Rules(it) => found.push(it),
                doubt @ Called::Doubt(_) => return doubt,
                Called::Elsewhere => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [one] => return Called::Rules(one),
            [] => {}
            _ => return Called::Doubt(format!("`{name}!` is defined more than once")),
        }
        for glob in &here.globs {
            let Ok(Named::Module(from)) = self.resolve(module, &glob.path, Space::Types) else {
                continue;
            };
            if from == module {
                continue;
            }
            match self.macro_among(from, name, depth + 4, seen) {
                Called::Rules(it) => found.push(it),
                doubt @ Called::Doubt(_) => return doubt,
                Called::Elsewhere => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [] => self.prelude_macro(here.krate, name),
            [one] => Called::Rules(one),
            _ => Called::Doubt(format!("more than one `use …::*` brings `{name}!`")),
        }
    }

    fn shown(&self, module: ModuleId, path: &Path, depth: usize) -> Called {
        let name = path.parts.last().map_or("", String::as_str);
        let mut found: Vec<_> = self.modules[module].scope.all(name).collect();
        found.dedup();
        match found[..] {
            [one] => Called::Rules(one),
            [] if 16 < depth => Called::Elsewhere,
            [] => Called::Elsewhere,
            _ => Called::Doubt(format!("`{name}!` is defined more than once")),
        }
    }

    /// What `#[macro_use] extern crate` brings.
    fn prelude_macro(&self, krate: usize, name: &str) -> Called {
        let used = self.macro_uses.iter().filter(|(by, _)| *by == krate);
        let crates: Vec<usize> = used
            .filter_map(|(_, name)| {
                let root = self.roots.get(&self.crates[krate].root)?;
                let span = proc_macro2::Span::call_site();
                let path = Path { global: true, parts: vec![name.clone()], span };
                match self.resolve(*root, &path, Space::Types) {
                    Ok(Named::Module(it)) => Some(self.modules[it].krate),
                    _ => None,
                }
            })
            .collect();
        let here = |it: &super::Rules| it.exported && it.name == name && crates.contains(&it.krate);
        self.rules.iter().position(here).map_or(Called::Elsewhere, Called::Rules)
    }
}

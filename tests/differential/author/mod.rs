//! Writes cases: a custom resource each, with types of its own over some modules, at random.
//!
//! One seed and number give one case, whatever else is written. What is written compiles (nearly always:
//! the oracle leaves out what does not, and counts it); whether kube panics over it is part of the game.

mod attributes;
mod defaults;
mod docs;
mod enums;
mod fields;
mod names;
mod resource;
mod structs;
pub mod types;

use std::collections::{BTreeMap, BTreeSet};

use crate::random::Random;
use types::Ty;

/// What a version of kube understands.
#[derive(Clone, Copy)]
pub struct Dialect {
    pub major: u32,
    /// Whether all the crates are there that schemars has features for.
    pub newest: bool,
}

/// A custom resource with all its source.
#[derive(Clone)]
pub struct Case {
    pub number: usize,
    /// Where the root type is, from the crate's root: `k7::deep::Case7`.
    pub path: String,
    /// Further versions of the kind, highest first, and which version is stored.
    pub more: Vec<String>,
    pub stored: String,
    /// Its files, by their path in `src/`.
    pub files: BTreeMap<String, String>,
}

/// The shape of a struct or of a variant, as an expression makes it.
#[derive(Clone)]
pub enum Shape {
    Unit,
    Tuple(Vec<Ty>),
    Struct(Vec<(String, Ty)>),
}

/// A type of the case.
pub struct Def {
    pub name: String,
    pub module: usize,
    pub params: usize,
    /// What it can do, as for a [`types::Leaf`].
    pub can: String,
    /// How one is made: by variant, or without.
    pub shapes: Vec<(Option<String>, Shape)>,
}

struct Module {
    /// From the crate's root.
    path: Vec<String>,
    parent: Option<usize>,
    /// Whether it is of the other crate.
    beside: bool,
    inline: bool,
    folder: bool,
    uses: BTreeSet<String>,
    /// What a whole path is called here.
    names: BTreeMap<String, String>,
    /// Names that are taken.
    taken: BTreeSet<String>,
    items: Vec<String>,
}

pub struct Author {
    pub random: Random,
    pub dialect: Dialect,
    case: usize,
    modules: Vec<Module>,
    pub defs: Vec<Def>,
    count: usize,
    more: Vec<String>,
    stored: String,
}

/// The case of this number.
pub fn case(seed: u64, number: usize, dialect: Dialect) -> Case {
    let random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (number as u64) << 20);
    let mut it = Author {
        random,
        dialect,
        case: number,
        modules: Vec::new(),
        defs: Vec::new(),
        count: 0,
        more: Vec::new(),
        stored: String::new(),
    };
    it.lay_out();
    // The other crate knows nothing of this one: its types come first.
    if let Some(first) = it.modules.iter().position(|it| it.beside) {
        for _ in 0..=it.random.below(3) {
            let module = it.beside_it(first);
            it.definition(module);
        }
    }
    for _ in 0..=it.random.below(6) {
        let module = it.beside_it(0);
        it.definition(module);
    }
    let (module, kind) = it.resource();
    let path = it.modules[module].path.join("::");
    let (more, stored) = (std::mem::take(&mut it.more), std::mem::take(&mut it.stored));
    Case { number, path: format!("{path}::{kind}"), more, stored, files: it.files() }
}

impl Author {
    fn definition(&mut self, module: usize) {
        match self.random.below(100) {
            0..55 => self.structure(module),
            _ => self.enumeration(module),
        }
    }

    /// A module of the same crate.
    fn beside_it(&mut self, module: usize) -> usize {
        let beside = self.modules[module].beside;
        let all: Vec<_> =
            (0..self.modules.len()).filter(|it| self.modules[*it].beside == beside).collect();
        *self.random.pick(&all)
    }

    /// A name that nothing else has in this case.
    fn fresh(&mut self, stem: &str) -> String {
        self.count += 1;
        format!("{stem}{}", self.count)
    }

    fn lay_out(&mut self) {
        const NAMES: &[&str] = &["api", "deep", "types", "v1", "r#mod", "parts", "shared_parts"];
        let folder = self.random.percent(50);
        self.module(vec![format!("k{}", self.case)], None, false, folder);
        for name in NAMES.iter().take(self.random.below(4)) {
            let parent = self.random.below(self.modules.len());
            if self.modules[parent].inline {
                continue;
            }
            let mut path = self.modules[parent].path.clone();
            path.push((*name).to_owned());
            let (inline, folder) = (self.random.percent(35), self.random.percent(30));
            self.module(path, Some(parent), inline, folder);
        }
        if self.random.percent(15) {
            let root = vec![format!("k{}", self.case)];
            let mut inner = root.clone();
            inner.push("inner".to_owned());
            let at = self.modules.len();
            self.module(root, None, false, folder);
            self.modules[at].beside = true;
            self.module(inner, Some(at), !folder, false);
        }
    }

    fn module(&mut self, path: Vec<String>, parent: Option<usize>, inline: bool, folder: bool) {
        self.modules.push(Module {
            path,
            parent,
            beside: parent.is_some_and(|it| self.modules[it].beside),
            inline,
            folder,
            uses: BTreeSet::new(),
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            items: Vec::new(),
        });
    }

    fn files(&mut self) -> BTreeMap<String, String> {
        let mut res = BTreeMap::new();
        for at in 0..self.modules.len() {
            let module = &self.modules[at];
            if module.inline {
                continue;
            }
            let path = module.path.iter().map(|it| it.trim_start_matches("r#")).collect::<Vec<_>>();
            let above = if module.beside { "../beside/src/" } else { "" };
            let path = format!("{above}{}", path.join("/"));
            let text = self.text(at);
            let file = if self.modules[at].folder {
                format!("{path}/mod.rs")
            } else {
                format!("{path}.rs")
            };
            res.insert(file, text);
        }
        res
    }

    fn text(&mut self, at: usize) -> String {
        let mut items = self.modules[at].items.clone();
        let children: Vec<_> =
            (0..self.modules.len()).filter(|it| self.modules[*it].parent == Some(at)).collect();
        for child in children {
            let name = self.modules[child].path.last().expect("it has a name").clone();
            let text = if self.modules[child].inline {
                format!("pub mod {name} {{\n{}}}\n", self.text(child))
            } else {
                format!("pub mod {name};\n")
            };
            let place = self.random.below(items.len() + 1);
            items.insert(place, text);
        }
        let uses: String = self.modules[at].uses.iter().map(|it| format!("{it}\n")).collect();
        format!("{uses}\n{}", items.join("\n"))
    }

    /// Adds an item to a module.
    fn item(&mut self, module: usize, text: String) {
        self.modules[module].items.push(text);
    }
}

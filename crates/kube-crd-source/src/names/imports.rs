//! The target of every `use`, and what macros may declare beside them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::blocks::{InBlock, effects_of_blocks};
use super::calls::{Calls, macro_crates, unexpanded_calls};
use super::glob_names::Cache;
use super::globs::{GlobId, Globs};
use super::solver::Solver;
use super::unknown::{Unexpanded, unknown_attribute_macros};
use super::unread_macros::{FurtherNames, further_names};
use super::{Doubt, Lookup, Named, Names, Space};
use crate::tree::{ItemId, ModuleId};

/// The target of an import, in one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportTarget {
    /// Nowhere, in no space.
    Nowhere,
    /// To something that is in another space.
    Absent,
    Is(Named),
    Doubt(Doubt),
    Perhaps(Doubt),
}

/// A lookup that an import depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LookupRead {
    /// The items and imports of a module under a name, without its globs.
    At(ModuleId, String),
    /// The names that globs import.
    Globs(String),
}

/// A reader of a path: code, or an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathReader {
    Code,
    /// The path of an import, a macro, a derive or an attribute, which rustc resolves before those in code.
    Early,
    Use(ItemId),
    Glob(GlobId),
}

#[derive(Default)]
pub struct Imports {
    /// The targets of imports, as far as they are decided.
    pub targets: BTreeMap<(ItemId, Space), ImportTarget>,
    pub globs: Globs,
    /// The modules that declare a name themselves.
    pub by_name: BTreeMap<String, Vec<ModuleId>>,
    /// Modules with macros in them, and those that do not parse.
    pub macros: Vec<ModuleId>,
    pub broken: Vec<ModuleId>,
    /// The macros of each module that are not expanded.
    pub unexpanded: BTreeMap<ModuleId, Vec<Unexpanded>>,
    /// The items and calls in blocks that may have an effect outside of them.
    pub in_blocks: Rc<[InBlock]>,
    pub further_names: Rc<FurtherNames>,
    /// The crates that have a macro of a name; none for one that is exported.
    pub macro_crates: Rc<BTreeMap<String, BTreeSet<Option<usize>>>>,
    pub cache: RefCell<Cache>,
    /// The lookups since this was last emptied; nothing once all is solved.
    reads: RefCell<Option<BTreeSet<LookupRead>>>,
    /// The number of globs that have been looked through for names.
    globs_tried: Cell<usize>,
}

/// Limit of the globs that are looked through, for all names together.
const MOST_GLOBS_TRIED: usize = 20_000_000;

impl Imports {
    pub fn note_read(&self, read: impl FnOnce() -> LookupRead) {
        if let Some(reads) = &mut *self.reads.borrow_mut() {
            reads.insert(read());
        }
    }

    /// Counts globs that are looked through for a name; false if they are too many.
    pub fn counts_globs(&self, tried: usize) -> bool {
        self.globs_tried.set(self.globs_tried.get().saturating_add(tried));
        self.globs_tried.get() <= MOST_GLOBS_TRIED
    }

    /// Decides where all imports lead.
    pub fn solve(world: &Names) -> Self {
        let further_names = Rc::new(further_names(world));
        let calls = Calls::new(world, &further_names);
        let in_blocks = effects_of_blocks(&calls);
        let macro_crates = Rc::new(macro_crates(world));
        let solve_beside = |unexpanded| {
            let start = Self {
                in_blocks: in_blocks.clone(),
                further_names: further_names.clone(),
                macro_crates: macro_crates.clone(),
                ..Self::default()
            };
            start.solve_beside(world, unexpanded)
        };
        let mut solved = solve_beside(unexpanded_calls(&calls));
        // The known derives and attributes depend on the imports, which depend on what unknown ones may declare.
        // Each round can only find further ones that are unknown.
        let mut known = BTreeSet::new();
        loop {
            let unknown = unknown_attribute_macros(&Lookup { world, imports: &solved }, &known);
            if unknown.is_empty() {
                return solved;
            }
            let mut unexpanded = solved.unexpanded;
            for (index, module, found) in unknown {
                known.insert(index);
                unexpanded.entry(module).or_default().push(found);
            }
            solved = solve_beside(unexpanded);
        }
    }

    fn solve_beside(self, world: &Names, unexpanded: BTreeMap<ModuleId, Vec<Unexpanded>>) -> Self {
        let mut imports = Self {
            globs: Globs::not_followed(world),
            reads: RefCell::new(Some(BTreeSet::new())),
            macros: unexpanded.keys().copied().collect(),
            unexpanded,
            ..self
        };
        for (module, it) in world.modules.iter().enumerate() {
            let names: BTreeSet<_> = it.types.keys().chain(it.values.keys()).collect();
            for name in names {
                imports.by_name.entry(name.clone()).or_default().push(module);
            }
            if it.broken.is_some() {
                imports.broken.push(module);
            }
        }
        Solver::new(world, imports).solve_all()
    }

    /// Returns what was read since this was called last.
    pub fn take_reads(&self) -> BTreeSet<LookupRead> {
        self.reads.borrow_mut().replace(BTreeSet::new()).unwrap_or_default()
    }

    pub fn stop_noting(&self) {
        *self.reads.borrow_mut() = None;
    }
}

//! Decides where every `use` leads.
//!
//! A target is decided once, as soon as all that it depends on is, and never changes: what an undecided import might
//! declare leaves names undecided in turn. Imports that in the end only wait for each other lead nowhere, unless
//! something might let them lead somewhere: those are doubted, and they alone.

use std::collections::{BTreeMap, BTreeSet};

use super::glob_names::Cache;
use super::globs::{GlobId, GlobTarget, Globs};
use super::imports::{ImportTarget, Imports, LookupRead, PathReader};
use super::{Lookup, Miss, Named, Names, Resolution, SPACES, Space, is_open};
use crate::builtin::names as foreign;
use crate::tree::{ItemId, ItemKind, Path};

/// Limit of the attempts to resolve an import, on average.
const ENOUGH: usize = 100;

pub struct Solver<'a> {
    world: &'a Names,
    imports: Imports,
    paths: BTreeMap<ItemId, &'a Path>,
    /// The names of all `macro_rules!`.
    macros: BTreeSet<&'a str>,
    /// The imports that depend on a lookup, in order, to be resolved again when it is decided.
    readers: BTreeMap<LookupRead, Vec<PathReader>>,
    uses: BTreeSet<ItemId>,
    globs: BTreeSet<GlobId>,
    /// Remaining attempts to resolve imports.
    left: usize,
}

impl<'a> Solver<'a> {
    pub fn new(world: &'a Names, imports: Imports) -> Self {
        let items = world.items.iter().enumerate();
        let paths = items.filter_map(|(id, it)| match &it.kind {
            ItemKind::Use(path) => Some((id, path)),
            _ => None,
        });
        let paths: BTreeMap<ItemId, &Path> = paths.collect();
        Self {
            world,
            uses: paths.keys().copied().collect(),
            globs: imports.globs.targets.keys().copied().collect(),
            macros: world.rules.iter().map(|rules| rules.name.as_str()).collect(),
            left: ENOUGH * (100 + paths.len()),
            paths,
            readers: BTreeMap::new(),
            imports,
        }
    }

    pub fn solve_all(mut self) -> Imports {
        loop {
            self.decide_consequences();
            let open = self.open_spaces();
            if !self.close_cycles(&open) && !self.doubt_globs() {
                self.doubt_imports(&open);
                break;
            }
            self.uses = open.into_iter().map(|import| import.0).collect();
            let globs = self.imports.globs.targets.iter();
            self.globs = globs.filter(|glob| glob.1.is_open()).map(|it| *it.0).collect();
        }
        self.imports.stop_noting();
        self.imports
    }

    /// Decides what follows from what is decided.
    fn decide_consequences(&mut self) {
        loop {
            let mut news = BTreeMap::new();
            for id in std::mem::take(&mut self.globs) {
                let leads = self.resolve_glob(id);
                self.remember_reads(PathReader::Glob(id));
                if !leads.is_open() {
                    news.insert(id, leads);
                }
            }
            self.lead_globs(news);
            while let Some(id) = self.uses.pop_first() {
                if SPACES.iter().all(|space| self.imports.targets.contains_key(&(id, *space))) {
                    continue;
                }
                let found = self.resolve_import(id);
                if self.decide_import(id, found) {
                    self.wake_readers(id);
                }
            }
            if self.globs.is_empty() {
                return;
            }
        }
    }

    /// Decides about the spaces of an import that something was found out about; true where there are any.
    fn decide_import(&mut self, id: ItemId, found: [Resolution; 3]) -> bool {
        let name = self.paths[&id].parts.last().map_or("", String::as_str);
        let is_elsewhere = self.macros.contains(name)
            || found.iter().any(|resolution| !is_nothing(resolution) && !is_open(resolution));
        let is_nowhere = found.iter().all(is_nothing) && !is_elsewhere;
        let mut is_news = false;
        for (space, found) in SPACES.into_iter().zip(found) {
            let target = match found {
                it if is_open(&it) => continue,
                Ok(named) => ImportTarget::Is(named),
                Err(Miss::Doubt(why)) => ImportTarget::Doubt(why),
                Err(Miss::Perhaps(why)) => ImportTarget::Perhaps(why),
                Err(Miss::Nothing | Miss::Unreachable) if is_elsewhere => ImportTarget::Absent,
                Err(Miss::Nothing | Miss::Unreachable) if is_nowhere => ImportTarget::Nowhere,
                Err(Miss::Nothing | Miss::Unreachable) => continue,
            };
            let targets = &mut self.imports.targets;
            is_news |= targets.insert((id, space), target).is_none();
        }
        is_news
    }

    /// Lets those lead nowhere that only wait for each other; true where there are any.
    ///
    /// All are assumed to, until something shows that might let one lead somewhere.
    fn close_cycles(&mut self, open: &[(ItemId, Space)]) -> bool {
        let mut assumed: BTreeSet<(ItemId, Space)> = open.iter().copied().collect();
        self.imports.targets.extend(open.iter().map(|import| (*import, ImportTarget::Absent)));
        self.imports.cache.replace(Cache::default());
        self.uses = open.iter().map(|import| import.0).collect();
        while let Some(id) = self.uses.pop_first() {
            if assumed.range((id, Space::Types)..=(id, Space::Macros)).next().is_none() {
                continue;
            }
            let found = self.resolve_import(id);
            let (before, is_over) = (assumed.len(), self.left == 0);
            for (space, found) in SPACES.into_iter().zip(&found) {
                if (is_over || !is_nothing(found)) && assumed.remove(&(id, space)) {
                    self.imports.targets.remove(&(id, space));
                }
            }
            if assumed.len() < before {
                self.wake_readers(id);
            }
        }
        for (id, _) in &assumed {
            let all = SPACES.map(|space| (*id, space));
            let name = self.paths[id].parts.last().map_or("", String::as_str);
            if all.iter().all(|import| assumed.contains(import)) && !self.macros.contains(name) {
                self.imports.targets.extend(all.map(|import| (import, ImportTarget::Nowhere)));
            }
        }
        !assumed.is_empty()
    }

    /// Doubts all globs that are not decided; true where there are any.
    fn doubt_globs(&mut self) -> bool {
        let targets = self.imports.globs.targets.iter().filter(|glob| glob.1.is_open());
        let lost = |(module, index): GlobId| {
            GlobTarget::new(Err(Miss::Nothing), &self.world.modules[module].globs[index].path.parts)
        };
        let lost: BTreeMap<_, _> = targets.map(|(id, _)| (*id, lost(*id))).collect();
        let any = !lost.is_empty();
        self.lead_globs(lost);
        any
    }

    fn doubt_imports(&mut self, open: &[(ItemId, Space)]) {
        for (id, space) in open {
            let path = &self.paths[id];
            let place = self.world.place_in(self.world.items[*id].module, path.span);
            let path = path.parts.join("::");
            let why = format!("`use {path}` at {place} depends on itself or on too many imports");
            self.imports.targets.insert((*id, *space), ImportTarget::Doubt(why.into()));
        }
        self.imports.cache.replace(Cache::default());
    }

    fn lead_globs(&mut self, news: BTreeMap<GlobId, GlobTarget>) {
        if news.is_empty() {
            return;
        }
        let mut targets = std::mem::take(&mut self.imports.globs.targets);
        targets.extend(news);
        self.imports.globs = Globs::new(self.world, targets);
        self.imports.cache.replace(Cache::default());
        let all: Vec<_> = self.readers.range(LookupRead::Globs(String::new())..).collect();
        let all: BTreeSet<PathReader> =
            all.into_iter().flat_map(|entry| entry.1).copied().collect();
        self.queue_readers(all);
    }

    /// Lets what reads the name of an import be looked at again.
    fn wake_readers(&mut self, id: ItemId) {
        let (module, name) = (self.world.items[id].module, &self.world.items[id].name);
        SPACES.iter().for_each(|space| self.imports.cache.borrow_mut().forget_name(name, *space));
        let reads = [LookupRead::At(module, name.clone()), LookupRead::Globs(name.clone())];
        let readers = reads.iter().filter_map(|lookup| self.readers.get(lookup)).flatten();
        let readers: Vec<PathReader> = readers.copied().collect();
        self.queue_readers(readers);
    }

    fn queue_readers(&mut self, readers: impl IntoIterator<Item = PathReader>) {
        for reader in readers {
            match reader {
                PathReader::Use(id) => drop(self.uses.insert(id)),
                PathReader::Glob(id) if self.imports.globs.targets[&id].is_open() => {
                    self.globs.insert(id);
                }
                PathReader::Glob(_) | PathReader::Code | PathReader::Early => {}
            }
        }
    }

    fn remember_reads(&mut self, reader: PathReader) {
        for read in self.imports.take_reads() {
            let readers = self.readers.entry(read).or_default();
            if let Err(index) = readers.binary_search(&reader) {
                readers.insert(index, reader);
            }
        }
    }

    /// The spaces of imports that are not decided.
    fn open_spaces(&self) -> Vec<(ItemId, Space)> {
        let all = self.paths.keys().flat_map(|id| SPACES.map(|space| (*id, space)));
        all.filter(|import| !self.imports.targets.contains_key(import)).collect()
    }

    fn resolve_glob(&self, (module, index): GlobId) -> GlobTarget {
        let path = &self.world.modules[module].globs[index].path;
        let names = Lookup { world: self.world, imports: &self.imports };
        let reader = PathReader::Glob((module, index));
        GlobTarget::new(names.resolve_path(module, path, Space::Types, reader), &path.parts)
    }

    fn resolve_import(&mut self, id: ItemId) -> [Resolution; 3] {
        self.left = self.left.saturating_sub(1);
        let (module, path, reader) =
            (self.world.items[id].module, self.paths[&id], PathReader::Use(id));
        let names = Lookup { world: self.world, imports: &self.imports };
        let mut found = match path.parts.split_last() {
            None => SPACES.map(|_| Err(Miss::Nothing)),
            Some((_, [])) => SPACES.map(|space| names.resolve_path(module, path, space, reader)),
            Some((last, front)) => match names.resolve_front(module, path, front, reader) {
                Ok(of) => {
                    SPACES.map(|space| names.resolve_member(&of, last, space, module, reader))
                }
                Err(miss) => SPACES.map(|_| Err(miss.clone())),
            },
        };
        // A derive leaves its name to a type.
        if matches!(&found[0], Ok(Named::Foreign(path)) if foreign::is_macro(path)) {
            found[0] = Err(Miss::Nothing);
            found[1] = Err(Miss::Nothing);
        }
        self.remember_reads(reader);
        found
    }
}

fn is_nothing(found: &Resolution) -> bool {
    matches!(found, Err(Miss::Nothing | Miss::Unreachable))
}

//! Resolves the features of packages, as cargo's resolver does for the packages that are built.

use std::collections::{BTreeMap, BTreeSet};

use super::dependencies::{Dependency, For};
use super::packages::{PackageId, Packages};
use super::{Cfg, Features, Options};

/// One resolution: of what is certain only, or of all that may be built.
pub struct Resolve<'a, 'b> {
    packages: &'a Packages<'b>,
    /// The packages that matter: nothing else is looked at.
    among: &'a BTreeSet<PackageId>,
    all: bool,
    features: BTreeMap<PackageId, BTreeSet<String>>,
    built: BTreeSet<PackageId>,
    /// The dependencies of a package by their keys, filled on demand.
    index: BTreeMap<PackageId, BTreeMap<&'a str, Vec<&'a Dependency>>>,
    /// Dependencies that are built, by who needs them and what they call them.
    active: BTreeSet<(PackageId, String)>,
    /// `a?/b`: what waits for `a`.
    waiting: BTreeMap<(PackageId, String), BTreeSet<String>>,
    open: Vec<Step>,
}

enum Step {
    Build(PackageId),
    Feature(PackageId, String),
    Activate(PackageId, String),
}

impl<'a, 'b> Resolve<'a, 'b> {
    /// Returns what is on in each of these packages when the project is built.
    pub fn resolve_features(
        packages: &'a Packages<'b>,
        among: &'a BTreeSet<PackageId>,
        all: bool,
    ) -> BTreeMap<PackageId, BTreeSet<String>> {
        let roots: Vec<PackageId> = packages.root_ids().collect();
        Self::resolve_roots(packages, among, all, &roots).features
    }

    /// Each of these packages that is built for some roots alone, with the features that are certainly on.
    pub fn built_for(
        packages: &'a Packages<'b>,
        among: &'a BTreeSet<PackageId>,
        roots: &[PackageId],
    ) -> BTreeMap<PackageId, BTreeSet<String>> {
        let mut resolve = Self::resolve_roots(packages, among, false, roots);
        let features = |id: PackageId| (id, resolve.features.remove(&id).unwrap_or_default());
        resolve.built.into_iter().map(features).collect()
    }

    fn resolve_roots(
        packages: &'a Packages<'b>,
        among: &'a BTreeSet<PackageId>,
        all: bool,
        roots: &[PackageId],
    ) -> Self {
        let mut resolve = Self {
            packages,
            among,
            all,
            features: BTreeMap::new(),
            built: BTreeSet::new(),
            index: BTreeMap::new(),
            active: BTreeSet::new(),
            waiting: BTreeMap::new(),
            open: Vec::new(),
        };
        for id in roots.iter().copied() {
            resolve.open.push(Step::Build(id));
            for feature in packages.feature_flags(id) {
                resolve.open.push(Step::Feature(id, feature));
            }
        }
        while let Some(step) = resolve.open.pop() {
            resolve.run_step(step);
        }
        resolve
    }

    fn run_step(&mut self, step: Step) {
        match step {
            Step::Build(id) => {
                if !self.among.contains(&id) || !self.built.insert(id) {
                    return;
                }
                for it in self.dependencies_built(id).filter(|dependency| !dependency.optional) {
                    self.open.push(Step::Activate(id, it.key.clone()));
                }
            }
            Step::Feature(id, name) => self.turn_on_feature(id, name),
            Step::Activate(id, key) => {
                if !self.active.insert((id, key.clone())) {
                    return;
                }
                let late = self.waiting.remove(&(id, key.clone())).unwrap_or_default();
                for it in self.dependencies_by_key(id, &key) {
                    let Some(to) = self.packages.resolve_dependency(id, it) else { continue };
                    self.open.push(Step::Build(to));
                    let default = it.default_features.then(|| "default".to_owned());
                    let on = it.features.iter().chain(&late).cloned().chain(default);
                    self.open.extend(on.map(|on| Step::Feature(to, on)));
                }
            }
        }
    }

    fn turn_on_feature(&mut self, id: PackageId, name: String) {
        if !self.among.contains(&id) {
            return;
        }
        // `dependency/feature`.
        if let Some((key, on)) = name.split_once('/') {
            let (key, weak) = key.strip_suffix('?').map_or((key, false), |key| (key, true));
            let active = self.active.contains(&(id, key.to_owned()));
            if weak && !active {
                let waiting = self.waiting.entry((id, key.to_owned())).or_default();
                waiting.insert(on.to_owned());
                return;
            }
            if !weak {
                self.open.push(Step::Activate(id, key.to_owned()));
                let declared = self.packages.declared_features(id);
                let optional =
                    self.dependencies_by_key(id, key).iter().any(|dependency| dependency.optional);
                if optional && declared.is_some_and(|features| features.contains_key(key)) {
                    self.open.push(Step::Feature(id, key.to_owned()));
                }
            }
            let packages = self.packages;
            let needed = self.dependencies_by_key(id, key).into_iter();
            let to: Vec<_> = needed
                .filter_map(|dependency| packages.resolve_dependency(id, dependency))
                .collect();
            self.open.extend(to.into_iter().map(|to| Step::Feature(to, on.to_owned())));
            return;
        }
        if let Some(key) = name.strip_prefix("dep:") {
            self.open.push(Step::Activate(id, key.to_owned()));
            return;
        }
        let packages = self.packages;
        let Some(declared) = packages.declared_features(id) else {
            // Without the source of a package, only features that are named are known.
            let asked = (name != "default").then_some(name);
            self.features.entry(id).or_default().extend(asked);
            return;
        };
        let Some(turns_on) = declared.get(&name) else { return };
        if self.features.entry(id).or_default().insert(name) {
            self.open.extend(turns_on.iter().map(|feature| Step::Feature(id, feature.clone())));
        }
    }

    /// Those that a package calls so.
    fn dependencies_by_key(&mut self, id: PackageId, key: &str) -> Vec<&'a Dependency> {
        if !self.index.contains_key(&id) {
            let mut index: BTreeMap<&str, Vec<&Dependency>> = BTreeMap::new();
            for it in self.dependencies_built(id) {
                index.entry(&it.key).or_default().push(it);
            }
            self.index.insert(id, index);
        }
        self.index[&id].get(key).cloned().unwrap_or_default()
    }

    /// The dependencies of a package that are built for its code.
    fn dependencies_built(
        &self,
        id: PackageId,
    ) -> impl Iterator<Item = &'a Dependency> + use<'a, 'b> {
        let (packages, all) = (self.packages, self.all);
        // With `resolver = "1"`, Cargo unifies the features of normal, build and dev dependencies, so all of them count.
        let old = packages.old;
        let tests = packages.tests && packages.all[id].root || old && packages.all[id].member;
        let macros = !old && packages.is_macros(id);
        packages.dependencies_of(id).iter().filter(move |dependency| {
            let use_ = match dependency.use_ {
                For::Code => !macros,
                For::Build => old,
                For::Tests => tests,
            };
            let there = match dependency.there {
                Cfg::Yes => true,
                Cfg::Depends => all || old,
                Cfg::No => old,
            };
            use_ && there
        })
    }
}

impl Packages<'_> {
    /// The features of a root that flags turn on.
    pub fn feature_flags(&self, id: PackageId) -> Vec<String> {
        let Options { features, all_features, no_default_features, .. } = self.options;
        let own = |it: &String| match it.split_once('/') {
            Some((package, feature)) if package == self.all[id].name => feature.to_owned(),
            _ => it.clone(),
        };
        let mut flags: Vec<String> = features.iter().map(own).collect();
        if !no_default_features {
            flags.push("default".to_owned());
        }
        if *all_features {
            flags.extend(self.declared_features(id).into_iter().flat_map(BTreeMap::keys).cloned());
        }
        flags
    }

    /// Returns what a root of this folder is built with: its features that are on, and those of its dependencies
    /// (`a/b`) that flags turn on.
    pub fn built_with(&self, folder: &str) -> Vec<String> {
        let Some(id) = self.by_folder.get(folder) else { return Vec::new() };
        let deep = |it: &String| {
            let key = it.split_once('/').map(|(key, _)| key.trim_end_matches('?'));
            key.is_some_and(|key| {
                self.dependencies_of(*id).iter().any(|dependency| dependency.key == key)
            })
        };
        let asked = self.feature_flags(*id).into_iter().filter(deep);
        self.features_of(*id).on.into_iter().chain(asked).collect()
    }

    /// Features of flags that no root has.
    pub fn unknown_features(&self) -> Vec<String> {
        let known = |name: &String| {
            self.root_ids().any(|id| {
                let plain = name.strip_prefix(&format!("{}/", self.all[id].name));
                self.declared_features(id)
                    .is_some_and(|features| features.contains_key(plain.unwrap_or(name)))
                    || name.split_once('/').is_some_and(|(key, _)| {
                        self.dependencies_of(id)
                            .iter()
                            .any(|dependency| dependency.key == key.trim_end_matches('?'))
                    })
            })
        };
        self.options.features.iter().filter(|feature| !known(feature)).cloned().collect()
    }

    /// The features that are on in a package when the roots are built.
    pub fn features_of(&self, id: PackageId) -> Features {
        if let Some(found) = self.found.borrow().get(&id) {
            return found.clone();
        }
        let mut features = self.features_among(id, &self.dependents_of(id));
        features.possible = self.possible_cfgs(id);
        self.found.borrow_mut().insert(id, features.clone());
        features
    }

    fn features_among(&self, id: PackageId, among: &BTreeSet<PackageId>) -> Features {
        let certain = Resolve::resolve_features(self, among, false);
        let possible = Resolve::resolve_features(self, among, true);
        let of = |it: &BTreeMap<PackageId, BTreeSet<String>>| it.get(&id).cloned();
        let on = of(&certain).unwrap_or_default();
        let mut maybe = of(&possible).unwrap_or_default();
        // A package that cannot be read may turn on any feature.
        if among.iter().any(|id| self.declaration_of(*id).is_none()) {
            maybe.extend(self.declared_features(id).into_iter().flat_map(BTreeMap::keys).cloned());
        }
        maybe.retain(|feature| !on.contains(feature));
        Features { on, maybe, possible: Default::default() }
    }

    /// A package and all that depend on it.
    fn dependents_of(&self, id: PackageId) -> BTreeSet<PackageId> {
        let users = self.users.get_or_init(|| self.direct_dependents());
        let mut dependents = BTreeSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if dependents.insert(id) {
                open.extend(&users[id]);
            }
        }
        dependents
    }

    /// The packages that depend on each package directly.
    fn direct_dependents(&self) -> Vec<Vec<PackageId>> {
        let mut users = vec![Vec::new(); self.all.len()];
        for (by, package) in self.all.iter().enumerate() {
            match package.locked {
                Some(index) => {
                    self.lock.dependencies_of(index).for_each(|package| users[package].push(by))
                }
                None => {
                    let targets = self
                        .dependencies_of(by)
                        .iter()
                        .filter_map(|dependency| self.resolve_dependency(by, dependency));
                    targets.for_each(|target| users[target].push(by));
                }
            }
        }
        users
    }

    /// A package that may turn on features of this one, and whose source is not on this machine: it may be the package
    /// itself, whose features turn on others.
    pub fn absent_dependent(&self, id: PackageId) -> Option<PackageId> {
        self.absent_dependents(id).next()
    }

    fn absent_dependents(&self, id: PackageId) -> impl Iterator<Item = PackageId> {
        self.dependents_of(id).into_iter().rev().filter(|by| self.declaration_of(*by).is_none())
    }

    /// Returns whether a feature of a package may be enabled, if no other feature of the package enables it.
    pub fn may_be_on(&self, id: PackageId, feature: &str) -> bool {
        self.features_of(id).is_on(feature) != Cfg::No
            || self.absent_dependents(id).any(|by| by != id)
    }

    /// The features of a package that members and packages by path turn on: others are not looked at.
    pub fn features_by_hand(&self, id: PackageId) -> BTreeSet<String> {
        let ours = self.by_folder.values().copied().chain([id]).collect();
        self.features_among(id, &ours).on
    }

    /// Each package of the workspace that is built for some of its members, with the features that are on.
    pub fn built_for(&self, members: &[PackageId]) -> BTreeMap<PackageId, BTreeSet<String>> {
        let ours = self.by_folder.values().copied().collect();
        Resolve::built_for(self, &ours, members)
    }

    /// The package in a folder.
    pub fn package_in(&self, folder: &str) -> Option<PackageId> {
        self.by_folder.get(folder).copied()
    }
}

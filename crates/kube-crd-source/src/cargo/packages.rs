//! The packages of a project and what they depend on, from Cargo.toml and Cargo.lock as files.
//!
//! Of a package from elsewhere nothing is read before a name leads into it.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use semver::Version;
use toml::{Table, Value};

use super::config::Config;
use super::deciding::Deciding;
use super::dependencies::{self, Dependency, For};
use super::lock::Lock;
use super::workspace::Manifest;
use super::{Cfg, Features, Options, targets};
use crate::text::sources::Texts;
use crate::text::{Place, Problem, SourcePath, below, find_conflict_in_malformed};

pub type PackageId = usize;

pub struct Package {
    pub name: String,
    pub version: Option<Version>,
    /// Its registry or repository; none for members and path dependencies.
    pub source: Option<String>,
    pub(super) locked: Option<usize>,
    folder: OnceCell<Option<String>>,
    declaration: OnceCell<Option<Declaration>>,
    library: OnceCell<Option<(String, SourcePath)>>,
    /// A member of the workspace.
    pub member: bool,
    /// Its kinds are selected.
    pub root: bool,
}

/// A Cargo.toml, with what it inherits.
pub(super) struct Declaration {
    manifest: Rc<Manifest>,
    dependencies: Vec<Dependency>,
    features: BTreeMap<String, Vec<String>>,
    /// The folder of the workspace whose `workspace.dependencies` are inherited.
    workspace: String,
}

pub struct Packages<'a> {
    pub texts: &'a Texts<'a>,
    pub options: &'a Options,
    pub(super) lock: Lock,
    pub all: Vec<Package>,
    /// True if examples are built too, with the dependencies of tests.
    pub tests: bool,
    /// The features are put together by cargo's first resolver.
    pub old: bool,
    pub(super) by_folder: BTreeMap<String, PackageId>,
    /// Each Cargo.toml that was asked for, by its folder; none if it is absent or cannot be parsed.
    manifests: RefCell<BTreeMap<String, Option<Rc<Manifest>>>>,
    pub(super) found: RefCell<BTreeMap<PackageId, Features>>,
    /// The packages that depend on each package directly, found on demand.
    pub(super) users: OnceCell<Vec<Vec<PackageId>>>,
    pub(super) deciding: OnceCell<Deciding>,
    /// The cached results of [`Packages::publication_fault`].
    pub(super) publication_faults: RefCell<BTreeMap<PackageId, Option<Problem>>>,
    pub(super) config: Config,
}

impl<'a> Packages<'a> {
    pub fn new(
        texts: &'a Texts<'a>,
        members: &BTreeMap<String, Rc<Manifest>>,
        options: &'a Options,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let path = SourcePath::fixed("Cargo.lock");
        let text = texts.read_text(&path).unwrap_or_default();
        let lock = Lock::read(&text).unwrap_or_else(|(line, what)| {
            let conflict = find_conflict_in_malformed(&path, &text);
            problems.push(conflict.unwrap_or_else(|| {
                let place = Place { path, line, column: 1 };
                Problem::new(place, what).with_hint("run `cargo generate-lockfile`")
            }));
            Lock::default()
        });
        let mut all: Vec<Package> = Vec::new();
        for (index, it) in lock.packages.iter().enumerate() {
            all.push(Package::new(it.name.clone(), Some(it.version.clone())));
            all[index].source.clone_from(&it.source);
            all[index].locked = Some(index);
        }
        let known =
            |(folder, manifest): (&String, &Rc<Manifest>)| (folder.clone(), Some(manifest.clone()));
        let mut packages = Self {
            texts,
            options,
            lock,
            all,
            tests: options.examples,
            old: members.get("").is_some_and(|manifest| is_old(&manifest.table)),
            by_folder: BTreeMap::new(),
            manifests: RefCell::new(members.iter().map(known).collect()),
            found: RefCell::default(),
            users: OnceCell::new(),
            deciding: OnceCell::new(),
            publication_faults: RefCell::default(),
            config: Config::read(texts, members.get("").map(Rc::as_ref)),
        };
        let mut open: Vec<(String, Rc<Manifest>)> =
            members.iter().map(|(folder, it)| (folder.clone(), it.clone())).collect();
        open.extend(packages.collect_patches(members));
        while let Some((folder, manifest)) = open.pop() {
            let Some(name) = manifest.name().map(str::to_owned) else { continue };
            if packages.by_folder.contains_key(&folder) {
                continue;
            }
            texts.allow_folder(&folder);
            let member = members.contains_key(&folder);
            let id = packages.insert_package(&name, &folder, &manifest);
            packages.all[id].member = member;
            packages.all[id].root =
                member && (options.packages.is_empty() || options.packages.contains(&name));
            for it in packages.dependencies_of(id) {
                let Some(path) = &it.path else { continue };
                let folder = below(packages.base_folder(id, it), path);
                open.extend(packages.manifest_in(&folder).map(|manifest| (folder, manifest)));
            }
        }
        packages
    }

    /// Returns what `[patch]` puts in the place of packages by their paths.
    fn collect_patches(
        &self,
        members: &BTreeMap<String, Rc<Manifest>>,
    ) -> Vec<(String, Rc<Manifest>)> {
        let patch = members
            .get("")
            .and_then(|manifest| manifest.table.get("patch"))
            .and_then(Value::as_table);
        let each = patch.into_iter().flatten().filter_map(|(_, it)| it.as_table()).flatten();
        let paths = each.filter_map(|(_, it)| it.get("path")?.as_str());
        let read = |path: &str| {
            let folder = below("", path);
            let manifest = self.manifest_in(&folder)?;
            Some((folder, manifest))
        };
        paths.filter_map(read).collect()
    }

    /// A package that is known by its folder: as it is locked, or beside what is.
    fn insert_package(&mut self, name: &str, folder: &str, manifest: &Rc<Manifest>) -> PackageId {
        let free =
            |it: &&usize| self.all[**it].source.is_none() && self.all[**it].folder.get().is_none();
        let version = manifest.table.get("package").and_then(|package| package.get("version"));
        let version =
            version.and_then(Value::as_str).and_then(|version| version.parse::<Version>().ok());
        let mut there: Vec<usize> =
            self.lock.versions_of(name).iter().filter(free).copied().collect();
        if there.len() > 1 {
            there.retain(|id| self.all[*id].version == version);
        }
        let id = there.first().copied().unwrap_or_else(|| {
            self.all.push(Package::new(name.to_owned(), version));
            self.all.len() - 1
        });
        let _ = self.all[id].folder.set(Some(folder.to_owned()));
        let _ = self.all[id].declaration.set(Some(self.read_declaration(folder, manifest.clone())));
        self.by_folder.insert(folder.to_owned(), id);
        id
    }

    fn read_declaration(&self, folder: &str, manifest: Rc<Manifest>) -> Declaration {
        let (workspace, table) = self.workspace_of(folder, &manifest);
        let shared =
            table.as_ref().and_then(|table| table.get("dependencies")).and_then(Value::as_table);
        let dependencies = dependencies::parse_dependencies(&manifest.table, shared);
        let features = dependencies::collect_features(&manifest.table, &dependencies);
        Declaration { manifest, dependencies, features, workspace }
    }

    /// The workspace that a package takes over from, where it takes over anything.
    fn workspace_of(&self, folder: &str, manifest: &Manifest) -> (String, Option<Table>) {
        let own = |it: &Manifest| it.table.get("workspace").and_then(Value::as_table).cloned();
        if let Some(it) = own(manifest) {
            return (folder.to_owned(), Some(it));
        }
        if !manifest.text.contains("workspace") {
            return (folder.to_owned(), None);
        }
        let declared = manifest.table.get("package").and_then(|package| package.get("workspace"));
        let mut at = match declared.and_then(Value::as_str) {
            Some(path) => below(folder, path),
            None if folder.is_empty() || folder.ends_with("..") => return (String::new(), None),
            None => below(folder, ".."),
        };
        loop {
            if let Some(table) = self.manifest_in(&at).and_then(|manifest| own(&manifest)) {
                return (at, Some(table));
            }
            if at.is_empty() || at.ends_with("..") {
                return (folder.to_owned(), None);
            }
            at = below(&at, "..");
        }
    }

    /// The folder that a dependency's path is seen from.
    pub(super) fn base_folder(&self, id: PackageId, it: &Dependency) -> &str {
        let declared = self.declaration_of(id).filter(|_| it.inherited);
        declared.map_or_else(
            || self.folder_of(id).unwrap_or_default(),
            |declaration| declaration.workspace.as_str(),
        )
    }

    /// Returns where a package's files are; none where they are not on this machine.
    pub fn folder_of(&self, id: PackageId) -> Option<&str> {
        let find = || self.texts.sources.package_folder(&self.lock.packages[self.all[id].locked?]);
        self.all[id].folder.get_or_init(find).as_deref()
    }

    /// The Cargo.toml of a folder, parsed once; none if it is absent or cannot be parsed.
    fn manifest_in(&self, folder: &str) -> Option<Rc<Manifest>> {
        if let Some(known) = self.manifests.borrow().get(folder) {
            return known.clone();
        }
        let manifest = Manifest::read(self.texts, folder).ok().flatten().map(Rc::new);
        self.manifests.borrow_mut().insert(folder.to_owned(), manifest.clone());
        manifest
    }

    pub(super) fn declaration_of(&self, id: PackageId) -> Option<&Declaration> {
        let read = || {
            let folder = self.folder_of(id)?;
            Some(self.read_declaration(folder, self.manifest_in(folder)?))
        };
        self.all[id].declaration.get_or_init(read).as_ref()
    }

    pub fn manifest_of(&self, id: PackageId) -> Option<&Rc<Manifest>> {
        self.declaration_of(id).map(|declaration| &declaration.manifest)
    }

    pub fn dependencies_of(&self, id: PackageId) -> &[Dependency] {
        self.declaration_of(id)
            .map(|declaration| declaration.dependencies.as_slice())
            .unwrap_or_default()
    }

    /// The dependencies that the code of a package may name. What only its build script or its tests use is not among
    /// them; examples, where they are read, use what tests use.
    pub fn dependencies_of_code(&self, id: PackageId) -> impl Iterator<Item = &Dependency> {
        let has_examples = self.tests && self.all[id].root;
        self.dependencies_of(id).iter().filter(move |dependency| {
            let is_used = match dependency.use_ {
                For::Code => true,
                For::Tests => has_examples,
                For::Build => false,
            };
            is_used && dependency.there != Cfg::No
        })
    }

    /// The features that a package declares, each with what it turns on.
    pub fn declared_features(&self, id: PackageId) -> Option<&BTreeMap<String, Vec<String>>> {
        self.declaration_of(id).map(|declaration| &declaration.features)
    }

    /// The value of a key of `[package]`, which may be inherited from the workspace: none if the key is not there, and
    /// nothing in it if the workspace lacks it.
    pub(super) fn package_key(&self, id: PackageId, key: &str) -> Option<Option<Value>> {
        let declaration = self.declaration_of(id)?;
        match declaration.manifest.table.get("package")?.get(key)? {
            Value::Table(_) => {
                let root = self.manifest_in(&declaration.workspace);
                let shared = |root: &Rc<Manifest>| {
                    root.table.get("workspace")?.get("package")?.get(key).cloned()
                };
                Some(root.as_ref().and_then(shared))
            }
            value => Some(Some(value.clone())),
        }
    }

    /// The version in a package's own Cargo.toml, or in that of its workspace.
    pub fn declared_version(&self, id: PackageId) -> Option<Version> {
        self.package_key(id, "version")??.as_str()?.parse().ok()
    }

    pub fn is_macros(&self, id: PackageId) -> bool {
        let lib =
            self.declaration_of(id).and_then(|declaration| declaration.manifest.table.get("lib"));
        let flag = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(Value::as_bool);
        flag("proc-macro").or(flag("proc_macro")).unwrap_or(false)
    }

    /// Returns whether a package is of edition 2015, which is the default.
    pub fn is_of_edition_2015(&self, id: PackageId) -> bool {
        match self.package_key(id, "edition").flatten() {
            Some(edition) => edition.as_str() == Some("2015"),
            None => self.declaration_of(id).is_some(),
        }
    }

    /// The package from elsewhere that code knows by this name, where its library is not called as the package is.
    pub fn by_library(&self, id: PackageId, name: &str) -> Option<PackageId> {
        let named = |it: &&Dependency| !it.renamed && it.key.replace('-', "_") != name;
        let dependencies = self.dependencies_of(id).iter().filter(named);
        let targets = dependencies.filter_map(|dependency| self.resolve_dependency(id, dependency));
        let mut found = targets.filter(|to| {
            self.all[*to].source.is_some()
                && self.library_root(*to).is_some_and(|library| library.0 == name)
        });
        found.next()
    }

    /// The keys of cargo's configuration that are not known to be harmless.
    pub fn problems_of_config(&self) -> &[Problem] {
        &self.config.problems
    }

    pub fn root_ids(&self) -> impl Iterator<Item = PackageId> {
        (0..self.all.len()).filter(|id| self.all[*id].root)
    }

    /// The package of a dependency; none where Cargo.lock does not decide it.
    pub fn resolve_dependency(&self, id: PackageId, it: &Dependency) -> Option<PackageId> {
        let path = it.path.as_ref().map(|path| below(self.base_folder(id, it), path));
        if let Some(found) = path.and_then(|folder| self.by_folder.get(&folder)) {
            return Some(*found);
        }
        let mut found = match self.all[id].locked {
            Some(index) => self.lock.dependencies_named(index, &it.package),
            None => self.lock.versions_of(&it.package).to_vec(),
        };
        if found.len() > 1 {
            let fits = |id: &usize| {
                let there = &self.all[*id];
                let version = there.version.as_ref().zip(it.version.as_ref());
                let git = there.source.as_ref().is_some_and(|source| source.starts_with("git+"));
                version.is_none_or(|(version, requirement)| requirement.matches(version))
                    && git == it.git.is_some()
            };
            found.retain(fits);
        }
        match found[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The name and root file of a package's library.
    pub fn library_root(&self, id: PackageId) -> Option<(String, SourcePath)> {
        let find = || {
            let manifest = self.manifest_of(id)?;
            let (folder, name) = (self.folder_of(id)?, &self.all[id].name);
            targets::find_library(folder, &manifest.table, name, self.texts)
        };
        self.all[id].library.get_or_init(find).clone()
    }

    /// Returns where Cargo.lock names a package.
    pub fn place_in_lock(&self, id: PackageId) -> Place {
        let line = self.all[id].locked.map_or(1, |index| self.lock.packages[index].line);
        Place { path: SourcePath::fixed("Cargo.lock"), line, column: 1 }
    }

    /// Returns whether some version of a package is locked with a dependency of this name.
    pub fn is_locked_with(&self, name: &str, dependency: &str) -> bool {
        let mut versions = self.lock.versions_of(name).iter();
        versions.any(|index| !self.lock.dependencies_named(*index, dependency).is_empty())
    }

    pub fn is_locked(&self) -> bool {
        !self.lock.packages.is_empty()
    }
}

impl Package {
    fn new(name: String, version: Option<Version>) -> Self {
        Self {
            name,
            version,
            source: None,
            locked: None,
            folder: OnceCell::new(),
            declaration: OnceCell::new(),
            library: OnceCell::new(),
            member: false,
            root: false,
        }
    }
}

/// Returns whether a workspace is for cargo's first resolver.
fn is_old(root: &Table) -> bool {
    let get = |table: &str, key: &str| root.get(table)?.get(key)?.as_str();
    let declared = get("workspace", "resolver").or(get("package", "resolver"));
    match (declared, root.get("package")) {
        (Some(resolver), _) => resolver == "1",
        (None, Some(_)) => {
            let edition = get("package", "edition")
                .or_else(|| root.get("workspace")?.get("package")?.get("edition")?.as_str());
            matches!(edition, None | Some("2015" | "2018"))
        }
        (None, None) => true,
    }
}

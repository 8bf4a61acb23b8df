//! The crates of packages: what each is called, where it begins, and the names by which it knows the others.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::{PackageId, Packages};
use super::{Cfg, Features, Target, targets};
use crate::text::SourcePath;
use crate::text::raw_tokens::{RawTokenKind, RawTokens};
use crate::text::sources::Texts;

/// One crate: a library, a binary or an example.
pub struct Krate {
    /// The first name in `module_path!()`.
    pub name: String,
    pub root: SourcePath,
    /// The folder of its package; empty at the top.
    pub folder: String,
    pub target: Target,
    /// True if its kinds are selected.
    pub selected: bool,
    /// Crates that its code can name, by the name it uses.
    pub externs: BTreeMap<String, Extern>,
    pub features: Features,
    /// The variables of cargo's that `env!` may name.
    pub variables: BTreeMap<&'static str, String>,
    /// True if it is built at all.
    pub cfg: Cfg,
    /// Its package is of edition 2015, whose paths lead elsewhere.
    pub old: bool,
    /// Its package, where there is a Cargo.toml.
    pub id: Option<PackageId>,
    /// A library's word in paths that lead into it from elsewhere.
    pub word: Option<String>,
    /// False where nothing in it can be a kind, and no crate with kinds can name it.
    pub is_read: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Extern {
    /// A library that is read, by its root file.
    ItemLocation(SourcePath),
    /// A package from elsewhere, by the word that [`Packages::crate_word`] has for it.
    Elsewhere(String),
}

/// Crates that code may name without a Cargo.toml.
const USUAL: &[&str] = &["kube", "k8s_openapi", "schemars", "serde", "serde_json", "strum"];

/// The crates that are always read: those whose kinds are selected, and the libraries of
/// members and of packages by path that their code may name.
///
/// `is_fit`: Cargo.lock says what is built, so that it shows which packages cannot have kinds.
pub fn collect_crates(packages: &Packages<'_>, is_fit: bool) -> Vec<Krate> {
    let mut read_crates = Vec::new();
    let may_have_kinds = |id: &PackageId| !is_fit || packages.may_have_kinds(*id);
    let with_kinds = packages.root_ids().filter(may_have_kinds);
    let read = BTreeSet::from_iter(with_path_dependencies(packages, with_kinds));
    for id in with_path_dependencies(packages, packages.root_ids()) {
        let crates = Vec::from_iter(library_crate(packages, id));
        let others =
            if packages.all[id].root { collect_programs(packages, id) } else { Vec::new() };
        let is_read = read.contains(&id);
        read_crates
            .extend(crates.into_iter().chain(others).map(|krate| Krate { is_read, ..krate }));
    }
    let there: Vec<_> = read_crates
        .iter()
        .filter_map(|krate| Some((krate.word.clone()?, krate.root.clone())))
        .collect();
    for (word, root) in there {
        link_library(&mut read_crates, &word, &root);
    }
    read_crates
}

/// Returns packages and those that they depend on by their paths, directly or not.
fn with_path_dependencies(
    packages: &Packages<'_>,
    first: impl Iterator<Item = PackageId>,
) -> Vec<PackageId> {
    let mut found: Vec<PackageId> = first.collect();
    let mut seen: BTreeSet<PackageId> = found.iter().copied().collect();
    let mut next = 0;
    while let Some(id) = found.get(next).copied() {
        next += 1;
        let by_path =
            packages.dependencies_of_code(id).filter(|dependency| dependency.path.is_some());
        let targets = by_path.filter_map(|dependency| packages.resolve_dependency(id, dependency));
        found.extend(targets.filter(|target| seen.insert(*target)));
    }
    found
}

impl Packages<'_> {
    /// Returns whether a package can have kinds: what kube's derive writes names crates of kube, so the package depends
    /// on them, directly or not. Without a lock that is not known. One that lacks them and names the derive all the same
    /// is read as well, for a message that says what is missing, and one with files elsewhere, for these.
    fn may_have_kinds(&self, id: PackageId) -> bool {
        let Some(locked) = self.all[id].locked.filter(|_| self.options.modules.is_empty()) else {
            return true;
        };
        self.depends_on_kube(locked) || self.names_derive_or_other_files(id)
    }

    fn depends_on_kube(&self, locked: usize) -> bool {
        let (mut open, mut seen) = (vec![locked], BTreeSet::from([locked]));
        while let Some(index) = open.pop() {
            if self.lock.packages[index].name.contains("kube") {
                return true;
            }
            open.extend(self.lock.dependencies_of(index).filter(|package| seen.insert(*package)));
        }
        false
    }

    /// Returns whether the text of a package names the derive, or files in other folders: comments for rights may be there.
    fn names_derive_or_other_files(&self, id: PackageId) -> bool {
        let files =
            self.folder_of(id).map(|folder| self.texts.list_rust_files(folder)).unwrap_or_default();
        let texts = files.iter().filter_map(|file| self.texts.read_text(file));
        { texts }.any(|text| text.contains("CustomResource") || names_other_folder(&text))
    }
}

/// Returns whether a `#[path]` or an `include!` in a text may lead out of the folder.
fn names_other_folder(text: &str) -> bool {
    let may = ["path", "include"].iter().any(|word| text.contains(word));
    if !may || !["..", "\\u", "\\x"].iter().any(|dots| text.contains(dots)) {
        return false;
    }
    let Ok(tokens) = RawTokens::split(text) else { return true };
    let leads_out = |index: usize| {
        let literal = &text[tokens.byte_range(index)];
        literal.starts_with(['"', 'r']) && (literal.contains("..") || literal.contains('\\'))
    };
    (0..tokens.len()).any(|index| match (tokens.word_at(index), tokens.kind_at(index + 1)) {
        (Some("path"), Some(RawTokenKind::Punct('='))) => leads_out(index + 2),
        (Some("include"), Some(RawTokenKind::Punct('!')))
            if tokens.kind_at(index + 2).is_some() =>
        {
            (index + 3..tokens.closing_index(index + 2)).any(leads_out)
        }
        // Whatever its other name is, it includes files.
        (Some("include"), _) => tokens.word_at(index + 1) == Some("as"),
        _ => false,
    })
}

/// Lets crates name a library that is read now.
pub fn link_library(crates: &mut [Krate], word: &str, root: &SourcePath) {
    for it in crates.iter_mut().flat_map(|krate| krate.externs.values_mut()) {
        if matches!(it, Extern::Elsewhere(name) if name == word) {
            *it = Extern::ItemLocation(root.clone());
        }
    }
}

/// The library of a package; none where it has none, or is not on this machine.
pub fn library_crate(packages: &Packages<'_>, id: PackageId) -> Option<Krate> {
    let (name, root) = packages.library_root(id)?;
    let (externs, features) = (collect_externs(packages, id), packages.features_of(id));
    let word = Some(packages.crate_word(id));
    let folder = packages.folder_of(id).unwrap_or_default().to_owned();
    let (target, selected) = (Target::Library, packages.all[id].root);
    let old = packages.is_of_edition_2015(id);
    Some(Krate {
        name,
        root,
        folder,
        target,
        selected,
        externs,
        features,
        variables: packages.package_variables(id),
        cfg: Cfg::Yes,
        old,
        id: Some(id),
        word,
        is_read: true,
    })
}

/// Binaries and examples of a root.
fn collect_programs(packages: &Packages<'_>, id: PackageId) -> Vec<Krate> {
    let (Some(folder), Some(manifest)) = (packages.folder_of(id), packages.manifest_of(id)) else {
        return Vec::new();
    };
    let mut externs = collect_externs(packages, id);
    externs
        .extend(packages.library_root(id).map(|(name, root)| (name, Extern::ItemLocation(root))));
    let beside_library = packages.library_root(id).is_some();
    let mut programs = Vec::new();
    for (kind, target) in [
        (targets::BINARIES, Target::Program { beside_library }),
        (targets::EXAMPLES, Target::Example { beside_library }),
    ] {
        if kind.key == "example" && !packages.tests {
            continue;
        }
        let name = &packages.all[id].name;
        for it in targets::list_programs(&kind, folder, &manifest.table, name, packages.texts) {
            let features = packages.features_of(id);
            let cfg = it.required.iter().fold(Cfg::Yes, |cfg, it| cfg.and(features.is_on(it)));
            if cfg == Cfg::No {
                continue;
            }
            programs.push(Krate {
                name: it.name,
                root: it.root,
                folder: folder.to_owned(),
                target,
                selected: true,
                externs: externs.clone(),
                features,
                variables: packages.package_variables(id),
                cfg,
                old: packages.is_of_edition_2015(id),
                id: Some(id),
                word: None,
                is_read: true,
            });
        }
    }
    programs
}

fn collect_externs(packages: &Packages<'_>, id: PackageId) -> BTreeMap<String, Extern> {
    let mut externs = BTreeMap::new();
    for it in packages.dependencies_of(id) {
        let target = packages.resolve_dependency(id, it);
        // The library of a package that is read anyhow may have another name than the package.
        let name = target
            .filter(|to| !it.renamed && packages.all[*to].source.is_none())
            .and_then(|to| packages.library_root(to))
            .map_or_else(|| it.key.replace('-', "_"), |(name, _)| name);
        let word = target.map_or_else(
            || {
                let package = it.package.replace('-', "_");
                match (it.path.is_some(), it.git.is_some()) {
                    // Another crate under a well-known name is not the well-known crate.
                    (true, _) => format!("path/{package}"),
                    (_, true) => format!("git/{package}"),
                    _ => package,
                }
            },
            |to| packages.crate_word(to),
        );
        externs.entry(name).or_insert(Extern::Elsewhere(word));
    }
    externs
}

/// A project without Cargo.toml, as tests give it: `src/lib.rs`, `src/main.rs`, `api/src/lib.rs`.
pub fn crates_without_manifest(texts: &Texts<'_>) -> Vec<Krate> {
    let externs: BTreeMap<_, _> = USUAL
        .iter()
        .map(|name| ((*name).to_owned(), Extern::Elsewhere((*name).to_owned())))
        .collect();
    let files = texts.list_rust_files("");
    let roots = files.iter().filter(|path| matches!(path.name(), "lib.rs" | "main.rs"));
    roots
        .map(|root| Krate {
            name: "project".to_owned(),
            folder: String::new(),
            target: Target::Library,
            selected: true,
            root: root.clone(),
            externs: externs.clone(),
            features: Features::default(),
            variables: BTreeMap::new(),
            cfg: Cfg::Yes,
            old: false,
            id: None,
            word: None,
            is_read: true,
        })
        .collect()
}

//! Finds the versions of kube, schemars and k8s-openapi that decide what `crd()` prints, where several are locked.
//!
//! The kube that is nearest to the selected packages writes their CRDs, with the kube-core, the schemars and the
//! derives that it depends on itself. Another one that is locked is not what their code means by `kube`.

use std::collections::{BTreeMap, BTreeSet};

use super::packages::{PackageId, Packages};

/// A package's name → its candidates: one, unless that is not certain.
pub type Deciding = BTreeMap<&'static str, Vec<PackageId>>;

/// The packages with candidates, each with those whose dependency decides among them.
const NAMES: &[(&str, &[&str])] = &[
    ("kube", &[]),
    ("kube-core", &["kube"]),
    ("kube-derive", &["kube"]),
    ("schemars", &["kube-core"]),
    ("schemars_derive", &["schemars"]),
    ("serde_derive_internals", &["schemars_derive"]),
    ("k8s-openapi", &["kube-core"]),
];

/// The names of crates.io in Cargo.lock. A mirror that replaces it has the same name and checksums there.
const CRATES_IO: &[&str] =
    &["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// Returns whether a source in Cargo.lock is crates.io.
pub fn is_crates_io(source: &str) -> bool {
    CRATES_IO.contains(&source)
}

impl Packages<'_> {
    /// The packages that a name may mean.
    pub fn candidates_for(&self, name: &str) -> Vec<PackageId> {
        let found = self.deciding.get_or_init(|| self.decide_versions());
        found.get(name).cloned().unwrap_or_else(|| self.lock.versions_of(name).to_vec())
    }

    fn decide_versions(&self) -> Deciding {
        let mut deciding = Deciding::new();
        for (name, users) in NAMES {
            let all = self.lock.versions_of(name);
            if all.len() < 2 {
                deciding.insert(name, all.to_vec());
                continue;
            }
            let users = users.iter().filter_map(|user| deciding.get(user)).flatten();
            let mut found: Vec<PackageId> = users
                .filter_map(|id| self.all[*id].locked)
                .flat_map(|locked| self.lock.dependencies_named(locked, name))
                .collect();
            // Code names its types directly and through kube: both must be of one version.
            if found.is_empty() || *name == "k8s-openapi" {
                let roots: Vec<_> = self.root_ids().collect();
                found.extend(self.nearest_named(&roots, name));
            }
            if found.is_empty() {
                found = all.to_vec();
            }
            found.sort_unstable();
            found.dedup();
            deciding.insert(name, found);
        }
        deciding
    }

    /// The packages of a name that these come to in the fewest steps.
    pub fn nearest_named(&self, from: &[PackageId], name: &str) -> Vec<PackageId> {
        let mut seen: BTreeSet<PackageId> = from.iter().copied().collect();
        let mut level = from.to_vec();
        while !level.is_empty() {
            let below: BTreeSet<PackageId> =
                level.iter().flat_map(|id| self.code_needs(*id)).collect();
            let found: Vec<PackageId> =
                below.iter().copied().filter(|id| self.all[*id].name == name).collect();
            if !found.is_empty() {
                return found;
            }
            level = below.into_iter().filter(|id| seen.insert(*id)).collect();
        }
        Vec::new()
    }

    /// A hint how to choose among several: each selected package with the version that it takes.
    pub fn choice_hint(&self, name: &str) -> String {
        let takes = |id: PackageId| match self.nearest_named(&[id], name)[..] {
            [one] => Some(format!("`-p {}` uses {}", self.all[id].name, self.version_of(one))),
            _ => None,
        };
        let each: Vec<String> = self.root_ids().filter_map(takes).collect();
        match each.len() {
            0 | 1 => "keep only one version in Cargo.lock: `cargo tree --duplicates` shows what depends on each".to_owned(),
            _ => format!("select packages that use the same version: {}", each.join(", ")),
        }
    }

    pub fn version_of(&self, id: PackageId) -> String {
        self.all[id].version.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Returns whether it is from crates.io.
    pub fn is_published(&self, id: PackageId) -> bool {
        self.all[id].source.as_deref().is_some_and(is_crates_io)
    }

    /// The checksum that Cargo.lock has for a package.
    pub fn checksum_of(&self, id: PackageId) -> Option<&str> {
        self.lock.packages[self.all[id].locked?].checksum.as_deref()
    }

    /// Why a vendored package may not be the published one.
    pub fn vendoring_fault(&self, id: PackageId) -> Option<String> {
        self.texts.sources.vendoring_fault(&self.lock.packages[self.all[id].locked?])
    }

    /// The dependencies of a package's code; for a package from elsewhere, by Cargo.lock alone.
    fn code_needs(&self, id: PackageId) -> Vec<PackageId> {
        if let (Some(index), Some(_)) = (self.all[id].locked, &self.all[id].source) {
            return self.lock.dependencies_of(index).collect();
        }
        self.dependencies_of_code(id)
            .filter_map(|dependency| self.resolve_dependency(id, dependency))
            .collect()
    }
}

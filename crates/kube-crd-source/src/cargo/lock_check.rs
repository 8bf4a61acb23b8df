//! Checks that Cargo.lock fits the manifests, as `cargo --locked` does: each requirement of a member and each
//! `[patch]` must be met by it. Otherwise cargo builds other versions than those that are locked.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use semver::Version;
use toml::{Table, Value};
use url::Url;

use super::deciding::is_crates_io;
use super::dependencies::{Dependency, For, GitSource, Registry};
use super::lock::{Lock, Locked};
use super::packages::{PackageId, Packages};
use super::workspace::Manifest;
use crate::text::{Place, Problem, SourcePath, below};

/// The packages without which no version of kube is locked.
const DECIDING: &[&str] =
    &["kube-core", "kube-derive", "k8s-openapi", "schemars", "schemars_derive"];

/// Packages that require exactly their own version of another one.
const SAME_VERSION: &[(&str, &str)] =
    &[("kube", "kube-core"), ("kube", "kube-derive"), ("schemars", "schemars_derive")];

/// A requirement that Cargo.lock does not meet.
struct Misfit {
    place: Place,
    what: String,
}

/// The result of comparing Cargo.lock with the packages that are built.
pub enum LockState {
    /// It fits the manifests, or there is none.
    Fits,
    /// It fits, and a package that decides what `crd()` prints is not locked at all.
    WithoutKube(Problem),
    /// Cargo builds other versions than those that are locked.
    Outdated(Problem),
}

/// Compares Cargo.lock with the manifests.
pub fn check_lock(packages: &Packages<'_>, members: &BTreeMap<String, Rc<Manifest>>) -> LockState {
    if !packages.is_locked() || members.is_empty() {
        return LockState::Fits;
    }
    match find_outdated(packages, members) {
        Some(problem) => LockState::Outdated(problem),
        None => missing_kube(packages).map_or(LockState::Fits, LockState::WithoutKube),
    }
}

/// The problem that Cargo.lock is out of date; none if it fits.
fn find_outdated(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<Manifest>>,
) -> Option<Problem> {
    let patches = Patch::collect_from(packages, members);
    let unused = patches.iter().filter(|patch| !patch.is_locked(&packages.lock));
    let mut misfits: Vec<Misfit> = unused.map(Patch::to_misfit).collect();
    let patched: BTreeSet<&str> = patches.iter().map(|patch| patch.package.as_str()).collect();
    for id in checked_packages(packages) {
        let dependencies = packages.dependencies_of(id).iter();
        misfits.extend(
            dependencies.filter_map(|dependency| find_misfit(packages, id, dependency, &patched)),
        );
    }
    misfits.extend(members.get("").and_then(|root| find_replaced(root)));
    misfits.extend(unequal_versions(packages));
    let first = misfits.first()?;
    let more = match misfits.len() - 1 {
        0 => String::new(),
        1 => ", and 1 more requirement is not met".to_owned(),
        more => format!(", and {more} more requirements are not met"),
    };
    let message = format!("Cargo.lock is out of date: {}{more}", first.what);
    let hint = "run `cargo update --workspace`, which brings Cargo.lock up to date";
    Some(Problem::new(first.place.clone(), message).with_hint(hint))
}

/// The misfit that a Cargo.toml replaces packages in a way that is not followed.
fn find_replaced(root: &Manifest) -> Option<Misfit> {
    root.table.get("replace")?;
    let what = "`[replace]` is not supported: use `[patch]`".to_owned();
    Some(Misfit { place: root.place_of(&["replace"]), what })
}

/// Packages that are not locked at the one version that they require of each other.
fn unequal_versions<'a>(packages: &'a Packages<'_>) -> impl Iterator<Item = Misfit> + 'a {
    let lock = &packages.lock;
    let users = SAME_VERSION.iter().flat_map(move |(user, used)| {
        lock.versions_of(user).iter().map(move |index| (*index, *used))
    });
    let pairs = users.flat_map(move |(user, used)| {
        let found = lock.dependencies_named(user, used).into_iter();
        found.map(move |used| (&lock.packages[user], &lock.packages[used], used))
    });
    pairs.filter(|(user, used, _)| user.version != used.version).map(|(user, used, id)| Misfit {
        place: packages.place_in_lock(id),
        what: format!("it has {} for {}", format_locked(used), format_locked(user)),
    })
}

/// The problem that a package which decides what `crd()` prints is not locked at all.
fn missing_kube(packages: &Packages<'_>) -> Option<Problem> {
    let missing = DECIDING.iter().find(|name| packages.lock.versions_of(name).is_empty())?;
    let message = format!(
        "Cargo.lock has no `{missing}`: it is unknown which version of it generates the CRDs"
    );
    let hint = "depend on `kube` and `schemars` from crates.io, and run `cargo update --workspace`";
    Some(Problem::new(Place::start(SourcePath::fixed("Cargo.lock")), message).with_hint(hint))
}

/// The members, and the packages that they depend on by path.
fn checked_packages(packages: &Packages<'_>) -> Vec<PackageId> {
    let members = (0..packages.all.len()).filter(|id| packages.all[*id].member);
    let mut found: Vec<PackageId> = members.collect();
    let mut next = 0;
    while let Some(id) = found.get(next).copied() {
        next += 1;
        for dependency in
            packages.dependencies_of(id).iter().filter(|dependency| dependency.path.is_some())
        {
            if let Some(target) = packages.resolve_dependency(id, dependency)
                && is_resolved(packages, id, dependency)
                && !found.contains(&target)
            {
                found.push(target);
            }
        }
    }
    found
}

/// Returns whether cargo resolves a dependency: it ignores those of the tests of packages that are no members.
fn is_resolved(packages: &Packages<'_>, id: PackageId, dependency: &Dependency) -> bool {
    packages.all[id].member || dependency.use_ != For::Tests
}

fn find_misfit(
    packages: &Packages<'_>,
    id: PackageId,
    dependency: &Dependency,
    patched: &BTreeSet<&str>,
) -> Option<Misfit> {
    let package = &packages.all[id];
    let name = dependency.package.as_str();
    if !is_resolved(packages, id, dependency) {
        return None;
    }
    let locked = match package.locked {
        Some(index) => packages.lock.dependencies_named(index, name),
        None => packages.lock.versions_of(name).to_vec(),
    };
    // An optional dependency of a package that is not a member is locked only if a feature turns it on.
    if locked.is_empty() && dependency.optional && !package.member {
        return None;
    }
    let locked: Vec<&Locked> =
        locked.into_iter().map(|index| &packages.lock.packages[index]).collect();
    let fits = |it: &&Locked| {
        let meets = |version: &Version| {
            dependency.version.as_ref().is_none_or(|requirement| requirement.matches(version))
        };
        meets(&it.version) && (patched.contains(name) || is_from(packages, it, dependency))
    };
    if locked.iter().any(fits) {
        return None;
    }
    let found = locked.iter().copied().map(format_locked).collect::<Vec<_>>().join(" and ");
    let what = match (found.as_str(), &dependency.version) {
        ("", _) => format!("it has no `{name}` for `{}`", package.name),
        (found, Some(version))
            if locked.iter().any(|locked| is_from(packages, locked, dependency)) =>
        {
            format!("it has {found}, and `{version}` is required")
        }
        (found, _) => format!("it has {found}, which is not the source in Cargo.toml"),
    };
    Some(Misfit { place: place_of_dependency(packages, id, dependency)?, what })
}

fn place_of_dependency(
    packages: &Packages<'_>,
    id: PackageId,
    dependency: &Dependency,
) -> Option<Place> {
    let keys = dependency.section.iter().chain([&dependency.key]).map(String::as_str);
    Some(packages.manifest_of(id)?.place_of(&keys.collect::<Vec<_>>()))
}

/// A locked package as messages name it.
fn format_locked(locked: &Locked) -> String {
    let Locked { name, version, source, .. } = locked;
    match source.as_deref() {
        None => format!("`{name}` {version} from a path"),
        Some(source) if source.starts_with("git+") => {
            format!("`{name}` {version} from `{}`", source.trim_start_matches("git+"))
        }
        Some(source) if !is_crates_io(source) => {
            format!("`{name}` {version} from `{}`", source.trim_start_matches("registry+"))
        }
        Some(_) => format!("`{name}` {version}"),
    }
}

/// Returns whether a locked package is from the source that a dependency names.
fn is_from(packages: &Packages<'_>, locked: &Locked, dependency: &Dependency) -> bool {
    let source = locked.source.as_deref();
    match (&dependency.path, &dependency.git) {
        (Some(_), _) => source.is_none(),
        (None, Some(git)) => source.is_some_and(|source| is_of_repository(source, git)),
        (None, None) => source.is_some_and(|source| {
            let address = match &dependency.registry {
                None => return is_crates_io(source),
                Some(Registry::Name(name)) => packages.config.registry_address(name),
                Some(Registry::Address(address)) => Some(address.as_str()),
            };
            // Cargo stops at a registry that its configuration does not have.
            !source.starts_with("git+")
                && address
                    .is_none_or(|address| registry_address(address) == registry_address(source))
        }),
    }
}

/// The address of a registry without what makes no difference.
fn registry_address(source: &str) -> &str {
    source.strip_prefix("registry+").unwrap_or(source).trim_end_matches('/')
}

/// Returns whether a source in Cargo.lock is this repository, at this branch, tag or revision.
fn is_of_repository(source: &str, git: &GitSource) -> bool {
    let Some(locked) = source.strip_prefix("git+") else { return false };
    let (Ok(locked), Ok(declared)) = (Url::parse(locked), Url::parse(&git.url)) else {
        return true;
    };
    let same = |url: &Url| {
        let path = url.path().trim_end_matches('/').trim_end_matches(".git").to_lowercase();
        (url.host_str().map(str::to_owned), path)
    };
    let reference: Vec<(String, String)> = locked.query_pairs().into_owned().collect();
    let reference = reference.first().map(|(key, value)| (key.as_str(), value.as_str()));
    let wanted = git.reference.as_ref().map(|(key, value)| (*key, value.as_str()));
    // Older formats of Cargo.lock leave out the branch `master`.
    let is_master = reference.is_none() && wanted == Some(("branch", "master"));
    same(&locked) == same(&declared) && (reference == wanted || is_master)
}

/// One entry of `[patch]`.
struct Patch {
    package: String,
    version: Option<Version>,
    source: PatchSource,
    place: Place,
}

enum PatchSource {
    Path,
    Git(GitSource),
    Registry,
}

impl Patch {
    /// Those of the workspace's own Cargo.toml: cargo passes by those of members.
    fn collect_from(
        packages: &Packages<'_>,
        members: &BTreeMap<String, Rc<Manifest>>,
    ) -> Vec<Self> {
        let Some(root) = members.get("") else { return Vec::new() };
        let sources = root.table.get("patch").and_then(Value::as_table).into_iter().flatten();
        let entries = sources.filter_map(|(source, it)| Some((source, it.as_table()?)));
        let each =
            entries.flat_map(|(source, entries)| entries.iter().map(move |entry| (source, entry)));
        each.map(|(source, (key, value))| Self::new(packages, root, source, key, value)).collect()
    }

    fn new(
        packages: &Packages<'_>,
        root: &Manifest,
        source: &str,
        key: &str,
        value: &Value,
    ) -> Self {
        let table = value.as_table().cloned().unwrap_or_else(Table::new);
        let text = |key: &str| table.get(key).and_then(Value::as_str);
        let by_path = text("path").and_then(|path| packages.package_in(&below("", path)));
        let version = by_path.and_then(|id| packages.declared_version(id));
        let source_kind = match (text("path"), GitSource::declared_in(&table)) {
            (Some(_), _) => PatchSource::Path,
            (None, Some(git)) => PatchSource::Git(git),
            (None, None) => PatchSource::Registry,
        };
        Self {
            package: text("package").unwrap_or(key).to_owned(),
            version,
            source: source_kind,
            place: root.place_of(&["patch", source, key]),
        }
    }

    /// Returns whether Cargo.lock has it, or says that it replaces nothing.
    fn is_locked(&self, lock: &Lock) -> bool {
        let is = |it: &Locked| {
            let is_source = match (&self.source, it.source.as_deref()) {
                (PatchSource::Path, source) => source.is_none(),
                (PatchSource::Git(git), source) => {
                    source.is_some_and(|source| is_of_repository(source, git))
                }
                (PatchSource::Registry, source) => {
                    source.is_some_and(|source| !source.starts_with("git+"))
                }
            };
            it.name == self.package
                && is_source
                && self.version.as_ref().is_none_or(|version| it.version == *version)
        };
        lock.packages.iter().chain(&lock.unused_patches).any(is)
    }

    fn to_misfit(&self) -> Misfit {
        let what = format!("it does not have the patched `{}`", self.package);
        Misfit { place: self.place.clone(), what }
    }
}

//! Checks that Cargo.lock names crates whose output is known here. Another version is refused by name: what it
//! would print may differ.

mod behaviour;
mod rewriting;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::cargo::{PackageId, Packages};
use crate::text::{Place, Problem};
pub use behaviour::{Behaviour, KubeDerive};

/// What the versions that are locked do; where nothing is, what the newest do.
pub fn behaviour(packages: &Packages<'_>) -> Behaviour {
    let mut res = Behaviour::NEWEST;
    for (name, oldest, _) in behaviour::known_versions() {
        for id in candidates_of(packages, name, oldest) {
            // One that is not known is refused by `check`.
            res.select_version(name, &packages.version_of(id));
        }
    }
    res
}

/// Returns whether the locked serde_json may keep the order of maps: the feature for that takes indexmap.
pub fn keeps_order(packages: &Packages<'_>) -> bool {
    packages.is_locked_with("serde_json", "indexmap")
}

/// The problem of an `f32` at a place, if serde_json may have `arbitrary_precision`: it then writes the digits of the `f32`,
/// and otherwise those of the `f64` that is equal to it.
pub fn check_f32(packages: &Packages<'_>, place: &Place) -> Option<Problem> {
    let mut found = packages.candidates_for("serde_json").into_iter();
    found.find(|id| packages.may_be_on(*id, "arbitrary_precision"))?;
    let message = "the digits of this `f32` depend on the feature `arbitrary_precision` of serde_json, which is or may be enabled";
    Some(Problem::new(place.clone(), message.to_owned()).with_hint("use an `f64`"))
}

/// The candidates of a package. schemars 0.8 may be locked for another crate: kube 2 and later take 1.
fn candidates_of(packages: &Packages<'_>, name: &str, oldest: &str) -> Vec<PackageId> {
    let all = packages.candidates_for(name);
    let major = oldest.split('.').next();
    let is_same = |it: &PackageId| packages.version_of(*it).split('.').next() == major;
    let same: Vec<_> = all.iter().copied().filter(is_same).collect();
    if name.starts_with("schemars") && !same.is_empty() { same } else { all }
}

/// The package that a project depends on, and whose version decides that of the package of this name.
fn depended_on(name: &'static str) -> &'static str {
    match name {
        "kube-core" | "kube-derive" => "kube",
        "schemars_derive" | "serde_derive_internals" => "schemars",
        "serde_core" | "serde_derive" => "serde",
        _ => name,
    }
}

/// The packages that decide what `crd()` prints in whatever version, as long as they are those of crates.io.
const OF_ANY_VERSION: &[&str] = &["kube", "serde", "serde_core", "serde_derive", "serde_json"];

/// Reports the packages of the lock file whose behaviour is unknown, once for each that a project depends on.
pub fn check(packages: &Packages<'_>) -> Vec<Problem> {
    let mut problems: BTreeMap<&str, Problem> = BTreeMap::new();
    let known = behaviour::known_versions();
    for (name, oldest, newest) in known {
        let candidates = candidates_of(packages, name, oldest);
        let asked = depended_on(name);
        let of_asked = known.iter().find(|row| depended_on(row.0) == asked);
        let (first, last) = of_asked.map_or((oldest, newest), |row| (row.1, row.2));
        if let ([id, _, ..], true) = (&candidates[..], name.starts_with("kube")) {
            let message = format!(
                "`{name}` is locked in {} versions, and it is ambiguous which one writes the CRDs",
                candidates.len()
            );
            let problem = Problem::new(packages.place_in_lock(*id), message);
            let hint = packages.choice_hint(asked);
            problems.entry(asked).or_insert_with(|| problem.with_hint(hint));
            continue;
        }
        for id in candidates {
            let version = packages.version_of(id);
            if let Some(problem) = packages.publication_fault(id) {
                problems.entry(asked).or_insert(problem);
                break;
            }
            let mut refuse = |message: String, hint: String| {
                let problem = || Problem::new(packages.place_in_lock(id), message).with_hint(hint);
                problems.entry(asked).or_insert_with(problem);
            };
            if Behaviour::default().select_version(name, &version) {
                // Known.
            } else if is_before(&version, oldest) {
                let message = format!(
                    "`{name}` {version} is locked, and versions before {oldest} are not supported"
                );
                let hint = format!("depend on `{asked}` {first} or newer");
                refuse(message, hint);
            } else {
                let message = format!("`{name}` {version} is locked, and its output is not known");
                let hint = format!(
                    "use a supported version, up to {last} (`cargo update -p {asked} --precise VERSION`); a newer operator-rs may support {version}"
                );
                refuse(message, hint);
            }
        }
    }
    for name in OF_ANY_VERSION {
        let mut candidates = packages.candidates_for(name).into_iter();
        if let Some(problem) = candidates.find_map(|id| packages.publication_fault(id)) {
            problems.entry(depended_on(name)).or_insert(problem);
        }
    }
    problems.into_values().collect()
}

fn is_before(one: &str, other: &str) -> bool {
    let parse = |it: &str| semver::Version::parse(it).ok();
    parse(one).zip(parse(other)).is_some_and(|(one, other)| one < other)
}

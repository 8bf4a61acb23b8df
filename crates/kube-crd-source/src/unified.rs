//! Features that one member of a workspace turns on in another, as `cargo build --workspace` unifies them, and that
//! change a CRD: built alone, the member with the kind prints another.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo::{PackageId, Packages};
use crate::kind::Kind;
use crate::text::Problem;
use crate::{Options, read};

/// Warns of each kind whose CRD differs where its package is the only one that is built.
pub fn warnings(options: &Options, packages: &Packages<'_>, kinds: &[Kind]) -> Vec<Problem> {
    let members: Vec<PackageId> = packages.root_ids().collect();
    if members.len() < 2 {
        return Vec::new();
    }
    let package = |it: &Kind| packages.package_in(&it.rust_path.krate.folder);
    let together = packages.built_for(&members);
    let owners: BTreeSet<PackageId> = kinds.iter().filter_map(package).collect();
    let mut warnings = Vec::new();
    for owner in owners {
        let added = added(&together, &packages.built_for(&[owner]));
        if added.is_empty() {
            continue;
        }
        let name = packages.all[owner].name.clone();
        let alone = Options { packages: vec![name.clone()], ..options.clone() };
        let alone = read(packages.texts.sources, &alone);
        let why = turned_on(packages, owner, &members, &added);
        for it in kinds.iter().filter(|kind| package(kind) == Some(owner)) {
            let other = alone.kinds.iter().find(|other| other.place == it.place);
            if other.is_none_or(|other| other.crd.as_ref().ok() != it.crd.as_ref().ok()) {
                let message = format!("the CRD of `{}` depends on {why}", it.name);
                let hint = format!(
                    "this is what `cargo build --workspace` builds; `-p {name}` reads that package alone"
                );
                let problem = Problem::new(it.place.clone(), message).with_hint(hint);
                warnings.push(problem.with_rule("unified-features"));
            }
        }
    }
    warnings
}

type PackageFeatures = BTreeMap<PackageId, BTreeSet<String>>;

/// The features that more packages are built with, where all members are built.
fn added(together: &PackageFeatures, alone: &PackageFeatures) -> Vec<(PackageId, String)> {
    let more = |(id, on): (&PackageId, &BTreeSet<String>)| {
        let all = together.get(id).into_iter().flatten();
        all.filter(|feature| !on.contains(*feature)).map(|it| (*id, it.clone())).collect::<Vec<_>>()
    };
    alone.iter().flat_map(more).collect()
}

/// The features, each with the members that turn it on.
fn turned_on(
    packages: &Packages<'_>,
    owner: PackageId,
    members: &[PackageId],
    added: &[(PackageId, String)],
) -> String {
    let name = |id: PackageId| packages.all[id].name.as_str();
    let others: Vec<(PackageId, PackageFeatures)> = (members.iter().filter(|id| **id != owner))
        .map(|id| (*id, packages.built_for(&[owner, *id])))
        .collect();
    let each = added.iter().map(|(id, feature)| {
        let has = |it: &&(PackageId, PackageFeatures)| {
            it.1.get(id).is_some_and(|features| features.contains(feature))
        };
        let by: Vec<String> =
            others.iter().filter(has).map(|other| format!("`{}`", name(other.0))).collect();
        format!(
            "the feature `{feature}` of `{}`, which only {} turns on",
            name(*id),
            by.join(" and ")
        )
    });
    each.collect::<Vec<_>>().join(", and on ")
}

//! Finds the k8s-openapi of a project: the version that is locked, its folder, and the feature that chooses what
//! types it has.

use super::dependencies::{Dependency, For};
use super::packages::{PackageId, Packages};
use crate::builtin::kubernetes::Kubernetes;
use crate::text::Problem;

/// The version and the feature of k8s-openapi that this crate is linked with.
const LINKED: (&str, &str) = ("0.29.0", "v1_33");

const FETCH: &str = "run `cargo fetch`, which downloads the packages in Cargo.lock";

/// The types of k8s-openapi, and why they cannot be read.
#[derive(Default)]
pub struct KubernetesTypes {
    pub types: Kubernetes,
    /// Reported for each kind that uses a type of k8s-openapi.
    pub problem: Option<Problem>,
}

pub fn kubernetes_types(packages: &Packages<'_>) -> KubernetesTypes {
    let all = packages.candidates_for("k8s-openapi");
    let Some(id) = all.first().copied() else { return KubernetesTypes::default() };
    let version = packages.all[id].version.as_ref().map(ToString::to_string).unwrap_or_default();
    let published = packages.is_published(id);
    let refuse = |message: String, hint: &str| KubernetesTypes {
        types: Kubernetes::Linked,
        problem: Some(Problem::new(packages.place_in_lock(id), message).with_hint(hint)),
    };
    if all.len() > 1 {
        return refuse(
            format!(
                "`k8s-openapi` is locked in {} versions, and it is ambiguous which one the code uses",
                all.len()
            ),
            &packages.choice_hint("k8s-openapi"),
        );
    }
    let chosen = version_features(packages, id);
    let feature = match &chosen[..] {
        [one] if published && (version.as_str(), one.as_str()) == LINKED => {
            return KubernetesTypes::default();
        }
        [one] => one,
        [] if !is_chosen_for_tests(packages)
            && let Some(absent) = packages.absent_dependent(id) =>
        {
            let absent = if packages.folder_of(id).is_none() { id } else { absent };
            let name = &packages.all[absent].name;
            return refuse(
                format!(
                    "the source of `{name}` {}, which may choose the version of Kubernetes, is not on this machine",
                    packages.version_of(absent)
                ),
                FETCH,
            );
        }
        [] => {
            let hint = if is_chosen_for_tests(packages) {
                "a dev-dependency chooses one: include dev-dependencies with `--examples`"
            } else if has_latest(packages, id) {
                "choose one in the dependency, e.g. `features = [\"v1_33\", \"schemars\"]`; for a library that leaves it to programs, \
                 pass `--features k8s-openapi/latest`"
            } else {
                "choose one in the dependency, e.g. `features = [\"v1_33\", \"schemars\"]`"
            };
            return refuse(
                format!("no feature of `k8s-openapi` {version} chooses a version of Kubernetes"),
                hint,
            );
        }
        [one, other, ..] => {
            return refuse(
                format!(
                    "`k8s-openapi` {version} has the features `{one}` and `{other}`, and only one of them is allowed"
                ),
                "choose the same feature in every Cargo.toml of the project",
            );
        }
    };
    match packages.folder_of(id) {
        Some(folder) => KubernetesTypes {
            types: Kubernetes::from_source(feature, packages.texts.sources.file_reader(folder)),
            problem: None,
        },
        None => {
            refuse(format!("the source of `k8s-openapi` {version} is not on this machine"), FETCH)
        }
    }
}

/// Returns whether a package whose kinds are read chooses a version of Kubernetes for its tests and examples only.
fn is_chosen_for_tests(packages: &Packages<'_>) -> bool {
    let chooses = |it: &Dependency| {
        it.use_ == For::Tests
            && it.package == "k8s-openapi"
            && it.features.iter().any(|feature| feature.starts_with("v1_"))
    };
    !packages.tests
        && packages.root_ids().any(|root| packages.dependencies_of(root).iter().any(chooses))
}

/// Returns whether a flag can turn on the feature `latest` of k8s-openapi: a root depends on it by its name, and it has
/// the feature.
fn has_latest(packages: &Packages<'_>, id: PackageId) -> bool {
    let is_named = |root: PackageId| {
        packages.dependencies_of(root).iter().any(|dependency| dependency.key == "k8s-openapi")
    };
    packages.root_ids().any(is_named)
        && packages.declared_features(id).is_some_and(|features| features.contains_key("latest"))
}

/// The features that choose a version of Kubernetes. Libraries leave that to those who build a program: most
/// often a Cargo.toml of the project has it, and nothing else need be read.
fn version_features(packages: &Packages<'_>, id: PackageId) -> Vec<String> {
    let versions = |all: &std::collections::BTreeSet<String>| -> Vec<String> {
        all.iter().filter(|feature| feature.starts_with("v1_")).cloned().collect()
    };
    match versions(&packages.features_by_hand(id)) {
        found if found.is_empty() => versions(&packages.features_of(id).on),
        found => found,
    }
}

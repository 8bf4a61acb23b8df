//! Which k8s-openapi a project has: the version that is locked, its folder, and the feature that chooses what
//! types it has.

use super::packages::{PackageId, Packages};
use crate::builtin::kubernetes::Kubernetes;
use crate::text::Problem;

/// What is linked here.
const LINKED: (&str, &str) = ("0.29.0", "v1_33");

/// The types of k8s-openapi, and what is in the way of them.
#[derive(Default)]
pub struct Found {
    pub types: Kubernetes,
    /// Told where a type of k8s-openapi is met.
    pub problem: Option<Problem>,
}

pub fn kubernetes(packages: &Packages<'_>) -> Found {
    let all = packages.meant("k8s-openapi");
    let Some(id) = all.first().copied() else { return Found::default() };
    let version = packages.all[id].version.as_ref().map(ToString::to_string).unwrap_or_default();
    let published = packages.all[id]
        .source
        .as_ref()
        .is_some_and(|it| it.starts_with("registry+") || it.starts_with("sparse+"));
    let refuse = |message: String, hint: &str| Found {
        types: Kubernetes::Linked,
        problem: Some(Problem {
            place: packages.place(id),
            message,
            field_path: Vec::new(),
            hint: Some(hint.to_owned()),
        }),
    };
    if 1 < all.len() {
        return refuse(
            format!(
                "`k8s-openapi` is locked in {} versions, and it is not said which one is meant",
                all.len()
            ),
            &packages.way_to_one("k8s-openapi"),
        );
    }
    let chosen = chosen(packages, id);
    let feature = match &chosen[..] {
        [one] if published && (version.as_str(), one.as_str()) == LINKED => {
            // What linking does not tell is read where the source happens to be there.
            let types = packages.folder(id).map_or(Kubernetes::Linked, |folder| {
                Kubernetes::known(one, packages.texts.sources.file_reader(folder))
            });
            return Found { types, problem: None };
        }
        [one] => one,
        [] => {
            return refuse(
                format!(
                    "no feature of `k8s-openapi` {version} says which Kubernetes its types are of"
                ),
                "choose one where it is depended on, e.g. `features = [\"v1_33\", \"schemars\"]`",
            );
        }
        [one, other, ..] => {
            return refuse(
                format!("`k8s-openapi` {version} has `{one}` and `{other}` on, and takes one"),
                "choose one feature in all of the project's Cargo.toml",
            );
        }
    };
    match packages.folder(id) {
        Some(folder) => Found {
            types: Kubernetes::of(feature, packages.texts.sources.file_reader(folder)),
            problem: None,
        },
        None => refuse(
            format!("the source of `k8s-openapi` {version} is not on this machine"),
            "run `cargo fetch`, which brings the source of what is locked",
        ),
    }
}

/// The features that choose a version of Kubernetes. Libraries leave that to those who build a program: most
/// often it stands in a Cargo.toml of the project, and nothing else need be read.
fn chosen(packages: &Packages<'_>, id: PackageId) -> Vec<String> {
    let versions = |all: &std::collections::BTreeSet<String>| -> Vec<String> {
        all.iter().filter(|it| it.starts_with("v1_")).cloned().collect()
    };
    match versions(&packages.features_by_hand(id)) {
        found if found.is_empty() => versions(&packages.features(id).on),
        found => found,
    }
}

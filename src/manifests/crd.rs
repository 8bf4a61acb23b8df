//! CustomResourceDefinitions: one file for each kind, with its versions merged like kube's `merge_crds` does.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::crd::v1::merge_crds;

use super::versions::{self, Version};
use super::{GeneratedManifests, Manifest, conversions};
use crate::project::{Operator, Problem};
use go_data::yaml::{self, Value};
use model::{ApiGroup, Plural, ProjectPath};

pub fn generate(operator: &Operator) -> GeneratedManifests {
    let mut manifests = GeneratedManifests::default();
    let mut plurals: BTreeMap<(&str, &str), Version<'_>> = BTreeMap::new();
    for versions in versions::kinds(operator).into_values() {
        let first = versions[0];
        let mut problems = versions::duplicates(&versions);
        // The stored version is not known before.
        if problems.is_empty() {
            problems = versions::disagreements(&versions);
            let other = plurals.insert((first.group(), first.plural()), first);
            problems.extend(other.map(|version| same_plural(&first, &version)));
            problems.extend(versions::stored(&versions).err());
        }
        match merge_versions(&versions) {
            _ if !problems.is_empty() => manifests.problems.extend(problems),
            Err(problem) => manifests.problems.push(problem),
            Ok(manifest) => {
                manifests.manifests.push(manifest);
                manifests.warnings.extend(conversions::losses(&versions, operator));
            }
        }
    }
    manifests
}

fn same_plural(one: &Version<'_>, other: &Version<'_>) -> Problem {
    let message = format!(
        "`{}` and `{}` ({}) have the same plural, `{}`",
        one.kind(),
        other.kind(),
        other.place(),
        one.plural()
    );
    Problem::new(one.place().clone(), message)
        .with_hint("give one of them another plural with `#[kube(plural = \"…\")]`")
}

/// Returns the versions of a kind in one CRD.
fn merge_versions(versions: &[Version<'_>]) -> Result<Manifest, Problem> {
    let stored = versions::stored(versions)?;
    let crds = versions.iter().map(|version| version.crd.clone()).collect();
    let crd = merge_crds(crds, stored.name()).map_err(|error| {
        let message =
            format!("the versions of `{}` cannot be combined into one CRD: {error}", stored.kind());
        Problem::new(versions[0].place().clone(), message)
    })?;
    Ok(Manifest {
        path: path(stored.group(), stored.plural()),
        objects: vec![yaml::to_value(&crd)],
        edit: source_paths(versions),
    })
}

/// Returns the file of a CRD. Its name is always a valid path.
pub fn path(group: &str, plural: &str) -> ProjectPath {
    ProjectPath::fixed(&format!("config/crd/bases/{group}_{plural}.yaml"))
}

fn source_paths(versions: &[Version<'_>]) -> String {
    let files: BTreeSet<&str> =
        versions.iter().map(|version| version.place().path.as_str()).collect();
    files.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the CRD of one version that `crd()` printed, or a message that completes its name.
///
/// The project may have another version of k8s-openapi: fields that this version does not know would be lost.
pub fn parse(printed: &Value) -> Result<CustomResourceDefinition, String> {
    let crd: CustomResourceDefinition = serde_json::from_value(printed.clone())
        .map_err(|error| format!("is not a CRD: {error}"))?;
    if crd.spec.versions.len() != 1 {
        return Err(format!("has {} versions, where kube has one", crd.spec.versions.len()));
    }
    let names = [
        ("group", crd.spec.group.parse::<ApiGroup>().err(), &crd.spec.group),
        ("plural", crd.spec.names.plural.parse::<Plural>().err(), &crd.spec.names.plural),
    ];
    if let Some((what, Some(why), name)) = names.into_iter().find(|pair| pair.1.is_some()) {
        return Err(format!("has the {what} `{name}`, which {why}"));
    }
    let known = yaml::to_value(&crd);
    if known != *printed {
        let (path, _, value) = yaml::first_difference(&known, printed);
        return Err(format!("has {value} at `{path}`, which this operator-rs does not know"));
    }
    Ok(crd)
}

#[test]
fn what_a_crd_would_lose_is_refused() {
    let crd = |more: Value| {
        let mut version = yaml::json!({ "name": "v1", "served": true, "storage": true });
        version.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        yaml::json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": "caches.example.com" },
            "spec": {
                "group": "example.com",
                "names": { "kind": "Cache", "plural": "caches" },
                "scope": "Namespaced",
                "versions": [version],
            },
        })
    };
    let whole = crd(yaml::json!({ "additionalPrinterColumns": [] }));
    assert_eq!(parse(&whole).map(|value| yaml::to_value(&value)), Ok(whole));
    assert_eq!(
        parse(&crd(yaml::json!({ "flavour": "sweet" }))),
        Err("has \"sweet\" at `spec.versions[0].flavour`, which this operator-rs does not know"
            .to_owned())
    );
    let none = yaml::json!({ "spec": {} });
    assert_eq!(parse(&none), Err("has 0 versions, where kube has one".to_owned()));
    assert!(parse(&yaml::json!("text")).unwrap_err().starts_with("is not a CRD: "));
}

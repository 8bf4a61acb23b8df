use super::*;
use crate::manifests::{GeneratedManifests, crd};
use crate::project::{Crate, KindPath, SourcePath, Target};
use go_data::yaml::{Map, json};
use std::collections::BTreeSet;

fn kind(version: &str, storage: Storage, fields: &[&str]) -> DeclaredKind {
    let each = fields.iter().map(|it| ((*it).to_owned(), json!({ "type": "string" })));
    let properties: Map<String, Value> = each.collect();
    let crd = json!({
        "metadata": { "name": "caches.example.com" },
        "spec": {
            "group": "example.com",
            "names": { "kind": "Cache", "plural": "caches", "singular": "cache" },
            "scope": "Namespaced",
            "versions": [{
                "name": version,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": properties } },
                "served": true,
                "storage": storage != Storage::No,
            }],
        },
    });
    let root = SourcePath::fixed(&format!("src/{version}.rs"));
    let krate = Crate {
        name: "cache".to_owned(),
        folder: String::new(),
        root: root.clone(),
        target: Target::Library,
        features: Vec::new(),
    };
    DeclaredKind {
        name: "Cache".to_owned(),
        group: None,
        version: None,
        kind: None,
        namespaced: None,
        place: Place::start(root),
        field_places: BTreeMap::new(),
        field_types: BTreeMap::new(),
        null_fields: BTreeSet::new(),
        unreadable: BTreeMap::new(),
        rust_path: KindPath { krate, path: vec!["Cache".to_owned()] },
        is_certain: true,
        storage,
        crd: Ok(serde_json::from_value(crd).expect("a CRD")),
    }
}

fn check(kinds: Vec<DeclaredKind>) -> GeneratedManifests {
    crd::generate(&Operator { kinds, ..Operator::default() })
}

#[test]
fn the_stored_version_is_found_if_it_is_unambiguous() {
    use Storage::{No, Unsaid, Yes};
    let check = |given: &[(&str, Storage)], expected: Result<&str, &str>| {
        let kinds = given.iter().map(|(it, storage)| kind(it, *storage, &[])).collect();
        let operator = Operator { kinds, ..Operator::default() };
        let found = stored(&versions(&operator).collect::<Vec<_>>());
        let found = found.map(|it| it.name().to_owned()).map_err(|it| it.to_string());
        assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
    };
    check(&[("v1", Unsaid)], Ok("v1"));
    check(&[("v1", No), ("v2", Unsaid)], Ok("v2"));
    check(&[("v1", Unsaid), ("v2", Yes)], Ok("v2"));
    check(
        &[("v1", Yes), ("v2", Yes)],
        Err(
            "src/v1.rs:1:1: `Cache` has more than one storage version: v1 (src/v1.rs:1:1), v2 (src/v2.rs:1:1)",
        ),
    );
    check(
        &[("v1", Unsaid), ("v2", Unsaid)],
        Err(
            "src/v1.rs:1:1: `Cache` does not say which version is stored: v1 (src/v1.rs:1:1), v2 (src/v2.rs:1:1)",
        ),
    );
    check(&[("v1", No)], Err("src/v1.rs:1:1: `Cache` has no storage version: v1 (src/v1.rs:1:1)"));
}

#[test]
fn the_stored_one_of_generated_versions_is_chosen_by_its_path() {
    let kinds = ["v1", "v2", "v1alpha1"].map(|it| kind(it, Storage::Generated, &[]));
    let found = check(kinds.into()).problems;
    let hints: Vec<_> = found.iter().filter_map(|it| it.hint.as_deref()).collect();
    assert_eq!(hints, ["name the stored version, e.g. with `--type cache::Cache`"]);
}

#[test]
fn fields_that_another_version_does_not_know_are_reported() {
    let found = check(vec![
        kind("v1", Storage::Yes, &["a", "b"]),
        kind("v1alpha1", Storage::No, &["a", "c"]),
    ]);
    let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "src/v1alpha1.rs:1:1: `Cache`: `c` written as v1alpha1 and read as v1 is lost: the versions have no conversion",
            "src/v1.rs:1:1: `Cache`: `b` written as v1 and read as v1alpha1 is lost: the versions have no conversion",
        ]
    );
    assert_eq!(found.problems, []);
    assert_eq!(found.manifests.len(), 1);
}

#[test]
fn versions_that_disagree_are_reported_at_their_places() {
    let mut other = kind("v2", Storage::No, &[]);
    if let Ok(crd) = &mut other.crd {
        crd.spec.scope = "Cluster".to_owned();
        crd.spec.names.short_names = Some(vec!["ca".to_owned()]);
    }
    let found = check(vec![kind("v1", Storage::Yes, &[]), other]);
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "src/v2.rs:1:1: scopes of `Cache` differ between v2 and v1 (src/v1.rs:1:1)",
            "src/v2.rs:1:1: short names of `Cache` differ between v2 and v1 (src/v1.rs:1:1)",
        ]
    );
    assert_eq!(found.manifests, []);
}

#[test]
fn versions_go_from_the_lowest_to_the_highest_priority() {
    let names = ["v1", "preview", "v2beta1", "v10", "v1alpha2", "v2", "v1alpha1"];
    let kinds_ = names.map(|it| kind(it, Storage::No, &[])).into();
    let operator = Operator { kinds: kinds_, ..Operator::default() };
    let found: Vec<&str> = kinds(&operator).values().flatten().map(Version::name).collect();
    assert_eq!(found, ["preview", "v1alpha1", "v1alpha2", "v2beta1", "v1", "v2", "v10"]);
}

//! CustomResourceDefinitions: one file a kind, its versions merged as kube's `merge_crds` merges them.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::crd::v1::merge_crds;

use super::{Generated, Manifest};
use crate::model::{
    ApiGroup, CustomResource, Deprecation, Kind, Operator, Place, Plural, PrintColumn, Problem,
    ProjectPath, Scale, Schema, Storage,
};
use crate::yaml::{self, Value, json};

pub fn generate(operator: &Operator) -> Generated {
    let mut res = Generated::default();
    let mut plurals: BTreeMap<(&ApiGroup, &Plural), &CustomResource> = BTreeMap::new();
    for ((group, kind), versions) in kinds(operator) {
        let before = res.problems.len();
        let twice = twice(&kind, &versions);
        // Which of them is stored cannot be told before.
        if !twice.is_empty() {
            res.problems.extend(twice);
            continue;
        }
        res.problems.extend(disagreements(&kind, &versions));
        let first = versions[0];
        if let Some(other) = plurals.insert((&first.group, &first.plural), first) {
            res.problems.push(Problem {
                way: Vec::new(),
                place: first.place.clone(),
                message: format!(
                    "`{kind}` and `{}` ({}) have the same plural, `{}`",
                    other.kind, other.place, first.plural
                ),
                hint: Some("give one of them another with `#[kube(plural = \"…\")]`".to_owned()),
            });
        }
        let stored = match stored(&versions) {
            Ok(stored) => stored,
            Err(problem) => {
                res.problems.push(problem);
                continue;
            }
        };
        if before != res.problems.len() {
            continue;
        }
        let crds = versions.iter().map(|it| definition(it)).collect();
        match merge_crds(crds, &stored.version.to_string()) {
            Ok(crd) => res.manifests.push(Manifest {
                path: path(&group, &first.plural),
                objects: vec![yaml::to_value(&crd)],
                edit: sources(&versions),
            }),
            Err(error) => res.problems.push(Problem {
                way: Vec::new(),
                place: first.place.clone(),
                message: format!("the versions of `{kind}` do not go together: {error}"),
                hint: None,
            }),
        }
        res.warnings.extend(losses(&kind, &versions));
    }
    res
}

/// Every kind, by group and name, with its versions from the lowest to the highest.
pub fn kinds(operator: &Operator) -> BTreeMap<(ApiGroup, Kind), Vec<&CustomResource>> {
    let mut res: BTreeMap<_, Vec<&CustomResource>> = BTreeMap::new();
    for resource in &operator.resources {
        let key = (resource.group.clone(), resource.kind.clone());
        res.entry(key).or_default().push(resource);
    }
    for versions in res.values_mut() {
        versions
            .sort_by(|one, other| (one.version, &one.place).cmp(&(other.version, &other.place)));
    }
    res
}

/// No name has anything in it that would not do in a path.
fn path(group: &ApiGroup, plural: &Plural) -> ProjectPath {
    ProjectPath::fixed(&format!("config/crd/bases/{group}_{plural}.yaml"))
}

fn sources(versions: &[&CustomResource]) -> String {
    let files: BTreeSet<&str> = versions.iter().map(|it| it.place.path.as_str()).collect();
    files.into_iter().collect::<Vec<_>>().join(", ")
}

/// The version that is stored: the only one that may be, or the only one that says so.
pub fn stored<'a>(versions: &[&'a CustomResource]) -> Result<&'a CustomResource, Problem> {
    let with = |storage: Storage| -> Vec<&'a CustomResource> {
        versions.iter().copied().filter(|it| it.storage == storage).collect()
    };
    let (said, unsaid) = (with(Storage::Yes), with(Storage::Unsaid));
    let refuse = |at: &CustomResource, message: String, hint: &str| {
        let hint = Some(hint.to_owned());
        Err(Problem { way: Vec::new(), place: at.place.clone(), message, hint })
    };
    let list = |all: &[&CustomResource]| {
        let each = all.iter().map(|it| format!("{} ({})", it.version, it.place));
        each.collect::<Vec<_>>().join(", ")
    };
    match (&said[..], &unsaid[..]) {
        ([one], _) | ([], [one]) => Ok(one),
        ([first, ..], _) => refuse(
            first,
            format!("`{}` has more than one version to store: {}", first.kind, list(&said)),
            "leave `storage = true` on one, and write `storage = false` on the others",
        ),
        ([], [first, ..]) => refuse(
            first,
            format!("`{}` does not say which version is stored: {}", first.kind, list(&unsaid)),
            "write `storage = true` in `#[kube(…)]` of one, and `storage = false` in the others",
        ),
        ([], []) => refuse(
            versions[0],
            format!("`{}` has no version to store: {}", versions[0].kind, list(versions)),
            "write `storage = true` in `#[kube(…)]` of one",
        ),
    }
}

/// Versions that stand in several places.
fn twice(kind: &Kind, versions: &[&CustomResource]) -> Vec<Problem> {
    let pairs = versions.iter().zip(versions.iter().skip(1));
    let same = pairs.filter(|(one, other)| one.version == other.version);
    same.map(|(first, other)| Problem {
        way: Vec::new(),
        place: other.place.clone(),
        message: format!("`{kind}` {} is there twice: also at {}", other.version, first.place),
        hint: Some(
            "rename one or give it another version; `generate crds` can be asked for one package or module (`-p`, `--module`)"
                .to_owned(),
        ),
    })
    .collect()
}

/// What the versions of a kind must have in common, and have not.
fn disagreements(kind: &Kind, versions: &[&CustomResource]) -> Vec<Problem> {
    let first = versions[0];
    let mut res = Vec::new();
    for other in &versions[1..] {
        let mut differ = |what: &str| {
            res.push(Problem {
                way: Vec::new(),
                place: other.place.clone(),
                message: format!(
                    "{} of `{kind}` differ between {} and {} ({})",
                    what, other.version, first.version, first.place
                ),
                hint: Some("all versions of a kind share them: state the same in each".to_owned()),
            });
        };
        if other.namespaced != first.namespaced {
            differ("scopes");
        }
        if other.plural != first.plural {
            differ("plurals");
        }
        if other.singular != first.singular {
            differ("singulars");
        }
        if other.shortnames != first.shortnames {
            differ("short names");
        }
        if other.categories != first.categories {
            differ("categories");
        }
        if other.labels != first.labels {
            differ("labels");
        }
        if other.annotations != first.annotations {
            differ("annotations");
        }
    }
    res
}

/// The CRD of one version, as kube's `crd()` builds it.
fn definition(it: &CustomResource) -> api::CustomResourceDefinition {
    fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
        (!list.is_empty()).then_some(list)
    }
    fn list<T>(of: &CustomResource, list: Vec<T>) -> Option<Vec<T>> {
        if of.empty { Some(list) } else { some(list) }
    }
    let schema = it.schema.as_ref().map(|it| {
        serde_json::from_value(it.0.clone()).expect("a schema was read as one before it got here")
    });
    let subresources = it.status.then(|| api::CustomResourceSubresources {
        // Without a status there is no scale either, as kube has it.
        scale: it.scale.as_ref().map(|it| api::CustomResourceSubresourceScale {
            label_selector_path: it.label_selector_path.clone(),
            spec_replicas_path: it.spec_replicas_path.clone(),
            status_replicas_path: it.status_replicas_path.clone(),
        }),
        status: Some(api::CustomResourceSubresourceStatus(json!({}))),
    });
    let subresources = subresources.or_else(|| it.empty.then(Default::default));
    let column = |it: &crate::model::PrintColumn| api::CustomResourceColumnDefinition {
        description: it.description.clone(),
        format: it.format.clone(),
        json_path: it.json_path.clone(),
        name: it.name.clone(),
        priority: it.priority,
        type_: it.type_.clone(),
    };
    let field = |it: &String| api::SelectableField { json_path: it.clone() };
    api::CustomResourceDefinition {
        metadata: ObjectMeta {
            annotations: (!it.annotations.is_empty()).then(|| it.annotations.clone()),
            labels: (!it.labels.is_empty()).then(|| it.labels.clone()),
            name: Some(format!("{}.{}", it.plural, it.group)),
            ..ObjectMeta::default()
        },
        spec: api::CustomResourceDefinitionSpec {
            group: it.group.to_string(),
            names: api::CustomResourceDefinitionNames {
                categories: list(it, it.categories.clone()),
                kind: it.kind.to_string(),
                plural: it.plural.to_string(),
                short_names: list(it, it.shortnames.clone()),
                singular: Some(it.singular.clone()),
                ..api::CustomResourceDefinitionNames::default()
            },
            scope: if it.namespaced { "Namespaced" } else { "Cluster" }.to_owned(),
            versions: vec![api::CustomResourceDefinitionVersion {
                additional_printer_columns: list(it, it.columns.iter().map(column).collect()),
                deprecated: it.deprecated.as_ref().map(|_| true),
                deprecation_warning: it.deprecated.as_ref().and_then(|it| it.warning.clone()),
                name: it.version.to_string(),
                schema: Some(api::CustomResourceValidation { open_api_v3_schema: schema }),
                selectable_fields: some(it.selectable.iter().map(field).collect()),
                served: it.served,
                storage: it.storage != Storage::No,
                subresources,
            }],
            ..api::CustomResourceDefinitionSpec::default()
        },
        ..api::CustomResourceDefinition::default()
    }
}

/// The CRD of one version, as `crd()` gives it.
pub fn crd_of(resource: &CustomResource) -> Value {
    yaml::to_value(&definition(resource))
}

/// What a CRD of one version says, as `crd()` printed it; nothing where it is none. `storage` is what the
/// source says: `crd()` takes silence for `true`.
pub fn resource_of(crd: &Value, storage: Storage, place: &Place) -> Option<CustomResource> {
    let crd: api::CustomResourceDefinition = serde_json::from_value(crd.clone()).ok()?;
    let mut spec = crd.spec;
    let mut versions = std::mem::take(&mut spec.versions);
    let version = versions.pop().filter(|_| versions.is_empty())?;
    let names = [&spec.names.categories, &spec.names.short_names];
    let bare = api::CustomResourceSubresources::default();
    let empty = names.iter().any(|it| it.as_ref().is_some_and(Vec::is_empty))
        || version.additional_printer_columns.as_ref().is_some_and(Vec::is_empty)
        || version.subresources == Some(bare);
    let subresources = version.subresources.unwrap_or_default();
    let column = |it: api::CustomResourceColumnDefinition| PrintColumn {
        name: it.name,
        type_: it.type_,
        json_path: it.json_path,
        description: it.description,
        format: it.format,
        priority: it.priority,
    };
    Some(CustomResource {
        empty,
        group: spec.group.parse().ok()?,
        version: version.name.parse().ok()?,
        kind: spec.names.kind.parse().ok()?,
        plural: spec.names.plural.parse().ok()?,
        singular: spec.names.singular.unwrap_or_default(),
        shortnames: spec.names.short_names.unwrap_or_default(),
        categories: spec.names.categories.unwrap_or_default(),
        namespaced: spec.scope == "Namespaced",
        labels: crd.metadata.labels.unwrap_or_default(),
        annotations: crd.metadata.annotations.unwrap_or_default(),
        served: version.served,
        storage,
        deprecated: (version.deprecated == Some(true))
            .then_some(Deprecation { warning: version.deprecation_warning }),
        columns: version.additional_printer_columns.into_iter().flatten().map(column).collect(),
        selectable: (version.selectable_fields.into_iter().flatten())
            .map(|it| it.json_path)
            .collect(),
        status: subresources.status.is_some(),
        scale: subresources.scale.map(|it| Scale {
            spec_replicas_path: it.spec_replicas_path,
            status_replicas_path: it.status_replicas_path,
            label_selector_path: it.label_selector_path,
        }),
        schema: (version.schema.and_then(|it| it.open_api_v3_schema))
            .map(|it| Schema(yaml::to_value(&it))),
        place: place.clone(),
    })
}

/// Fields that an object loses when it is read in another version and written back.
fn losses(kind: &Kind, versions: &[&CustomResource]) -> Vec<String> {
    let fields = |it: &CustomResource| {
        let mut res = BTreeSet::new();
        if let Some(schema) = &it.schema {
            paths(&schema.0, "", &mut res);
        }
        res
    };
    let served: Vec<_> = versions.iter().map(|it| (it.version, fields(it))).collect();
    let mut res = Vec::new();
    for (from, has) in &served {
        for (to, knows) in &served {
            // What is in a field that is lost need not be named.
            let lost = |it: &&String| {
                let outer = it.rsplit_once('.').map(|(outer, _)| outer);
                !knows.contains(*it) && outer.is_none_or(|it| knows.contains(it))
            };
            let lost: Vec<String> = has.iter().filter(lost).map(|it| format!("`{it}`")).collect();
            if from != to && !lost.is_empty() {
                res.push(format!(
                    "`{kind}`: {} written as {from} and read as {to} is lost: the versions have no conversion",
                    lost.join(", ")
                ));
            }
        }
    }
    res
}

/// The paths of all fields of a schema.
fn paths(schema: &Value, at: &str, into: &mut BTreeSet<String>) {
    let Some(schema) = schema.as_object() else { return };
    for (name, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        paths(inner, &path, into);
        into.insert(path);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key) {
            paths(inner, at, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Place, Schema};

    fn resource(version: &str, storage: Storage, fields: &[&str]) -> CustomResource {
        let each = fields.iter().map(|it| ((*it).to_owned(), json!({ "type": "string" })));
        let properties: yaml::Map<String, Value> = each.collect();
        let kind: Kind = "Cache".parse().expect("a kind");
        CustomResource {
            group: "example.com".parse().expect("a group"),
            version: version.parse().expect("a version"),
            plural: kind.plural(),
            singular: kind.lower(),
            kind,
            shortnames: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            served: true,
            storage,
            deprecated: None,
            columns: Vec::new(),
            selectable: Vec::new(),
            status: false,
            scale: None,
            schema: Some(Schema(json!({ "type": "object", "properties": properties }))),
            empty: false,
            place: Place {
                path: crate::model::SourcePath::fixed(&format!("src/{version}.rs")),
                line: 1,
                column: 1,
            },
        }
    }

    fn check(resources: Vec<CustomResource>) -> Generated {
        generate(&Operator { resources, ..Operator::default() })
    }

    #[test]
    fn one_version_is_stored_where_only_one_can_be_meant() {
        use Storage::{No, Unsaid, Yes};
        let check = |said: &[(&str, Storage)], expected: Result<&str, &str>| {
            let all: Vec<_> =
                said.iter().map(|(it, storage)| resource(it, *storage, &[])).collect();
            let found = stored(&all.iter().collect::<Vec<_>>());
            let found = found.map(|it| it.version.to_string()).map_err(|it| it.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
        };
        check(&[("v1", Unsaid)], Ok("v1"));
        check(&[("v1", No), ("v2", Unsaid)], Ok("v2"));
        check(&[("v1", Unsaid), ("v2", Yes)], Ok("v2"));
        check(
            &[("v1", Yes), ("v2", Yes)],
            Err(
                "src/v1.rs:1:1: `Cache` has more than one version to store: v1 (src/v1.rs:1:1), v2 (src/v2.rs:1:1)",
            ),
        );
        check(
            &[("v1", Unsaid), ("v2", Unsaid)],
            Err(
                "src/v1.rs:1:1: `Cache` does not say which version is stored: v1 (src/v1.rs:1:1), v2 (src/v2.rs:1:1)",
            ),
        );
        check(
            &[("v1", No)],
            Err("src/v1.rs:1:1: `Cache` has no version to store: v1 (src/v1.rs:1:1)"),
        );
    }

    #[test]
    fn fields_that_another_version_does_not_know_are_told() {
        let found = check(vec![
            resource("v1", Storage::Yes, &["a", "b"]),
            resource("v1alpha1", Storage::No, &["a", "c"]),
        ]);
        assert_eq!(
            found.warnings,
            [
                "`Cache`: `c` written as v1alpha1 and read as v1 is lost: the versions have no conversion",
                "`Cache`: `b` written as v1 and read as v1alpha1 is lost: the versions have no conversion",
            ]
        );
        assert_eq!(found.problems, []);
        assert_eq!(found.manifests.len(), 1);
    }

    #[test]
    fn versions_that_disagree_are_told_at_their_places() {
        let mut other = resource("v2", Storage::No, &[]);
        other.namespaced = false;
        other.shortnames = vec!["ca".to_owned()];
        let found = check(vec![resource("v1", Storage::Yes, &[]), other]);
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
}

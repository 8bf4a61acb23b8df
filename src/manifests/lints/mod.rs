//! Predicts what an API server will report about a CRD. Each warning has the place of its kind.
//!
//! The rules are those of apiextensions-apiserver 0.36. No lint changes a CRD.

mod conditions;
mod empty_lists;
mod formats;
mod free_form;
mod nulls;
mod paths;
mod size;
mod unreadable;

pub use size::shorten;

use std::collections::BTreeMap;

use crate::manifests::{Manifest, Version, versions};
use crate::project::{Operator, Place, Problem};
use crd::{
    definition::{self, Fault, Refusal, visit_schemas},
    keyword::text,
};
use go_data::yaml::{Value, pointer};

/// Returns all warnings, ordered by the places of their kinds.
pub fn lints(operator: &Operator, crds: &[Manifest]) -> Vec<Problem> {
    let mut problems: Vec<Problem> =
        versions(operator).flat_map(|version| lint_schema(&version)).collect();
    problems.extend(versions(operator).flat_map(|version| paths::lints(&version)));
    let mut kinds: BTreeMap<(&str, &str), Vec<Version<'_>>> = BTreeMap::new();
    for version in versions(operator) {
        kinds.entry((version.group(), version.kind())).or_default().push(version);
    }
    for crd in crds.iter().flat_map(|manifest| &manifest.objects) {
        let kind = (pointer::text(crd, "/spec/group"), pointer::text(crd, "/spec/names/kind"));
        problems.extend(
            kinds.get(&kind).map(|versions| predict_refusals(versions, crd)).unwrap_or_default(),
        );
    }
    problems.extend(size::lints(operator, crds));
    problems.extend(unreadable::lints(operator));
    problems.extend(empty_lists::lints(operator));
    problems.sort();
    problems
}

fn lint_schema(version: &Version<'_>) -> Vec<Problem> {
    let Some(schema) = version.schema() else { return Vec::new() };
    let rules = [
        ("unknown-format", formats::faults(&schema)),
        ("atomic-conditions", conditions::faults(&schema)),
    ];
    let faults = rules
        .into_iter()
        .flat_map(|(rule, faults)| faults.into_iter().map(move |fault| (rule, fault)));
    let problem = |(rule, fault): (&'static str, Fault)| {
        field_problem(version, &fault.at, &fault.message).with_hint(fault.hint).with_rule(rule)
    };
    faults.map(problem).chain(lint_lost_values(version, &schema)).collect()
}

/// Values that serde writes and API servers change or refuse.
fn lint_lost_values(version: &Version<'_>, schema: &Value) -> Vec<Problem> {
    let null_fields = &version.declared.null_fields;
    let rules = [
        ("free-form-values", free_form::findings(schema)),
        ("null-refused", nulls::findings(schema, null_fields)),
    ];
    let findings = rules
        .into_iter()
        .flat_map(|(rule, findings)| findings.into_iter().map(move |finding| (rule, finding)));
    let problem = |(rule, finding): (&'static str, SchemaFinding)| {
        let problem = field_problem(version, &finding.path, &finding.message);
        problem.with_hint(finding.hint).with_rule(rule)
    };
    findings.map(problem).collect()
}

/// A warning about a field of a schema, by its path, such as `spec.list[].name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SchemaFinding {
    path: String,
    message: String,
    hint: String,
}

/// Returns the names of fields that lead to a path.
fn field_names(path: &str) -> Vec<String> {
    let names = path.split('.').map(|part| part.trim_end_matches("[]")).filter(|part| *part != "*");
    names.map(str::to_owned).collect()
}

/// Returns the path of the declared field at or around a path: the path without lists and maps at its end.
fn declared_field(mut path: &str) -> &str {
    while let Some(outer) = path.strip_suffix("[]").or_else(|| path.strip_suffix(".*")) {
        path = outer;
    }
    path
}

/// Returns the schema of the field at a path.
fn schema_at<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let mut found = schema;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches("[]");
        found = match name {
            "*" => found.get("additionalProperties")?,
            name => found.get("properties")?.get(name)?,
        };
        for _ in 0..(part.len() - name.len()) / 2 {
            found = found.get("items")?;
        }
    }
    Some(found)
}

/// Faults of the CRD of these versions for which API servers refuse it, at the places in the source.
fn predict_refusals(versions: &[Version<'_>], crd: &Value) -> Vec<Problem> {
    let Some(first) = versions.first() else { return Vec::new() };
    let problem = |refusal: Refusal| match refusal.version {
        Some(inside) => {
            let version =
                versions.iter().find(|version| version.name() == inside.name).unwrap_or(first);
            field_problem(version, &inside.at, &inside.what).with_hint(inside.hint)
        }
        None => {
            let at = refusal
                .pointer
                .strip_prefix("/spec/versions/")
                .and_then(|rest| rest.split('/').next());
            let name = crd.pointer(&format!("/spec/versions/{}/name", at.unwrap_or("0")));
            let is_it = |version: &&Version<'_>| name.is_some_and(|name| *name == version.name());
            let version = versions.iter().find(is_it).unwrap_or(first);
            let message =
                format!("API servers refuse the CRD of {}: {}", version.kind(), refusal.message);
            Problem::new(place_of(version, &refusal.pointer), message)
                .with_hint("change the attribute in `#[kube(…)]` that sets the field")
        }
    };
    let all = definition::refusals(crd).into_iter().chain(definition::doubts(crd));
    all.map(|refusal| problem(refusal).with_rule("crd-refused")).collect()
}

/// Returns the item of `#[kube(…)]` that sets a field of a CRD.
fn place_of(version: &Version<'_>, pointer: &str) -> Place {
    let places = &version.declared.field_places;
    // Kubernetes reports a fault of all versions above them.
    let sets = |items: &&Vec<String>| {
        items.first().is_some_and(|step| format!("{pointer}/").contains(&format!("{step}/")))
    };
    let found = places.keys().find(sets).and_then(|place| places.get(place));
    found.unwrap_or(version.place()).clone()
}

/// Returns a problem of a field, where the source declares it.
fn field_problem(version: &Version<'_>, at: &str, message: &str) -> Problem {
    let names = field_names(at);
    let places = &version.declared.field_places;
    let found = (0..=names.len()).rev().find_map(|count| places.get(&names[..count]));
    let place: &Place = found.unwrap_or(version.place());
    let at = if at.is_empty() { "the resource itself".to_owned() } else { format!("`{at}`") };
    let message = format!("{} {}: {at} {message}", version.kind(), version.name());
    Problem::new(place.clone(), message)
}

#[cfg(test)]
mod tests;

//! The package, what the bundle depends on, and how it can be installed.

use std::collections::BTreeMap;

use super::{
    super::{Files, load::Loaded, requirements},
    Faults, Rule, of, supports_mode,
};
use crate::bundle::annotations::PACKAGE;

pub fn check(bundle: &Loaded, files: &Files, faults: &mut Faults) {
    let csv = &bundle.csv.object;
    if bundle.annotations.get(PACKAGE).is_some_and(String::is_empty) {
        let place = ("metadata/annotations.yaml", format!("/annotations/{PACKAGE}"));
        faults.push(Rule::PackageEmpty, place, "package name is empty");
    }
    for (property, (file, field)) in collect_dependencies(bundle, files) {
        let message = format!(
            "bundle {:?} has a dependency declared via property {property:?} which is currently not supported",
            of::name(csv)
        );
        faults.push(Rule::Dependencies, (file.as_str(), field), message);
    }
    const SERVICES: &str = "/spec/apiservicedefinitions";
    if !of::list(csv, "/spec/apiservicedefinitions/owned").is_empty()
        || !of::list(csv, "/spec/apiservicedefinitions/required").is_empty()
    {
        let message = "unsupported bundle: apiServiceDefintions are not supported";
        faults.push(Rule::ApiServices, (bundle.csv.path, SERVICES), message);
    }
    if !supports_mode(csv, "AllNamespaces") {
        let message = "unsupported bundle: bundle does not support AllNamespaces install mode";
        faults.push(Rule::AllNamespaces, (bundle.csv.path, "/spec/installModes"), message);
    }
    check_conditions(bundle, faults);
}

/// Returns the first location of each type of dependency, by the property that it has in a catalog.
fn collect_dependencies(
    bundle: &Loaded,
    files: &Files,
) -> BTreeMap<&'static str, (String, String)> {
    let csv = &bundle.csv;
    let mut dependencies = BTreeMap::new();
    let mut add = |property, file: &str, field: String| {
        dependencies.entry(property).or_insert((file.to_owned(), field));
    };
    for requirement in requirements::of_bundle((csv.path, &csv.object), files) {
        if !requirement.property.is_empty() {
            add(requirement.property, &requirement.file, requirement.field);
        }
    }
    for list in ["customresourcedefinitions", "apiservicedefinitions"] {
        let at = format!("/spec/{list}/required");
        if !of::list(&csv.object, &at).is_empty() {
            add(requirements::GVK, csv.path, at);
        }
    }
    dependencies
}

/// Warns of an operator with rights on OperatorConditions: it reports conditions to OLM v0.
fn check_conditions(bundle: &Loaded, faults: &mut Faults) {
    for list in ["permissions", "clusterPermissions"] {
        let list = format!("/spec/install/spec/{list}");
        for (at, permission) in of::list(&bundle.csv.object, &list).iter().enumerate() {
            for (number, rule) in of::list(permission, "/rules").iter().enumerate() {
                let has = |field, text: &str| {
                    of::texts(rule, field)
                        .any(|value| value == text || value.starts_with(&format!("{text}/")))
                };
                if has("/apiGroups", "operators.coreos.com")
                    && has("/resources", "operatorconditions")
                {
                    let place = (bundle.csv.path, format!("{list}/{at}/rules/{number}"));
                    return faults.push(
                        Rule::OperatorConditions,
                        place,
                        "the operator has rights on OperatorConditions, and OLM v1 has none",
                    );
                }
            }
        }
    }
}

//! The package, what the bundle depends on, and how it can be installed.

use std::collections::BTreeMap;

use super::{
    super::{
        Files,
        load::{self, Loaded},
    },
    Faults, Rule, of, supports,
};
use crate::{
    bundle::annotations::PACKAGE,
    model::ProjectPath,
    yaml::{self, Value},
};

pub fn check(bundle: &Loaded, files: &Files, faults: &mut Faults) {
    let csv = &bundle.csv.object;
    if bundle.annotations.get(PACKAGE).is_some_and(String::is_empty) {
        let place = ("metadata/annotations.yaml", format!("/annotations/{PACKAGE}"));
        faults.push(Rule::PackageEmpty, place, "package name is empty");
    }
    for (property, (file, field)) in dependencies(bundle, files) {
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
    if !supports(csv, "AllNamespaces") {
        let message = "unsupported bundle: bundle does not support AllNamespaces install mode";
        faults.push(Rule::AllNamespaces, (bundle.csv.path, "/spec/installModes"), message);
    }
    conditions(bundle, faults);
}

/// The first place of each kind of dependency, by the property that a catalog has of it.
fn dependencies(bundle: &Loaded, files: &Files) -> BTreeMap<&'static str, (String, String)> {
    let mut res = BTreeMap::new();
    let mut add = |property, file: &str, field: String| {
        res.entry(property).or_insert((file.to_owned(), field));
    };
    for (list, types) in [("dependencies", DEPENDENCIES), ("properties", PROPERTIES)] {
        let path = ProjectPath::fixed(&format!("metadata/{list}.yaml"));
        let file =
            files.get(&path).and_then(|it| load::first(it).ok().flatten()).unwrap_or_default();
        for (at, it) in of::list(&file, &format!("/{list}")).iter().enumerate() {
            if let Some((_, property)) =
                types.iter().find(|(type_, _)| *type_ == of::text(it, "/type"))
            {
                add(*property, path.as_str(), format!("/{list}/{at}"));
            }
        }
    }
    let csv = &bundle.csv;
    let properties = of::text(&csv.object, "/metadata/annotations/olm.properties");
    for it in
        yaml::from_json(properties).ok().as_ref().and_then(Value::as_array).into_iter().flatten()
    {
        if let Some((_, property)) =
            PROPERTIES.iter().find(|(type_, _)| *type_ == of::text(it, "/type"))
        {
            add(*property, csv.path, "/metadata/annotations/olm.properties".to_owned());
        }
    }
    for list in ["customresourcedefinitions", "apiservicedefinitions"] {
        let at = format!("/spec/{list}/required");
        if !of::list(&csv.object, &at).is_empty() {
            add(GVK, csv.path, at);
        }
    }
    res
}

const GVK: &str = "olm.gvk.required";
const PACKAGE_REQUIRED: &str = "olm.package.required";
const CONSTRAINT: &str = "olm.constraint";
/// Types in dependencies.yaml, and the properties that they become.
const DEPENDENCIES: &[(&str, &str)] =
    &[("olm.gvk", GVK), ("olm.package", PACKAGE_REQUIRED), (CONSTRAINT, CONSTRAINT)];
const PROPERTIES: &[(&str, &str)] =
    &[(GVK, GVK), (PACKAGE_REQUIRED, PACKAGE_REQUIRED), (CONSTRAINT, CONSTRAINT)];

/// An operator that reports conditions to OLM v0 has rights on them.
fn conditions(bundle: &Loaded, faults: &mut Faults) {
    for list in ["permissions", "clusterPermissions"] {
        let list = format!("/spec/install/spec/{list}");
        for (at, permission) in of::list(&bundle.csv.object, &list).iter().enumerate() {
            for (number, rule) in of::list(permission, "/rules").iter().enumerate() {
                let has = |field, text: &str| {
                    of::texts(rule, field)
                        .any(|it| it == text || it.starts_with(&format!("{text}/")))
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

//! The CRDs in files against those that the source declares, as API servers would hold both.

use std::collections::BTreeSet;

use crate::app::findings::shortened;
use go_data::{
    kubernetes::stored_crd,
    yaml::{self, Value, json, pointer},
};

/// A field in which a CRD in a file differs from the declared one.
pub struct FieldDifference {
    /// The path of the field, from the top of the CRD.
    pub path: String,
    /// The value in the file, as JSON, or `nothing`.
    pub in_file: String,
    /// The declared value, as JSON, or `nothing`.
    pub declared: String,
}

/// Returns the names of the versions of CRDs.
pub fn version_names(crds: &[Value]) -> BTreeSet<String> {
    let versions = crds.iter().flat_map(|crd| pointer::list(crd, "/spec/versions"));
    versions.map(|version| pointer::text(version, "/name").to_owned()).collect()
}

/// Returns all fields that differ and have to be equal, see [`comparable`].
pub fn differences(in_file: &Value, declared: &Value) -> Vec<FieldDifference> {
    let (old, new) = (comparable(in_file, declared), comparable(declared, declared));
    if old == new {
        return Vec::new();
    }
    let text = |part: Option<yaml::Part<'_>>| {
        part.map_or_else(|| "nothing".to_owned(), |part| shortened(&part.value.to_string()))
    };
    let all = yaml::diff_values(&old, &new).into_iter();
    let mut found: Vec<FieldDifference> = all
        .map(|difference| FieldDifference {
            path: difference.path,
            in_file: text(difference.old),
            declared: text(difference.new),
        })
        .collect();
    if found.is_empty() {
        // The order of a list, which is not a difference of any item.
        let (path, in_file, declared) = yaml::first_difference(&old, &new);
        let (in_file, declared) = (shortened(&in_file), shortened(&declared));
        found.push(FieldDifference { path, in_file, declared });
    }
    found
}

/// Removes from a CRD the parts that may differ: its own labels and annotations, and its conversion webhook.
pub fn comparable(crd: &Value, declared: &Value) -> Value {
    let mut spec = stored_crd(crd.clone())["spec"].take();
    if declared["spec"]["conversion"].is_null()
        && let Some(spec) = spec.as_object_mut()
    {
        spec.remove("conversion");
    }
    let kept = |field: &str| {
        let names = declared["metadata"][field].as_object().into_iter().flatten();
        let pairs = names
            .filter_map(|pair| Some((pair.0.clone(), crd["metadata"][field].get(pair.0)?.clone())));
        Value::Object(pairs.collect())
    };
    let metadata = json!({"labels": kept("labels"), "annotations": kept("annotations")});
    json!({"apiVersion": crd["apiVersion"], "spec": spec, "metadata": metadata})
}

#[test]
fn every_field_that_differs_is_found_and_additions_to_the_metadata_are_none() {
    let crd = |name: &str, plural: &str, labels: Value| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "metadata": {"name": name, "labels": labels},
            "spec": {"group": "a.io", "names": {"plural": plural, "kind": "A"}, "scope": "Cluster"},
        })
    };
    let declared = crd("as.a.io", "as", json!({"declared": "1"}));
    let check = |in_file: &Value, paths: &[&str]| {
        let found = differences(in_file, &declared);
        assert_eq!(
            found.iter().map(|difference| difference.path.as_str()).collect::<Vec<_>>(),
            paths
        );
    };
    check(&crd("as.a.io", "as", json!({"declared": "1", "app": "x"})), &[]);
    check(&crd("as.a.io", "as", json!({"app": "x"})), &["metadata.labels.declared"]);
    let mut other = crd("as.a.io", "bs", json!({"declared": "1"}));
    other["spec"]["scope"] = "Namespaced".into();
    check(&other, &["spec.names.plural", "spec.scope"]);
}

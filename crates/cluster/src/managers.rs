//! The field managers of an object: who applies it, and who else looks after it.
//!
//! A manager looks after an object if it applies it, or has set a part of its content. What the API leaves to
//! controllers does not count: subresources such as the status, finalizers, injected certificates, and the labels and
//! annotations of the platform, unless they are those with which Kubernetes marks who manages an object. Owner references
//! count: whoever sets one decides when the object is deleted.

use std::collections::BTreeSet;

use go_data::yaml::Value;

/// The domains of the labels and annotations that clusters set by themselves.
const PLATFORM: [&str; 3] = ["kubernetes.io", "k8s.io", "openshift.io"];

/// API servers use this name for fields whose managers are not known.
const UNKNOWN: &str = "before-first-apply";

/// The entries of what was applied to an object, one for each manager.
pub(super) fn applied(object: &Value) -> impl Iterator<Item = &Value> {
    entries(object).filter(|it| is_applied(it))
}

pub(super) fn is_applied(entry: &Value) -> bool {
    entry["operation"] == "Apply" && is_of_object(entry)
}

pub(super) fn manager(entry: &Value) -> &str {
    entry["manager"].as_str().unwrap_or_default()
}

/// The managers that look after an object.
pub(super) fn managers(object: &Value) -> BTreeSet<&str> {
    let is_aggregated = !object["aggregationRule"].is_null();
    let looks_after = |entry: &&Value| {
        let fields = paths(&entry["fieldsV1"]);
        is_of_object(entry) && fields.iter().any(|it| !is_filled_in(it, is_aggregated))
    };
    entries(object).filter(looks_after).map(manager).filter(|it| *it != UNKNOWN).collect()
}

/// Which managers have set fields of an object, except its status.
pub(super) fn managed_by(live: &Value) -> String {
    let managers = entries(live).filter(|it| is_of_object(it)).map(manager);
    let managers = managers.filter(|it| *it != UNKNOWN);
    let managers: BTreeSet<String> = managers.map(|it| format!("`{it}`")).collect();
    match managers.len() {
        0 => "this project did not create it".to_owned(),
        _ => format!("it is managed by {}", managers.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Whether an apply changes the object or the fields that we own. What other programs write in the meantime, such as its
/// status, does not count.
pub fn differs(live: &Value, after: &Value, name: &str) -> bool {
    let ours = |it| {
        applied(it).filter(|it| manager(it) == name).map(|it| &it["fieldsV1"]).collect::<Vec<_>>()
    };
    plain(live) != plain(after) || ours(live) != ours(after)
}

fn plain(object: &Value) -> Value {
    let mut res = object.clone();
    if let Value::Object(object) = &mut res {
        object.remove("status");
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            for it in ["resourceVersion", "generation", "managedFields"] {
                metadata.remove(it);
            }
        }
    }
    res
}

pub(super) fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

/// Whether an entry is about the object itself, and not about a subresource such as its status.
fn is_of_object(entry: &Value) -> bool {
    entry["subresource"].as_str().is_none_or(str::is_empty)
}

/// The paths of the fields in a set, such as `["f:spec", "f:replicas"]`.
fn paths(fields: &Value) -> Vec<Vec<&str>> {
    let mut res = Vec::new();
    for (key, inner) in fields.as_object().into_iter().flatten().filter(|it| it.0 != ".") {
        let below = paths(inner);
        if below.is_empty() {
            res.push(vec![key.as_str()]);
        }
        res.extend(below.into_iter().map(|it| [&[key.as_str()][..], &it[..]].concat()));
    }
    res
}

/// Whether the API leaves a field to controllers.
fn is_filled_in(path: &[&str], is_aggregated: bool) -> bool {
    match path {
        ["f:status", ..] | [.., "f:caBundle"] => true,
        // Of a service account.
        ["f:secrets" | "f:imagePullSecrets", ..] => true,
        ["f:rules", ..] => is_aggregated,
        ["f:metadata", "f:labels" | "f:annotations", key, ..] => {
            let key = key.trim_start_matches("f:");
            let domain = key.split_once('/').map_or("", |it| it.0);
            let marks_management = key == "kubectl.kubernetes.io/last-applied-configuration"
                || key == "app.kubernetes.io/managed-by";
            let is_in = |it: &&str| {
                domain.strip_suffix(*it).is_some_and(|it| it.is_empty() || it.ends_with('.'))
            };
            let of_platform = PLATFORM.iter().any(is_in) && domain != "app.kubernetes.io";
            !marks_management && of_platform
        }
        ["f:metadata", "f:ownerReferences", ..] => false,
        ["f:metadata", ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    const OURS: &str = "operator-rs:a.b";

    #[test]
    fn controllers_that_fill_in_fields_do_not_look_after_an_object() {
        let check = |operation: &str, subresource: &str, fields: Value, expected: bool| {
            let mut entry = json!({"manager": "x", "operation": operation, "fieldsV1": fields});
            if !subresource.is_empty() {
                entry["subresource"] = subresource.into();
            }
            let object = json!({"metadata": {"managedFields": [entry]}});
            assert_eq!(!managers(&object).is_empty(), expected, "{object}");
        };
        let of = |kind: &str, key: &str| json!({"f:metadata": {kind: {".": {}, key: {}}}});
        check("Update", "", json!({"f:spec": {"f:replicas": {}}}), true);
        check("Update", "scale", json!({"f:spec": {"f:replicas": {}}}), false);
        check(
            "Update",
            "status",
            of("f:annotations", "f:deployment.kubernetes.io/revision"),
            false,
        );
        check("Apply", "status", json!({"f:status": {"f:a": {}}}), false);
        check("Update", "", of("f:finalizers", "v:\"a/b\""), false);
        check("Update", "", of("f:ownerReferences", "k:{\"uid\":\"1\"}"), true);
        check("Update", "", of("f:annotations", "f:openshift.io/sa.scc.mcs"), false);
        check("Update", "", of("f:annotations", "f:pv.kubernetes.io/bound"), false);
        // Helm's, say, which asks to keep the object.
        check("Update", "", of("f:annotations", "f:helm.sh/resource-policy"), true);
        check("Update", "", of("f:labels", "f:team"), true);
        check("Apply", "", of("f:labels", "f:team"), true);
        check("Apply", "", of("f:labels", "f:app.kubernetes.io/instance"), true);
        check("Apply", "", of("f:labels", "f:pod-security.kubernetes.io/warn"), false);
        // `kubectl apply` and Helm, which update.
        let last = "f:kubectl.kubernetes.io/last-applied-configuration";
        check("Update", "", of("f:annotations", last), true);
        check("Update", "", of("f:labels", "f:app.kubernetes.io/managed-by"), true);
        let webhook = json!({"k:{\"name\":\"a\"}": {"f:clientConfig": {"f:caBundle": {}}}});
        check("Update", "", json!({"f:webhooks": webhook}), false);
        check("Apply", "", json!({"f:webhooks": {"f:failurePolicy": {}}}), true);
        check("Update", "", json!({"f:imagePullSecrets": {}, "f:secrets": {}}), false);
        check("Apply", "", json!({"f:rules": {}}), true);
    }

    #[test]
    fn the_server_fills_in_the_rules_of_an_aggregated_role() {
        let object = json!({"aggregationRule": {}, "metadata": {"managedFields": [
            {"manager": "clusterrole-aggregation-controller", "operation": "Apply", "fieldsV1": {"f:rules": {}}},
        ]}});
        assert!(managers(&object).is_empty());
    }

    #[test]
    fn a_status_is_no_change_and_a_new_field_of_ours_is_one() {
        let object = |version: &str, fields: Value, ready: i32| {
            json!({
                "metadata": {"resourceVersion": version, "managedFields": [
                    {"manager": OURS, "operation": "Apply", "fieldsV1": fields, "time": version},
                    {"manager": "other", "operation": "Update", "subresource": "status", "fieldsV1": {"v": version}},
                ]},
                "status": {"ready": ready},
            })
        };
        let live = object("1", json!({"f:a": {}}), 0);
        assert!(!differs(&live, &object("2", json!({"f:a": {}}), 1), OURS));
        assert!(differs(&live, &object("1", json!({"f:b": {}}), 0), OURS));
        let mut other = live.clone();
        other["spec"] = json!({"a": 1});
        assert!(differs(&live, &other, OURS));
    }
}

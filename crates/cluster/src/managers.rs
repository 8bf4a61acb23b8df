//! The field managers of an object: those that apply it, and those that set a part of its content.
//!
//! A manager looks after an object if it applies it, or has set a part of its content. What the API leaves to
//! controllers does not count: subresources such as the status, finalizers, injected certificates, and the labels and
//! annotations of the platform, unless they are those with which Kubernetes marks who manages an object. Owner references
//! count: the manager that sets one decides when the object is deleted.

use std::collections::BTreeSet;

use go_data::yaml::Value;

/// The domains of the labels and annotations that clusters set by themselves.
const PLATFORM: [&str; 3] = ["kubernetes.io", "k8s.io", "openshift.io"];

/// API servers use this name for fields whose managers are not known.
const UNKNOWN: &str = "before-first-apply";

/// The entries of what was applied to an object, one for each manager.
pub(super) fn applied_entries(object: &Value) -> impl Iterator<Item = &Value> {
    manager_entries(object).filter(|entry| is_applied(entry))
}

pub(super) fn is_applied(entry: &Value) -> bool {
    entry["operation"] == "Apply" && is_of_object(entry)
}

pub(super) fn manager_of(entry: &Value) -> &str {
    entry["manager"].as_str().unwrap_or_default()
}

/// The managers that look after an object.
pub(super) fn responsible_managers(object: &Value) -> BTreeSet<&str> {
    let is_aggregated = !object["aggregationRule"].is_null();
    let looks_after = |entry: &&Value| {
        let fields = field_paths(&entry["fieldsV1"]);
        is_of_object(entry) && fields.iter().any(|field| !is_filled_in(field, is_aggregated))
    };
    manager_entries(object)
        .filter(looks_after)
        .map(manager_of)
        .filter(|manager| *manager != UNKNOWN)
        .collect()
}

/// Describes the managers that have set fields of an object, except its status, for a message.
pub(super) fn describe_managers(live: &Value) -> String {
    let managers = manager_entries(live).filter(|entry| is_of_object(entry)).map(manager_of);
    let managers = managers.filter(|manager| *manager != UNKNOWN);
    let managers: BTreeSet<String> = managers.map(|manager| format!("`{manager}`")).collect();
    match managers.len() {
        0 => "this project did not create it".to_owned(),
        _ => format!("it is managed by {}", managers.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Returns whether an apply changes the object or the fields that we own. Fields that other clients write in the meantime,
/// such as the status, do not count.
pub fn has_changed(live: &Value, after: &Value, name: &str) -> bool {
    let ours = |object| {
        applied_entries(object)
            .filter(|entry| manager_of(entry) == name)
            .map(|entry| &entry["fieldsV1"])
            .collect::<Vec<_>>()
    };
    without_bookkeeping(live) != without_bookkeeping(after) || ours(live) != ours(after)
}

fn without_bookkeeping(object: &Value) -> Value {
    let mut object = object.clone();
    if let Value::Object(fields) = &mut object {
        fields.remove("status");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            for field in ["resourceVersion", "generation", "managedFields"] {
                metadata.remove(field);
            }
        }
    }
    object
}

pub(super) fn manager_entries(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

/// Returns whether an entry is about the object itself, and not about a subresource such as its status.
fn is_of_object(entry: &Value) -> bool {
    entry["subresource"].as_str().is_none_or(str::is_empty)
}

/// The paths of the fields in a set, such as `["f:spec", "f:replicas"]`.
fn field_paths(fields: &Value) -> Vec<Vec<&str>> {
    let mut paths = Vec::new();
    for (key, inner) in fields.as_object().into_iter().flatten().filter(|field| field.0 != ".") {
        let below = field_paths(inner);
        if below.is_empty() {
            paths.push(vec![key.as_str()]);
        }
        paths.extend(below.into_iter().map(|path| [&[key.as_str()][..], &path[..]].concat()));
    }
    paths
}

/// Returns whether the API leaves a field to controllers.
fn is_filled_in(path: &[&str], is_aggregated: bool) -> bool {
    match path {
        ["f:status", ..] | [.., "f:caBundle"] => true,
        // These are fields of a service account.
        ["f:secrets" | "f:imagePullSecrets", ..] => true,
        ["f:rules", ..] => is_aggregated,
        ["f:metadata", "f:labels" | "f:annotations", key, ..] => {
            let key = key.trim_start_matches("f:");
            let domain = key.split_once('/').map_or("", |parts| parts.0);
            let marks_management = key == "kubectl.kubernetes.io/last-applied-configuration"
                || key == "app.kubernetes.io/managed-by";
            let is_in = |platform: &&str| {
                domain
                    .strip_suffix(*platform)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
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
            assert_eq!(!responsible_managers(&object).is_empty(), expected, "{object}");
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
        assert!(responsible_managers(&object).is_empty());
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
        assert!(!has_changed(&live, &object("2", json!({"f:a": {}}), 1), OURS));
        assert!(has_changed(&live, &object("1", json!({"f:b": {}}), 0), OURS));
        let mut other = live.clone();
        other["spec"] = json!({"a": 1});
        assert!(has_changed(&live, &other, OURS));
    }
}

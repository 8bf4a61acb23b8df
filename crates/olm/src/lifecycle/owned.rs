//! Identifies objects that OLM has created for an operator, by the labels that it sets.

use go_data::yaml::{Value, json};

/// The field managers of OLM's two operators.
pub const MANAGERS: [&str; 2] = ["catalog", "olm"];

/// The kinds of cluster-scoped objects that OLM creates for a ClusterServiceVersion and removes with it.
pub const CLUSTER_SCOPED: [(&str, &str); 5] = [
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    ("apiregistration.k8s.io/v1", "APIService"),
];

/// Returns whether OLM has created an object for this ClusterServiceVersion or OperatorGroup.
pub fn is_owned_by(object: &Value, owner: &str, namespace: &str) -> bool {
    owner_in(object, namespace) == Some(owner)
}

/// Returns the ClusterServiceVersion or OperatorGroup of this namespace for which OLM has created an object.
pub fn owner_in<'a>(object: &'a Value, namespace: &str) -> Option<&'a str> {
    let labels = &object["metadata"]["labels"];
    labels["olm.owner"].as_str().filter(|_| labels["olm.owner.namespace"] == *namespace)
}

/// Returns whether an object of OLM's kinds owns an object, so that both are removed together.
pub fn has_owner_of_olm(object: &Value) -> bool {
    let mut owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    owners.any(|owner| {
        owner["apiVersion"]
            .as_str()
            .is_some_and(|version| version.starts_with("operators.coreos.com/"))
    })
}

/// Returns the name of OLM's list of the objects that belong to a package in a namespace, of kind `Operator`. It is
/// cut as OLM's `ComponentLabelKey` cuts it, since it is also the name of a label.
pub fn list_name(package: &str, namespace: &str) -> String {
    let mut name = format!("{package}.{namespace}");
    if name.len() > 63 {
        name.truncate(63);
        name.truncate(name.trim_end_matches(['.', '_', '-']).len());
    }
    name
}

/// Returns the label of the objects in OLM's list for a package in a namespace.
pub fn list_label(package: &str, namespace: &str) -> String {
    format!("operators.coreos.com/{}", list_name(package, namespace))
}

/// Returns the objects that such a list refers to, each with apiVersion, kind, name and namespace.
pub fn listed_objects(list: &Value) -> Vec<Value> {
    let refs = list["status"]["components"]["refs"].as_array().into_iter().flatten();
    let object = |reference: &Value| {
        let metadata =
            json!({"name": reference["name"].clone(), "namespace": reference["namespace"].clone()});
        json!({"apiVersion": reference["apiVersion"].clone(), "kind": reference["kind"].clone(), "metadata": metadata})
    };
    refs.map(object).collect()
}

/// Returns whether OLM counts an object among those of a package in a namespace.
pub fn is_labelled(object: &Value, package: &str, namespace: &str) -> bool {
    object["metadata"]["labels"].get(list_label(package, namespace)).is_some()
}

#[test]
fn long_names_are_cut_as_olm_cuts_them() {
    assert_eq!(list_name("memcached-operator", "default"), "memcached-operator.default");
    let namespace = format!("{}--x", "n".repeat(41));
    assert_eq!(list_name("memcached-operator", &namespace).len(), 63);
    let namespace = format!("{}--x", "n".repeat(42));
    let cut = format!("memcached-operator.{}", "n".repeat(42));
    assert_eq!(list_name("memcached-operator", &namespace), cut);
}

/// Returns the namespace from which OLM has copied a ClusterServiceVersion, if it has.
pub fn copied_from(csv: &Value) -> Option<&str> {
    let from = |field: &'static str| csv["metadata"][field]["olm.copiedFrom"].as_str();
    from("labels").or_else(|| from("annotations"))
}

/// Returns the reason why an object was not created by OLM, if it was not. Its field managers decide, because OLM
/// also labels objects that already existed. An object without field managers is not OLM's.
pub fn foreign_reason(object: &Value) -> Option<String> {
    // The field managers of the API server, which aggregates roles.
    const SERVER: [&str; 3] =
        ["kube-apiserver", "kube-controller-manager", "clusterrole-aggregation-controller"];
    let is_crd = object["kind"] == "CustomResourceDefinition";
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut managers: Vec<&str> = entries
        .filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty))
        // The group of a CRD never changes: only managers that create or apply the CRD have this field.
        .filter(|entry| !is_crd || entry["fieldsV1"]["f:spec"].get("f:group").is_some())
        .map(|entry| entry["manager"].as_str().unwrap_or_default())
        .collect();
    managers.retain(|manager| !SERVER.contains(manager));
    if managers.is_empty() {
        return Some("its managed fields do not name its creator".to_owned());
    }
    let other = managers
        .into_iter()
        .find(|manager| !MANAGERS.contains(manager) && !manager.starts_with("olm."))?;
    Some(format!("it is not OLM's alone: it belongs to `{other}`"))
}

#[test]
fn what_olm_only_found_is_not_its_own() {
    let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "fieldsV1": fields});
    let object =
        |kind: &str, entries: Value| json!({"kind": kind, "metadata": {"managedFields": entries}});
    let crd = "CustomResourceDefinition";
    let group = || json!({"f:spec": {"f:group": {}}});
    let labels = || json!({"f:metadata": {}});
    let created = json!([entry("catalog", group()), entry("kubectl-edit", labels())]);
    assert_eq!(foreign_reason(&object(crd, created)), None);
    let deployed = json!([entry("operator-rs:a.b", group()), entry("catalog", labels())]);
    let why = "it is not OLM's alone: it belongs to `operator-rs:a.b`";
    assert_eq!(foreign_reason(&object(crd, deployed)).as_deref(), Some(why));
    let both = json!([entry("catalog", group()), entry("operator-rs:a.b", group())]);
    assert_eq!(foreign_reason(&object(crd, both)).as_deref(), Some(why));
    let unknown = "its managed fields do not name its creator";
    assert_eq!(foreign_reason(&object(crd, Value::Null)).as_deref(), Some(unknown));
    let role = json!([entry("catalog", labels()), entry("olm", labels())]);
    assert_eq!(foreign_reason(&object("ClusterRole", role)), None);
    let role = json!([entry("operator-rs:a.b", labels()), entry("catalog", labels())]);
    assert_eq!(foreign_reason(&object("ClusterRole", role)).as_deref(), Some(why));
}

/// Returns whether OLM has created an object as one of a bundle's manifests, and never removes it.
pub fn is_left_behind(object: &Value) -> bool {
    let metadata = &object["metadata"];
    metadata["labels"]["olm.managed"] == "true"
        // On an object that already existed, OLM sets only `olm.owner`.
        && metadata["labels"]["olm.owner.namespace"].is_null()
        && metadata["ownerReferences"].as_array().is_none_or(Vec::is_empty)
}

/// Returns the name of the RoleBinding that OLM creates in `kube-system` for a Deployment that serves webhooks or an
/// API.
pub fn auth_reader(deployment: &str) -> String {
    format!("{deployment}-service-auth-reader")
}

/// Returns whether OLM has created such a RoleBinding for accounts of this namespace alone. OLM never removes it.
pub fn is_auth_reader_of(binding: &Value, namespace: &str) -> bool {
    let mut subjects = binding["subjects"].as_array().into_iter().flatten();
    is_left_behind(binding)
        && foreign_reason(binding).is_none()
        && subjects.all(|subject| subject["namespace"] == *namespace)
}

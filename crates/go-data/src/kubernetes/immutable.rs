//! Fields that API servers do not let change once an object exists.
//!
//! The table follows the validation of updates in Kubernetes 1.36 (`pkg/apis/*/validation`), without pods, and without
//! rules for some states of an object only. `tests/deploy` compares it with a real API server.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::yaml::{Value, json};

/// Returns whether a field is immutable, given both objects.
type Condition = fn(&Value, &Value) -> bool;

const ALWAYS: Condition = |_, _| true;
/// The field is immutable if the object has `immutable: true`.
const FROZEN: Condition = |old, _| old["immutable"] == true;
const WITH_IP: Condition =
    |old, new| [old, new].iter().all(|object| object["spec"]["type"] != "ExternalName");
const RUNNING: Condition = |old, _| old["spec"]["suspend"] != true;
const BALANCED: Condition =
    |old, new| [old, new].iter().all(|object| object["spec"]["type"] == "LoadBalancer");

/// Group, kind, field, when it is immutable, and its default as JSON; `?` if the server keeps the value that it has
/// set.
const FIELDS: &[(&str, &str, &str, Condition, &str)] = &[
    ("", "ConfigMap", "/data", FROZEN, "{}"),
    ("", "ConfigMap", "/binaryData", FROZEN, "{}"),
    ("", "ConfigMap", "/immutable", FROZEN, "false"),
    ("", "Secret", "/type", ALWAYS, "\"Opaque\""),
    ("", "Secret", "/data", FROZEN, "{}"),
    ("", "Secret", "/immutable", FROZEN, "false"),
    ("", "Service", "/spec/clusterIP", WITH_IP, "?"),
    ("", "Service", "/spec/ipFamilies/0", WITH_IP, "?"),
    ("", "Service", "/spec/loadBalancerClass", BALANCED, "null"),
    ("", "PersistentVolumeClaim", "/spec/accessModes", ALWAYS, "[]"),
    ("", "PersistentVolumeClaim", "/spec/selector", ALWAYS, "null"),
    ("", "PersistentVolumeClaim", "/spec/storageClassName", ALWAYS, "?"),
    ("", "PersistentVolumeClaim", "/spec/volumeName", ALWAYS, "?"),
    ("", "PersistentVolumeClaim", "/spec/volumeMode", ALWAYS, "\"Filesystem\""),
    ("", "PersistentVolumeClaim", "/spec/dataSource", ALWAYS, "null"),
    ("", "PersistentVolume", "/spec/volumeMode", ALWAYS, "\"Filesystem\""),
    ("", "PersistentVolume", "/spec/csi", ALWAYS, "null"),
    ("", "PersistentVolume", "/spec/hostPath", ALWAYS, "null"),
    ("", "PersistentVolume", "/spec/local", ALWAYS, "null"),
    ("", "PersistentVolume", "/spec/nfs", ALWAYS, "null"),
    ("", "ResourceQuota", "/spec/scopes", ALWAYS, "[]"),
    ("apps", "ControllerRevision", "/data", ALWAYS, "null"),
    ("apps", "DaemonSet", "/spec/selector", ALWAYS, "null"),
    ("apps", "Deployment", "/spec/selector", ALWAYS, "null"),
    ("apps", "ReplicaSet", "/spec/selector", ALWAYS, "null"),
    ("apps", "StatefulSet", "/spec/selector", ALWAYS, "null"),
    ("apps", "StatefulSet", "/spec/serviceName", ALWAYS, "\"\""),
    ("apps", "StatefulSet", "/spec/podManagementPolicy", ALWAYS, "\"OrderedReady\""),
    ("apps", "StatefulSet", "/spec/volumeClaimTemplates", ALWAYS, "[]"),
    ("batch", "Job", "/spec/completionMode", ALWAYS, "\"NonIndexed\""),
    ("batch", "Job", "/spec/backoffLimitPerIndex", ALWAYS, "null"),
    ("batch", "Job", "/spec/managedBy", ALWAYS, "null"),
    ("batch", "Job", "/spec/podFailurePolicy", ALWAYS, "null"),
    ("batch", "Job", "/spec/successPolicy", ALWAYS, "null"),
    ("batch", "Job", "/spec/template", RUNNING, "null"),
    ("certificates.k8s.io", "CertificateSigningRequest", "/spec", ALWAYS, "null"),
    ("certificates.k8s.io", "ClusterTrustBundle", "/spec/signerName", ALWAYS, "\"\""),
    ("discovery.k8s.io", "EndpointSlice", "/addressType", ALWAYS, "null"),
    ("networking.k8s.io", "IngressClass", "/spec/controller", ALWAYS, "\"\""),
    ("networking.k8s.io", "IPAddress", "/spec/parentRef", ALWAYS, "null"),
    ("node.k8s.io", "RuntimeClass", "/handler", ALWAYS, "null"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "/roleRef/apiGroup", ALWAYS, RBAC),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "/roleRef/kind", ALWAYS, "null"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "/roleRef/name", ALWAYS, "null"),
    ("rbac.authorization.k8s.io", "RoleBinding", "/roleRef/apiGroup", ALWAYS, RBAC),
    ("rbac.authorization.k8s.io", "RoleBinding", "/roleRef/kind", ALWAYS, "null"),
    ("rbac.authorization.k8s.io", "RoleBinding", "/roleRef/name", ALWAYS, "null"),
    ("resource.k8s.io", "ResourceClaim", "/spec", ALWAYS, "null"),
    ("resource.k8s.io", "ResourceClaimTemplate", "/spec", ALWAYS, "null"),
    ("scheduling.k8s.io", "PriorityClass", "/value", ALWAYS, "0"),
    ("scheduling.k8s.io", "PriorityClass", "/preemptionPolicy", ALWAYS, "\"PreemptLowerPriority\""),
    ("storage.k8s.io", "CSIDriver", "/spec/attachRequired", ALWAYS, "true"),
    ("storage.k8s.io", "CSIDriver", "/spec/volumeLifecycleModes", ALWAYS, "[\"Persistent\"]"),
    ("storage.k8s.io", "CSIStorageCapacity", "/nodeTopology", ALWAYS, "null"),
    ("storage.k8s.io", "CSIStorageCapacity", "/storageClassName", ALWAYS, "null"),
    ("storage.k8s.io", "StorageClass", "/parameters", ALWAYS, "{}"),
    ("storage.k8s.io", "StorageClass", "/provisioner", ALWAYS, "null"),
    ("storage.k8s.io", "StorageClass", "/reclaimPolicy", ALWAYS, "\"Delete\""),
    ("storage.k8s.io", "StorageClass", "/volumeBindingMode", ALWAYS, "\"Immediate\""),
    ("storage.k8s.io", "VolumeAttributesClass", "/driverName", ALWAYS, "null"),
    ("storage.k8s.io", "VolumeAttributesClass", "/parameters", ALWAYS, "{}"),
];

const RBAC: &str = "\"rbac.authorization.k8s.io\"";

/// Returns the JSON pointers of the fields whose change API servers refuse, given an object before and after.
pub fn changed_immutable_fields(old: &Value, new: &Value) -> Vec<&'static str> {
    let version = new["apiVersion"].as_str().unwrap_or_default();
    let (group, kind) =
        (version.rsplit_once('/').map_or("", |parts| parts.0), new["kind"].as_str());
    let (old, new) = (stored_object(old), stored_object(new));
    let is_changed = |pointer: &str, default: &str| {
        let is_kept = default == "?";
        let default: Value = serde_json::from_str(default).unwrap_or_default();
        let value =
            |object: &Value| object.pointer(pointer).filter(|value| !value.is_null()).cloned();
        match (value(&old), value(&new)) {
            (old, new) if is_kept => new.is_some_and(|value| Some(value) != old),
            (old, new) => old.unwrap_or_else(|| default.clone()) != new.unwrap_or(default),
        }
    };
    let rows = FIELDS.iter().filter(|row| row.0 == group && Some(row.1) == kind);
    let rows = rows.filter(|row| row.3(&old, &new) && is_changed(row.2, row.4));
    rows.map(|row| row.2).collect()
}

/// Returns an object as the server stores it: `stringData` of a Secret is a way to write `data`.
fn stored_object(object: &Value) -> Value {
    let mut stored = object.clone();
    let texts = stored.as_object_mut().and_then(|fields| fields.remove("stringData"));
    for (key, text) in texts.as_ref().and_then(Value::as_object).into_iter().flatten() {
        if !stored["data"].is_object() {
            stored["data"] = json!({});
        }
        stored["data"][key] = BASE64_STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
    stored
}

#[test]
fn immutable_fields_are_distinguished_from_others() {
    let check = |old: Value, new: Value, expected: &[&str]| {
        assert_eq!(changed_immutable_fields(&old, &new), expected, "{old} and {new}");
    };
    let secret = |more: Value| {
        let mut object = json!({ "apiVersion": "v1", "kind": "Secret" });
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    check(secret(json!({ "type": "Opaque" })), secret(json!({})), &[]);
    check(secret(json!({})), secret(json!({ "type": "a/b" })), &["/type"]);
    check(secret(json!({ "data": { "a": "Yg==" } })), secret(json!({})), &[]);
    let frozen = |key: &str, value: &str| secret(json!({ "immutable": true, key: { "a": value } }));
    check(frozen("data", "Yg=="), frozen("stringData", "b"), &[]);
    check(frozen("data", "Yg=="), frozen("stringData", "c"), &["/data"]);
    let service = |spec: Value| json!({ "apiVersion": "v1", "kind": "Service", "spec": spec });
    let none = || service(json!({ "clusterIP": "None" }));
    check(none(), service(json!({})), &[]);
    check(service(json!({})), none(), &["/spec/clusterIP"]);
    check(service(json!({ "type": "ExternalName" })), none(), &[]);
}

/// `tests/deploy` makes the same updates on a real API server.
#[test]
fn updates_are_refused_here_as_on_api_servers() {
    let table: Value =
        serde_json::from_str(include_str!("../../../../tests/deploy/updates.json")).unwrap();
    for case in table.as_array().unwrap() {
        let (old, mut new) = (case["old"].clone(), case["old"].clone());
        new.as_object_mut().unwrap().extend(case["patch"].as_object().unwrap().clone());
        let refused: Vec<&str> =
            case["refused"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(changed_immutable_fields(&old, &new), refused, "{old} and {new}");
    }
}

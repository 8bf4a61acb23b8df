//! The fields that field selectors may name: a few of each built-in kind, and those that a CRD declares.

use super::{
    crd::{CRDS, served_version},
    object::Object,
    refusal::Refusal,
    store::Store,
};
use serde_json::Value;

/// A field that a selector may name.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in selectors, such as `spec.nodeName`.
    name: String,
    /// The places of its value: the first one that is set counts.
    pointers: Vec<String>,
    /// The value that a real server fills in or assumes where it is not set.
    default: &'static str,
}

impl Field {
    fn new(name: &str, pointers: &[&str], default: &'static str) -> Self {
        Self { name: name.into(), pointers: pointers.iter().map(ToString::to_string).collect(), default }
    }

    /// One that is named for where it is.
    fn at_path(name: &str, default: &'static str) -> Self {
        Self { name: name.into(), pointers: vec![format!("/{}", name.replace('.', "/"))], default }
    }

    /// Its value in an object, as text.
    pub fn value(&self, object: &Object) -> String {
        match self.name.as_str() {
            "metadata.name" => return object.key.1.clone(),
            "metadata.namespace" => return object.key.0.clone(),
            _ => {}
        }
        let object = object.value();
        let mut found = self.pointers.iter().filter_map(|pointer| object.pointer(pointer));
        match found.find(|value| !value.is_null() && **value != "") {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => self.default.to_owned(),
        }
    }
}

/// The field of a resource with this name.
pub fn find(store: &Store, resource: &str, api_version: &str, name: &str) -> Result<Field, Refusal> {
    let crd = store.get(CRDS, &(String::new(), resource.to_owned())).map(|crd| crd.value());
    let mut all = vec![Field::at_path("metadata.name", "")];
    let is_cluster_scoped = crd.as_ref().is_some_and(|crd| crd["spec"]["scope"] == "Cluster");
    if !is_cluster_scoped && !WITHOUT_NAMESPACE.contains(&resource) {
        all.push(Field::at_path("metadata.namespace", ""));
    }
    match &crd {
        Some(crd) => all.extend(declared_fields(crd, api_version)),
        None => all.extend(built_in(resource)),
    }
    let known = || all.iter().map(|field| format!("\"{}\"", field.name)).collect::<Vec<_>>().join(", ");
    let unknown = || Refusal::bad_request(format!("\"{name}\" is not a known field selector: only {}", known()));
    all.iter().find(|field| field.name == name).cloned().ok_or_else(unknown)
}

/// The `selectableFields` of a version.
fn declared_fields(crd: &Value, api_version: &str) -> Vec<Field> {
    let fields = served_version(crd, api_version).and_then(|version| version["selectableFields"].as_array());
    let paths = fields.into_iter().flatten().filter_map(|field| field["jsonPath"].as_str());
    paths.map(|path| Field::at_path(path.trim_start_matches('.'), "")).collect()
}

/// These kinds have no selector `metadata.namespace`.
const WITHOUT_NAMESPACE: [&str; 6] = [
    "certificatesigningrequests.certificates.k8s.io",
    "clustertrustbundles.certificates.k8s.io",
    "namespaces",
    "nodes",
    "podcertificaterequests.certificates.k8s.io",
    "resourceslices.resource.k8s.io",
];

/// The fields of built-in kinds, from their `AddFieldLabelConversionFunc` and `SelectableFields` in Kubernetes 1.36.
fn built_in(resource: &str) -> Vec<Field> {
    let of = |prefix: &str, names: &[&str]| {
        names.iter().map(|name| Field::at_path(&format!("{prefix}.{name}"), "")).collect::<Vec<_>>()
    };
    const REFERENCE: [&str; 7] = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
    match resource {
        "pods" => vec![
            Field::at_path("spec.nodeName", ""),
            Field::new("spec.host", &["/spec/nodeName"], ""),
            Field::at_path("spec.restartPolicy", "Always"),
            Field::at_path("spec.schedulerName", "default-scheduler"),
            Field::at_path("spec.serviceAccountName", "default"),
            Field::at_path("spec.hostNetwork", "false"),
            Field::at_path("status.phase", "Pending"),
            Field::new("status.podIP", &["/status/podIPs/0/ip"], ""),
            Field::new("status.podIPs", &[], ""), // known, but no pod has a value for it
            Field::at_path("status.nominatedNodeName", ""),
        ],
        "events" => {
            let mut fields = of("involvedObject", &REFERENCE);
            let source = ["/source/component", "/reportingComponent"];
            fields.extend(["reason", "reportingComponent", "type"].map(|name| Field::at_path(name, "")));
            fields.push(Field::new("source", &source, ""));
            fields
        }
        "events.events.k8s.io" => {
            let mut fields = of("regarding", &REFERENCE);
            fields.extend(["reason", "reportingController", "type"].map(|name| Field::at_path(name, "")));
            fields
        }
        "namespaces" => vec![Field::at_path("status.phase", "Active")],
        "nodes" => vec![Field::at_path("spec.unschedulable", "false")],
        "replicationcontrollers" => vec![Field::at_path("status.replicas", "0")],
        "secrets" => vec![Field::at_path("type", "Opaque")],
        "services" => vec![Field::at_path("spec.clusterIP", ""), Field::at_path("spec.type", "ClusterIP")],
        "jobs.batch" => vec![Field::new("status.successful", &["/status/succeeded"], "0")],
        "certificatesigningrequests.certificates.k8s.io" | "clustertrustbundles.certificates.k8s.io" => {
            of("spec", &["signerName"])
        }
        "podcertificaterequests.certificates.k8s.io" => of("spec", &["signerName", "podName", "nodeName"]),
        "resourceslices.resource.k8s.io" => of("spec", &["nodeName", "driver"]),
        _ => vec![],
    }
}

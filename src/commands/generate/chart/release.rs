//! Separates two releases of a chart in one namespace: labels of their pods, names of Secrets and of the Lease.

use super::names::{FULLNAME, INSTANCE};
use go_data::yaml::{Map, Value, pointer};

const LABEL: &str = "app.kubernetes.io/instance";
const WORKLOADS: &[&str] = &["DaemonSet", "Deployment", "StatefulSet"];

type LabelMap = Map<String, Value>;

/// Changes the objects so that no two releases share anything.
pub fn separate_releases(objects: &mut [Value]) {
    add_instance(objects);
    rename_secrets(objects);
}

/// Adds the release to the labels of pods, and to the selectors that select them or their Services.
fn add_instance(objects: &mut [Value]) {
    let labels = |objects: &[Value], kinds: &[&str], path: &str| -> Vec<LabelMap> {
        let of_kind = objects.iter().filter(|object| is_one_of(object, kinds));
        of_kind.filter_map(|object| object.pointer(path)?.as_object().cloned()).collect()
    };
    let pods = labels(objects, WORKLOADS, "/spec/template/metadata/labels");
    let services = labels(objects, &["Service"], "/metadata/labels");
    for object in objects {
        if is_one_of(object, WORKLOADS) {
            let labels = object.pointer_mut("/spec/template/metadata/labels");
            labels.and_then(Value::as_object_mut).into_iter().for_each(add_instance_label);
        }
        let selected = if object["kind"] == "ServiceMonitor" { &services } else { &pods };
        if object["kind"] == "Service" {
            let selector = object.pointer_mut("/spec/selector").and_then(Value::as_object_mut);
            selector
                .into_iter()
                .filter(|selector| selects_any(selector, selected))
                .for_each(add_instance_label);
        }
        if object["kind"] != "CustomResourceDefinition" {
            extend_selectors(object, selected);
        }
    }
}

fn extend_selectors(value: &mut Value, selected: &[LabelMap]) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|item| extend_selectors(item, selected)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Object(labels) if key == "matchLabels" => {
                        if selects_any(labels, selected) {
                            add_instance_label(labels);
                        }
                    }
                    value => extend_selectors(value, selected),
                }
            }
        }
        _ => {}
    }
}

fn add_instance_label(labels: &mut LabelMap) {
    labels.insert(LABEL.to_owned(), INSTANCE.into());
}

fn selects_any(selector: &LabelMap, selected: &[LabelMap]) -> bool {
    let matches =
        |labels: &LabelMap| selector.iter().all(|(key, value)| labels.get(key) == Some(value));
    !selector.is_empty() && selected.iter().any(matches)
}

/// Returns whether a Service or a PodMonitor selects the pods of a workload.
pub fn selects_pods(object: &Value, workload: &Value) -> bool {
    let selector =
        if object["kind"] == "Service" { "/spec/selector" } else { "/spec/selector/matchLabels" };
    selects_labels(object, selector, labels_at(workload, "/spec/template/metadata/labels"))
}

/// Returns whether a ServiceMonitor selects a Service, which gets the label of the release from the templates.
pub fn monitors_service(monitor: &Value, service: &Value) -> bool {
    let mut labels = labels_at(service, "/metadata/labels");
    add_instance_label(&mut labels);
    let ports = pointer::list(service, "/spec/ports");
    let has = |endpoint: &Value| ports.iter().any(|port| port["name"] == endpoint["port"]);
    selects_labels(monitor, "/spec/selector/matchLabels", labels)
        && pointer::list(monitor, "/spec/endpoints").iter().all(has)
}

fn labels_at(object: &Value, path: &str) -> LabelMap {
    object.pointer(path).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn selects_labels(object: &Value, selector: &str, selected: LabelMap) -> bool {
    selects_any(&labels_at(object, selector), &[selected])
}

/// Returns whether cert-manager writes a Secret for the object.
pub fn is_certificate(object: &Value) -> bool {
    object["kind"] == "Certificate"
        && pointer::text(object, "/apiVersion").starts_with("cert-manager.io/")
}

/// Gives the Secrets that cert-manager writes the beginning of all names.
fn rename_secrets(objects: &mut [Value]) {
    let certificates = objects.iter().filter(|object| is_certificate(object));
    let names =
        certificates.map(|certificate| pointer::text(certificate, "/spec/secretName").to_owned());
    let names: Vec<String> =
        names.filter(|name| !name.is_empty() && !name.contains(FULLNAME)).collect();
    for object in objects {
        if is_certificate(object) || is_one_of(object, &["Issuer", "PodMonitor", "ServiceMonitor"])
        {
            rename_in(object, &names);
        } else if is_one_of(object, WORKLOADS)
            && let Some(pod) = object.pointer_mut("/spec/template/spec")
        {
            rename_in(pod, &names);
        }
    }
}

fn rename_in(value: &mut Value, names: &[String]) {
    let rename = |value: &mut Value| {
        if let Some(name) = value.as_str().filter(|text| names.iter().any(|name| name == text)) {
            *value = format!("{FULLNAME}-{name}").into();
        }
    };
    match value {
        Value::Array(list) => list.iter_mut().for_each(|item| rename_in(item, names)),
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "secretName" => rename(value),
                    "secret" | "secretRef" | "secretKeyRef" => {
                        if let Some(name) = value.get_mut("name") {
                            rename(name);
                        }
                        rename_in(value, names);
                    }
                    _ => rename_in(value, names),
                }
            }
        }
        _ => {}
    }
}

pub fn is_one_of(object: &Value, kinds: &[&str]) -> bool {
    kinds.contains(&pointer::text(object, "/kind"))
}

//! What keeps two releases of a chart in one namespace apart: labels of their pods, names of Secrets and of the Lease.

use super::names::{FULLNAME, INSTANCE};
use go_data::yaml::{Map, Value, pointer};

const LABEL: &str = "app.kubernetes.io/instance";
const WORKLOADS: &[&str] = &["DaemonSet", "Deployment", "StatefulSet"];

type Labels = Map<String, Value>;

/// Changes the objects so that no two releases share anything.
pub fn separate(objects: &mut [Value]) {
    add_instance(objects);
    rename_secrets(objects);
}

/// Adds the release to the labels of pods, and to the selectors that select them or their Services.
fn add_instance(objects: &mut [Value]) {
    let labels = |objects: &[Value], kinds: &[&str], path: &str| -> Vec<Labels> {
        let of_kind = objects.iter().filter(|it| is_one_of(it, kinds));
        of_kind.filter_map(|it| it.pointer(path)?.as_object().cloned()).collect()
    };
    let pods = labels(objects, WORKLOADS, "/spec/template/metadata/labels");
    let services = labels(objects, &["Service"], "/metadata/labels");
    for object in objects {
        if is_one_of(object, WORKLOADS) {
            let labels = object.pointer_mut("/spec/template/metadata/labels");
            labels.and_then(Value::as_object_mut).into_iter().for_each(add);
        }
        let selected = if object["kind"] == "ServiceMonitor" { &services } else { &pods };
        if object["kind"] == "Service" {
            let selector = object.pointer_mut("/spec/selector").and_then(Value::as_object_mut);
            selector.into_iter().filter(|it| selects(it, selected)).for_each(add);
        }
        if object["kind"] != "CustomResourceDefinition" {
            extend_selectors(object, selected);
        }
    }
}

fn extend_selectors(value: &mut Value, selected: &[Labels]) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|it| extend_selectors(it, selected)),
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::Object(labels) if key == "matchLabels" => {
                        if selects(labels, selected) {
                            add(labels);
                        }
                    }
                    value => extend_selectors(value, selected),
                }
            }
        }
        _ => {}
    }
}

fn add(labels: &mut Labels) {
    labels.insert(LABEL.to_owned(), INSTANCE.into());
}

fn selects(selector: &Labels, selected: &[Labels]) -> bool {
    let matches = |labels: &Labels| selector.iter().all(|(key, it)| labels.get(key) == Some(it));
    !selector.is_empty() && selected.iter().any(matches)
}

/// Whether a Service or a PodMonitor selects the pods of a workload.
pub fn selects_pods(object: &Value, workload: &Value) -> bool {
    let selector = match object["kind"] == "Service" {
        true => "/spec/selector",
        false => "/spec/selector/matchLabels",
    };
    selects_labels(object, selector, labels(workload, "/spec/template/metadata/labels"))
}

/// Whether a ServiceMonitor is about a Service, which gets the label of the release from the templates.
pub fn monitors(monitor: &Value, service: &Value) -> bool {
    let mut labels = labels(service, "/metadata/labels");
    add(&mut labels);
    let ports = pointer::list(service, "/spec/ports");
    let has = |endpoint: &Value| ports.iter().any(|it| it["name"] == endpoint["port"]);
    selects_labels(monitor, "/spec/selector/matchLabels", labels)
        && pointer::list(monitor, "/spec/endpoints").iter().all(has)
}

fn labels(object: &Value, path: &str) -> Labels {
    object.pointer(path).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn selects_labels(object: &Value, selector: &str, selected: Labels) -> bool {
    selects(&labels(object, selector), &[selected])
}

/// Whether cert-manager writes a Secret for it.
pub fn is_certificate(object: &Value) -> bool {
    object["kind"] == "Certificate"
        && pointer::text(object, "/apiVersion").starts_with("cert-manager.io/")
}

/// Gives the Secrets that cert-manager writes the beginning of all names.
fn rename_secrets(objects: &mut [Value]) {
    let certificates = objects.iter().filter(|it| is_certificate(it));
    let names = certificates.map(|it| pointer::text(it, "/spec/secretName").to_owned());
    let names: Vec<String> = names.filter(|it| !it.is_empty() && !it.contains(FULLNAME)).collect();
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
    let rename = |it: &mut Value| {
        if let Some(name) = it.as_str().filter(|it| names.iter().any(|name| name == it)) {
            *it = format!("{FULLNAME}-{name}").into();
        }
    };
    match value {
        Value::Array(list) => list.iter_mut().for_each(|it| rename_in(it, names)),
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

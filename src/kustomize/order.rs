//! The order in which kustomize prints: what others need comes first.

use std::cmp::Ordering;

use super::object::{Object, Objects};

const FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

pub fn sort(objects: &mut Objects) {
    objects.0.sort_by(compare);
}

fn compare(a: &Object, b: &Object) -> Ordering {
    rank(a.kind()).cmp(&rank(b.kind())).then_with(|| {
        let (kind_a, kind_b) = (kind(a), kind(b));
        // Of kinds called `Namespace`, Kubernetes' own comes first.
        let core = |it: &Object| it.kind() == "Namespace" && it.group_version().0.is_empty();
        let namespaces = a.kind() == "Namespace" && (core(a) || core(b));
        let order = if namespaces { kind_b.cmp(&kind_a) } else { kind_a.cmp(&kind_b) };
        order.then_with(|| name(a).cmp(&name(b)))
    })
}

fn rank(kind: &str) -> isize {
    let at = |list: &[&str]| {
        list.iter().position(|it| *it == kind).and_then(|it| isize::try_from(it).ok())
    };
    let first = at(FIRST).map(|it| it - FIRST.len().cast_signed());
    first.or_else(|| at(LAST).map(|it| it + 1)).unwrap_or(0)
}

fn kind(object: &Object) -> String {
    let (group, version) = object.group_version();
    format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(object.kind(), "~K"))
}

fn name(object: &Object) -> String {
    format!("{}|{}", or(object.namespace(), "~X"), or(object.name(), "~N"))
}

fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

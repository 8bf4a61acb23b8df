//! The kinds that a `registry+v1` bundle can hold.
//!
//! operator-registry checks only the kind. We also check the group, as OLM does when it installs.

use super::{Warnings, object};
use go_data::yaml::Value;

/// Kinds that become files of their own, with their groups.
const SUPPORTED: &[(&str, &str)] = &[
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("autoscaling.k8s.io", "VerticalPodAutoscaler"),
    ("console.openshift.io", "ConsoleCLIDownload"),
    ("console.openshift.io", "ConsoleLink"),
    ("console.openshift.io", "ConsolePlugin"),
    ("console.openshift.io", "ConsoleQuickStart"),
    ("console.openshift.io", "ConsoleYAMLSample"),
    ("monitoring.coreos.com", "PrometheusRule"),
    ("monitoring.coreos.com", "ServiceMonitor"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("operators.coreos.com", "ClusterServiceVersion"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
];

pub fn is_supported(group: &str, kind: &str) -> bool {
    SUPPORTED.contains(&(group, kind))
}

/// Returns whether the validators allow this kind. They ignore the group.
pub fn is_supported_kind(kind: &str) -> bool {
    SUPPORTED.iter().any(|(_, supported)| *supported == kind)
}

/// Returns whether objects of a supported kind have no namespace.
pub fn is_cluster_wide(kind: &str) -> bool {
    kind.starts_with("Cluster")
        || kind.starts_with("Console")
        || matches!(kind, "CustomResourceDefinition" | "PriorityClass")
}

/// Warns that OLM does not install an object, with the reason.
pub fn warn_of_unsupported(object: &Value, warnings: &mut Warnings) {
    let kind = object::kind(object);
    if is_supported_kind(kind) {
        let title = object::title(object);
        return warnings.push(format!(
            "{title} is in the bundle, but OLM does not install the kind {kind} of this group"
        ));
    }
    let reason = match (object::group_version(object).0, kind) {
        ("apps" | "", "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Pod") => {
            "OLM installs only Deployments (apps/v1): convert it, or let the operator create it"
        }
        ("", "Namespace") => "OLM installs into the namespace that the user chooses",
        ("", "List") => "a List is not unpacked: give each of its items as a separate document",
        ("monitoring.coreos.com", "PodMonitor") => "OLM does not install it: use a ServiceMonitor",
        _ => {
            "a bundle cannot hold this kind, and no CRD here defines it: let the operator create it"
        }
    };
    warnings.leave_out(object, reason);
}

//! The kinds that a `registry+v1` bundle can hold.
//!
//! operator-registry looks at the kind alone; we look at the group too, for OLM does when it installs.

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

/// What the validators ask: the kind alone.
pub fn is_supported_kind(kind: &str) -> bool {
    SUPPORTED.iter().any(|(_, it)| *it == kind)
}

/// The way out for a kind that a bundle cannot hold.
pub fn way_out(group: &str, kind: &str) -> &'static str {
    match (group, kind) {
        ("apps" | "", "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Pod") => {
            "OLM runs an operator from a Deployment (apps/v1): make it one, or let the operator create it"
        }
        ("", "Namespace") => {
            "OLM installs into the namespace that the user chooses: leave it out of what config/manifests renders"
        }
        ("monitoring.coreos.com", "PodMonitor") => {
            "OLM does not install it, although newer validators let it pass: use a ServiceMonitor"
        }
        _ => {
            "leave it out of what config/manifests renders (a patch with `$patch: delete`, or a resources entry less), or let the operator create it"
        }
    }
}

//! Which fields name other objects: kustomize 5.8.1's own table, but for its `IngressClass` entry, which
//! never selects anything.

use super::super::{fields::Field, object::Id};

/// The kind that is named, and where it is.
pub struct Reference {
    pub target: Target,
    pub field: Field,
}

#[derive(Clone, Copy)]
pub struct Target {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

impl Target {
    pub fn selects(&self, id: &Id) -> bool {
        let is = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        is(self.group, &id.group) && is(self.version, &id.version) && self.kind == id.kind
    }
}

/// The references that objects of a kind hold.
pub fn references(kind: &str) -> Vec<Reference> {
    let mut res = Vec::new();
    if let Some((kind, base)) = PODS.iter().find(|it| it.0 == kind) {
        for (target, absent, paths) in IN_PODS {
            let paths = if absent.contains(kind) { &[] } else { *paths };
            for path in paths {
                let target = Target { kind: target, ..CORE };
                // kustomize knows the priority classes of one group only.
                let target = if target.kind == "PriorityClass" {
                    Target { group: "scheduling.k8s.io", ..target }
                } else {
                    target
                };
                res.push(Reference { target, field: Field::of(kind, path).below(base) });
            }
        }
    }
    for (target, field) in ELSEWHERE {
        if field.kind == kind {
            res.push(Reference { target: *target, field: *field });
        }
    }
    res
}

const CORE: Target = Target { group: "", version: "v1", kind: "" };
const CONFIG_MAP: Target = Target { kind: "ConfigMap", ..CORE };
const SECRET: Target = Target { kind: "Secret", ..CORE };
const SERVICE: Target = Target { kind: "Service", ..CORE };
const SERVICE_ACCOUNT: Target = Target { kind: "ServiceAccount", ..CORE };
const PERSISTENT_VOLUME: Target = Target { kind: "PersistentVolume", ..CORE };
const STORAGE_CLASS: Target =
    Target { group: "storage.k8s.io", version: "v1", kind: "StorageClass" };
const RBAC: &str = "rbac.authorization.k8s.io";
const ROLE: Target = Target { group: RBAC, version: "", kind: "Role" };
const CLUSTER_ROLE: Target = Target { group: RBAC, version: "", kind: "ClusterRole" };
const ADMISSION: &str = "admissionregistration.k8s.io";
const ADMISSION_POLICY: Target =
    Target { group: ADMISSION, version: "", kind: "ValidatingAdmissionPolicy" };

const fn any(kind: &'static str) -> Target {
    Target { group: "", version: "", kind }
}

/// Where the kinds that run pods have the pod's spec.
const PODS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// What is named in a pod's spec, the kinds whose pods kustomize does not look into for it, and where.
const IN_PODS: &[(&str, &[&str], &[&str])] = &[
    (
        "ConfigMap",
        &["ReplicationController"],
        &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
    ),
    (
        "Secret",
        &["ReplicationController"],
        &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
    ),
    ("ServiceAccount", &["PodTemplate", "ReplicaSet"], &["serviceAccountName"]),
    (
        "PersistentVolumeClaim",
        &["PodTemplate", "ReplicaSet"],
        &["volumes/persistentVolumeClaim/claimName"],
    ),
    ("PriorityClass", &["PodTemplate", "ReplicaSet"], &["priorityClassName"]),
];

const ELSEWHERE: &[(Target, Field)] = &[
    (any("Deployment"), Field::of("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")),
    (
        any("ReplicationController"),
        Field::of("HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ),
    (any("ReplicaSet"), Field::of("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")),
    (any("StatefulSet"), Field::of("HorizontalPodAutoscaler", "spec/scaleTargetRef/name")),
    (CONFIG_MAP, Field::of("Node", "spec/configSource/configMap")),
    (CONFIG_MAP, Field::of("Role", "rules/resourceNames")),
    (CONFIG_MAP, Field::of("ClusterRole", "rules/resourceNames")),
    (
        CONFIG_MAP,
        Field::of(
            "Ingress",
            "metadata/annotations/nginx.ingress.kubernetes.io~1fastcgi-params-configmap",
        ),
    ),
    (SECRET, Field::of("Ingress", "spec/tls/secretName")),
    (SECRET, Field::of("Ingress", "metadata/annotations/ingress.kubernetes.io~1auth-secret")),
    (SECRET, Field::of("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io~1auth-secret")),
    (
        SECRET,
        Field::of("Ingress", "metadata/annotations/nginx.ingress.kubernetes.io~1auth-tls-secret"),
    ),
    (SECRET, Field::of("ServiceAccount", "imagePullSecrets/name")),
    (SECRET, Field::of("StorageClass", "parameters/secretName")),
    (SECRET, Field::of("StorageClass", "parameters/adminSecretName")),
    (SECRET, Field::of("StorageClass", "parameters/userSecretName")),
    (SECRET, Field::of("StorageClass", "parameters/secretRef")),
    (SECRET, Field::of("Role", "rules/resourceNames")),
    (SECRET, Field::of("ClusterRole", "rules/resourceNames")),
    (
        SECRET,
        Field::of("Service", "containers/env/valueFrom/secretKeyRef/name")
            .below("spec/template/spec")
            .in_group("serving.knative.dev")
            .in_version("v1"),
    ),
    (SECRET, Field::of("PersistentVolume", "spec/azureFile/secretName")),
    (SERVICE, Field::of("StatefulSet", "spec/serviceName").in_group("apps")),
    (SERVICE, Field::of("Ingress", "spec/rules/http/paths/backend/serviceName")),
    (SERVICE, Field::of("Ingress", "spec/backend/serviceName")),
    (SERVICE, Field::of("Ingress", "spec/rules/http/paths/backend/service/name")),
    (SERVICE, Field::of("Ingress", "spec/defaultBackend/service/name")),
    (SERVICE, Field::of("APIService", "spec/service/name").in_group("apiregistration.k8s.io")),
    (
        SERVICE,
        Field::of("ValidatingWebhookConfiguration", "webhooks/clientConfig/service")
            .in_group(ADMISSION),
    ),
    (
        SERVICE,
        Field::of("MutatingWebhookConfiguration", "webhooks/clientConfig/service")
            .in_group(ADMISSION),
    ),
    (ROLE, Field::of("RoleBinding", "roleRef/name").in_group(RBAC)),
    (CLUSTER_ROLE, Field::of("RoleBinding", "roleRef/name").in_group(RBAC)),
    (CLUSTER_ROLE, Field::of("ClusterRoleBinding", "roleRef/name").in_group(RBAC)),
    (SERVICE_ACCOUNT, Field::of("RoleBinding", "subjects").in_group(RBAC)),
    (SERVICE_ACCOUNT, Field::of("ClusterRoleBinding", "subjects").in_group(RBAC)),
    (PERSISTENT_VOLUME, Field::of("PersistentVolumeClaim", "spec/volumeName")),
    (PERSISTENT_VOLUME, Field::of("ClusterRole", "rules/resourceNames")),
    (STORAGE_CLASS, Field::of("PersistentVolume", "spec/storageClassName")),
    (STORAGE_CLASS, Field::of("PersistentVolumeClaim", "spec/storageClassName")),
    (STORAGE_CLASS, Field::of("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName")),
    (
        ADMISSION_POLICY,
        Field::of("ValidatingAdmissionPolicyBinding", "spec/policyName").in_group(ADMISSION),
    ),
];

//! The resources of Kubernetes itself, in their stable versions. A request for another resource is one for a custom
//! resource.

/// A built-in resource in one version.
#[derive(Debug)]
pub struct BuiltIn {
    /// The version with the group, such as `apps/v1`.
    pub api_version: &'static str,
    /// The plural, such as `deployments`.
    pub plural: &'static str,
    /// The kind, such as `Deployment`.
    pub kind: &'static str,
    /// False for cluster-scoped objects.
    pub is_namespaced: bool,
    /// True if it has a subresource `status`.
    pub has_status: bool,
}

impl BuiltIn {
    /// Returns the group, which is empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// Returns all built-in resources.
pub fn resources() -> impl Iterator<Item = &'static BuiltIn> {
    RESOURCES.iter()
}

/// Returns the built-in resource with a name such as `deployments.apps`.
pub fn find(resource: &str) -> Option<&'static BuiltIn> {
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    resources().find(|built_in| built_in.plural == plural && built_in.group() == group)
}

/// Returns true if a resource such as `deployments.apps` is one of Kubernetes itself. The groups of Kubernetes are a
/// closed list: others that end in `.k8s.io`, such as `gateway.networking.k8s.io`, are those of CRDs. The group of a
/// CRD always contains a dot.
pub fn is_built_in(resource: &str) -> bool {
    let Some((_, group)) = resource.split_once('.') else { return true };
    !group.contains('.')
        || GROUPS_WITHOUT_OBJECTS.contains(&group)
        || resources().any(|built_in| built_in.group() == group)
}

/// Built-in groups of which no objects are stored, or none in a stable version.
const GROUPS_WITHOUT_OBJECTS: [&str; 6] = [
    "apidiscovery.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "imagepolicy.k8s.io",
    "internal.apiserver.k8s.io",
    "storagemigration.k8s.io",
];

const fn namespaced(api_version: &'static str, plural: &'static str, kind: &'static str) -> BuiltIn {
    BuiltIn { api_version, plural, kind, is_namespaced: true, has_status: false }
}

const fn cluster_scoped(api_version: &'static str, plural: &'static str, kind: &'static str) -> BuiltIn {
    BuiltIn { is_namespaced: false, ..namespaced(api_version, plural, kind) }
}

impl BuiltIn {
    const fn with_status(self) -> Self {
        Self { has_status: true, ..self }
    }
}

const ADMISSION: &str = "admissionregistration.k8s.io/v1";
const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io/v1";
const NETWORKING: &str = "networking.k8s.io/v1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";
const RESOURCE: &str = "resource.k8s.io/v1";
const STORAGE: &str = "storage.k8s.io/v1";

/// The stable versions of Kubernetes 1.36, the preferred version of each group first.
const RESOURCES: [BuiltIn; 58] = [
    namespaced("v1", "configmaps", "ConfigMap"),
    namespaced("v1", "endpoints", "Endpoints"),
    namespaced("v1", "events", "Event"),
    namespaced("v1", "limitranges", "LimitRange"),
    cluster_scoped("v1", "namespaces", "Namespace").with_status(),
    cluster_scoped("v1", "nodes", "Node").with_status(),
    namespaced("v1", "persistentvolumeclaims", "PersistentVolumeClaim").with_status(),
    cluster_scoped("v1", "persistentvolumes", "PersistentVolume").with_status(),
    namespaced("v1", "pods", "Pod").with_status(),
    namespaced("v1", "podtemplates", "PodTemplate"),
    namespaced("v1", "replicationcontrollers", "ReplicationController").with_status(),
    namespaced("v1", "resourcequotas", "ResourceQuota").with_status(),
    namespaced("v1", "secrets", "Secret"),
    namespaced("v1", "serviceaccounts", "ServiceAccount"),
    namespaced("v1", "services", "Service").with_status(),
    cluster_scoped(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
    cluster_scoped(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy").with_status(),
    cluster_scoped(ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    cluster_scoped(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    cluster_scoped("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition").with_status(),
    cluster_scoped("apiregistration.k8s.io/v1", "apiservices", "APIService").with_status(),
    namespaced("apps/v1", "controllerrevisions", "ControllerRevision"),
    namespaced("apps/v1", "daemonsets", "DaemonSet").with_status(),
    namespaced("apps/v1", "deployments", "Deployment").with_status(),
    namespaced("apps/v1", "replicasets", "ReplicaSet").with_status(),
    namespaced("apps/v1", "statefulsets", "StatefulSet").with_status(),
    namespaced("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler").with_status(),
    namespaced("autoscaling/v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler").with_status(),
    namespaced("batch/v1", "cronjobs", "CronJob").with_status(),
    namespaced("batch/v1", "jobs", "Job").with_status(),
    cluster_scoped("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest").with_status(),
    namespaced("coordination.k8s.io/v1", "leases", "Lease"),
    namespaced("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
    namespaced("events.k8s.io/v1", "events", "Event"),
    cluster_scoped(FLOW_CONTROL, "flowschemas", "FlowSchema").with_status(),
    cluster_scoped(FLOW_CONTROL, "prioritylevelconfigurations", "PriorityLevelConfiguration").with_status(),
    cluster_scoped(NETWORKING, "ingressclasses", "IngressClass"),
    namespaced(NETWORKING, "ingresses", "Ingress").with_status(),
    cluster_scoped(NETWORKING, "ipaddresses", "IPAddress"),
    namespaced(NETWORKING, "networkpolicies", "NetworkPolicy"),
    cluster_scoped(NETWORKING, "servicecidrs", "ServiceCIDR").with_status(),
    cluster_scoped("node.k8s.io/v1", "runtimeclasses", "RuntimeClass"),
    namespaced("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget").with_status(),
    cluster_scoped(RBAC, "clusterrolebindings", "ClusterRoleBinding"),
    cluster_scoped(RBAC, "clusterroles", "ClusterRole"),
    namespaced(RBAC, "rolebindings", "RoleBinding"),
    namespaced(RBAC, "roles", "Role"),
    cluster_scoped(RESOURCE, "deviceclasses", "DeviceClass"),
    namespaced(RESOURCE, "resourceclaims", "ResourceClaim").with_status(),
    namespaced(RESOURCE, "resourceclaimtemplates", "ResourceClaimTemplate"),
    cluster_scoped(RESOURCE, "resourceslices", "ResourceSlice"),
    cluster_scoped("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass"),
    cluster_scoped(STORAGE, "csidrivers", "CSIDriver"),
    cluster_scoped(STORAGE, "csinodes", "CSINode"),
    namespaced(STORAGE, "csistoragecapacities", "CSIStorageCapacity"),
    cluster_scoped(STORAGE, "storageclasses", "StorageClass"),
    cluster_scoped(STORAGE, "volumeattachments", "VolumeAttachment").with_status(),
    cluster_scoped(STORAGE, "volumeattributesclasses", "VolumeAttributesClass"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_crds_are_not_built_in() {
        for resource in ["pods", "deployments.apps", "roles.rbac.authorization.k8s.io", "leases.coordination.k8s.io"] {
            assert!(is_built_in(resource), "{resource}");
        }
        for resource in
            ["gateways.gateway.networking.k8s.io", "volumesnapshots.snapshot.storage.k8s.io", "things.a.dev"]
        {
            assert!(!is_built_in(resource), "{resource}");
        }
    }

    #[test]
    fn the_table_names_the_kinds_as_k8s_openapi_does() {
        use k8s_openapi::api::{networking::v1::IPAddress, storage::v1::CSINode};
        for (resource, kind) in [
            (crate::resource_name::<IPAddress>(), <IPAddress as k8s_openapi::Resource>::KIND),
            (crate::resource_name::<CSINode>(), <CSINode as k8s_openapi::Resource>::KIND),
        ] {
            assert_eq!(find(&resource).map(|built_in| built_in.kind), Some(kind));
        }
    }
}

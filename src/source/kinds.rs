//! The kinds of k8s-openapi 0.29 at its feature `v1_33` that a controller can list and watch.
//!
//! The compiler proves that each of them is a listable resource; `tests/kubernetes` proves that none is missing.

use std::any::TypeId;

use k8s_openapi::{ListableResource, NamespaceResourceScope};

/// The minor version of Kubernetes that has these kinds.
pub const KUBERNETES: &str = "1.33";

/// A kind that every Kubernetes cluster serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInKind {
    /// The API group: `apps`, `networking.k8s.io`, or nothing for the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
    /// The Rust path of the module that has the type.
    pub module: &'static str,
}

impl BuiltInKind {
    fn of_type<T: ListableResource<Scope: 'static>>(module: &'static str) -> Self {
        Self {
            group: T::GROUP,
            version: T::VERSION,
            kind: T::KIND,
            plural: T::URL_PATH_SEGMENT,
            namespaced: TypeId::of::<T::Scope>() == TypeId::of::<NamespaceResourceScope>(),
            module,
        }
    }

    /// Returns the group as kubebuilder names it: `core`, `apps`, `rbac.authorization`.
    pub fn prefix(&self) -> &'static str {
        match self.group {
            "" => "core",
            group => group.strip_suffix(".k8s.io").unwrap_or(group),
        }
    }

    /// Returns the domain that the prefix leaves out; none for groups such as `apps`.
    pub fn domain(&self) -> Option<&'static str> {
        self.group.ends_with(".k8s.io").then_some("k8s.io")
    }

    /// Returns whether `group`, as a user may write it, is this kind's group: `rbac`, `rbac.authorization` and
    /// `rbac.authorization.k8s.io` are the same.
    pub fn is_in(&self, group: &str) -> bool {
        let prefix = self.prefix();
        [self.group, prefix, prefix.split('.').next().unwrap_or(prefix)].contains(&group)
    }
}

macro_rules! kinds {
    ($res:ident: $($name:ident)::* { $($type:ident)* }) => {{
        use $($name)::* as module;
        const MODULE: &str = path(concat!($("::", stringify!($name)),*));
        $($res.push(BuiltInKind::of_type::<module::$type>(MODULE));)*
    }};
}

/// Returns the path without the colons in front of it.
const fn path(text: &'static str) -> &'static str {
    text.split_at(2).1
}

/// `ComponentStatus` is left out: the API server cannot watch it.
#[rustfmt::skip] // one line for each module
pub fn built_in_kinds() -> Vec<BuiltInKind> {
    let mut kinds = Vec::new();
    kinds! { kinds: k8s_openapi::api::admissionregistration::v1 { MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration } }
    kinds! { kinds: k8s_openapi::api::admissionregistration::v1alpha1 { MutatingAdmissionPolicy MutatingAdmissionPolicyBinding } }
    kinds! { kinds: k8s_openapi::api::admissionregistration::v1beta1 { ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding } }
    kinds! { kinds: k8s_openapi::api::apiserverinternal::v1alpha1 { StorageVersion } }
    kinds! { kinds: k8s_openapi::api::apps::v1 { ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet } }
    kinds! { kinds: k8s_openapi::api::autoscaling::v1 { HorizontalPodAutoscaler } }
    kinds! { kinds: k8s_openapi::api::autoscaling::v2 { HorizontalPodAutoscaler } }
    kinds! { kinds: k8s_openapi::api::batch::v1 { CronJob Job } }
    kinds! { kinds: k8s_openapi::api::certificates::v1 { CertificateSigningRequest } }
    kinds! { kinds: k8s_openapi::api::certificates::v1alpha1 { ClusterTrustBundle } }
    kinds! { kinds: k8s_openapi::api::certificates::v1beta1 { ClusterTrustBundle } }
    kinds! { kinds: k8s_openapi::api::coordination::v1 { Lease } }
    kinds! { kinds: k8s_openapi::api::coordination::v1alpha2 { LeaseCandidate } }
    kinds! { kinds: k8s_openapi::api::coordination::v1beta1 { LeaseCandidate } }
    kinds! { kinds: k8s_openapi::api::core::v1 { ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount } }
    kinds! { kinds: k8s_openapi::api::discovery::v1 { EndpointSlice } }
    kinds! { kinds: k8s_openapi::api::events::v1 { Event } }
    kinds! { kinds: k8s_openapi::api::flowcontrol::v1 { FlowSchema PriorityLevelConfiguration } }
    kinds! { kinds: k8s_openapi::api::networking::v1 { IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR } }
    kinds! { kinds: k8s_openapi::api::networking::v1beta1 { IPAddress ServiceCIDR } }
    kinds! { kinds: k8s_openapi::api::node::v1 { RuntimeClass } }
    kinds! { kinds: k8s_openapi::api::policy::v1 { PodDisruptionBudget } }
    kinds! { kinds: k8s_openapi::api::rbac::v1 { ClusterRole ClusterRoleBinding Role RoleBinding } }
    kinds! { kinds: k8s_openapi::api::resource::v1alpha3 { DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice } }
    kinds! { kinds: k8s_openapi::api::resource::v1beta1 { DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice } }
    kinds! { kinds: k8s_openapi::api::resource::v1beta2 { DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice } }
    kinds! { kinds: k8s_openapi::api::scheduling::v1 { PriorityClass } }
    kinds! { kinds: k8s_openapi::api::storage::v1 { CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment } }
    kinds! { kinds: k8s_openapi::api::storage::v1alpha1 { VolumeAttributesClass } }
    kinds! { kinds: k8s_openapi::api::storage::v1beta1 { VolumeAttributesClass } }
    kinds! { kinds: k8s_openapi::api::storagemigration::v1alpha1 { StorageVersionMigration } }
    kinds! { kinds: k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 { CustomResourceDefinition } }
    kinds! { kinds: k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 { APIService } }
    kinds
}

#[test]
fn a_kind_is_known_by_every_name_of_its_group() {
    let of = |kind: &str| {
        built_in_kinds().into_iter().find(|known| known.kind == kind).expect("it is built in")
    };
    let role = of("Role");
    let expected = BuiltInKind {
        group: "rbac.authorization.k8s.io",
        version: "v1",
        kind: "Role",
        plural: "roles",
        namespaced: true,
        module: "k8s_openapi::api::rbac::v1",
    };
    assert_eq!(role, expected);
    assert_eq!((role.prefix(), role.domain()), ("rbac.authorization", Some("k8s.io")));
    for group in ["rbac", "rbac.authorization", "rbac.authorization.k8s.io"] {
        assert!(role.is_in(group), "{group}");
    }
    assert!(!role.is_in("authorization"));
    let (pod, node, deployment) = (of("Pod"), of("Node"), of("Deployment"));
    assert_eq!((pod.prefix(), pod.domain(), pod.namespaced), ("core", None, true));
    assert_eq!((deployment.prefix(), deployment.domain()), ("apps", None));
    assert!(!node.namespaced && node.is_in("core") && !node.is_in("apps"));
}

//! Which lists of Kubernetes' own kinds a strategic merge patch merges, and by which keys of their items.
//!
//! These are facts of the Kubernetes API as kustomize 5.8.1 knows it (that of v1.21). Kinds that are not
//! here have no such lists: a patch replaces theirs whole.

/// A type, as far as it leads to a list that is merged.
pub type Type = &'static [Field];

pub struct Field {
    pub name: &'static str,
    /// Set for a list that is merged; empty where its items are scalars.
    pub keys: Option<&'static [&'static str]>,
    /// The type of the field, or of the list's items.
    pub inner: Option<Type>,
}

/// The type of a kind, by apiVersion and kind.
pub fn of(api_version: &str, kind: &str) -> Option<Type> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    KINDS.iter().find(|it| it.0 == group && it.1 == version && it.2.contains(&kind)).map(|it| it.3)
}

/// A field of a type.
pub fn field(of: Option<Type>, name: &str) -> Option<&'static Field> {
    of?.iter().find(|it| it.name == name)
}

const fn within(name: &'static str, inner: Type) -> Field {
    Field { name, keys: None, inner: Some(inner) }
}

const fn merged(name: &'static str, keys: &'static [&'static str]) -> Field {
    Field { name, keys: Some(keys), inner: None }
}

const fn merged_into(name: &'static str, keys: &'static [&'static str], inner: Type) -> Field {
    Field { name, keys: Some(keys), inner: Some(inner) }
}

/// Group, version, kinds, and the type they share.
const KINDS: &[(&str, &str, &[&str], Type)] = &[
    ("", "v1", &["ComponentStatus"], COMPONENT_STATUS),
    ("", "v1", &["Namespace"], NAMESPACE),
    ("", "v1", &["Node"], NODE),
    (
        "",
        "v1",
        &[
            "Binding",
            "ConfigMap",
            "Endpoints",
            "Event",
            "LimitRange",
            "PersistentVolume",
            "ResourceQuota",
            "Secret",
        ],
        OBJECT,
    ),
    ("", "v1", &["PersistentVolumeClaim"], PERSISTENT_VOLUME_CLAIM),
    ("", "v1", &["Pod"], POD),
    ("", "v1", &["PodTemplate"], POD_TEMPLATE),
    ("", "v1", &["ReplicationController"], REPLICATION_CONTROLLER),
    ("", "v1", &["Service"], SERVICE),
    ("", "v1", &["ServiceAccount"], SERVICE_ACCOUNT),
    (
        "admissionregistration.k8s.io",
        "v1",
        &["MutatingWebhookConfiguration"],
        MUTATING_WEBHOOK_CONFIGURATION,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        &["ValidatingWebhookConfiguration"],
        VALIDATING_WEBHOOK_CONFIGURATION,
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        &["MutatingWebhookConfiguration"],
        MUTATING_WEBHOOK_CONFIGURATION,
    ),
    (
        "admissionregistration.k8s.io",
        "v1beta1",
        &["ValidatingWebhookConfiguration"],
        VALIDATING_WEBHOOK_CONFIGURATION,
    ),
    ("apiextensions.k8s.io", "v1", &["CustomResourceDefinition"], OBJECT),
    ("apiextensions.k8s.io", "v1beta1", &["CustomResourceDefinition"], OBJECT),
    ("apiregistration.k8s.io", "v1", &["APIService"], API_SERVICE),
    ("apiregistration.k8s.io", "v1beta1", &["APIService"], API_SERVICE),
    ("apps", "v1", &["DaemonSet"], DAEMON_SET),
    ("apps", "v1", &["Deployment"], DEPLOYMENT),
    ("apps", "v1", &["ControllerRevision"], OBJECT),
    ("apps", "v1", &["ReplicaSet"], REPLICA_SET),
    ("apps", "v1", &["StatefulSet"], STATEFUL_SET),
    ("authentication.k8s.io", "v1", &["TokenRequest", "TokenReview"], OBJECT),
    ("authentication.k8s.io", "v1beta1", &["TokenReview"], OBJECT),
    (
        "authorization.k8s.io",
        "v1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
        OBJECT,
    ),
    (
        "authorization.k8s.io",
        "v1beta1",
        &[
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
        ],
        OBJECT,
    ),
    ("autoscaling", "v1", &["HorizontalPodAutoscaler", "Scale"], OBJECT),
    ("autoscaling", "v2beta1", &["HorizontalPodAutoscaler"], OBJECT),
    ("autoscaling", "v2beta2", &["HorizontalPodAutoscaler"], OBJECT),
    ("batch", "v1", &["CronJob"], CRON_JOB),
    ("batch", "v1", &["Job"], JOB),
    ("batch", "v1beta1", &["CronJob"], CRON_JOB),
    ("certificates.k8s.io", "v1", &["CertificateSigningRequest"], OBJECT),
    ("certificates.k8s.io", "v1beta1", &["CertificateSigningRequest"], OBJECT),
    ("coordination.k8s.io", "v1", &["Lease"], OBJECT),
    ("coordination.k8s.io", "v1beta1", &["Lease"], OBJECT),
    ("discovery.k8s.io", "v1", &["EndpointSlice"], OBJECT),
    ("discovery.k8s.io", "v1beta1", &["EndpointSlice"], OBJECT),
    ("events.k8s.io", "v1", &["Event"], OBJECT),
    ("events.k8s.io", "v1beta1", &["Event"], OBJECT),
    ("extensions", "v1beta1", &["Ingress"], OBJECT),
    (
        "flowcontrol.apiserver.k8s.io",
        "v1beta1",
        &["FlowSchema", "PriorityLevelConfiguration"],
        OBJECT,
    ),
    ("networking.k8s.io", "v1", &["Ingress", "IngressClass", "NetworkPolicy"], OBJECT),
    ("networking.k8s.io", "v1beta1", &["Ingress", "IngressClass"], OBJECT),
    ("node.k8s.io", "v1", &["RuntimeClass"], OBJECT),
    ("node.k8s.io", "v1beta1", &["RuntimeClass"], OBJECT),
    ("policy", "v1", &["PodDisruptionBudget"], POD_DISRUPTION_BUDGET),
    ("policy", "v1beta1", &["Eviction", "PodSecurityPolicy"], OBJECT),
    ("policy", "v1beta1", &["PodDisruptionBudget"], POD_DISRUPTION_BUDGET),
    (
        "rbac.authorization.k8s.io",
        "v1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        OBJECT,
    ),
    (
        "rbac.authorization.k8s.io",
        "v1beta1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        OBJECT,
    ),
    ("scheduling.k8s.io", "v1", &["PriorityClass"], OBJECT),
    ("scheduling.k8s.io", "v1beta1", &["PriorityClass"], OBJECT),
    ("storage.k8s.io", "v1", &["CSINode"], CSI_NODE),
    ("storage.k8s.io", "v1", &["CSIDriver", "StorageClass", "VolumeAttachment"], OBJECT),
    ("storage.k8s.io", "v1beta1", &["CSINode"], CSI_NODE),
    (
        "storage.k8s.io",
        "v1beta1",
        &["CSIDriver", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"],
        OBJECT,
    ),
];

const OBJECT: Type = &[within("metadata", OBJECT_META)];
const OBJECT_META: Type = &[merged("finalizers", &[]), merged("ownerReferences", &["uid"])];
const SERVICE_ACCOUNT: Type = &[within("metadata", OBJECT_META), merged("secrets", &["name"])];
const SERVICE: Type = &[
    within("metadata", OBJECT_META),
    within("spec", SERVICE_SPEC),
    within("status", SERVICE_STATUS),
];
const SERVICE_STATUS: Type = &[merged("conditions", &["type"])];
const SERVICE_SPEC: Type = &[merged("ports", &["port", "protocol"])];
const REPLICATION_CONTROLLER: Type = &[
    within("metadata", OBJECT_META),
    within("spec", REPLICATION_CONTROLLER_SPEC),
    within("status", REPLICATION_CONTROLLER_STATUS),
];
const REPLICATION_CONTROLLER_STATUS: Type = &[merged("conditions", &["type"])];
const REPLICATION_CONTROLLER_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const POD_TEMPLATE_SPEC: Type = &[within("metadata", OBJECT_META), within("spec", POD_SPEC)];
const POD_SPEC: Type = &[
    merged_into("containers", &["name"], CONTAINER),
    merged_into("ephemeralContainers", &["name"], EPHEMERAL_CONTAINER),
    merged("hostAliases", &["ip"]),
    merged("imagePullSecrets", &["name"]),
    merged_into("initContainers", &["name"], CONTAINER),
    merged("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    merged_into("volumes", &["name"], VOLUME),
];
const VOLUME: Type = &[within("ephemeral", EPHEMERAL_VOLUME_SOURCE)];
const EPHEMERAL_VOLUME_SOURCE: Type =
    &[within("volumeClaimTemplate", PERSISTENT_VOLUME_CLAIM_TEMPLATE)];
const PERSISTENT_VOLUME_CLAIM_TEMPLATE: Type = &[within("metadata", OBJECT_META)];
const CONTAINER: Type = &[
    merged("env", &["name"]),
    merged("ports", &["containerPort", "protocol"]),
    merged("volumeDevices", &["devicePath"]),
    merged("volumeMounts", &["mountPath"]),
];
const EPHEMERAL_CONTAINER: Type = &[
    merged("env", &["name"]),
    merged("volumeDevices", &["devicePath"]),
    merged("volumeMounts", &["mountPath"]),
];
const POD_TEMPLATE: Type =
    &[within("metadata", OBJECT_META), within("template", POD_TEMPLATE_SPEC)];
const POD: Type =
    &[within("metadata", OBJECT_META), within("spec", POD_SPEC), within("status", POD_STATUS)];
const POD_STATUS: Type = &[merged("conditions", &["type"]), merged("podIPs", &["ip"])];
const PERSISTENT_VOLUME_CLAIM: Type =
    &[within("metadata", OBJECT_META), within("status", PERSISTENT_VOLUME_CLAIM_STATUS)];
const PERSISTENT_VOLUME_CLAIM_STATUS: Type = &[merged("conditions", &["type"])];
const NODE: Type =
    &[within("metadata", OBJECT_META), within("spec", NODE_SPEC), within("status", NODE_STATUS)];
const NODE_STATUS: Type = &[merged("addresses", &["type"]), merged("conditions", &["type"])];
const NODE_SPEC: Type = &[merged("podCIDRs", &[])];
const NAMESPACE: Type = &[within("metadata", OBJECT_META), within("status", NAMESPACE_STATUS)];
const NAMESPACE_STATUS: Type = &[merged("conditions", &["type"])];
const COMPONENT_STATUS: Type = &[merged("conditions", &["type"]), within("metadata", OBJECT_META)];
const CSI_NODE: Type = &[within("metadata", OBJECT_META), within("spec", CSI_NODE_SPEC)];
const CSI_NODE_SPEC: Type = &[merged("drivers", &["name"])];
const POD_DISRUPTION_BUDGET: Type =
    &[within("metadata", OBJECT_META), within("status", POD_DISRUPTION_BUDGET_STATUS)];
const POD_DISRUPTION_BUDGET_STATUS: Type = &[merged("conditions", &["type"])];
const CRON_JOB: Type = &[within("metadata", OBJECT_META), within("spec", CRON_JOB_SPEC)];
const CRON_JOB_SPEC: Type = &[within("jobTemplate", JOB_TEMPLATE_SPEC)];
const JOB_TEMPLATE_SPEC: Type = &[within("metadata", OBJECT_META), within("spec", JOB_SPEC)];
const JOB_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const JOB: Type =
    &[within("metadata", OBJECT_META), within("spec", JOB_SPEC), within("status", JOB_STATUS)];
const JOB_STATUS: Type = &[merged("conditions", &["type"])];
const STATEFUL_SET: Type = &[
    within("metadata", OBJECT_META),
    within("spec", STATEFUL_SET_SPEC),
    within("status", STATEFUL_SET_STATUS),
];
const STATEFUL_SET_STATUS: Type = &[merged("conditions", &["type"])];
const STATEFUL_SET_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const REPLICA_SET: Type = &[
    within("metadata", OBJECT_META),
    within("spec", REPLICA_SET_SPEC),
    within("status", REPLICA_SET_STATUS),
];
const REPLICA_SET_STATUS: Type = &[merged("conditions", &["type"])];
const REPLICA_SET_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const DEPLOYMENT: Type = &[
    within("metadata", OBJECT_META),
    within("spec", DEPLOYMENT_SPEC),
    within("status", DEPLOYMENT_STATUS),
];
const DEPLOYMENT_STATUS: Type = &[merged("conditions", &["type"])];
const DEPLOYMENT_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const DAEMON_SET: Type = &[
    within("metadata", OBJECT_META),
    within("spec", DAEMON_SET_SPEC),
    within("status", DAEMON_SET_STATUS),
];
const DAEMON_SET_STATUS: Type = &[merged("conditions", &["type"])];
const DAEMON_SET_SPEC: Type = &[within("template", POD_TEMPLATE_SPEC)];
const API_SERVICE: Type = &[within("metadata", OBJECT_META), within("status", API_SERVICE_STATUS)];
const API_SERVICE_STATUS: Type = &[merged("conditions", &["type"])];
const VALIDATING_WEBHOOK_CONFIGURATION: Type =
    &[within("metadata", OBJECT_META), merged("webhooks", &["name"])];
const MUTATING_WEBHOOK_CONFIGURATION: Type =
    &[within("metadata", OBJECT_META), merged("webhooks", &["name"])];

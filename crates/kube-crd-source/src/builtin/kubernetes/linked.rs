//! The types of k8s-openapi 0.29 that have a schema, each with its real implementation: new projects need no source.
//!
//! The list was read from the crate, at its feature `v1_33`. Those behind `;` have no default.

use crate::builtin::{Builtin, Table};

macro_rules! types {
    ($table:ident: $module:literal $path:path { $($type:ident)* $(; $($bare:ident)*)? }) => {{
        use $path as module;
        $($table.insert(
            concat!("k8s_openapi::", $module, "::", stringify!($type)),
            Builtin::of::<module::$type>(0)
                .with_default::<module::$type>(),
        );)*
        $($($table.insert(
            concat!("k8s_openapi::", $module, "::", stringify!($bare)),
            Builtin::of::<module::$bare>(0),
        );)*)?
    }};
}

pub fn add_types(table: &mut Table) {
    types! { table: "api::admissionregistration::v1" k8s_openapi::api::admissionregistration::v1 {
        AuditAnnotation ExpressionWarning MatchCondition MatchResources MutatingWebhook
        MutatingWebhookConfiguration NamedRuleWithOperations ParamKind ParamRef
        RuleWithOperations ServiceReference TypeChecking ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec
        ValidatingAdmissionPolicySpec ValidatingAdmissionPolicyStatus ValidatingWebhook
        ValidatingWebhookConfiguration Validation Variable WebhookClientConfig
    } }
    types! { table: "api::admissionregistration::v1alpha1" k8s_openapi::api::admissionregistration::v1alpha1 {
        ApplyConfiguration JSONPatch MatchCondition MatchResources MutatingAdmissionPolicy
        MutatingAdmissionPolicyBinding MutatingAdmissionPolicyBindingSpec
        MutatingAdmissionPolicySpec Mutation NamedRuleWithOperations ParamKind ParamRef Variable
    } }
    types! { table: "api::admissionregistration::v1beta1" k8s_openapi::api::admissionregistration::v1beta1 {
        AuditAnnotation ExpressionWarning MatchCondition MatchResources NamedRuleWithOperations
        ParamKind ParamRef TypeChecking ValidatingAdmissionPolicy
        ValidatingAdmissionPolicyBinding ValidatingAdmissionPolicyBindingSpec
        ValidatingAdmissionPolicySpec ValidatingAdmissionPolicyStatus Validation Variable
    } }
    types! { table: "api::apiserverinternal::v1alpha1" k8s_openapi::api::apiserverinternal::v1alpha1 {
        ServerStorageVersion StorageVersion StorageVersionCondition StorageVersionSpec
        StorageVersionStatus
    } }
    types! { table: "api::apps::v1" k8s_openapi::api::apps::v1 {
        ControllerRevision DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus
        DaemonSetUpdateStrategy Deployment DeploymentCondition DeploymentSpec DeploymentStatus
        DeploymentStrategy ReplicaSet ReplicaSetCondition ReplicaSetSpec ReplicaSetStatus
        RollingUpdateDaemonSet RollingUpdateDeployment RollingUpdateStatefulSetStrategy
        StatefulSet StatefulSetCondition StatefulSetOrdinals
        StatefulSetPersistentVolumeClaimRetentionPolicy StatefulSetSpec StatefulSetStatus
        StatefulSetUpdateStrategy
    } }
    types! { table: "api::authentication::v1" k8s_openapi::api::authentication::v1 {
        BoundObjectReference SelfSubjectReview SelfSubjectReviewStatus TokenRequest
        TokenRequestSpec TokenReview TokenReviewSpec TokenReviewStatus UserInfo ;
        TokenRequestStatus
    } }
    types! { table: "api::authorization::v1" k8s_openapi::api::authorization::v1 {
        FieldSelectorAttributes LabelSelectorAttributes LocalSubjectAccessReview
        NonResourceAttributes NonResourceRule ResourceAttributes ResourceRule
        SelfSubjectAccessReview SelfSubjectAccessReviewSpec SelfSubjectRulesReview
        SelfSubjectRulesReviewSpec SubjectAccessReview SubjectAccessReviewSpec
        SubjectAccessReviewStatus SubjectRulesReviewStatus
    } }
    types! { table: "api::autoscaling::v1" k8s_openapi::api::autoscaling::v1 {
        CrossVersionObjectReference HorizontalPodAutoscaler HorizontalPodAutoscalerSpec
        HorizontalPodAutoscalerStatus Scale ScaleSpec ScaleStatus
    } }
    types! { table: "api::autoscaling::v2" k8s_openapi::api::autoscaling::v2 {
        ContainerResourceMetricSource ContainerResourceMetricStatus CrossVersionObjectReference
        ExternalMetricSource ExternalMetricStatus HPAScalingPolicy HPAScalingRules
        HorizontalPodAutoscaler HorizontalPodAutoscalerBehavior HorizontalPodAutoscalerCondition
        HorizontalPodAutoscalerSpec HorizontalPodAutoscalerStatus MetricIdentifier MetricSpec
        MetricStatus MetricTarget MetricValueStatus ObjectMetricSource ObjectMetricStatus
        PodsMetricSource PodsMetricStatus ResourceMetricSource ResourceMetricStatus
    } }
    types! { table: "api::batch::v1" k8s_openapi::api::batch::v1 {
        CronJob CronJobSpec CronJobStatus Job JobCondition JobSpec JobStatus JobTemplateSpec
        PodFailurePolicy PodFailurePolicyOnExitCodesRequirement
        PodFailurePolicyOnPodConditionsPattern PodFailurePolicyRule SuccessPolicy
        SuccessPolicyRule UncountedTerminatedPods
    } }
    types! { table: "api::certificates::v1" k8s_openapi::api::certificates::v1 {
        CertificateSigningRequest CertificateSigningRequestCondition
        CertificateSigningRequestSpec CertificateSigningRequestStatus
    } }
    types! { table: "api::certificates::v1alpha1" k8s_openapi::api::certificates::v1alpha1 {
        ClusterTrustBundle ClusterTrustBundleSpec
    } }
    types! { table: "api::certificates::v1beta1" k8s_openapi::api::certificates::v1beta1 {
        ClusterTrustBundle ClusterTrustBundleSpec
    } }
    types! { table: "api::coordination::v1" k8s_openapi::api::coordination::v1 {
        Lease LeaseSpec
    } }
    types! { table: "api::coordination::v1alpha2" k8s_openapi::api::coordination::v1alpha2 {
        LeaseCandidate LeaseCandidateSpec
    } }
    types! { table: "api::coordination::v1beta1" k8s_openapi::api::coordination::v1beta1 {
        LeaseCandidate LeaseCandidateSpec
    } }
    types! { table: "api::core::v1" k8s_openapi::api::core::v1 {
        AWSElasticBlockStoreVolumeSource Affinity AppArmorProfile AttachedVolume
        AzureDiskVolumeSource AzureFilePersistentVolumeSource AzureFileVolumeSource Binding
        CSIPersistentVolumeSource CSIVolumeSource Capabilities CephFSPersistentVolumeSource
        CephFSVolumeSource CinderPersistentVolumeSource CinderVolumeSource ClientIPConfig
        ClusterTrustBundleProjection ComponentCondition ComponentStatus ConfigMap
        ConfigMapEnvSource ConfigMapKeySelector ConfigMapNodeConfigSource ConfigMapProjection
        ConfigMapVolumeSource Container ContainerImage ContainerPort ContainerResizePolicy
        ContainerState ContainerStateRunning ContainerStateTerminated ContainerStateWaiting
        ContainerStatus ContainerUser DaemonEndpoint DownwardAPIProjection DownwardAPIVolumeFile
        DownwardAPIVolumeSource EmptyDirVolumeSource EndpointAddress EndpointPort EndpointSubset
        Endpoints EnvFromSource EnvVar EnvVarSource EphemeralContainer EphemeralVolumeSource
        Event EventSeries EventSource ExecAction FCVolumeSource FlexPersistentVolumeSource
        FlexVolumeSource FlockerVolumeSource GCEPersistentDiskVolumeSource GRPCAction
        GitRepoVolumeSource GlusterfsPersistentVolumeSource GlusterfsVolumeSource HTTPGetAction
        HTTPHeader HostAlias HostIP HostPathVolumeSource ISCSIPersistentVolumeSource
        ISCSIVolumeSource ImageVolumeSource KeyToPath Lifecycle LifecycleHandler LimitRange
        LimitRangeItem LimitRangeSpec LinuxContainerUser LoadBalancerIngress LoadBalancerStatus
        LocalObjectReference LocalVolumeSource ModifyVolumeStatus NFSVolumeSource Namespace
        NamespaceCondition NamespaceSpec NamespaceStatus Node NodeAddress NodeAffinity
        NodeCondition NodeConfigSource NodeConfigStatus NodeDaemonEndpoints NodeFeatures
        NodeRuntimeHandler NodeRuntimeHandlerFeatures NodeSelector NodeSelectorRequirement
        NodeSelectorTerm NodeSpec NodeStatus NodeSwapStatus NodeSystemInfo ObjectFieldSelector
        ObjectReference PersistentVolume PersistentVolumeClaim PersistentVolumeClaimCondition
        PersistentVolumeClaimSpec PersistentVolumeClaimStatus PersistentVolumeClaimTemplate
        PersistentVolumeClaimVolumeSource PersistentVolumeSpec PersistentVolumeStatus
        PhotonPersistentDiskVolumeSource Pod PodAffinity PodAffinityTerm PodAntiAffinity
        PodCondition PodDNSConfig PodDNSConfigOption PodIP PodOS PodReadinessGate
        PodResourceClaim PodResourceClaimStatus PodSchedulingGate PodSecurityContext PodSpec
        PodStatus PodTemplate PodTemplateSpec PortStatus PortworxVolumeSource
        PreferredSchedulingTerm Probe ProjectedVolumeSource QuobyteVolumeSource
        RBDPersistentVolumeSource RBDVolumeSource ReplicationController
        ReplicationControllerCondition ReplicationControllerSpec ReplicationControllerStatus
        ResourceClaim ResourceFieldSelector ResourceHealth ResourceQuota ResourceQuotaSpec
        ResourceQuotaStatus ResourceRequirements ResourceStatus SELinuxOptions
        ScaleIOPersistentVolumeSource ScaleIOVolumeSource ScopeSelector
        ScopedResourceSelectorRequirement SeccompProfile Secret SecretEnvSource
        SecretKeySelector SecretProjection SecretReference SecretVolumeSource SecurityContext
        Service ServiceAccount ServiceAccountTokenProjection ServicePort ServiceSpec
        ServiceStatus SessionAffinityConfig SleepAction StorageOSPersistentVolumeSource
        StorageOSVolumeSource Sysctl TCPSocketAction Taint Toleration
        TopologySelectorLabelRequirement TopologySelectorTerm TopologySpreadConstraint
        TypedLocalObjectReference TypedObjectReference Volume VolumeDevice VolumeMount
        VolumeMountStatus VolumeNodeAffinity VolumeProjection VolumeResourceRequirements
        VsphereVirtualDiskVolumeSource WeightedPodAffinityTerm WindowsSecurityContextOptions
    } }
    types! { table: "api::discovery::v1" k8s_openapi::api::discovery::v1 {
        Endpoint EndpointConditions EndpointHints EndpointPort EndpointSlice ForNode ForZone
    } }
    types! { table: "api::events::v1" k8s_openapi::api::events::v1 {
        Event ; EventSeries
    } }
    types! { table: "api::flowcontrol::v1" k8s_openapi::api::flowcontrol::v1 {
        ExemptPriorityLevelConfiguration FlowDistinguisherMethod FlowSchema FlowSchemaCondition
        FlowSchemaSpec FlowSchemaStatus GroupSubject LimitResponse
        LimitedPriorityLevelConfiguration NonResourcePolicyRule PolicyRulesWithSubjects
        PriorityLevelConfiguration PriorityLevelConfigurationCondition
        PriorityLevelConfigurationReference PriorityLevelConfigurationSpec
        PriorityLevelConfigurationStatus QueuingConfiguration ResourcePolicyRule
        ServiceAccountSubject Subject UserSubject
    } }
    types! { table: "api::networking::v1" k8s_openapi::api::networking::v1 {
        HTTPIngressPath HTTPIngressRuleValue IPAddress IPAddressSpec IPBlock Ingress
        IngressBackend IngressClass IngressClassParametersReference IngressClassSpec
        IngressLoadBalancerIngress IngressLoadBalancerStatus IngressPortStatus IngressRule
        IngressServiceBackend IngressSpec IngressStatus IngressTLS NetworkPolicy
        NetworkPolicyEgressRule NetworkPolicyIngressRule NetworkPolicyPeer NetworkPolicyPort
        NetworkPolicySpec ParentReference ServiceBackendPort ServiceCIDR ServiceCIDRSpec
        ServiceCIDRStatus
    } }
    types! { table: "api::networking::v1beta1" k8s_openapi::api::networking::v1beta1 {
        IPAddress IPAddressSpec ParentReference ServiceCIDR ServiceCIDRSpec ServiceCIDRStatus
    } }
    types! { table: "api::node::v1" k8s_openapi::api::node::v1 {
        Overhead RuntimeClass Scheduling
    } }
    types! { table: "api::policy::v1" k8s_openapi::api::policy::v1 {
        Eviction PodDisruptionBudget PodDisruptionBudgetSpec PodDisruptionBudgetStatus
    } }
    types! { table: "api::rbac::v1" k8s_openapi::api::rbac::v1 {
        AggregationRule ClusterRole ClusterRoleBinding PolicyRule Role RoleBinding RoleRef
        Subject
    } }
    types! { table: "api::resource::v1alpha3" k8s_openapi::api::resource::v1alpha3 {
        AllocatedDeviceStatus AllocationResult BasicDevice CELDeviceSelector Counter CounterSet
        Device DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceClaim
        DeviceClaimConfiguration DeviceClass DeviceClassConfiguration DeviceClassSpec
        DeviceConstraint DeviceCounterConsumption DeviceRequest DeviceRequestAllocationResult
        DeviceSelector DeviceSubRequest DeviceTaint DeviceTaintRule DeviceTaintRuleSpec
        DeviceTaintSelector DeviceToleration NetworkDeviceData OpaqueDeviceConfiguration
        ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus
        ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec
    } }
    types! { table: "api::resource::v1beta1" k8s_openapi::api::resource::v1beta1 {
        AllocatedDeviceStatus AllocationResult BasicDevice CELDeviceSelector Counter CounterSet
        Device DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute
        DeviceCapacity DeviceClaim DeviceClaimConfiguration DeviceClass DeviceClassConfiguration
        DeviceClassSpec DeviceConstraint DeviceCounterConsumption DeviceRequest
        DeviceRequestAllocationResult DeviceSelector DeviceSubRequest DeviceTaint
        DeviceToleration NetworkDeviceData OpaqueDeviceConfiguration ResourceClaim
        ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus
        ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec
    } }
    types! { table: "api::resource::v1beta2" k8s_openapi::api::resource::v1beta2 {
        AllocatedDeviceStatus AllocationResult CELDeviceSelector Counter CounterSet Device
        DeviceAllocationConfiguration DeviceAllocationResult DeviceAttribute DeviceCapacity
        DeviceClaim DeviceClaimConfiguration DeviceClass DeviceClassConfiguration
        DeviceClassSpec DeviceConstraint DeviceCounterConsumption DeviceRequest
        DeviceRequestAllocationResult DeviceSelector DeviceSubRequest DeviceTaint
        DeviceToleration ExactDeviceRequest NetworkDeviceData OpaqueDeviceConfiguration
        ResourceClaim ResourceClaimConsumerReference ResourceClaimSpec ResourceClaimStatus
        ResourceClaimTemplate ResourceClaimTemplateSpec ResourcePool ResourceSlice
        ResourceSliceSpec
    } }
    types! { table: "api::scheduling::v1" k8s_openapi::api::scheduling::v1 {
        PriorityClass
    } }
    types! { table: "api::storage::v1" k8s_openapi::api::storage::v1 {
        CSIDriver CSIDriverSpec CSINode CSINodeDriver CSINodeSpec CSIStorageCapacity
        StorageClass TokenRequest VolumeAttachment VolumeAttachmentSource VolumeAttachmentSpec
        VolumeAttachmentStatus VolumeError VolumeNodeResources
    } }
    types! { table: "api::storage::v1alpha1" k8s_openapi::api::storage::v1alpha1 {
        VolumeAttributesClass
    } }
    types! { table: "api::storage::v1beta1" k8s_openapi::api::storage::v1beta1 {
        VolumeAttributesClass
    } }
    types! { table: "api::storagemigration::v1alpha1" k8s_openapi::api::storagemigration::v1alpha1 {
        GroupVersionResource MigrationCondition StorageVersionMigration
        StorageVersionMigrationSpec StorageVersionMigrationStatus
    } }
    types! { table: "apiextensions_apiserver::pkg::apis::apiextensions::v1" k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 {
        CustomResourceColumnDefinition CustomResourceConversion CustomResourceDefinition
        CustomResourceDefinitionCondition CustomResourceDefinitionNames
        CustomResourceDefinitionSpec CustomResourceDefinitionStatus
        CustomResourceDefinitionVersion CustomResourceSubresourceScale
        CustomResourceSubresourceStatus CustomResourceSubresources CustomResourceValidation
        ExternalDocumentation JSON JSONSchemaProps SelectableField ServiceReference
        ValidationRule WebhookClientConfig WebhookConversion ; JSONSchemaPropsOrArray
        JSONSchemaPropsOrBool JSONSchemaPropsOrStringArray
    } }
    types! { table: "apimachinery::pkg::api::resource" k8s_openapi::apimachinery::pkg::api::resource {
        Quantity
    } }
    types! { table: "apimachinery::pkg::apis::meta::v1" k8s_openapi::apimachinery::pkg::apis::meta::v1 {
        APIGroup APIGroupList APIResource APIResourceList APIVersions DeleteOptions
        FieldSelectorRequirement FieldsV1 GroupVersionForDiscovery LabelSelector
        LabelSelectorRequirement ListMeta ManagedFieldsEntry ObjectMeta OwnerReference
        Preconditions ServerAddressByClientCIDR Status StatusCause StatusDetails ; Condition
        MicroTime Patch Time
    } }
    types! { table: "apimachinery::pkg::runtime" k8s_openapi::apimachinery::pkg::runtime {
        RawExtension
    } }
    types! { table: "apimachinery::pkg::util::intstr" k8s_openapi::apimachinery::pkg::util::intstr {
        IntOrString
    } }
    types! { table: "apimachinery::pkg::version" k8s_openapi::apimachinery::pkg::version {
        Info
    } }
    types! { table: "kube_aggregator::pkg::apis::apiregistration::v1" k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 {
        APIService APIServiceCondition APIServiceSpec APIServiceStatus ServiceReference
    } }
}

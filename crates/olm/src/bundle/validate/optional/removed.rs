//! APIs that a version of Kubernetes has removed.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

use super::super::{Findings, Rule, grammar::versions, load::Loaded, of};
use diagnostics::Severity;

const BY_1_22: &[(&str, &[&str])] = &[
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"]),
    (
        "rbac.authorization.k8s.io/v1beta1",
        &["Role", "ClusterRoleBinding", "RoleBinding", "ClusterRole"],
    ),
    ("apiregistration.k8s.io/v1beta1", &["APIService"]),
    ("authentication.k8s.io/v1beta1", &["TokenReview"]),
    (
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("coordination.k8s.io/v1beta1", &["Lease"]),
    ("extensions/v1beta1", &["Ingress"]),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"]),
    ("storage.k8s.io/v1beta1", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest"]),
];
const BY_1_25: &[(&str, &[&str])] = &[
    ("batch/v1beta1", &["CronJob"]),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"]),
    ("events.k8s.io/v1beta1", &["Event"]),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"]),
    ("policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"]),
    ("node.k8s.io/v1beta1", &["RuntimeClass"]),
];
const BY_1_26: &[(&str, &[&str])] = &[("autoscaling/v2beta2", &["HorizontalPodAutoscaler"])];

/// APIs that operator-sdk does not know: the minor version that removed them, the version of the API, and its kinds.
const NOT_IN_SDK: &[(u64, &str, &[&str])] = &[
    (16, "extensions/v1beta1", &["NetworkPolicy"]),
    (26, "flowcontrol.apiserver.k8s.io/v1beta1", FLOW_CONTROL),
    (27, "storage.k8s.io/v1beta1", &["CSIStorageCapacity"]),
    (29, "flowcontrol.apiserver.k8s.io/v1beta2", FLOW_CONTROL),
    (32, "flowcontrol.apiserver.k8s.io/v1beta3", FLOW_CONTROL),
];
/// The minor version that began to serve an API of objects that a bundle can have.
const INTRODUCED: &[(u64, &str, &[&str])] = &[
    (7, "networking.k8s.io/v1", &["NetworkPolicy"]),
    (
        8,
        "rbac.authorization.k8s.io/v1",
        &["Role", "ClusterRoleBinding", "RoleBinding", "ClusterRole"],
    ),
    (14, "scheduling.k8s.io/v1", &["PriorityClass"]),
    (16, "apiextensions.k8s.io/v1", &["CustomResourceDefinition"]),
    (21, "policy/v1", &["PodDisruptionBudget"]),
];
const FLOW_CONTROL: &[&str] = &["FlowSchema", "PriorityLevelConfiguration"];

/// Resources of the APIs that 1.25 removed, as rules name them.
const RESOURCES_BY_1_25: &[(&str, &str)] = &[
    ("batch", "cronjobs"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("policy", "poddisruptionbudgets"),
    ("policy", "podsecuritypolicies"),
    ("node.k8s.io", "runtimeclasses"),
];

/// Names of objects by their kind, or places of rules by their resource.
type Found = BTreeMap<String, Vec<String>>;

/// Reports removed APIs: as an error if they are removed at or before the given version, or the oldest version of the
/// CSV.
pub fn check(bundle: &Loaded, version: &str, findings: &mut Findings) {
    let path = bundle.csv.path;
    let given = versions::parse_tolerant(version);
    if !version.is_empty() && given.is_none() {
        findings.error(
            Rule::ApiVersionBad,
            "",
            format!("invalid value informed via the k8s key option : {version}"),
        );
    }
    let text = of::text(&bundle.csv.object, "/spec/minKubeVersion");
    let oldest = versions::parse_tolerant(text);
    if !text.is_empty() && oldest.is_none() {
        findings.error(
            Rule::ApiMinKubeBad,
            (path, "/spec/minKubeVersion"),
            format!("unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: {text}"),
        );
    }
    let severity = |minor: u64| {
        let removal = Version::new(1, minor, 0);
        let is_later = |version: &Version| version.cmp_precedence(&removal).is_ge();
        let is_error = given.iter().chain(&oldest).any(is_later);
        if is_error { Severity::Error } else { Severity::Warning }
    };
    for (minor, found) in [
        (22, removed_in_1_22(bundle)),
        (25, removed_in_1_25(bundle)),
        (26, removed_objects(bundle, BY_1_26)),
    ] {
        if found.is_empty() {
            continue;
        }
        findings.push(
            severity(minor),
            Rule::ApiRemoved,
            path.into(),
            removal_message(minor, &found),
        );
    }
    check_unknown_to_sdk(bundle, &severity, findings);
    given.iter().for_each(|version| check_not_yet_served(bundle, version, findings));
    let granted = granted_resources(bundle);
    if !granted.is_empty() {
        findings.warning(Rule::ApiGranted, path, removal_message(25, &granted));
    }
}

/// Reports APIs that a version of Kubernetes does not serve yet.
fn check_not_yet_served(bundle: &Loaded, given: &Version, findings: &mut Findings) {
    for manifest in &bundle.objects {
        let (version, kind) =
            (of::text(&manifest.object, "/apiVersion"), of::kind(&manifest.object));
        let is = |row: &&(u64, &str, &[&str])| row.1 == version && row.2.contains(&kind);
        if let Some((minor, ..)) = INTRODUCED.iter().find(is)
            && (given.major, given.minor) < (1, *minor)
        {
            let message = format!(
                "Kubernetes {}.{} does not serve `{kind}` of `{version}`, which is new in 1.{minor}",
                given.major, given.minor
            );
            findings.error(Rule::ApiNotYet, (manifest.path, "/apiVersion"), message);
        }
    }
}

/// Reports APIs that operator-sdk does not know to be removed: of objects, and of resources that the CSV lists with
/// its CRDs.
fn check_unknown_to_sdk(
    bundle: &Loaded,
    severity: &dyn Fn(u64) -> Severity,
    findings: &mut Findings,
) {
    let mut check = |at: (&str, String), version: &str, kind: &str| {
        let is = |row: &&(u64, &str, &[&str])| row.1 == version && row.2.contains(&kind);
        if let Some((minor, ..)) = NOT_IN_SDK.iter().find(is) {
            let message = format!("Kubernetes 1.{minor} removed `{kind}` of `{version}`");
            findings.push(severity(*minor), Rule::ApiRemovedLater, at.into(), message);
        }
    };
    for manifest in &bundle.objects {
        let version = of::text(&manifest.object, "/apiVersion");
        check((manifest.path, "/apiVersion".to_owned()), version, of::kind(&manifest.object));
    }
    for part in ["owned", "required"] {
        let crds = format!("/spec/customresourcedefinitions/{part}");
        for (at, crd) in of::list(&bundle.csv.object, &crds).iter().enumerate() {
            for (place, resource) in of::list(crd, "/resources").iter().enumerate() {
                let field = format!("{crds}/{at}/resources/{place}");
                let version = of::text(resource, "/version");
                check((bundle.csv.path, field), version, of::kind(resource));
            }
        }
    }
}

fn removal_message(minor: u64, found: &Found) -> String {
    format!(
        "this bundle is using APIs which were deprecated and removed in v1.{minor}. More info: \
         https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-{minor}. Migrate the API(s) for {}",
        format_found(found)
    )
}

/// `CRD: (["a" "b"]),Role: (["c"])`.
pub fn format_found(found: &Found) -> String {
    let quoted_names = |names: &[String]| {
        names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" ")
    };
    let kinds: Vec<String> =
        found.iter().map(|(kind, names)| format!("{kind}: ([{}])", quoted_names(names))).collect();
    kinds.join(",")
}

pub fn removed_in_1_22(bundle: &Loaded) -> Found {
    let mut removed = removed_objects(bundle, BY_1_22);
    let betas = bundle.objects.iter().filter(|manifest| {
        of::kind(&manifest.object) == "CustomResourceDefinition"
            && of::text(&manifest.object, "/apiVersion") == "apiextensions.k8s.io/v1beta1"
    });
    for manifest in betas {
        removed.entry("CRD".to_owned()).or_default().push(of::name(&manifest.object).to_owned());
    }
    removed
}

fn removed_objects(bundle: &Loaded, removed: &[(&str, &[&str])]) -> Found {
    let mut found = Found::new();
    for manifest in &bundle.objects {
        let kind = of::kind(&manifest.object);
        if is_in(removed, of::text(&manifest.object, "/apiVersion"), kind) {
            found.entry(kind.to_owned()).or_default().push(of::name(&manifest.object).to_owned());
        }
    }
    found
}

fn is_in(removed: &[(&str, &[&str])], version: &str, kind: &str) -> bool {
    removed.iter().any(|(api_version, kinds)| *api_version == version && kinds.contains(&kind))
}

/// Returns objects, and the resources that the CSV lists with its CRDs.
fn removed_in_1_25(bundle: &Loaded) -> Found {
    let mut removed = removed_objects(bundle, BY_1_25);
    if !is_known_version(bundle) {
        return removed;
    }
    for (part, field) in [("Owned", "owned"), ("Required", "required")] {
        let crds =
            of::list(&bundle.csv.object, &format!("/spec/customresourcedefinitions/{field}"));
        for (at, crd) in crds.iter().enumerate() {
            for (place, resource) in of::list(crd, "/resources").iter().enumerate() {
                let kind = of::kind(resource);
                if is_in(BY_1_25, of::text(resource, "/version"), kind) {
                    removed.entry(kind.to_owned()).or_default().push(format!(
                        "ClusterServiceVersion.Spec.CustomResourceDefinitions.{part}[{at}].Resource[{place}]"
                    ));
                }
            }
        }
    }
    removed
}

fn is_known_version(bundle: &Loaded) -> bool {
    of::text(&bundle.csv.object, "/apiVersion") == "operators.coreos.com/v1alpha1"
}

/// Returns rules about resources whose kind and version the CSV does not list.
fn granted_resources(bundle: &Loaded) -> Found {
    let csv = &bundle.csv.object;
    if !is_known_version(bundle) {
        return Found::new();
    }
    let crds = ["owned", "required"]
        .iter()
        .flat_map(|part| of::list(csv, &format!("/spec/customresourcedefinitions/{part}")));
    let known: BTreeSet<String> = crds
        .flat_map(|crd| of::list(crd, "/resources"))
        .map(|resource| format!("{}s", of::kind(resource).to_lowercase()))
        .collect();
    let mut granted = Found::new();
    for (part, field) in
        [("ClusterPermissions", "clusterPermissions"), ("Permissions", "permissions")]
    {
        for (at, permission) in
            of::list(csv, &format!("/spec/install/spec/{field}")).iter().enumerate()
        {
            for (place, rule) in of::list(permission, "/rules").iter().enumerate() {
                for group in of::texts(rule, "/apiGroups") {
                    for resource in of::texts(rule, "/resources") {
                        if !known.contains(resource)
                            && RESOURCES_BY_1_25.contains(&(group, resource))
                        {
                            granted.entry(resource.to_owned()).or_default().push(format!(
                                "ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.{part}[{at}].Rules[{place}]"
                            ));
                        }
                    }
                }
            }
        }
    }
    granted
}

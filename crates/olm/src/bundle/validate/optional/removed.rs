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

/// What operator-sdk does not know: the minor version that removed it, the version of the API, and its kinds.
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

/// What rules grant of the APIs that 1.25 removed, whatever the version.
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

/// What is removed at or before the version that is given, or the CSV's oldest, is an error.
pub fn check(bundle: &Loaded, version: &str, findings: &mut Findings) {
    let path = bundle.csv.path;
    let given = versions::tolerant(version);
    if !version.is_empty() && given.is_none() {
        findings.error(
            Rule::ApiVersionBad,
            "",
            format!("invalid value informed via the k8s key option : {version}"),
        );
    }
    let text = of::text(&bundle.csv.object, "/spec/minKubeVersion");
    let oldest = versions::tolerant(text);
    if !text.is_empty() && oldest.is_none() {
        findings.error(
            Rule::ApiMinKubeBad,
            (path, "/spec/minKubeVersion"),
            format!("unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: {text}"),
        );
    }
    let severity = |minor: u64| {
        let removal = Version::new(1, minor, 0);
        let is_later = |it: &Version| it.cmp_precedence(&removal).is_ge();
        let is_error = given.iter().chain(&oldest).any(is_later);
        if is_error { Severity::Error } else { Severity::Warning }
    };
    for (minor, found) in
        [(22, by_1_22(bundle)), (25, in_1_25(bundle)), (26, objects(bundle, BY_1_26))]
    {
        if found.is_empty() {
            continue;
        }
        findings.push(severity(minor), Rule::ApiRemoved, path.into(), message(minor, &found));
    }
    not_in_sdk(bundle, &severity, findings);
    given.iter().for_each(|it| not_yet(bundle, it, findings));
    let granted = granted(bundle);
    if !granted.is_empty() {
        findings.warning(Rule::ApiGranted, path, message(25, &granted));
    }
}

/// APIs that a version of Kubernetes does not serve yet.
fn not_yet(bundle: &Loaded, given: &Version, findings: &mut Findings) {
    for it in &bundle.objects {
        let (version, kind) = (of::text(&it.object, "/apiVersion"), of::kind(&it.object));
        let is = |it: &&(u64, &str, &[&str])| it.1 == version && it.2.contains(&kind);
        if let Some((minor, ..)) = INTRODUCED.iter().find(is)
            && (given.major, given.minor) < (1, *minor)
        {
            let message = format!(
                "Kubernetes {}.{} does not serve `{kind}` of `{version}`, which is new in 1.{minor}",
                given.major, given.minor
            );
            findings.error(Rule::ApiNotYet, (it.path, "/apiVersion"), message);
        }
    }
}

/// APIs that a newer version of Kubernetes removed: objects, and resources that the CSV names with its CRDs.
fn not_in_sdk(bundle: &Loaded, severity: &dyn Fn(u64) -> Severity, findings: &mut Findings) {
    let mut check = |at: (&str, String), version: &str, kind: &str| {
        let is = |it: &&(u64, &str, &[&str])| it.1 == version && it.2.contains(&kind);
        if let Some((minor, ..)) = NOT_IN_SDK.iter().find(is) {
            let message = format!("Kubernetes 1.{minor} removed `{kind}` of `{version}`");
            findings.push(severity(*minor), Rule::ApiRemovedLater, at.into(), message);
        }
    };
    for it in &bundle.objects {
        let version = of::text(&it.object, "/apiVersion");
        check((it.path, "/apiVersion".to_owned()), version, of::kind(&it.object));
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

fn message(minor: u64, found: &Found) -> String {
    format!(
        "this bundle is using APIs which were deprecated and removed in v1.{minor}. More info: \
         https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-{minor}. Migrate the API(s) for {}",
        list(found)
    )
}

/// `CRD: (["a" "b"]),Role: (["c"])`.
pub fn list(found: &Found) -> String {
    let names = |it: &[String]| it.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>().join(" ");
    let kinds: Vec<String> =
        found.iter().map(|(kind, it)| format!("{kind}: ([{}])", names(it))).collect();
    kinds.join(",")
}

pub fn by_1_22(bundle: &Loaded) -> Found {
    let mut res = objects(bundle, BY_1_22);
    let betas = bundle.objects.iter().filter(|it| {
        of::kind(&it.object) == "CustomResourceDefinition"
            && of::text(&it.object, "/apiVersion") == "apiextensions.k8s.io/v1beta1"
    });
    for it in betas {
        res.entry("CRD".to_owned()).or_default().push(of::name(&it.object).to_owned());
    }
    res
}

fn objects(bundle: &Loaded, removed: &[(&str, &[&str])]) -> Found {
    let mut res = Found::new();
    for it in &bundle.objects {
        let kind = of::kind(&it.object);
        if is_in(removed, of::text(&it.object, "/apiVersion"), kind) {
            res.entry(kind.to_owned()).or_default().push(of::name(&it.object).to_owned());
        }
    }
    res
}

fn is_in(removed: &[(&str, &[&str])], version: &str, kind: &str) -> bool {
    removed.iter().any(|(it, kinds)| *it == version && kinds.contains(&kind))
}

/// Objects, and the resources that the CSV names with its CRDs.
fn in_1_25(bundle: &Loaded) -> Found {
    let mut res = objects(bundle, BY_1_25);
    if !is_known_version(bundle) {
        return res;
    }
    for (part, field) in [("Owned", "owned"), ("Required", "required")] {
        let crds =
            of::list(&bundle.csv.object, &format!("/spec/customresourcedefinitions/{field}"));
        for (at, crd) in crds.iter().enumerate() {
            for (place, resource) in of::list(crd, "/resources").iter().enumerate() {
                let kind = of::kind(resource);
                if is_in(BY_1_25, of::text(resource, "/version"), kind) {
                    res.entry(kind.to_owned()).or_default().push(format!(
                        "ClusterServiceVersion.Spec.CustomResourceDefinitions.{part}[{at}].Resource[{place}]"
                    ));
                }
            }
        }
    }
    res
}

fn is_known_version(bundle: &Loaded) -> bool {
    of::text(&bundle.csv.object, "/apiVersion") == "operators.coreos.com/v1alpha1"
}

/// Rules on resources of which the CSV does not name the kind, and with it the version.
fn granted(bundle: &Loaded) -> Found {
    let csv = &bundle.csv.object;
    if !is_known_version(bundle) {
        return Found::new();
    }
    let crds = ["owned", "required"]
        .iter()
        .flat_map(|it| of::list(csv, &format!("/spec/customresourcedefinitions/{it}")));
    let known: BTreeSet<String> = crds
        .flat_map(|it| of::list(it, "/resources"))
        .map(|it| format!("{}s", of::kind(it).to_lowercase()))
        .collect();
    let mut res = Found::new();
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
                            res.entry(resource.to_owned()).or_default().push(format!(
                                "ClusterServiceVersion.Spec.InstallStrategy.StrategySpec.{part}[{at}].Rules[{place}]"
                            ));
                        }
                    }
                }
            }
        }
    }
    res
}

//! Who names another object by what it was called gets what it is called now.
//!
//! The tables are kustomize 5.8.1's own; its `IngressClass` entry, which never selects anything, is left out.

use super::{
    fields::Field,
    object::{Id, Object, Objects},
};
use crate::yaml::Value;

/// The kind that is named, and where it is.
struct Reference {
    target: Target,
    field: Field,
}

#[derive(Clone, Copy)]
struct Target {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

impl Target {
    fn selects(&self, id: &Id) -> bool {
        let is = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        is(self.group, &id.group) && is(self.version, &id.version) && self.kind == id.kind
    }
}

pub fn fix(objects: &mut Objects) -> anyhow::Result<()> {
    for at in 0..objects.0.len() {
        let references = references(&objects.0[at].original_id().kind);
        if references.is_empty() {
            continue;
        }
        let mut fixed = objects.0[at].clone();
        for Reference { target, field } in references {
            let search =
                Search { objects, referrer: &objects.0[at], target: &target, field: &field };
            field.visit(&mut fixed, None, &mut |it| set(it, &search))?;
        }
        objects.0[at] = fixed;
    }
    Ok(())
}

fn set(value: &mut Value, search: &Search<'_>) -> anyhow::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|it| match it {
            Value::Null => Ok(()),
            it => set(it, search),
        }),
        Value::Object(map) => {
            let Some(name) = map.get("name").and_then(Value::as_str) else {
                anyhow::bail!("there is no `name` there");
            };
            let namespace = map.get("namespace").and_then(Value::as_str);
            let found = search.find(name, search.candidates(namespace), true)?;
            if let Some(found) = found {
                map.insert("name".to_owned(), found.name().into());
                if !found.namespace().is_empty() {
                    map.insert("namespace".to_owned(), found.namespace().into());
                }
            }
            Ok(())
        }
        Value::String(name) => {
            if let Some(found) = search.find(name, search.visible(), false)? {
                *name = found.name().to_owned();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

struct Search<'a> {
    objects: &'a Objects,
    referrer: &'a Object,
    target: &'a Target,
    field: &'a Field,
}

impl<'a> Search<'a> {
    /// What the referrer can name at all: what is in its namespace, what is in none, and, for a
    /// RoleBinding, what is in its subjects' namespaces.
    fn visible(&self) -> Vec<&'a Object> {
        let own = self.referrer.id();
        let subjects = match &self.referrer.value["subjects"] {
            Value::Array(list) if self.referrer.kind() == "RoleBinding" => list.as_slice(),
            _ => &[],
        };
        let sees = |it: &&Object| {
            let id = it.id();
            own.is_cluster_scoped()
                || id.is_cluster_scoped()
                || id.namespace == own.namespace
                || subjects.iter().any(|subject| {
                    subject["kind"] == "ServiceAccount" && subject["namespace"] == it.namespace()
                })
        };
        self.objects.0.iter().filter(sees).collect()
    }

    /// Of those, what was, or else is, in the namespace that is named.
    fn candidates(&self, namespace: Option<&str>) -> Vec<&'a Object> {
        let mut all = self.visible();
        let Some(namespace) = namespace else { return all };
        let originally = |it: &&Object| it.original_id().namespace == namespace;
        if all.iter().any(|it| originally(it)) {
            all.retain(|it| originally(it));
        } else {
            all.retain(|it| it.id().namespace == namespace);
        }
        all
    }

    fn find(
        &self,
        name: &str,
        mut candidates: Vec<&'a Object>,
        with_namespace: bool,
    ) -> anyhow::Result<Option<&'a Object>> {
        candidates.retain(|it| it.former_ids().any(|it| it.name == name));
        candidates.retain(|it| it.former_ids().any(|it| self.target.selects(&it)));
        if self.field.path.ends_with("roleRef/name") {
            let role = &self.referrer.value["roleRef"];
            if let (Some(group), Some(kind)) = (role["apiGroup"].as_str(), role["kind"].as_str()) {
                candidates.retain(|it| {
                    it.former_ids().any(|it| {
                        (group.is_empty() || it.group == group)
                            && (kind.is_empty() || it.kind == kind)
                    })
                });
            }
        }
        let own = self.referrer.id();
        candidates.retain(|it| {
            own.is_cluster_scoped()
                || it.is_cluster_scoped()
                || it.kind() == "ServiceAccount"
                || it.id().namespace == own.namespace
        });
        if candidates.len() == 1 {
            return Ok(candidates.pop());
        }
        candidates.retain(|it| self.same_affixes(it, true));
        if candidates.len() > 1 {
            candidates.retain(|it| self.same_affixes(it, false));
        }
        let Some(first) = candidates.first() else { return Ok(None) };
        let same = |it: &&Object| {
            it.name() == first.name() && (!with_namespace || it.namespace() == first.namespace())
        };
        if candidates.iter().all(same) {
            return Ok(Some(first));
        }
        let all: Vec<String> = candidates.iter().map(|it| it.id().to_string()).collect();
        anyhow::bail!("`{name}` could be each of {}", all.join(", "))
    }

    fn same_affixes(&self, other: &Object, empty_is_any: bool) -> bool {
        let same = |a: &[String], b: &[String]| {
            let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
            match short {
                [] => empty_is_any || long.is_empty(),
                short => long.ends_with(short),
            }
        };
        same(&self.referrer.prefixes, &other.prefixes)
            && same(&self.referrer.suffixes, &other.suffixes)
    }
}

/// The references that objects of a kind hold.
fn references(kind: &str) -> Vec<Reference> {
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

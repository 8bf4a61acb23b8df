//! Objects that manifests refer to and that are in none of them: accounts, configuration, secrets, roles, Services.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Id;
use diagnostics::Diagnostic;
use go_data::yaml::Value;
use olm::bundle::InputObject;

/// A reference of an object to another one that has to be on the cluster, too.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectReference {
    /// The path of the field, e.g. `spec.template.spec.serviceAccountName`.
    pub field: String,
    kind: &'static str,
    name: String,
    namespace: String,
}

impl ObjectReference {
    pub fn message(&self) -> String {
        format!(
            "`{}` names the {} `{}`, which is in none of the manifests",
            self.field, self.kind, self.name
        )
    }
}

const HINT: &str = "add it to the manifests, or create it on the cluster before";

/// Returns the references of `objects` to what none of `all` is or creates, each with the object that has it. Each
/// missing object is named once.
pub fn missing<'a>(
    objects: impl IntoIterator<Item = &'a Value>,
    all: &[&Value],
) -> Vec<(&'a Value, ObjectReference)> {
    let provided = ProvidedObjects::new(all);
    let mut missing: Vec<(&Value, ObjectReference)> = Vec::new();
    let mut seen = BTreeSet::new();
    for object in objects {
        for reference in collect_references(object) {
            if is_built_in(&reference) || provided.has_object(&reference) {
                continue;
            }
            let key = (reference.kind, reference.name.clone(), reference.namespace.clone());
            if seen.insert(key) {
                missing.push((object, reference));
            }
        }
    }
    missing
}

/// The same as warnings; `file_of` knows the files of objects.
pub fn warnings<'a>(
    objects: &'a [Value],
    file_of: impl Fn(&Value) -> Option<&'a str>,
) -> Vec<Diagnostic> {
    let all: Vec<&Value> = objects.iter().collect();
    let warning = |(object, reference): (&Value, ObjectReference)| {
        let Id { kind, name, .. } = Id::of(object);
        let message = format!("{kind}/{name}: {}", reference.message());
        let diagnostic = match file_of(object) {
            Some(file) => Diagnostic::in_file(file, message),
            None => Diagnostic::from(message),
        };
        diagnostic.with_hint(HINT)
    };
    missing(objects, &all).into_iter().map(warning).collect()
}

/// The same for the objects of a bundle. OLM creates accounts, and the Services of webhooks.
pub fn warnings_in_bundle(objects: &[InputObject]) -> Vec<Diagnostic> {
    let all: Vec<&Value> = objects.iter().map(|object| &object.value).collect();
    let mut missing = missing(all.iter().copied(), &all);
    missing.retain(|(_, reference)| !["ServiceAccount", "Service"].contains(&reference.kind));
    let warning = |(value, reference): (&Value, ObjectReference)| {
        let Id { kind, name, .. } = Id::of(value);
        let message = format!("{kind}/{name}: {}", reference.message());
        let origin = objects.iter().find(|object| std::ptr::eq(&raw const object.value, value));
        let diagnostic = match origin.and_then(|object| object.origin.as_ref()) {
            Some(origin) => {
                let diagnostic = Diagnostic::in_file(&origin.file, message);
                origin.line.map_or(diagnostic.clone(), |line| diagnostic.at_position(line, 1))
            }
            None => Diagnostic::from(message),
        };
        diagnostic.with_hint(HINT)
    };
    missing.into_iter().map(warning).collect()
}

/// Returns whether every cluster has it.
fn is_built_in(reference: &ObjectReference) -> bool {
    let name = reference.name.as_str();
    match reference.kind {
        "ServiceAccount" => name == "default",
        "ConfigMap" => name == "kube-root-ca.crt",
        "ClusterRole" => {
            ["admin", "cluster-admin", "edit", "view"].contains(&name)
                || name.starts_with("system:")
        }
        "Service" => name == "kubernetes",
        _ => false,
    }
}

/// The objects that exist or are created, such as the Secret of a Certificate: the namespaces, by kind and name.
struct ProvidedObjects(BTreeMap<(String, String), BTreeSet<String>>);

impl ProvidedObjects {
    fn new(objects: &[&Value]) -> Self {
        let mut provided: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for object in objects {
            let id = Id::of(object);
            let mut add = |kind: &str, name: &str| {
                let namespaces = provided.entry((kind.to_owned(), name.to_owned())).or_default();
                namespaces.insert(id.namespace.clone());
            };
            add(&id.kind, &id.name);
            // Certificates and the Secrets of other operators, such as ExternalSecret and SealedSecret.
            if !id.group().is_empty() {
                for pointer in ["/spec/secretName", "/spec/target/name"] {
                    if let Some(name) = object.pointer(pointer).and_then(Value::as_str) {
                        add("Secret", name);
                    }
                }
                if id.kind.ends_with("Secret") {
                    add("Secret", &id.name);
                }
            }
            if object.pointer("/spec/target/configMap").is_some() {
                add("ConfigMap", &id.name);
            }
        }
        Self(provided)
    }

    /// Returns whether an object is there. One without a namespace can be in any.
    fn has_object(&self, reference: &ObjectReference) -> bool {
        let key = (reference.kind.to_owned(), reference.name.clone());
        let mut namespaces = self.0.get(&key).into_iter().flatten();
        let is_in = |namespace: &String| {
            *namespace == reference.namespace
                || namespace.is_empty()
                || reference.namespace.is_empty()
        };
        namespaces.any(is_in)
    }
}

/// Collects the objects that an object needs on the cluster. Optional references are left out.
fn collect_references(object: &Value) -> Vec<ObjectReference> {
    let id = Id::of(object);
    let mut found = ReferenceCollector { namespace: &id.namespace, list: Vec::new() };
    let pods = match (id.group(), id.kind.as_str()) {
        ("", "Pod") => "spec",
        ("batch", "CronJob") => "spec.jobTemplate.spec.template.spec",
        _ => "spec.template.spec",
    };
    let is_workload = matches!(
        (id.group(), id.kind.as_str()),
        ("", "Pod")
            | ("apps", "Deployment" | "StatefulSet" | "DaemonSet")
            | ("batch", "Job" | "CronJob")
    );
    if is_workload {
        let spec = object.pointer(&format!("/{}", pods.replace('.', "/"))).unwrap_or(&Value::Null);
        found.of_pods(spec, pods);
    }
    match (id.group(), id.kind.as_str()) {
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            let role = &object["roleRef"];
            match role["kind"].as_str() {
                Some("ClusterRole") => {
                    found.add_reference("ClusterRole", &role["name"], "roleRef.name".to_owned());
                    found.without_namespace();
                }
                // API servers refuse a Role in a ClusterRoleBinding.
                Some("Role") if id.kind == "RoleBinding" => {
                    found.add_reference("Role", &role["name"], "roleRef.name".to_owned());
                }
                _ => {}
            }
        }
        ("admissionregistration.k8s.io", _) => {
            for (at, webhook) in enumerate_items(&object["webhooks"]) {
                let service = &webhook["clientConfig"]["service"];
                found.add_service(service, format!("webhooks[{at}].clientConfig.service"));
            }
        }
        (Id::CRDS, _) => {
            let service = &object["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
            found.add_service(service, "spec.conversion.webhook.clientConfig.service".to_owned());
        }
        _ => {}
    }
    found.list
}

struct ReferenceCollector<'a> {
    namespace: &'a str,
    list: Vec<ObjectReference>,
}

impl ReferenceCollector<'_> {
    fn add_reference(&mut self, kind: &'static str, name: &Value, field: String) {
        let Some(name) = name.as_str().filter(|name| !name.is_empty()) else { return };
        let namespace = self.namespace.to_owned();
        self.list.push(ObjectReference { field, kind, name: name.to_owned(), namespace });
    }

    fn without_namespace(&mut self) {
        if let Some(last) = self.list.last_mut() {
            last.namespace.clear();
        }
    }

    /// The Service of a webhook, which names its namespace.
    fn add_service(&mut self, service: &Value, field: String) {
        let before = self.list.len();
        self.add_reference("Service", &service["name"], field);
        for reference in &mut self.list[before..] {
            reference.namespace = service["namespace"].as_str().unwrap_or_default().to_owned();
        }
    }

    /// One of a pod's sources of configuration, which may be optional.
    fn add_source(&mut self, kind: &'static str, source: &Value, key: &str, field: String) {
        if source["optional"] != true {
            self.add_reference(kind, &source[key], format!("{field}.{key}"));
        }
    }

    fn of_pods(&mut self, spec: &Value, at: &str) {
        self.add_reference(
            "ServiceAccount",
            &spec["serviceAccountName"],
            format!("{at}.serviceAccountName"),
        );
        for (index, secret) in enumerate_items(&spec["imagePullSecrets"]) {
            self.add_reference(
                "Secret",
                &secret["name"],
                format!("{at}.imagePullSecrets[{index}].name"),
            );
        }
        for (index, volume) in enumerate_items(&spec["volumes"]) {
            let field = format!("{at}.volumes[{index}]");
            self.add_source("Secret", &volume["secret"], "secretName", format!("{field}.secret"));
            self.add_source(
                "ConfigMap",
                &volume["configMap"],
                "name",
                format!("{field}.configMap"),
            );
            let claim = &volume["persistentVolumeClaim"]["claimName"];
            self.add_reference(
                "PersistentVolumeClaim",
                claim,
                format!("{field}.persistentVolumeClaim.claimName"),
            );
            for (part, source) in enumerate_items(&volume["projected"]["sources"]) {
                let field = format!("{field}.projected.sources[{part}]");
                self.add_source("Secret", &source["secret"], "name", format!("{field}.secret"));
                self.add_source(
                    "ConfigMap",
                    &source["configMap"],
                    "name",
                    format!("{field}.configMap"),
                );
            }
        }
        for list in ["initContainers", "containers"] {
            for (index, container) in enumerate_items(&spec[list]) {
                self.of_container(container, &format!("{at}.{list}[{index}]"));
            }
        }
    }

    fn of_container(&mut self, container: &Value, at: &str) {
        for (index, variable) in enumerate_items(&container["env"]) {
            let field = format!("{at}.env[{index}].valueFrom");
            let from = &variable["valueFrom"];
            self.add_source(
                "Secret",
                &from["secretKeyRef"],
                "name",
                format!("{field}.secretKeyRef"),
            );
            let map = &from["configMapKeyRef"];
            self.add_source("ConfigMap", map, "name", format!("{field}.configMapKeyRef"));
        }
        for (index, from) in enumerate_items(&container["envFrom"]) {
            let field = format!("{at}.envFrom[{index}]");
            self.add_source("Secret", &from["secretRef"], "name", format!("{field}.secretRef"));
            self.add_source(
                "ConfigMap",
                &from["configMapRef"],
                "name",
                format!("{field}.configMapRef"),
            );
        }
    }
}

fn enumerate_items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::{self, Dialect};

    const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns}\nspec: {template: {spec: {";

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let objects = yaml::parse_documents(text, Dialect::Kubernetes).expect("it is YAML");
        let found: Vec<String> =
            warnings(&objects, |_| None).into_iter().map(|warning| warning.message).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_pods_refer_to_is_missing_unless_it_is_there_optional_or_built_in() {
        let account = format!("{DEPLOYMENT}serviceAccountName: b}}}}}}\n");
        let warning = "Deployment/a: `spec.template.spec.serviceAccountName` names the ServiceAccount `b`, which is in none of the manifests";
        check(&account, &[warning]);
        let there = |namespace: &str| {
            format!(
                "{account}---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: b{namespace}}}\n"
            )
        };
        check(&there(""), &[]);
        check(&there(", namespace: ns"), &[]);
        check(&there(", namespace: other"), &[warning]);
        check(&account.replace("Name: b", "Name: default"), &[]);
        let secret =
            format!("{DEPLOYMENT}volumes: [{{name: v, secret: {{secretName: s}}}}]}}}}}}\n");
        let warning = "Deployment/a: `spec.template.spec.volumes[0].secret.secretName` names the Secret `s`, which is in none of the manifests";
        check(&secret, &[warning]);
        check(&secret.replace("secretName: s", "secretName: s, optional: true"), &[]);
        let certificate = "---\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c, namespace: ns}\nspec: {secretName: s}\n";
        check(&(secret.clone() + certificate), &[]);
        let pull = format!(
            "{DEPLOYMENT}imagePullSecrets: [{{name: s}}], volumes: [{{name: v, secret: {{secretName: s}}}}]}}}}}}\n"
        );
        check(
            &pull,
            &[
                "Deployment/a: `spec.template.spec.imagePullSecrets[0].name` names the Secret `s`, which is in none of the manifests",
            ],
        );
        let from = format!(
            "{DEPLOYMENT}containers: [{{name: c, envFrom: [{{configMapRef: {{name: m}}}}]}}]}}}}}}\n"
        );
        check(
            &from,
            &[
                "Deployment/a: `spec.template.spec.containers[0].envFrom[0].configMapRef.name` names the ConfigMap `m`, which is in none of the manifests",
            ],
        );
    }

    #[test]
    fn roles_and_services_are_missing_unless_they_are_there_or_built_in() {
        let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a, namespace: ns}\nroleRef: {kind: Role, name: r}\n";
        check(
            binding,
            &[
                "RoleBinding/a: `roleRef.name` names the Role `r`, which is in none of the manifests",
            ],
        );
        check(
            &binding
                .replace("kind: Role,", "kind: ClusterRole,")
                .replace("name: r}", "name: view}"),
            &[],
        );
        let there = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n";
        check(&(binding.replace("kind: Role,", "kind: ClusterRole,") + there), &[]);
        let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\nwebhooks: [{clientConfig: {service: {name: s, namespace: ns}}}]\n";
        check(
            webhook,
            &[
                "ValidatingWebhookConfiguration/a: `webhooks[0].clientConfig.service` names the Service `s`, which is in none of the manifests",
            ],
        );
        check(
            &format!(
                "{webhook}---\napiVersion: v1\nkind: Service\nmetadata: {{name: s, namespace: ns}}\n"
            ),
            &[],
        );
    }
}

//! The kinds that an operator itself needs to start, and its namespace, which their webhooks have to leave out.

use crate::app::config::roles;
use crate::project::{Certificates, DEFAULT_CONFIG, Project, Resource};
use go_data::yaml::{self, Dialect, Value, pointer};
use model::{ProjectPath, Tree};

/// By the API group.
const KINDS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "ConfigMap",
            "Endpoints",
            "Namespace",
            "Node",
            "Pod",
            "Secret",
            "Service",
            "ServiceAccount",
        ],
    ),
    ("apps", &["Deployment", "ReplicaSet"]),
    ("coordination.k8s.io", &["Lease"]),
    ("discovery.k8s.io", &["EndpointSlice"]),
];

const CERT_MANAGER: (&str, &[&str]) =
    ("cert-manager.io", &["Certificate", "CertificateRequest", "Issuer"]);

/// Returns the kinds without which the operator cannot start, each after its API group.
pub fn kinds(project: &Project) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has_issuer = project.inputs.certificates == Certificates::CertManager;
    let all = KINDS.iter().chain(has_issuer.then_some(&CERT_MANAGER));
    all.flat_map(|(group, kinds)| kinds.iter().map(|kind| (*group, *kind)))
}

/// Returns whether the operator cannot start while API servers refuse the objects of this kind.
pub fn is_needed(project: &Project, resource: &Resource) -> bool {
    let (group, kind) = (resource.api_group(), resource.kind.to_string());
    kinds(project).any(|other| other == (&*group, &*kind))
}

/// Returns whether a kind that is needed is one of objects outside of namespaces, which are no namespaces themselves.
pub fn is_outside_of_namespaces(kind: &str) -> bool {
    kind == "Node"
}

/// Returns the plural of a kind that is needed.
pub fn plural(kind: &str) -> String {
    let word = kind.to_lowercase();
    if word.ends_with('s') { word } else { word + "s" }
}

/// Returns the namespace that config/default puts the operator into.
pub fn namespace(project: &Project, tree: &impl Tree) -> anyhow::Result<String> {
    let list = render_default(tree)?;
    let found = list.iter().find_map(|object| object["namespace"].as_str());
    Ok(found.map_or_else(|| roles::namespace(project), str::to_owned))
}

/// Returns whether config/default lists the Service of the metrics.
pub fn has_metrics_service(tree: &impl Tree) -> anyhow::Result<bool> {
    let list = render_default(tree)?;
    let mut files = list.iter().flat_map(|value| pointer::texts(value, "/resources"));
    Ok(files.any(|file| file.trim_start_matches("./") == "metrics_service.yaml"))
}

fn render_default(tree: &impl Tree) -> anyhow::Result<Vec<Value>> {
    let list = ProjectPath::fixed(DEFAULT_CONFIG).join("kustomization.yaml")?;
    let text = tree.read_text(&list)?.unwrap_or_default();
    Ok(yaml::parse_documents(&text, Dialect::Kubernetes).unwrap_or_default())
}

//! The kinds that an operator itself needs to start, and its namespace, which their webhooks have to leave out.

use crate::app::{binding, rendered::EVERYTHING};
use crate::project::{Certificates, Project, Resource};
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

/// Whether the operator cannot start while API servers refuse the objects of this kind.
pub fn is_needed(project: &Project, resource: &Resource) -> bool {
    let is = |(group, kinds): &(&str, &[&str])| {
        resource.api_group() == *group && kinds.contains(&&*resource.kind.to_string())
    };
    let has_issuer = project.inputs.certificates == Certificates::CertManager;
    KINDS.iter().any(is) || has_issuer && is(&CERT_MANAGER)
}

/// The namespace that config/default puts the operator into.
pub fn namespace(project: &Project, tree: &impl Tree) -> anyhow::Result<String> {
    let list = everything(tree)?;
    let found = list.iter().find_map(|it| it["namespace"].as_str());
    Ok(found.map_or_else(|| binding::namespace(project), str::to_owned))
}

/// Whether config/default lists the Service of the metrics.
pub fn has_metrics_service(tree: &impl Tree) -> anyhow::Result<bool> {
    let list = everything(tree)?;
    let mut files = list.iter().flat_map(|it| pointer::texts(it, "/resources"));
    Ok(files.any(|it| it.trim_start_matches("./") == "metrics_service.yaml"))
}

fn everything(tree: &impl Tree) -> anyhow::Result<Vec<Value>> {
    let list = ProjectPath::fixed(EVERYTHING).join("kustomization.yaml")?;
    let text = tree.read(&list)?.unwrap_or_default();
    Ok(yaml::documents(&text, Dialect::Kubernetes).unwrap_or_default())
}

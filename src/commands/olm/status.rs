//! `operator-rs olm status`

use std::collections::BTreeSet;

use crate::{
    app::cluster_access::cluster_args::{self, ClusterAddress},
    terminal::{self, Look, Text},
};
use cluster::{Cluster, Id};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Namespace;
use olm::lifecycle::V1_ALPHA1;

/// Show the version and the health of OLM on a cluster; fail if it is not healthy
#[derive(clap::Args)]
#[command(
    arg(crate::commands::hidden_dir()),
    after_help = "\
Examples:
  operator-rs olm status
  operator-rs olm status --context staging"
)]
pub struct Args {
    /// Namespace of OLM
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    olm_namespace: Namespace,
    #[command(flatten)]
    address: ClusterAddress,
}

pub const NAMESPACE: &str = "olm";

/// The kinds of OLM v0, and the plurals in the names of their CRDs.
const KINDS: [(&str, &str); 8] = [
    ("CatalogSource", "catalogsources"),
    ("ClusterServiceVersion", "clusterserviceversions"),
    ("InstallPlan", "installplans"),
    ("OLMConfig", "olmconfigs"),
    ("OperatorCondition", "operatorconditions"),
    ("OperatorGroup", "operatorgroups"),
    ("Operator", "operators"),
    ("Subscription", "subscriptions"),
];

/// The namespaces of OLM v1: that of its releases, and those of OpenShift.
const V1_NAMESPACES: [&str; 3] =
    ["olmv1-system", "openshift-catalogd", "openshift-operator-controller"];

impl Args {
    pub fn run(self) -> anyhow::Result<()> {
        let cluster = self.address.connect()?;
        cluster_args::with_hint(print(&cluster, &self.olm_namespace.to_string()))
    }
}

/// One line of the table.
struct Row {
    id: Id,
    status: String,
    is_healthy: bool,
}

impl Row {
    fn missing_crd(plural: &str) -> Self {
        let id = Id {
            api_version: "apiextensions.k8s.io/v1".to_owned(),
            kind: "CustomResourceDefinition".to_owned(),
            namespace: String::new(),
            name: format!("{plural}.operators.coreos.com"),
        };
        Self { id, status: "missing".to_owned(), is_healthy: false }
    }
}

/// Prints the table; fails if there is no OLM, or something of it is not healthy.
pub fn print(cluster: &Cluster, namespace: &str) -> anyhow::Result<()> {
    let mut missing = Vec::new();
    for (kind, plural) in KINDS {
        let mut is_served = false;
        for version in ["v1alpha1", "v1", "v2"] {
            is_served |= cluster.serves(&format!("operators.coreos.com/{version}"), kind)?;
        }
        if !is_served {
            missing.push(Row::missing_crd(plural));
        }
    }
    let has_v0 = missing.len() < KINDS.len();
    let has_v1 = cluster.serves("olm.operatorframework.io/v1", "ClusterExtension")?;
    if !has_v0 && !has_v1 {
        return Err(anyhow::format_err!("OLM is not installed on {}", cluster.server))
            .hint("install it with `operator-rs olm install`");
    }
    let mut rows = Vec::new();
    let mut version = None;
    if has_v0 {
        for csv in cluster.list(V1_ALPHA1, "ClusterServiceVersion", namespace)? {
            if csv["metadata"]["name"] == "packageserver" {
                version = csv["spec"]["version"].as_str().map(str::to_owned);
                rows.push(phase_row(&csv));
            }
        }
        rows.extend(deployment_rows(cluster, namespace)?);
        let catalogs = cluster.list(V1_ALPHA1, "CatalogSource", namespace)?;
        rows.extend(catalogs.iter().map(catalog_row));
        if !rows.iter().any(|row| row.id.kind == "Deployment") {
            let some = if missing.is_empty() { "OLM's CRDs are" } else { "some of OLM's CRDs are" };
            return Err(anyhow::format_err!("{some} installed, but namespace `{namespace}` has no Deployment of OLM"))
                .hint("name OLM's namespace with `--olm-namespace`, complete the installation with `operator-rs olm install`, or remove the rest with `operator-rs olm uninstall`");
        }
        rows.extend(missing);
        let version = version.as_deref().unwrap_or("(unknown version)");
        terminal::print(&format!("OLM {version} in namespace {namespace}\n"));
    }
    if has_v1 {
        let of_v1 = deployments_of_v1(cluster)?;
        let namespaces: BTreeSet<&str> = of_v1.iter().map(|row| &*row.id.namespace).collect();
        let namespaces = namespaces.into_iter().collect::<Vec<_>>().join(", ");
        terminal::print(&format!("OLM v1 in namespace {namespaces}\n"));
        rows.extend(of_v1);
    }
    terminal::print_styled(&render_table(&rows));
    let sick: Vec<&Row> = rows.iter().filter(|row| !row.is_healthy).collect();
    let is_incomplete = sick.iter().any(|row| row.id.is_crd());
    if sick.is_empty() {
        return Ok(());
    }
    let mut text = "OLM is not healthy:".to_owned();
    for row in sick {
        text += &format!("\n  {}: {}", row.id, row.status);
        if row.id.is_workload() {
            let headline = format!("{}: {}", row.id, row.status);
            for line in
                cluster.explain_unavailability(&row.id)?.iter().filter(|line| **line != headline)
            {
                text += &format!("\n    {line}");
            }
        }
    }
    if is_incomplete {
        Err(anyhow::Error::msg(text)).hint("complete the installation with `operator-rs olm install`, or the removal with `operator-rs olm uninstall`")
    } else {
        Err(anyhow::Error::msg(text))
    }
}

/// Fails if one of OLM v1's two operators has no Deployment.
fn deployments_of_v1(cluster: &Cluster) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for namespace in V1_NAMESPACES {
        rows.extend(deployment_rows(cluster, namespace)?);
    }
    for name in ["catalogd", "operator-controller"] {
        if !rows.iter().any(|row| row.id.name.contains(name)) {
            return Err(anyhow::format_err!("OLM v1's CRDs are installed, but namespace `{}` has no Deployment of {name}", V1_NAMESPACES[0]))
                .hint("complete the installation with the script of a release on https://github.com/operator-framework/operator-controller/releases");
        }
    }
    Ok(rows)
}

fn phase_row(csv: &Value) -> Row {
    let phase = csv["status"]["phase"].as_str().unwrap_or("not processed by OLM yet");
    let is_healthy = phase == "Succeeded";
    let message = csv["status"]["message"].as_str().unwrap_or_default();
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let status = if is_healthy || message.is_empty() {
        phase.to_owned()
    } else {
        format!("{phase}: {message}")
    };
    Row { id: Id::of(csv), status, is_healthy }
}

fn deployment_rows(cluster: &Cluster, namespace: &str) -> anyhow::Result<Vec<Row>> {
    let all = cluster.list("apps/v1", "Deployment", namespace)?;
    Ok(all
        .iter()
        .map(|deployment| {
            let number = |value: &Value| value.as_i64().unwrap_or_default();
            let replicas = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
            let available = number(&deployment["status"]["availableReplicas"]);
            let status = format!("{available} of {replicas} replicas are available");
            Row {
                id: Id::of(deployment),
                status,
                is_healthy: replicas > 0 && replicas <= available,
            }
        })
        .collect())
}

/// A catalog that cannot be reached does not stop OLM from working.
fn catalog_row(source: &Value) -> Row {
    let state = source["status"]["connectionState"]["lastObservedState"].as_str();
    let status = format!("connection: {}", state.unwrap_or("none yet"));
    Row { id: Id::of(source), status, is_healthy: true }
}

fn render_table(rows: &[Row]) -> Text {
    let mut lines = vec![["NAME", "NAMESPACE", "KIND", "STATUS"].map(Text::from)];
    lines.extend(rows.iter().map(|Row { id, status, is_healthy }| {
        let look = if *is_healthy { Look::Plain } else { Look::Bad };
        [&id.name, &id.namespace, &id.kind, status].map(|cell| Text::new(look, cell))
    }));
    terminal::format_table(&lines).into_iter().collect()
}

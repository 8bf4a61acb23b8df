//! What the files of a bundle say about its operator.

use anyhow::Context as _;

use super::{InstallMode, texts};
use go_data::yaml::{self, Dialect, Value};
use model::Files;
use model::ProjectPath;

const PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";
const MANIFESTS: &str = "operators.operatorframework.io.bundle.manifests.v1";
const CHANNELS: &str = "operators.operatorframework.io.bundle.channels.v1";
const DEFAULT_CHANNEL: &str = "operators.operatorframework.io.bundle.channel.default.v1";

/// One version of an operator.
#[derive(Debug)]
pub struct Release {
    pub package: String,
    /// The channel to subscribe to: the default one, or the first.
    pub channel: String,
    /// The ClusterServiceVersion.
    pub csv: Value,
    /// The other manifests.
    pub manifests: Vec<Value>,
}

impl Release {
    /// Reads a bundle that `bundle validate` accepts.
    pub fn read(files: &Files) -> anyhow::Result<Self> {
        let annotations = annotations(files)?;
        let text = |key: &str| annotations[key].as_str().map(str::trim).filter(|it| !it.is_empty());
        let package = text(PACKAGE).with_context(|| format!("the bundle has no `{PACKAGE}`"))?;
        let first = text(CHANNELS).and_then(|it| it.split(',').next()).map(str::trim);
        let channel = text(DEFAULT_CHANNEL).or(first).filter(|it| !it.is_empty());
        let channel = channel.with_context(|| format!("the bundle has no `{CHANNELS}`"))?;
        let folder = text(MANIFESTS).unwrap_or("manifests/").trim_matches('/').to_owned() + "/";
        let (mut csvs, mut manifests) = (Vec::new(), Vec::new());
        for (path, bytes) in files.iter().filter(|it| it.0.as_str().starts_with(&folder)) {
            let object = document(path, bytes)?;
            if object["kind"] == "ClusterServiceVersion" {
                csvs.push(object);
            } else {
                manifests.push(object);
            }
        }
        let csv = csvs.pop().filter(|_| csvs.is_empty());
        let csv = csv.context("the bundle must have exactly one ClusterServiceVersion")?;
        csv["metadata"]["name"].as_str().context("the ClusterServiceVersion has no name")?;
        Ok(Self { package: package.to_owned(), channel: channel.to_owned(), csv, manifests })
    }

    pub fn name(&self) -> &str {
        self.csv["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Whether the operator can be installed in this way.
    pub fn supports(&self, mode: &InstallMode) -> bool {
        let modes = self.csv["spec"]["installModes"].as_array();
        // Of two entries of one type, OLM uses the last.
        let found = modes.into_iter().flatten().rfind(|it| it["type"] == mode.kind());
        found.is_some_and(|it| it["supported"] == true)
    }

    /// The types of the install modes that it supports.
    pub fn modes(&self) -> Vec<&'static str> {
        InstallMode::KINDS.into_iter().filter(|it| self.supports_kind(it)).collect()
    }

    fn supports_kind(&self, kind: &str) -> bool {
        let modes = self.csv["spec"]["installModes"].as_array();
        let found = modes.into_iter().flatten().rfind(|it| it["type"] == *kind);
        found.is_some_and(|it| it["supported"] == true)
    }
}

/// `metadata/annotations.yaml`, under whatever name.
fn annotations(files: &Files) -> anyhow::Result<Value> {
    for (path, bytes) in files.iter().filter(|it| it.0.as_str().starts_with("metadata/")) {
        let mut document = document(path, bytes)?;
        let annotations = document.get_mut("annotations").map(Value::take).unwrap_or_default();
        if annotations.get(PACKAGE).is_some() || annotations.get(MANIFESTS).is_some() {
            return Ok(annotations);
        }
    }
    anyhow::bail!("the bundle has no metadata/annotations.yaml")
}

/// The first document of a file, which is all that OLM reads.
fn document(path: &ProjectPath, bytes: &[u8]) -> anyhow::Result<Value> {
    let text = std::str::from_utf8(bytes).with_context(|| format!("{path} is not UTF-8 text"))?;
    let documents = yaml::documents(text, Dialect::Kubernetes);
    let documents = documents.with_context(|| format!("cannot read {path}"))?;
    Ok(documents.into_iter().next().unwrap_or_default())
}

/// The CRDs that a ClusterServiceVersion owns, by their names.
pub fn owned_crds(csv: &Value) -> Vec<String> {
    let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array();
    let mut res: Vec<String> = owned
        .into_iter()
        .flatten()
        .filter_map(|it| it["name"].as_str().map(str::to_owned))
        .collect();
    res.sort();
    res.dedup();
    res
}

/// The names of the Deployments that a ClusterServiceVersion installs.
pub fn deployments(csv: &Value) -> Vec<String> {
    let all = csv["spec"]["install"]["spec"]["deployments"].as_array().into_iter().flatten();
    all.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
}

/// The service accounts that OLM creates for a ClusterServiceVersion: every namespace has `default`.
pub fn accounts(csv: &Value) -> std::collections::BTreeSet<String> {
    let spec = &csv["spec"]["install"]["spec"];
    let all = [&spec["permissions"], &spec["clusterPermissions"]].into_iter();
    let all = all.filter_map(Value::as_array).flatten();
    let all = all.filter_map(|it| it["serviceAccountName"].as_str());
    all.filter(|it| *it != "default").map(str::to_owned).collect()
}

/// The namespaces of an OperatorGroup's specification.
pub fn targets(group: &Value) -> Vec<String> {
    texts(&group["spec"]["targetNamespaces"])
}

//! What the files of a bundle say about its operator.

use anyhow::Context as _;

use super::{InstallMode, texts};
use crate::bundle::{
    annotations::{CHANNELS, DEFAULT_CHANNEL, PACKAGE},
    validate::load::Loaded,
};
use go_data::yaml::Value;
use model::Files;

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
    /// Reads a bundle. `label` is its name in messages.
    pub fn read(label: &str, files: &Files) -> anyhow::Result<Self> {
        let bundle = Loaded::read(label, files)?;
        let text = |key: &str| {
            let text = bundle.annotations.get(key).map(|it| it.trim());
            text.filter(|it| !it.is_empty())
        };
        let package = text(PACKAGE).with_context(|| format!("`{label}` has no `{PACKAGE}`"))?;
        let first = text(CHANNELS).and_then(|it| it.split(',').next()).map(str::trim);
        let channel = text(DEFAULT_CHANNEL).or(first).filter(|it| !it.is_empty());
        let channel = channel.with_context(|| format!("`{label}` has no `{CHANNELS}`"))?;
        let csv = bundle.written_csv().clone();
        csv["metadata"]["name"].as_str().context("the ClusterServiceVersion has no name")?;
        let manifests = bundle.others().map(|it| it.object.clone()).collect();
        Ok(Self { package: package.to_owned(), channel: channel.to_owned(), csv, manifests })
    }

    pub fn name(&self) -> &str {
        self.csv["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Whether the operator can be installed in this way.
    pub fn supports(&self, mode: &InstallMode) -> bool {
        self.supports_kind(mode.kind())
    }

    /// The types of the install modes that it supports.
    pub fn modes(&self) -> Vec<&'static str> {
        InstallMode::KINDS.into_iter().filter(|it| self.supports_kind(it)).collect()
    }

    fn supports_kind(&self, kind: &str) -> bool {
        let modes = self.csv["spec"]["installModes"].as_array();
        // Of two entries of one type, OLM uses the last.
        let found = modes.into_iter().flatten().rfind(|it| it["type"] == *kind);
        found.is_some_and(|it| it["supported"] == true)
    }
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

//! One version of an operator, from the files of its bundle.

use anyhow::Context as _;

use super::{InstallMode, string_list};
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
            let text = bundle.annotations.get(key).map(|text| text.trim());
            text.filter(|text| !text.is_empty())
        };
        let package = text(PACKAGE).with_context(|| format!("`{label}` has no `{PACKAGE}`"))?;
        let first = text(CHANNELS).and_then(|channels| channels.split(',').next()).map(str::trim);
        let channel = text(DEFAULT_CHANNEL).or(first).filter(|channel| !channel.is_empty());
        let channel = channel.with_context(|| format!("`{label}` has no `{CHANNELS}`"))?;
        let csv = bundle.written_csv().clone();
        csv["metadata"]["name"].as_str().context("the ClusterServiceVersion has no name")?;
        let manifests = bundle.other_manifests().map(|manifest| manifest.object.clone()).collect();
        Ok(Self { package: package.to_owned(), channel: channel.to_owned(), csv, manifests })
    }

    pub fn name(&self) -> &str {
        self.csv["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns whether the operator supports this install mode.
    pub fn supports_mode(&self, mode: &InstallMode) -> bool {
        self.supports_kind(mode.kind())
    }

    /// Returns the types of the install modes that it supports.
    pub fn supported_modes(&self) -> Vec<&'static str> {
        InstallMode::KINDS.into_iter().filter(|kind| self.supports_kind(kind)).collect()
    }

    fn supports_kind(&self, kind: &str) -> bool {
        let modes = self.csv["spec"]["installModes"].as_array();
        // OLM uses the last of several entries of one type.
        let mode = modes.into_iter().flatten().rfind(|mode| mode["type"] == *kind);
        mode.is_some_and(|entry| entry["supported"] == true)
    }
}

/// Returns the names of the CRDs that a ClusterServiceVersion owns.
pub fn owned_crds(csv: &Value) -> Vec<String> {
    let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array();
    let mut names: Vec<String> = owned
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["name"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the names of the Deployments that a ClusterServiceVersion installs.
pub fn deployment_names(csv: &Value) -> Vec<String> {
    let deployments =
        csv["spec"]["install"]["spec"]["deployments"].as_array().into_iter().flatten();
    deployments.filter_map(|deployment| deployment["name"].as_str().map(str::to_owned)).collect()
}

/// Returns the service accounts that OLM creates for a ClusterServiceVersion: every namespace has `default`.
pub fn service_accounts(csv: &Value) -> std::collections::BTreeSet<String> {
    let spec = &csv["spec"]["install"]["spec"];
    let lists = [&spec["permissions"], &spec["clusterPermissions"]].into_iter();
    let permissions = lists.filter_map(Value::as_array).flatten();
    let names = permissions.filter_map(|permission| permission["serviceAccountName"].as_str());
    names.filter(|name| *name != "default").map(str::to_owned).collect()
}

/// Returns the namespaces of an OperatorGroup's specification.
pub fn target_namespaces(group: &Value) -> Vec<String> {
    string_list(&group["spec"]["targetNamespaces"])
}

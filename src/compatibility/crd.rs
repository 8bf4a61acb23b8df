//! The parts of a CRD that are compared.

use anyhow::{Context as _, bail};

use super::normal::{Schema, normalize};
use crate::yaml::Value;

/// A CustomResourceDefinition of `apiextensions.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    pub name: String,
    pub scope: String,
    /// In the order in which they are listed.
    pub versions: Vec<Version>,
    /// The versions in which a cluster has stored objects; empty if the CRD does not come from a cluster.
    pub stored: Vec<String>,
    /// Whether a webhook converts between versions.
    pub converts: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    pub schema: Schema,
}

impl Crd {
    /// Whether an object is a CustomResourceDefinition, of any version.
    pub fn is(object: &Value) -> bool {
        let of_group = |it: &str| it.starts_with("apiextensions.k8s.io/");
        object["kind"] == "CustomResourceDefinition"
            && object["apiVersion"].as_str().is_some_and(of_group)
    }

    /// Parses an object. Fails if it is not a CRD that an API server would accept.
    pub fn from_object(object: &Value) -> anyhow::Result<Self> {
        if object["kind"] != "CustomResourceDefinition" {
            bail!("this is not a CustomResourceDefinition");
        }
        let version = object["apiVersion"].as_str().unwrap_or_default();
        if version != "apiextensions.k8s.io/v1" {
            bail!("`apiVersion: {version}` is not `apiextensions.k8s.io/v1`");
        }
        let name = text(&object["metadata"]["name"]).context("`metadata.name` is missing")?;
        let spec = &object["spec"];
        let list = spec["versions"].as_array().filter(|it| !it.is_empty());
        let list = list.with_context(|| format!("`{name}` has no `spec.versions`"))?;
        let versions = list
            .iter()
            .map(|it| Version::from_value(it).with_context(|| format!("in the CRD `{name}`")))
            .collect::<anyhow::Result<_>>()?;
        let stored = object["status"]["storedVersions"].as_array();
        Ok(Self {
            scope: text(&spec["scope"]).with_context(|| format!("`{name}` has no `spec.scope`"))?,
            versions,
            stored: stored.into_iter().flatten().filter_map(text).collect(),
            converts: spec["conversion"]["strategy"] == "Webhook",
            name,
        })
    }

    /// The version with this name; the first one if there are several.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|it| it.name == name)
    }
}

impl Version {
    fn from_value(value: &Value) -> anyhow::Result<Self> {
        let name = text(&value["name"]).context("a version has no name")?;
        let schema = &value["schema"]["openAPIV3Schema"];
        let schema = match schema {
            Value::Null => None,
            schema => Some(
                normalize(schema)
                    .with_context(|| format!("the schema of `{name}` is malformed"))?,
            ),
        };
        Ok(Self {
            served: value["served"] == true,
            storage: value["storage"] == true,
            schema,
            name,
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

//! The parts of a CRD that are compared.

use anyhow::{Context as _, bail};

use super::normal::{Schema, normalize_schema};
use crate::definition::{self, Refusal};
use go_data::yaml::{Map, Value, json};

/// A CustomResourceDefinition of `apiextensions.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    pub name: String,
    /// The versions in the order in which they are listed.
    pub versions: Vec<Version>,
    /// The versions in which a cluster has stored objects; empty if the CRD does not come from a cluster.
    pub stored: Vec<String>,
    /// True if the project that the CRD is of converts between its versions, and its tests hold the conversion: the
    /// versions are then not compared with each other.
    pub is_converted_by_project: bool,
    /// The rest of it, with what the API server fills in: everything but the names of versions, whether each is served
    /// and stored, and the schemas.
    pub definition: Value,
    /// All of it.
    object: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    pub name: String,
    pub served: bool,
    pub storage: bool,
    pub schema: Schema,
}

impl Crd {
    /// Returns true if an object is a CustomResourceDefinition of any version.
    pub fn is_crd(object: &Value) -> bool {
        let of_group = |text: &str| text.starts_with("apiextensions.k8s.io/");
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
        let name =
            non_empty_text(&object["metadata"]["name"]).context("`metadata.name` is missing")?;
        let spec = &object["spec"];
        let list = spec["versions"].as_array().filter(|versions| !versions.is_empty());
        let list = list.with_context(|| format!("`{name}` has no `spec.versions`"))?;
        let versions = list
            .iter()
            .map(|version| {
                Version::from_value(version).with_context(|| format!("in the CRD `{name}`"))
            })
            .collect::<anyhow::Result<_>>()?;
        let stored = object["status"]["storedVersions"].as_array();
        non_empty_text(&spec["scope"]).with_context(|| format!("`{name}` has no `spec.scope`"))?;
        Ok(Self {
            versions,
            stored: stored.into_iter().flatten().filter_map(non_empty_text).collect(),
            is_converted_by_project: false,
            definition: normalize_definition(object),
            object: object.clone(),
            name,
        })
    }

    /// Returns the reasons why API servers refuse the CRD independently of the old one, each with its remedy.
    pub fn refusals(&self) -> Vec<Advice> {
        advice_from(definition::refusals(&self.object), CORRECT)
    }

    /// Returns what API servers may refuse, each with its remedy.
    pub fn doubts(&self) -> Vec<Advice> {
        advice_from(definition::doubts(&self.object), RENAME)
    }

    /// Returns true if a webhook converts between versions.
    pub fn converts(&self) -> bool {
        self.definition["conversion"]["strategy"] == "Webhook"
    }

    /// Sets the conversion to a webhook, for a CRD whose conversion is only set when it is installed.
    pub fn set_conversion(&mut self) {
        self.definition["conversion"]["strategy"] = "Webhook".into();
    }

    /// Returns the group and the kind.
    pub fn kind(&self) -> (String, String) {
        let value = |value: &Value| non_empty_text(value).unwrap_or_default();
        (value(&self.definition["group"]), value(&self.definition["names"]["kind"]))
    }

    /// Returns the version with this name; the first one if there are several.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }
}

/// A message and its remedy.
pub type Advice = (String, &'static str);

const CORRECT: &str = "correct the CRD: the API server refuses it as it is";
const RENAME: &str = "correct the name, or remove the field";

/// Adds the remedy to each refusal: that of the schema's fault, or else the given one.
fn advice_from(all: Vec<Refusal>, otherwise: &'static str) -> Vec<Advice> {
    let hint = |refusal: Refusal| {
        (refusal.message, refusal.version.map_or(otherwise, |schema_fault| schema_fault.hint))
    };
    all.into_iter().map(hint).collect()
}

impl Version {
    fn from_value(value: &Value) -> anyhow::Result<Self> {
        let name = non_empty_text(&value["name"]).context("a version has no name")?;
        let schema = &value["schema"]["openAPIV3Schema"];
        let schema = match schema {
            Value::Null => None,
            schema => Some(
                normalize_schema(schema)
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

/// Returns the parts of a CRD outside of its schemas in a normal form, so that equal CRDs are equal here.
fn normalize_definition(object: &Value) -> Value {
    let mut spec = object["spec"].clone();
    for key in ["names", "conversion"] {
        if !spec[key].is_object() {
            spec[key] = json!({});
        }
    }
    let kind = non_empty_text(&spec["names"]["kind"]).unwrap_or_default();
    let default = |value: &mut Value, default: Value| {
        if non_empty_text(value).is_none() {
            *value = default;
        }
    };
    default(&mut spec["names"]["singular"], kind.to_lowercase().into());
    default(&mut spec["names"]["listKind"], format!("{kind}List").into());
    if spec["conversion"]["strategy"] == "None" {
        spec["conversion"]["strategy"] = Value::Null;
    }
    for key in ["shortNames", "categories"] {
        // They are sets.
        let names = spec["names"][key].as_array().into_iter().flatten();
        let names: Vec<Value> = names.map(|name| json!({ "name": name })).collect();
        spec["names"][key] = names.into();
    }
    for version in spec["versions"].as_array_mut().into_iter().flatten() {
        let Some(map) = version.as_object_mut() else { continue };
        map.retain(|key, _| !matches!(key.as_str(), "schema" | "served" | "storage"));
        if !map.get("subresources").is_some_and(Value::is_object) {
            map.insert("subresources".to_owned(), Map::new().into());
        }
    }
    without_empty_values(spec)
}

/// Removes false, and empty lists and strings, which Go does not distinguish from absent values.
fn without_empty_values(value: Value) -> Value {
    let is_empty = |value: &Value| {
        matches!(value, Value::Null | Value::Bool(false))
            || *value == json!("")
            || *value == json!([])
    };
    match value {
        Value::Object(map) => {
            let all = map.into_iter().map(|(key, it)| (key, without_empty_values(it)));
            Value::Object(all.filter(|entry| !is_empty(&entry.1)).collect())
        }
        Value::Array(items) => items.into_iter().map(without_empty_values).collect(),
        value => value,
    }
}

fn non_empty_text(value: &Value) -> Option<String> {
    value.as_str().filter(|value| !value.is_empty()).map(str::to_owned)
}

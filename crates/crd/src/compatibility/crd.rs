//! The parts of a CRD that are compared.

use anyhow::{Context as _, bail};

use super::normal::{Schema, normalize};
use crate::definition::{self, Refusal};
use go_data::yaml::{Map, Value, json};

/// A CustomResourceDefinition of `apiextensions.k8s.io/v1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Crd {
    pub name: String,
    /// In the order in which they are listed.
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
        text(&spec["scope"]).with_context(|| format!("`{name}` has no `spec.scope`"))?;
        Ok(Self {
            versions,
            stored: stored.into_iter().flatten().filter_map(text).collect(),
            is_converted_by_project: false,
            definition: definition(object),
            object: object.clone(),
            name,
        })
    }

    /// Why API servers refuse the CRD whatever was before it, each with what to do about it.
    pub fn refusals(&self) -> Vec<Advice> {
        advice(definition::refusals(&self.object), CORRECT)
    }

    /// What API servers may refuse, in the same way.
    pub fn doubts(&self) -> Vec<Advice> {
        advice(definition::doubts(&self.object), RENAME)
    }

    /// Whether a webhook converts between versions.
    pub fn converts(&self) -> bool {
        self.definition["conversion"]["strategy"] == "Webhook"
    }

    /// Lets a webhook convert between the versions: whoever installs the CRD sets the conversion.
    pub fn set_conversion(&mut self) {
        self.definition["conversion"]["strategy"] = "Webhook".into();
    }

    /// The group and the kind.
    pub fn kind(&self) -> (String, String) {
        let value = |it: &Value| text(it).unwrap_or_default();
        (value(&self.definition["group"]), value(&self.definition["names"]["kind"]))
    }

    /// The version with this name; the first one if there are several.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|it| it.name == name)
    }
}

/// A message, and what to do about it.
pub type Advice = (String, &'static str);

const CORRECT: &str = "correct the CRD: the API server refuses it as it is";
const RENAME: &str = "correct the name, or remove the field";

/// What to do about a fault in a schema is known there.
fn advice(all: Vec<Refusal>, otherwise: &'static str) -> Vec<Advice> {
    let hint = |it: Refusal| (it.message, it.version.map_or(otherwise, |it| it.hint));
    all.into_iter().map(hint).collect()
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

/// What a CRD says outside of its schemas, so that equal CRDs are equal here.
fn definition(object: &Value) -> Value {
    let mut spec = object["spec"].clone();
    for key in ["names", "conversion"] {
        if !spec[key].is_object() {
            spec[key] = json!({});
        }
    }
    let kind = text(&spec["names"]["kind"]).unwrap_or_default();
    let default = |value: &mut Value, default: Value| {
        if text(value).is_none() {
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
        let names: Vec<Value> = names.map(|it| json!({ "name": it })).collect();
        spec["names"][key] = names.into();
    }
    for version in spec["versions"].as_array_mut().into_iter().flatten() {
        let Some(map) = version.as_object_mut() else { continue };
        map.retain(|key, _| !matches!(key.as_str(), "schema" | "served" | "storage"));
        if !map.get("subresources").is_some_and(Value::is_object) {
            map.insert("subresources".to_owned(), Map::new().into());
        }
    }
    without_empty(spec)
}

/// Without false, and empty lists and texts, which Go does not tell from nothing.
fn without_empty(value: Value) -> Value {
    let is_empty = |it: &Value| {
        matches!(it, Value::Null | Value::Bool(false)) || *it == json!("") || *it == json!([])
    };
    match value {
        Value::Object(map) => {
            let all = map.into_iter().map(|(key, it)| (key, without_empty(it)));
            Value::Object(all.filter(|it| !is_empty(&it.1)).collect())
        }
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        value => value,
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

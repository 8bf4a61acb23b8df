//! The fields of a ClusterServiceVersion that a catalog uses.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::blob::RelatedImage, manifests::ManifestObject};
use crate::catalog::go;
use diagnostics::Diagnostic;
use go_data::{
    kubernetes,
    yaml::{Map, Value},
};

pub const KIND: &str = "ClusterServiceVersion";

#[derive(Debug)]
pub struct Csv {
    pub name: String,
    pub annotations: BTreeMap<String, String>,
    pub version: String,
    pub release: String,
    pub replaces: String,
    pub skips: Vec<String>,
    pub crds: Definitions,
    pub api_services: Definitions,
    pub related_images: Vec<RelatedImage>,
    pub operator_images: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub struct Definitions {
    pub owned: Vec<Definition>,
    pub required: Vec<Definition>,
}

#[derive(Debug)]
pub struct Definition {
    pub group: String,
    pub kind: String,
    pub name: String,
    pub version: String,
}

impl Csv {
    pub fn find_in(objects: &[ManifestObject], folder: &str) -> anyhow::Result<Self> {
        let Some(object) = objects.iter().find(|object| object.text("kind") == KIND) else {
            return Err(
                Diagnostic::in_file(format!("{folder}/manifests"), "no csv in bundle").into_error()
            );
        };
        Self::parse(&object.value).map_err(|message| object.fault(message))
    }

    fn parse(value: &Value) -> Result<Self, String> {
        let empty = Map::new();
        let metadata = Struct::from_value(value.get("metadata"), "metadata")?;
        let spec = Struct::from_value(value.get("spec").filter(|spec| !spec.is_null()), "spec")?;
        if value.get("spec").is_none_or(Value::is_null) {
            return Err("`spec` is missing".to_owned());
        }
        let mut annotations = BTreeMap::new();
        let map = go::find_field(metadata.map, "annotations").and_then(Value::as_object);
        for (key, value) in map.unwrap_or(&empty) {
            let text =
                value.as_str().ok_or_else(|| format!("the annotation `{key}` is not a string"))?;
            annotations.insert(key.clone(), text.to_owned());
        }
        Ok(Self {
            name: metadata.text("name")?,
            annotations,
            version: spec.text("version")?,
            release: parse_release(&spec)?,
            replaces: spec.text("replaces")?,
            skips: spec.texts("skips")?,
            crds: parse_definitions(&spec, "customresourcedefinitions")?,
            api_services: parse_definitions(&spec, "apiservicedefinitions")?,
            related_images: parse_related_images(&spec)?,
            operator_images: collect_operator_images(&spec)?,
        })
    }
}

/// Parses a release, which is a string or a number.
fn parse_release(spec: &Struct) -> Result<String, String> {
    match go::find_field(spec.map, "release") {
        None => Ok(String::new()),
        Some(Value::String(it)) => Ok(it.clone()),
        Some(it) if it.is_number() => Ok(go::marshal_unescaped(it)),
        Some(_) => Err("release field must be a string or number".to_owned()),
    }
}

fn parse_definitions(spec: &Struct, name: &str) -> Result<Definitions, String> {
    let of = Struct::from_value(go::find_field(spec.map, name), name)?;
    let list = |name: &str| {
        let items = of.structs(name)?;
        items
            .iter()
            .map(|entry| {
                Ok(Definition {
                    group: entry.text("group")?,
                    kind: entry.text("kind")?,
                    name: entry.text("name")?,
                    version: entry.text("version")?,
                })
            })
            .collect::<Result<Vec<_>, String>>()
    };
    Ok(Definitions { owned: list("owned")?, required: list("required")? })
}

fn parse_related_images(spec: &Struct) -> Result<Vec<RelatedImage>, String> {
    let image = |entry: &Struct| {
        Ok(RelatedImage { name: entry.text("name")?, image: entry.text("image")? })
    };
    spec.structs("relatedImages")?.iter().map(image).collect()
}

/// Collects the images of the containers in all deployments.
fn collect_operator_images(spec: &Struct) -> Result<BTreeSet<String>, String> {
    let mut images = BTreeSet::new();
    let install = Struct::from_value(go::find_field(spec.map, "install"), "install")?;
    if install.text("strategy")? != "deployment" {
        return Ok(images);
    }
    for deployment in install.inner_struct("spec")?.structs("deployments")? {
        let spec = go::find_field(deployment.map, "spec").unwrap_or(&Value::Null);
        let decoded = kubernetes::decode_as("apps.DeploymentSpec", spec);
        if let Some(fault) = decoded.faults.first() {
            return Err(format!("the deployment `{}`: {fault}", deployment.text("name")?));
        }
        let pod =
            deployment.inner_struct("spec")?.inner_struct("template")?.inner_struct("spec")?;
        for name in ["containers", "initContainers"] {
            for container in pod.structs(name)? {
                images.insert(container.text("image")?);
            }
        }
    }
    Ok(images)
}

/// A mapping that Go reads into a struct.
pub struct Struct<'a> {
    pub map: &'a Map<String, Value>,
}

static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl<'a> Struct<'a> {
    /// Takes a mapping; one that is missing or null is an empty struct.
    pub fn from_value(value: Option<&'a Value>, name: &str) -> Result<Self, String> {
        match value {
            None | Some(Value::Null) => Ok(Self { map: &EMPTY }),
            Some(Value::Object(map)) => Ok(Self { map }),
            Some(it) => Err(format!("`{name}` is {}, not an object", go::describe_type(it))),
        }
    }

    pub fn text(&self, name: &str) -> Result<String, String> {
        match go::find_field(self.map, name) {
            None => Ok(String::new()),
            Some(Value::String(it)) => Ok(it.clone()),
            Some(it) => Err(format!("`{name}` is {}, not a string", go::describe_type(it))),
        }
    }

    pub fn inner_struct(&self, name: &str) -> Result<Self, String> {
        Struct::from_value(go::find_field(self.map, name), name)
    }

    fn items(&self, name: &str) -> Result<&'a [Value], String> {
        match go::find_field(self.map, name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(it) => Err(format!("`{name}` is {}, not a list", go::describe_type(it))),
        }
    }

    pub fn structs(&self, name: &str) -> Result<Vec<Self>, String> {
        self.items(name)?.iter().map(|item| Struct::from_value(Some(item), name)).collect()
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let text = |item: &Value| match item {
            Value::Null => Ok(String::new()),
            Value::String(item) => Ok(item.clone()),
            item => Err(format!("`{name}` holds {}, not only strings", go::describe_type(item))),
        };
        self.items(name)?.iter().map(text).collect()
    }
}

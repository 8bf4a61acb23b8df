//! What a catalog needs of a ClusterServiceVersion.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::blob::RelatedImage, manifests::Object};
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
    pub fn of(objects: &[Object], folder: &str) -> anyhow::Result<Self> {
        let Some(object) = objects.iter().find(|it| it.text("kind") == KIND) else {
            return Err(
                Diagnostic::in_file(format!("{folder}/manifests"), "no csv in bundle").into_error()
            );
        };
        Self::read(&object.value).map_err(|it| object.fault(it))
    }

    fn read(value: &Value) -> Result<Self, String> {
        let empty = Map::new();
        let metadata = Struct::of(value.get("metadata"), "metadata")?;
        let spec = Struct::of(value.get("spec").filter(|it| !it.is_null()), "spec")?;
        if value.get("spec").is_none_or(Value::is_null) {
            return Err("`spec` is missing".to_owned());
        }
        let mut annotations = BTreeMap::new();
        let map = go::field(metadata.map, "annotations").and_then(Value::as_object);
        for (key, value) in map.unwrap_or(&empty) {
            let text =
                value.as_str().ok_or_else(|| format!("the annotation `{key}` is not a string"))?;
            annotations.insert(key.clone(), text.to_owned());
        }
        Ok(Self {
            name: metadata.text("name")?,
            annotations,
            version: spec.text("version")?,
            release: release(&spec)?,
            replaces: spec.text("replaces")?,
            skips: spec.texts("skips")?,
            crds: definitions(&spec, "customresourcedefinitions")?,
            api_services: definitions(&spec, "apiservicedefinitions")?,
            related_images: related_images(&spec)?,
            operator_images: operator_images(&spec)?,
        })
    }
}

/// A release is a string or a number.
fn release(spec: &Struct) -> Result<String, String> {
    match go::field(spec.map, "release") {
        None => Ok(String::new()),
        Some(Value::String(it)) => Ok(it.clone()),
        Some(it) if it.is_number() => Ok(go::compact(it)),
        Some(_) => Err("release field must be a string or number".to_owned()),
    }
}

fn definitions(spec: &Struct, name: &str) -> Result<Definitions, String> {
    let of = Struct::of(go::field(spec.map, name), name)?;
    let list = |name: &str| {
        let items = of.structs(name)?;
        items
            .iter()
            .map(|it| {
                Ok(Definition {
                    group: it.text("group")?,
                    kind: it.text("kind")?,
                    name: it.text("name")?,
                    version: it.text("version")?,
                })
            })
            .collect::<Result<Vec<_>, String>>()
    };
    Ok(Definitions { owned: list("owned")?, required: list("required")? })
}

fn related_images(spec: &Struct) -> Result<Vec<RelatedImage>, String> {
    let image = |it: &Struct| Ok(RelatedImage { name: it.text("name")?, image: it.text("image")? });
    spec.structs("relatedImages")?.iter().map(image).collect()
}

/// The images of the containers in all deployments.
fn operator_images(spec: &Struct) -> Result<BTreeSet<String>, String> {
    let mut res = BTreeSet::new();
    let install = Struct::of(go::field(spec.map, "install"), "install")?;
    if install.text("strategy")? != "deployment" {
        return Ok(res);
    }
    for deployment in install.inner("spec")?.structs("deployments")? {
        let spec = go::field(deployment.map, "spec").unwrap_or(&Value::Null);
        let decoded = kubernetes::decode_as("apps.DeploymentSpec", spec);
        if let Some(fault) = decoded.faults.first() {
            return Err(format!("the deployment `{}`: {fault}", deployment.text("name")?));
        }
        let pod = deployment.inner("spec")?.inner("template")?.inner("spec")?;
        for name in ["containers", "initContainers"] {
            for container in pod.structs(name)? {
                res.insert(container.text("image")?);
            }
        }
    }
    Ok(res)
}

/// A map that Go reads into a struct.
pub struct Struct<'a> {
    pub map: &'a Map<String, Value>,
}

static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl<'a> Struct<'a> {
    /// An empty one where it is not given.
    pub fn of(value: Option<&'a Value>, name: &str) -> Result<Self, String> {
        match value {
            None | Some(Value::Null) => Ok(Self { map: &EMPTY }),
            Some(Value::Object(map)) => Ok(Self { map }),
            Some(it) => Err(format!("`{name}` is {}, not an object", go::described(it))),
        }
    }

    pub fn text(&self, name: &str) -> Result<String, String> {
        match go::field(self.map, name) {
            None => Ok(String::new()),
            Some(Value::String(it)) => Ok(it.clone()),
            Some(it) => Err(format!("`{name}` is {}, not a string", go::described(it))),
        }
    }

    pub fn inner(&self, name: &str) -> Result<Self, String> {
        Struct::of(go::field(self.map, name), name)
    }

    fn list(&self, name: &str) -> Result<&'a [Value], String> {
        match go::field(self.map, name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(it) => Err(format!("`{name}` is {}, not a list", go::described(it))),
        }
    }

    pub fn structs(&self, name: &str) -> Result<Vec<Self>, String> {
        self.list(name)?.iter().map(|it| Struct::of(Some(it), name)).collect()
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let text = |it: &Value| match it {
            Value::Null => Ok(String::new()),
            Value::String(it) => Ok(it.clone()),
            it => Err(format!("`{name}` holds {}, not only strings", go::described(it))),
        };
        self.list(name)?.iter().map(text).collect()
    }
}

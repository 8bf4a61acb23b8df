//! The properties of a bundle: those that its files list, and those that follow from its APIs, its version and its
//! dependencies.

use std::collections::BTreeSet;

use super::{
    super::{
        blob::{Property, property},
        go,
    },
    apis::Apis,
    csv::{Csv, Struct},
    metadata::Metadata,
};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value, json};

/// Group, kind and version: the order in which Go writes and compares them.
type Gvk = [String; 3];

/// Everything but the objects themselves.
pub fn all(
    metadata: &Metadata,
    csv: &Csv,
    apis: Apis,
    folder: &str,
) -> anyhow::Result<Vec<Property>> {
    let listed = listed(metadata, csv).map_err(|it| {
        let file = format!("{folder}/manifests");
        Diagnostic::in_file(file, format!("the annotation `{ANNOTATION}` of the ClusterServiceVersion {it}"))
            .with_hint("write it as a JSON list of objects with `type` and `value`, or use metadata/properties.yaml")
            .into_error()
    })?;
    let fault = |it: String| Diagnostic::in_file(format!("{folder}/metadata"), it).into_error();
    derive(listed, metadata, csv, apis).map_err(fault)
}

const ANNOTATION: &str = "olm.properties";

/// The properties of `metadata/`, of the package, and of the ClusterServiceVersion's annotation, each once.
fn listed(metadata: &Metadata, csv: &Csv) -> Result<Vec<Property>, String> {
    let mut all = metadata.properties.clone();
    if !metadata.package.is_empty() {
        all.push(package(&metadata.package, &csv.version, &csv.release));
    }
    if let Some(text) = csv.annotations.get(ANNOTATION) {
        let value = yaml::from_json(text).map_err(|it| format!("is not JSON: {it:#}"))?;
        for item in value.as_array().ok_or("is not a list")? {
            let item = Struct::of(Some(item), "an item")?;
            let value = go::field(item.map, "value").cloned();
            all.push(Property { type_: item.text("type")?, value });
        }
    }
    let mut res: Vec<Property> = Vec::new();
    for property in all {
        if !res.contains(&property) {
            res.push(property);
        }
    }
    Ok(res)
}

fn derive(
    listed: Vec<Property>,
    metadata: &Metadata,
    csv: &Csv,
    apis: Apis,
) -> Result<Vec<Property>, String> {
    let gvk = |it: super::apis::Api| [it.group, it.kind, it.version];
    let mut provided: BTreeSet<Gvk> = apis.provided.into_iter().map(gvk).collect();
    let mut required: BTreeSet<Gvk> = apis.required.into_iter().map(gvk).collect();
    let mut own_package = None;
    let mut others = Vec::new();
    for (at, it) in listed.into_iter().enumerate() {
        match it.type_.as_str() {
            property::GVK => drop(provided.insert(read_gvk(&it, at)?)),
            property::PACKAGE => {
                let [name, version, release] =
                    texts(&it, at, ["packageName", "version", "release"])?;
                own_package = Some(package(&name, &version, &release));
            }
            _ => others.push(it),
        }
    }
    let mut packages = Vec::new();
    for (at, it) in metadata.dependencies.iter().enumerate() {
        match it.type_.as_str() {
            property::GVK => drop(required.insert(read_gvk(it, at)?)),
            property::PACKAGE => {
                let [name, version] = texts(it, at, ["packageName", "version"])?;
                let value = json!({"packageName": name, "versionRange": version});
                packages.push(Property::new(property::PACKAGE_REQUIRED, value));
            }
            _ => others.push(it.clone()),
        }
    }
    let with = |type_: &str, [group, kind, version]: Gvk| {
        Property::new(type_, json!({"group": group, "kind": kind, "version": version}))
    };
    let mut res =
        vec![own_package.unwrap_or_else(|| package(&metadata.package, &csv.version, &csv.release))];
    res.extend(provided.into_iter().map(|it| with(property::GVK, it)));
    res.extend(required.into_iter().map(|it| with(property::GVK_REQUIRED, it)));
    res.extend(packages);
    res.extend(others);
    Ok(res)
}

fn package(name: &str, version: &str, release: &str) -> Property {
    let mut value = json!({"packageName": name, "version": version});
    if !release.is_empty() {
        value["release"] = json!(release);
    }
    Property::new(property::PACKAGE, value)
}

fn read_gvk(property: &Property, at: usize) -> Result<Gvk, String> {
    texts(property, at, ["group", "kind", "version"])
}

/// Fields of a property's value.
fn texts<const N: usize>(
    property: &Property,
    at: usize,
    names: [&str; N],
) -> Result<[String; N], String> {
    let fault =
        |it: String| format!("property[{at}] of type {}: {it}", go::quoted(&property.type_));
    let value = property.value.as_ref().ok_or_else(|| fault("it has no value".to_owned()))?;
    let value =
        Struct::of(Some(value).filter(|it: &&Value| !it.is_null()), "value").map_err(fault)?;
    let mut res = [const { String::new() }; N];
    for (text, name) in res.iter_mut().zip(names) {
        *text = value.text(name).map_err(fault)?;
    }
    Ok(res)
}

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

/// Collects all properties except the objects themselves.
pub fn collect_properties(
    metadata: &Metadata,
    csv: &Csv,
    apis: Apis,
    folder: &str,
) -> anyhow::Result<Vec<Property>> {
    let listed = listed_properties(metadata, csv).map_err(|message| {
        let file = format!("{folder}/manifests");
        Diagnostic::in_file(file, format!("the annotation `{ANNOTATION}` of the ClusterServiceVersion {message}"))
            .with_hint("write it as a JSON list of objects with `type` and `value`, or use metadata/properties.yaml")
            .into_error()
    })?;
    let fault =
        |message: String| Diagnostic::in_file(format!("{folder}/metadata"), message).into_error();
    derive_properties(listed, metadata, csv, apis).map_err(fault)
}

const ANNOTATION: &str = "olm.properties";

/// Returns the properties of `metadata/`, of the package, and of the ClusterServiceVersion's annotation, each once.
fn listed_properties(metadata: &Metadata, csv: &Csv) -> Result<Vec<Property>, String> {
    let mut properties = metadata.properties.clone();
    if !metadata.package.is_empty() {
        properties.push(package_property(&metadata.package, &csv.version, &csv.release));
    }
    if let Some(text) = csv.annotations.get(ANNOTATION) {
        let value = yaml::from_json(text).map_err(|error| format!("is not JSON: {error:#}"))?;
        for item in value.as_array().ok_or("is not a list")? {
            let item = Struct::from_value(Some(item), "an item")?;
            let value = go::find_field(item.map, "value").cloned();
            properties.push(Property { type_: item.text("type")?, value });
        }
    }
    let mut unique: Vec<Property> = Vec::new();
    for property in properties {
        if !unique.contains(&property) {
            unique.push(property);
        }
    }
    Ok(unique)
}

fn derive_properties(
    listed: Vec<Property>,
    metadata: &Metadata,
    csv: &Csv,
    apis: Apis,
) -> Result<Vec<Property>, String> {
    let gvk = |api: super::apis::Api| [api.group, api.kind, api.version];
    let mut provided: BTreeSet<Gvk> = apis.provided.into_iter().map(gvk).collect();
    let mut required: BTreeSet<Gvk> = apis.required.into_iter().map(gvk).collect();
    let mut own_package = None;
    let mut others = Vec::new();
    for (at, it) in listed.into_iter().enumerate() {
        match it.type_.as_str() {
            property::GVK => drop(provided.insert(read_gvk(&it, at)?)),
            property::PACKAGE => {
                let [name, version, release] =
                    text_fields(&it, at, ["packageName", "version", "release"])?;
                own_package = Some(package_property(&name, &version, &release));
            }
            _ => others.push(it),
        }
    }
    let mut packages = Vec::new();
    for (at, it) in metadata.dependencies.iter().enumerate() {
        match it.type_.as_str() {
            property::GVK => drop(required.insert(read_gvk(it, at)?)),
            property::PACKAGE => {
                let [name, version] = text_fields(it, at, ["packageName", "version"])?;
                let value = json!({"packageName": name, "versionRange": version});
                packages.push(Property::new(property::PACKAGE_REQUIRED, value));
            }
            _ => others.push(it.clone()),
        }
    }
    let with = |type_: &str, [group, kind, version]: Gvk| {
        Property::new(type_, json!({"group": group, "kind": kind, "version": version}))
    };
    let mut properties = vec![
        own_package
            .unwrap_or_else(|| package_property(&metadata.package, &csv.version, &csv.release)),
    ];
    properties.extend(provided.into_iter().map(|api| with(property::GVK, api)));
    properties.extend(required.into_iter().map(|api| with(property::GVK_REQUIRED, api)));
    properties.extend(packages);
    properties.extend(others);
    Ok(properties)
}

fn package_property(name: &str, version: &str, release: &str) -> Property {
    let mut value = json!({"packageName": name, "version": version});
    if !release.is_empty() {
        value["release"] = json!(release);
    }
    Property::new(property::PACKAGE, value)
}

fn read_gvk(property: &Property, at: usize) -> Result<Gvk, String> {
    text_fields(property, at, ["group", "kind", "version"])
}

/// Returns fields of a property's value.
fn text_fields<const N: usize>(
    property: &Property,
    at: usize,
    names: [&str; N],
) -> Result<[String; N], String> {
    let fault = |message: String| {
        format!("property[{at}] of type {}: {message}", go::format_quoted(&property.type_))
    };
    let value = property.value.as_ref().ok_or_else(|| fault("it has no value".to_owned()))?;
    let value = Struct::from_value(Some(value).filter(|value: &&Value| !value.is_null()), "value")
        .map_err(fault)?;
    let mut texts = [const { String::new() }; N];
    for (text, name) in texts.iter_mut().zip(names) {
        *text = value.text(name).map_err(fault)?;
    }
    Ok(texts)
}

//! The values of the properties of bundles, as far as OLM knows their types.

use super::{
    blob::{BundleBlob, Property, property},
    bundle::Struct,
    decode::decode_base64,
    document, go,
};
use go_data::{kubernetes, yaml::Value};

/// The values of the properties of a bundle.
#[derive(Debug, Default)]
pub struct Properties {
    /// Name, version and release.
    pub packages: Vec<[String; 3]>,
}

/// Reads the values of the properties whose types OLM knows.
pub fn parse_properties(list: &[Property]) -> Result<Properties, String> {
    let mut values = Properties::default();
    for (at, property) in list.iter().enumerate() {
        let fault = |error: String| {
            format!("property {at} of the type {}: {error}", go::format_quoted(&property.type_))
        };
        let Some(value) = &property.value else {
            return Err(fault("it has no value".to_owned()));
        };
        let names: &[&str] = match property.type_.as_str() {
            property::PACKAGE => &["packageName", "version", "release"],
            property::PACKAGE_REQUIRED => &["packageName", "versionRange"],
            property::GVK | property::GVK_REQUIRED => &["group", "kind", "version"],
            property::OBJECT => {
                object_bytes(value).map_err(fault)?;
                continue;
            }
            property::CHANNEL => {
                check_channel(value).map_err(fault)?;
                continue;
            }
            property::CSV_METADATA => {
                check_csv_metadata(value).map_err(fault)?;
                continue;
            }
            _ => continue,
        };
        let texts = text_fields(value, names).map_err(fault)?;
        if property.type_ == property::PACKAGE {
            values.packages.push(texts);
        }
    }
    Ok(values)
}

/// Returns the fields of a struct that contains only strings.
fn text_fields(value: &Value, names: &[&str]) -> Result<[String; 3], String> {
    let mut texts = [const { String::new() }; 3];
    let value = Struct::from_value(Some(value), "value")?;
    for (text, name) in texts.iter_mut().zip(names) {
        *text = value.text(name)?;
    }
    Ok(texts)
}

/// Returns the bytes of a manifest that a bundle contains.
pub fn object_bytes(value: &Value) -> Result<Vec<u8>, String> {
    decode_base64(&Struct::from_value(Some(value), "value")?.text("data")?)
}

fn check_channel(value: &Value) -> Result<(), String> {
    let value = Struct::from_value(Some(value), "value")?;
    value.text("channelName")?;
    match go::find_field(value.map, "priority") {
        Some(priority) if !priority.is_i64() => {
            Err(format!("`priority` is {}, not an integer", go::describe_type(priority)))
        }
        _ => Ok(()),
    }
}

/// Checks the metadata of a ClusterServiceVersion.
fn check_csv_metadata(value: &Value) -> Result<(), String> {
    Struct::from_value(Some(value), "value")?;
    match kubernetes::decode_as("alpha.CSVMetadata", value).faults.first() {
        Some(fault) => Err(fault.to_string()),
        None => Ok(()),
    }
}

/// Checks that the manifests of a bundle, with its ClusterServiceVersion, are YAML or JSON.
pub fn check_objects(bundle: &BundleBlob) -> Result<(), String> {
    let objects =
        bundle.properties.iter().enumerate().filter(|entry| entry.1.type_ == property::OBJECT);
    for (at, property) in objects {
        let of = format!(
            "package {}, bundle {}:",
            go::format_quoted(&bundle.package),
            go::format_quoted(&bundle.name)
        );
        let of = format!("{of} property {at}:");
        let value = property.value.as_ref().ok_or_else(|| format!("{of} it has no value"))?;
        let bytes = object_bytes(value).map_err(|message| format!("{of} {message}"))?;
        let is_json = bytes.trim_ascii_start().starts_with(b"{");
        if let (false, Err(fault)) = (is_json, document::parse_documents(&bytes, 0)) {
            return Err(format!("{of} {}", fault.message));
        }
    }
    Ok(())
}

/// Finds the ClusterServiceVersion among the manifests that a bundle contains.
pub fn find_csv(bundle: &BundleBlob) -> Option<Value> {
    let objects = bundle.properties.iter().filter(|property| property.type_ == property::OBJECT);
    objects
        .filter_map(|property| object_bytes(property.value.as_ref()?).ok())
        .filter_map(|bytes| Some(document::first_document(&bytes).ok()??.0))
        .find(|object| object.get("kind").and_then(Value::as_str) == Some("ClusterServiceVersion"))
}

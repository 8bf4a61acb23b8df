//! The values of the properties of bundles, as far as OLM knows their types.

use super::{
    blob::{Bundle, Property, property},
    bundle::Struct,
    decode::base64,
    document, go,
};
use go_data::{kubernetes, yaml::Value};

/// What the properties of a bundle say.
#[derive(Debug, Default)]
pub struct Properties {
    /// Name, version and release.
    pub packages: Vec<[String; 3]>,
}

/// Reads the values of the properties whose types OLM knows.
pub fn properties(list: &[Property]) -> Result<Properties, String> {
    let mut res = Properties::default();
    for (at, it) in list.iter().enumerate() {
        let fault =
            |error: String| format!("property {at} of the type {}: {error}", go::quoted(&it.type_));
        let Some(value) = &it.value else {
            return Err(fault("it has no value".to_owned()));
        };
        let names: &[&str] = match it.type_.as_str() {
            property::PACKAGE => &["packageName", "version", "release"],
            property::PACKAGE_REQUIRED => &["packageName", "versionRange"],
            property::GVK | property::GVK_REQUIRED => &["group", "kind", "version"],
            property::OBJECT => {
                object(value).map_err(fault)?;
                continue;
            }
            property::CHANNEL => {
                channel(value).map_err(fault)?;
                continue;
            }
            property::CSV_METADATA => {
                csv_metadata(value).map_err(fault)?;
                continue;
            }
            _ => continue,
        };
        let texts = texts(value, names).map_err(fault)?;
        if it.type_ == property::PACKAGE {
            res.packages.push(texts);
        }
    }
    Ok(res)
}

/// The fields of a struct that holds only strings.
fn texts(value: &Value, names: &[&str]) -> Result<[String; 3], String> {
    let mut res = [const { String::new() }; 3];
    let value = Struct::of(Some(value), "value")?;
    for (text, name) in res.iter_mut().zip(names) {
        *text = value.text(name)?;
    }
    Ok(res)
}

/// The bytes of a manifest that a bundle carries.
pub fn object(value: &Value) -> Result<Vec<u8>, String> {
    base64(&Struct::of(Some(value), "value")?.text("data")?)
}

fn channel(value: &Value) -> Result<(), String> {
    let value = Struct::of(Some(value), "value")?;
    value.text("channelName")?;
    match go::field(value.map, "priority") {
        Some(it) if !it.is_i64() => {
            Err(format!("`priority` is {}, not an integer", go::described(it)))
        }
        _ => Ok(()),
    }
}

/// Checks what is left of a ClusterServiceVersion.
fn csv_metadata(value: &Value) -> Result<(), String> {
    Struct::of(Some(value), "value")?;
    match kubernetes::decode_as("alpha.CSVMetadata", value).faults.first() {
        Some(fault) => Err(fault.to_string()),
        None => Ok(()),
    }
}

/// The manifests of a bundle must be YAML or JSON; the ClusterServiceVersion is among them.
pub fn check_objects(bundle: &Bundle) -> Result<(), String> {
    let objects = bundle.properties.iter().enumerate().filter(|it| it.1.type_ == property::OBJECT);
    for (at, it) in objects {
        let of = format!(
            "package {}, bundle {}:",
            go::quoted(&bundle.package),
            go::quoted(&bundle.name)
        );
        let of = format!("{of} property {at}:");
        let value = it.value.as_ref().ok_or_else(|| format!("{of} it has no value"))?;
        let bytes = object(value).map_err(|it| format!("{of} {it}"))?;
        let is_json = bytes.trim_ascii_start().starts_with(b"{");
        if let (false, Err(fault)) = (is_json, document::documents(&bytes, 0)) {
            return Err(format!("{of} {}", fault.message));
        }
    }
    Ok(())
}

/// The ClusterServiceVersion among the manifests that a bundle carries.
pub fn csv(bundle: &Bundle) -> Option<Value> {
    let objects = bundle.properties.iter().filter(|it| it.type_ == property::OBJECT);
    objects
        .filter_map(|it| object(it.value.as_ref()?).ok())
        .filter_map(|it| Some(document::first(&it).ok()??.0))
        .find(|it| it.get("kind").and_then(Value::as_str) == Some("ClusterServiceVersion"))
}

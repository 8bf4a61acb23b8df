//! The values of the properties of bundles, as far as OLM knows their types.

use super::{
    blob::{Bundle, Property, property},
    decode::base64,
    document, go,
};
use go_data::{
    kubernetes,
    yaml::{Map, Value},
};

type Object = Map<String, Value>;

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
        let fault = |error: String| {
            format!("parse property[{at}] of type {}: {error}", go::quoted(&it.type_))
        };
        let Some(value) = &it.value else {
            return Err(fault("unexpected end of JSON input".to_owned()));
        };
        let (root, names): (_, &[&str]) = match it.type_.as_str() {
            property::PACKAGE => ("Package", &["packageName", "version", "release"]),
            property::PACKAGE_REQUIRED => ("PackageRequired", &["packageName", "versionRange"]),
            property::GVK => ("GVK", &["group", "kind", "version"]),
            property::GVK_REQUIRED => ("GVKRequired", &["group", "kind", "version"]),
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
        let texts = texts(value, root, names).map_err(fault)?;
        if root == "Package" {
            res.packages.push(texts);
        }
    }
    Ok(res)
}

/// The fields of a struct that holds only strings.
fn texts(value: &Value, root: &str, names: &[&str]) -> Result<[String; 3], String> {
    let mut res = [const { String::new() }; 3];
    let map = as_map(value, &format!("property.{root}"))?;
    for (text, name) in res.iter_mut().zip(names) {
        match map.and_then(|it| go::field(it, name)) {
            None => {}
            Some(Value::String(it)) => it.clone_into(text),
            Some(it) => {
                let title = go::title(it);
                return Err(format!(
                    "json: cannot unmarshal {title} into Go struct field {root}.{name} of type string"
                ));
            }
        }
    }
    Ok(res)
}

fn as_map<'a>(value: &'a Value, type_: &str) -> Result<Option<&'a Object>, String> {
    match value {
        Value::Object(map) => Ok(Some(map)),
        Value::Null => Ok(None),
        it => {
            Err(format!("json: cannot unmarshal {} into Go value of type {type_}", go::title(it)))
        }
    }
}

/// The bytes of a manifest that a bundle carries.
pub fn object(value: &Value) -> Result<Vec<u8>, String> {
    let map = as_map(value, "property.BundleObject")?;
    match map.and_then(|it| go::field(it, "data")) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => base64(text),
        Some(it) => Err(format!(
            "json: cannot unmarshal {} into Go struct field BundleObject.data of type []uint8",
            go::title(it)
        )),
    }
}

fn channel(value: &Value) -> Result<(), String> {
    let Some(map) = as_map(value, "property.Channel")? else { return Ok(()) };
    let fault = |it: &Value, name: &str, type_: &str| {
        let title = go::title(it);
        format!(
            "json: cannot unmarshal {title} into Go struct field Channel.{name} of type {type_}"
        )
    };
    match go::field(map, "channelName") {
        Some(it) if !it.is_string() => return Err(fault(it, "channelName", "string")),
        _ => {}
    }
    match go::field(map, "priority") {
        Some(it) if !it.is_i64() => Err(fault(it, "priority", "int")),
        _ => Ok(()),
    }
}

/// Checks what is left of a ClusterServiceVersion.
fn csv_metadata(value: &Value) -> Result<(), String> {
    as_map(value, "property.CSVMetadata")?;
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
            "read bundle objects: package {}, bundle {}:",
            go::quoted(&bundle.package),
            go::quoted(&bundle.name)
        );
        let value = it.value.as_ref().ok_or_else(|| {
            format!(
                "{of} parse property at index {at} as bundle object: unexpected end of JSON input"
            )
        })?;
        let bytes = object(value)
            .map_err(|it| format!("{of} parse property at index {at} as bundle object: {it}"))?;
        let is_json = bytes.trim_ascii_start().starts_with(b"{");
        if let (false, Err(fault)) = (is_json, document::documents(&bytes, 0)) {
            return Err(format!(
                "{of} convert bundle object property at index {at} to JSON: {}",
                fault.message
            ));
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

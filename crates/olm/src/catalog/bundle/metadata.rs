//! The files in `metadata/`: annotations, dependencies and properties, whatever their names are.

use super::{super::blob::Property, Files, csv::Struct};
use crate::{
    bundle::annotations::{CHANNELS, DEFAULT_CHANNEL, PACKAGE},
    catalog::{document, go},
};
use diagnostics::Diagnostic;
use go_data::{kubernetes, yaml::Value};

pub struct Metadata {
    pub package: String,
    pub channels: Vec<String>,
    pub default_channel: String,
    pub dependencies: Vec<Property>,
    pub properties: Vec<Property>,
}

impl Metadata {
    /// The first file with annotations, the first with dependencies, and the first with properties.
    pub fn read(files: &Files, folder: &str) -> anyhow::Result<Self> {
        let (mut annotations, mut dependencies, mut properties) = (None, None, None);
        for (path, bytes) in files {
            let is_here =
                path.as_str().strip_prefix("metadata/").is_some_and(|it| !it.contains('/'));
            if !is_here {
                continue;
            }
            // Any other file may be here. One that is cut short must not look like that.
            let fault = |message: String, (line, column): (usize, usize)| {
                Diagnostic::in_file(format!("{folder}/{path}"), message)
                    .at(line, column)
                    .into_error()
            };
            let is_yaml = matches!(path.extension(), "yaml" | "yml" | "json");
            let value = match document::first(bytes) {
                Ok(first) => first.map(|it| it.0).unwrap_or_default(),
                Err(it) if is_yaml => return Err(fault(it.message, it.position)),
                Err(_) => continue,
            };
            let refused = |it: String| fault(it, (1, 1));
            if annotations.is_none() {
                annotations = of_annotations(&value).map_err(refused)?;
            }
            if dependencies.is_none() {
                dependencies = typed(&value, "dependencies").map_err(refused)?;
            }
            if properties.is_none() {
                properties = typed(&value, "properties").map_err(refused)?;
            }
        }
        let Some([package, channels, default_channel]) = annotations else {
            let error = Diagnostic::in_file(
                format!("{folder}/metadata"),
                "Could not find annotations file",
            );
            let hint = format!("annotations.yaml has at least `{PACKAGE}`");
            return Err(error.with_hint(hint).into_error());
        };
        let channels = channels.split(',').map(|it| it.trim().to_owned());
        Ok(Self {
            package,
            channels: channels.filter(|it| !it.is_empty()).collect(),
            default_channel,
            dependencies: dependencies.unwrap_or_default(),
            properties: properties.unwrap_or_default(),
        })
    }
}

fn of_annotations(value: &Value) -> Result<Option<[String; 3]>, String> {
    if !value.is_object() {
        return Ok(None);
    }
    let annotations = Struct::of(Some(value), "")?.inner("annotations")?;
    let mut res = [const { String::new() }; 3];
    for (text, key) in res.iter_mut().zip([PACKAGE, CHANNELS, DEFAULT_CHANNEL]) {
        *text = self::text(&annotations, key)?;
    }
    Ok(res.iter().any(|it| !it.is_empty()).then_some(res))
}

/// A text, which may be written as a number: channels such as `4.11`.
fn text(map: &Struct, name: &str) -> Result<String, String> {
    match go::field(map.map, name).map(|it| (kubernetes::text(it), it)) {
        None => Ok(String::new()),
        Some((Some(text), _)) => Ok(text),
        Some((None, it)) => Err(format!("`{name}` is {}, not a string", go::described(it))),
    }
}

/// A list of types and values.
fn typed(value: &Value, name: &str) -> Result<Option<Vec<Property>>, String> {
    if !value.is_object() {
        return Ok(None);
    }
    let mut res = Vec::new();
    for item in Struct::of(Some(value), "")?.structs(name)? {
        res.push(Property {
            type_: self::text(&item, "type")?,
            value: item
                .map
                .iter()
                .find(|it| it.0.eq_ignore_ascii_case("value"))
                .map(|it| it.1.clone()),
        });
    }
    Ok(Some(res).filter(|it| !it.is_empty()))
}

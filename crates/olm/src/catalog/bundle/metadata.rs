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
    /// Reads the first file with annotations, the first with dependencies, and the first with properties.
    pub fn read(files: &Files, folder: &str) -> anyhow::Result<Self> {
        let (mut annotations, mut dependencies, mut properties) = (None, None, None);
        for (path, bytes) in files {
            let is_here =
                path.as_str().strip_prefix("metadata/").is_some_and(|name| !name.contains('/'));
            if !is_here {
                continue;
            }
            // The folder may have files of any kind, but a truncated YAML or JSON file must not pass as one of them.
            let fault = |message: String, (line, column): (usize, usize)| {
                Diagnostic::in_file(format!("{folder}/{path}"), message)
                    .at_position(line, column)
                    .into_error()
            };
            let is_yaml = matches!(path.extension(), "yaml" | "yml" | "json");
            let value = match document::first_document(bytes) {
                Ok(first) => first.map(|document| document.0).unwrap_or_default(),
                Err(it) if is_yaml => return Err(fault(it.message, it.position)),
                Err(_) => continue,
            };
            let refused = |message: String| fault(message, (1, 1));
            if annotations.is_none() {
                annotations = parse_annotations(&value).map_err(refused)?;
            }
            if dependencies.is_none() {
                dependencies = parse_properties(&value, "dependencies").map_err(refused)?;
            }
            if properties.is_none() {
                properties = parse_properties(&value, "properties").map_err(refused)?;
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
        let channels = channels.split(',').map(|channel| channel.trim().to_owned());
        Ok(Self {
            package,
            channels: channels.filter(|channel| !channel.is_empty()).collect(),
            default_channel,
            dependencies: dependencies.unwrap_or_default(),
            properties: properties.unwrap_or_default(),
        })
    }
}

fn parse_annotations(value: &Value) -> Result<Option<[String; 3]>, String> {
    if !value.is_object() {
        return Ok(None);
    }
    let annotations = Struct::from_value(Some(value), "")?.inner_struct("annotations")?;
    let mut texts = [const { String::new() }; 3];
    for (text, key) in texts.iter_mut().zip([PACKAGE, CHANNELS, DEFAULT_CHANNEL]) {
        *text = self::optional_text(&annotations, key)?;
    }
    Ok(texts.iter().any(|text| !text.is_empty()).then_some(texts))
}

/// Returns a string, which may be written as a number: channels such as `4.11`.
fn optional_text(map: &Struct, name: &str) -> Result<String, String> {
    match go::find_field(map.map, name).map(|value| (kubernetes::decode_text(value), value)) {
        None => Ok(String::new()),
        Some((Some(text), _)) => Ok(text),
        Some((None, it)) => Err(format!("`{name}` is {}, not a string", go::describe_type(it))),
    }
}

/// Parses a list of types and values.
fn parse_properties(value: &Value, name: &str) -> Result<Option<Vec<Property>>, String> {
    if !value.is_object() {
        return Ok(None);
    }
    let mut properties = Vec::new();
    for item in Struct::from_value(Some(value), "")?.structs(name)? {
        properties.push(Property {
            type_: self::optional_text(&item, "type")?,
            value: item
                .map
                .iter()
                .find(|entry| entry.0.eq_ignore_ascii_case("value"))
                .map(|entry| entry.1.clone()),
        });
    }
    Ok(Some(properties).filter(|properties| !properties.is_empty()))
}

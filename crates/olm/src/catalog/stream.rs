//! Formats blobs as text.

use super::go;
use go_data::yaml::{self, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Documents, each after `---`.
    Yaml,
    /// Objects, one after another.
    Json,
}

/// Formats several blobs.
pub fn format_blobs(blobs: &[Value], format: Format) -> String {
    blobs.iter().map(|blob| format_blob(blob, format)).collect()
}

/// Formats one blob as a part of such a stream.
pub fn format_blob(blob: &Value, format: Format) -> String {
    match format {
        Format::Yaml => format!("---\n{}", yaml::to_text(blob)),
        Format::Json => format_json(blob),
    }
}

/// Formats JSON, indented by four spaces like `opm`.
fn format_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, format);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => bytes.push(b'\n'),
        // Plain data is always serialized.
        Err(_) => return go::marshal_unescaped(value) + "\n",
    }
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

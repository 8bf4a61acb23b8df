//! Formats of strings and numbers.

use super::text;
use serde_json::Value;

/// Checks of strings, which depend on how much of Go's regular expressions and parsers is at hand. Each answers nothing
/// if it cannot tell.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// True if a text, the second argument, matches a pattern.
    pub matches: fn(&str, &str) -> Option<bool>,
    /// True if a text, the second argument, has a format.
    pub has_format: fn(&str, &str) -> Option<bool>,
}

/// The formats of strings without their hyphens, as the API server compares them
/// (apiextensions-apiserver 0.36, pkg/apiserver/validation/formats.go).
const STRINGS: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Returns whether API servers know a format of a type. They warn of others, and do not check them.
pub fn is_known_format(types: &[&str], format: &str) -> bool {
    match types {
        [] | ["string"] => STRINGS.contains(&&*format.replace('-', "")),
        ["integer"] => matches!(format, "int32" | "int64"),
        ["number"] => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// The format of a schema that is checked at all; empty where there is none.
pub fn format_of<'a>(schema: &'a Value, types: &[&str]) -> &'a str {
    let format = text(schema, "format");
    if is_known_format(types, format) { format } else { "" }
}

//! Formats that are unknown to API servers: a server warns of each, and does not check it.

use std::collections::BTreeMap;

use super::{Fault, text, visit_schemas};
use crd::structural::is_known_format;
use go_data::yaml::Value;

pub fn faults(schema: &Value) -> Vec<Fault> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    visit_schemas("", schema, &mut |at, it| {
        let format = text(it, "format");
        let types: Vec<&str> = it.get("type").and_then(Value::as_str).into_iter().collect();
        let known = format.is_empty() || is_known_format(&types, format);
        let places = found.entry(format.to_owned()).or_default();
        if !known && !places.iter().any(|place| place == at) {
            places.push(at.to_owned());
        }
    });
    let one = |(format, places): (String, Vec<String>)| {
        let (first, others) = places.split_first()?;
        let also = match others {
            [] => String::new(),
            [one] => format!(", as `{one}`"),
            _ => format!(", as {} more", others.len()),
        };
        let hint = if format.starts_with('u') && format != "uri" {
            "take `i32` or `i64`, with `#[schemars(range(min = 0))]`"
        } else {
            "ignore it: the warning has no other effect"
        };
        let message =
            format!("has the format `{format}`, unknown to API servers, which will warn{also}");
        Some(Fault { at: first.clone(), message, hint })
    };
    found.into_iter().filter_map(one).collect()
}

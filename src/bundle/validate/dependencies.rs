//! `metadata/dependencies.yaml`

use super::{Findings, format::field, grammar::versions};
use crate::{expression, yaml::Value};

/// Whether a file has dependencies; if so, each is checked.
pub fn check(path: &str, file: &Value, findings: &mut Findings) -> bool {
    // Where Go cannot decode the list, it sees no dependencies.
    let Ok(Some(Value::Array(list))) = field(file, "dependencies") else { return false };
    let type_ = |it: &Value| match field(it, "type") {
        Ok(None) => Some(String::new()),
        Ok(Some(Value::String(text))) => Some(text.clone()),
        Ok(Some(other @ (Value::Number(_) | Value::Bool(_)))) => Some(other.to_string()),
        _ => None,
    };
    let Some(types) = list.iter().map(type_).collect::<Option<Vec<_>>>() else { return false };
    for (type_, dependency) in types.iter().zip(list) {
        let value = field(dependency, "value").ok().flatten().unwrap_or(&Value::Null);
        if dependency_faults(path, type_, value, findings).is_none() {
            findings.error(path, format!("couldn't parse dependency of type {type_}"));
        }
    }
    !list.is_empty()
}

/// Nothing where Go cannot decode it.
fn dependency_faults(
    path: &str,
    type_: &str,
    value: &Value,
    findings: &mut Findings,
) -> Option<()> {
    let fields: &[(&str, &str)] = match type_ {
        "olm.gvk" => &[
            ("group", "API Group is empty"),
            ("version", "API Version is empty"),
            ("kind", "API Kind is empty"),
        ],
        "olm.label" => &[("label", "Label information is missing")],
        "olm.package" => {
            &[("packageName", "Package name is empty"), ("version", "Package version is empty")]
        }
        "olm.constraint" => return constraint(path, value, findings),
        _ => return None,
    };
    let texts: Vec<&str> = fields.iter().map(|it| text(value, it.0)).collect::<Option<_>>()?;
    for ((field, message), text) in fields.iter().zip(texts) {
        if text.is_empty() {
            findings.error(path, *message);
        } else if (type_, *field) == ("olm.package", "version") && !versions::is_range(text) {
            findings.error(path, "Invalid semver format version");
        }
    }
    Some(())
}

/// operator-registry takes CEL alone, and compiles it.
fn constraint(path: &str, value: &Value, findings: &mut Findings) -> Option<()> {
    text(value, "failureMessage")?;
    let Some(cel) = field(value, "cel").ok()? else {
        findings.error(path, "The CEL field is missing");
        return Some(());
    };
    match text(cel, "rule")? {
        "" => findings.error(path, "The CEL expression is missing"),
        rule => match expression::compiles(rule) {
            Ok(true) => {}
            Ok(false) => findings.warning(
                path,
                format!("the CEL expression was parsed, and its types were not checked: {rule}"),
            ),
            Err(why) => findings.error(path, format!("Invalid CEL expression: {why}")),
        },
    }
    Some(())
}

/// A text that may be missing; nothing where it is something else.
fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    match field(value, name) {
        Ok(None) => Some(""),
        Ok(Some(Value::String(text))) => Some(text),
        _ => None,
    }
}

//! `metadata/dependencies.yaml`

use super::{Findings, Rule, format::field};
use crd::expression;
use go_data::{kubernetes::version, yaml::Value};

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
    for (at, (type_, dependency)) in types.iter().zip(list).enumerate() {
        let at = At { path, field: format!("/dependencies/{at}") };
        let value = field(dependency, "value").ok().flatten().unwrap_or(&Value::Null);
        if dependency_faults(&at, type_, value, findings).is_none() {
            findings.error(
                Rule::DependencyType,
                at.at("type"),
                format!("couldn't parse dependency of type {type_}"),
            );
        }
    }
    !list.is_empty()
}

/// A dependency in its file.
struct At<'a> {
    path: &'a str,
    field: String,
}

impl<'a> At<'a> {
    fn at(&self, field: &str) -> (&'a str, String) {
        (self.path, format!("{}/{field}", self.field))
    }
}

/// Nothing where Go cannot decode it.
fn dependency_faults(at: &At, type_: &str, value: &Value, findings: &mut Findings) -> Option<()> {
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
        "olm.constraint" => return constraint(at, value, findings),
        _ => return None,
    };
    let texts: Vec<&str> = fields.iter().map(|it| text(value, it.0)).collect::<Option<_>>()?;
    let rule = match type_ {
        "olm.gvk" => Rule::DependencyGvk,
        "olm.label" => Rule::DependencyLabel,
        _ => Rule::DependencyPackage,
    };
    for ((field, message), text) in fields.iter().zip(texts) {
        if text.is_empty() {
            findings.error(rule, at.at(&format!("value/{field}")), *message);
        } else if (type_, *field) == ("olm.package", "version")
            && version::Range::parse(text).is_none()
        {
            findings.error(rule, at.at("value/version"), "Invalid semver format version");
        }
    }
    Some(())
}

/// operator-registry takes CEL alone, and compiles it.
fn constraint(at: &At, value: &Value, findings: &mut Findings) -> Option<()> {
    text(value, "failureMessage")?;
    let Some(cel) = field(value, "cel").ok()? else {
        findings.error(Rule::DependencyCel, at.at("value/cel"), "The CEL field is missing");
        return Some(());
    };
    let place = at.at("value/cel/rule");
    match text(cel, "rule")? {
        "" => findings.error(Rule::DependencyCel, place, "The CEL expression is missing"),
        rule => match expression::compiles(rule) {
            Ok(true) => {}
            Ok(false) => findings.warning(
                Rule::DependencyCelTypes,
                place,
                format!("the CEL expression was parsed, and its types were not checked: {rule}"),
            ),
            Err(why) => {
                findings.error(Rule::DependencyCel, place, format!("Invalid CEL expression: {why}"))
            }
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

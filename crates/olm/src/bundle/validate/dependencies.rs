//! `metadata/dependencies.yaml`

use super::{Findings, Rule, format::go_field};
use crd::expression;
use go_data::{kubernetes::version, yaml::Value};

/// Checks the dependencies of a file, and returns whether it has any.
pub fn check(path: &str, file: &Value, findings: &mut Findings) -> bool {
    // If Go cannot decode the list, it sees no dependencies.
    let Ok(Some(Value::Array(list))) = go_field(file, "dependencies") else { return false };
    let type_ = |dependency: &Value| match go_field(dependency, "type") {
        Ok(None) => Some(String::new()),
        Ok(Some(Value::String(text))) => Some(text.clone()),
        Ok(Some(other @ (Value::Number(_) | Value::Bool(_)))) => Some(other.to_string()),
        _ => None,
    };
    let Some(types) = list.iter().map(type_).collect::<Option<Vec<_>>>() else { return false };
    for (at, (type_, dependency)) in types.iter().zip(list).enumerate() {
        let at = DependencyLocation { path, field: format!("/dependencies/{at}") };
        let value = go_field(dependency, "value").ok().flatten().unwrap_or(&Value::Null);
        if check_dependency(&at, type_, value, findings).is_none() {
            findings.error(
                Rule::DependencyType,
                at.field_location("type"),
                format!("couldn't parse dependency of type {type_}"),
            );
        }
    }
    !list.is_empty()
}

/// A dependency in its file.
struct DependencyLocation<'a> {
    path: &'a str,
    field: String,
}

impl<'a> DependencyLocation<'a> {
    fn field_location(&self, field: &str) -> (&'a str, String) {
        (self.path, format!("{}/{field}", self.field))
    }
}

/// Checks one dependency; `None` if Go cannot decode it.
fn check_dependency(
    at: &DependencyLocation,
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
        "olm.constraint" => return check_constraint(at, value, findings),
        _ => return None,
    };
    let texts: Vec<&str> =
        fields.iter().map(|field| optional_text(value, field.0)).collect::<Option<_>>()?;
    let rule = match type_ {
        "olm.gvk" => Rule::DependencyGvk,
        "olm.label" => Rule::DependencyLabel,
        _ => Rule::DependencyPackage,
    };
    for ((field, message), text) in fields.iter().zip(texts) {
        if text.is_empty() {
            findings.error(rule, at.field_location(&format!("value/{field}")), *message);
        } else if (type_, *field) == ("olm.package", "version")
            && version::Range::parse(text).is_none()
        {
            findings.error(
                rule,
                at.field_location("value/version"),
                "Invalid semver format version",
            );
        }
    }
    Some(())
}

/// Checks a constraint. operator-registry supports only CEL, and compiles it.
fn check_constraint(at: &DependencyLocation, value: &Value, findings: &mut Findings) -> Option<()> {
    optional_text(value, "failureMessage")?;
    let Some(cel) = go_field(value, "cel").ok()? else {
        findings.error(
            Rule::DependencyCel,
            at.field_location("value/cel"),
            "The CEL field is missing",
        );
        return Some(());
    };
    let place = at.field_location("value/cel/rule");
    match optional_text(cel, "rule")? {
        "" => findings.error(Rule::DependencyCel, place, "The CEL expression is missing"),
        rule => match expression::compile_bundle_rule(rule) {
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

/// Returns a string, which is empty if it is missing; `None` if the value has another type.
fn optional_text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    match go_field(value, name) {
        Ok(None) => Some(""),
        Ok(Some(Value::String(text))) => Some(text),
        _ => None,
    }
}

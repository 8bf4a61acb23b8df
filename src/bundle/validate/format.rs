//! Folders, annotations and dependencies: what operator-registry calls the bundle's format.

use std::collections::BTreeMap;

use super::{
    super::annotations::{CHANNELS, DEFAULT_CHANNEL, MANIFESTS, MEDIA_TYPE, METADATA, PACKAGE},
    Findings, Manifest, of,
};
use crate::{
    model::ProjectPath,
    yaml::{self, Value},
};

pub fn check(
    files: &BTreeMap<ProjectPath, String>,
    manifests: &[Manifest],
    findings: &mut Findings,
) {
    let has = |folder: &str| files.keys().any(|it| it.as_str().starts_with(folder));
    let (has_manifests, has_metadata) = (has("manifests/"), has("metadata/"));
    if !has_manifests {
        findings.error("", "Unable to locate manifests directory");
    }
    if !has_metadata {
        findings.error("", "Unable to locate metadata directory");
    }
    if !has_manifests || !has_metadata {
        return;
    }
    let mut annotations = None;
    let mut dependencies = None;
    for (path, text) in files {
        if path.parent().is_none_or(|it| it.as_str() != "metadata") {
            continue;
        }
        let Some(file) = yaml::documents(text, yaml::Dialect::Kubernetes)
            .ok()
            .and_then(|it| it.into_iter().next())
        else {
            continue;
        };
        match annotations_of(&file) {
            Some(found) if annotations.is_none() => annotations = Some((path.as_str(), found)),
            _ if !of::list(&file, "/dependencies").is_empty() && dependencies.is_none() => {
                dependencies = Some((path.as_str(), of::list(&file, "/dependencies").to_vec()));
            }
            _ => {}
        }
    }
    match annotations {
        None => findings.error("metadata", "Could not find annotations file"),
        Some((path, found)) => check_annotations(path, &found, media_type(manifests), findings),
    }
    if let Some((path, list)) = dependencies {
        list.iter().for_each(|it| check_dependency(path, it, findings));
    }
}

/// Keys and texts; none where a value is neither text nor number, for then operator-registry sees no
/// annotations.
fn annotations_of(file: &Value) -> Option<BTreeMap<String, String>> {
    let text = |it: &Value| match it {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Number(_) | Value::Bool(_) => Some(it.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let found = file.get("annotations")?.as_object()?;
    found.iter().map(|(key, value)| Some((key.clone(), text(value)?))).collect()
}

fn media_type(manifests: &[Manifest]) -> &'static str {
    let has_csv = manifests.iter().any(|it| of::kind(&it.object) == "ClusterServiceVersion");
    if has_csv { "registry+v1" } else { "plain" }
}

fn check_annotations(
    path: &str,
    found: &BTreeMap<String, String>,
    media_type: &str,
    findings: &mut Findings,
) {
    let value = |key: &str| found.get(key).map(String::as_str).unwrap_or_default();
    for key in [MEDIA_TYPE, MANIFESTS, METADATA, PACKAGE, CHANNELS] {
        if !found.contains_key(key) {
            findings.error(path, format!("Missing annotation {key:?}"));
        }
    }
    if value(MEDIA_TYPE) != media_type {
        let said = value(MEDIA_TYPE);
        findings.error(
            path,
            format!("Expecting annotation {MEDIA_TYPE:?} to have value {media_type:?} instead of {said:?}"),
        );
    }
    for key in [CHANNELS, DEFAULT_CHANNEL] {
        let said = key == CHANNELS || found.contains_key(key);
        if said && value(key).is_empty() {
            findings.error(path, format!("Expecting annotation {key:?} to have non-empty value"));
        }
    }
}

fn check_dependency(path: &str, dependency: &Value, findings: &mut Findings) {
    let type_ = of::text(dependency, "/type");
    let value = dependency.get("value").unwrap_or(&Value::Null);
    let text = |field: &str| match value.get(field) {
        None | Some(Value::Null) => Some(""),
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => None,
    };
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
        "olm.constraint" => return check_constraint(path, value, findings),
        _ => {
            findings.error(path, format!("couldn't parse dependency of type {type_}"));
            return;
        }
    };
    if !value.is_object() || fields.iter().any(|(it, _)| text(it).is_none()) {
        findings.error(path, format!("couldn't parse dependency of type {type_}"));
        return;
    }
    for (field, message) in fields {
        if text(field) == Some("") {
            findings.error(path, *message);
        } else if (type_, *field) == ("olm.package", "version")
            && !is_range(text(field).unwrap_or_default())
        {
            findings.error(path, "Invalid semver format version");
        }
    }
}

/// operator-registry takes CEL alone, and compiles it, which we do not: that there is an expression is
/// all that can be said here.
fn check_constraint(path: &str, value: &Value, findings: &mut Findings) {
    match value.get("cel") {
        None | Some(Value::Null) => findings.error(path, "The CEL field is missing"),
        Some(cel) if of::text(cel, "/rule").is_empty() => {
            findings.error(path, "The CEL expression is missing");
        }
        Some(_) => {}
    }
}

/// A range of versions as github.com/blang/semver reads it: `>=1.0.0 <2.0.0 || 3.x`.
fn is_range(text: &str) -> bool {
    let is_part = |it: &str| {
        let version = it.trim_start_matches(['<', '>', '=', '!']);
        let operator = &it[..it.len() - version.len()];
        let operators = ["", "=", "==", "!", "!=", ">", ">=", "<", "<="];
        operators.contains(&operator) && is_version(version)
    };
    // Operators may stand apart from their versions.
    let mut joined = String::new();
    for word in text.split_whitespace() {
        joined.push_str(word);
        if !word.ends_with(['<', '>', '=', '!']) {
            joined.push(' ');
        }
    }
    joined.split("||").all(|it| {
        let mut parts = it.split_whitespace().peekable();
        parts.peek().is_some() && parts.all(is_part)
    })
}

/// A version, or one with `x` in the place of its last numbers.
fn is_version(text: &str) -> bool {
    if semver::Version::parse(text).is_ok() {
        return true;
    }
    let is_number = |it: &str| it.parse::<u64>().is_ok_and(|n| n.to_string() == it);
    match text.split('.').collect::<Vec<_>>()[..] {
        [one, "x"] | [one, "x", "x"] => is_number(one),
        [one, two, "x"] => is_number(one) && is_number(two),
        _ => false,
    }
}

#[test]
fn ranges_are_told_from_other_texts() {
    for text in
        [">=1.0.0 <2.0.0", "1.2.3", ">1.0.0 || <0.5.0", "!=1.0.0", "1.2.x", "1.x", ">= 1.0.0"]
    {
        assert!(is_range(text), "{text}");
    }
    for text in ["", "1", "^1.0.0", "~1.2", ">=a", "1.0.0 ||", "=>1.0.0"] {
        assert!(!is_range(text), "{text}");
    }
}

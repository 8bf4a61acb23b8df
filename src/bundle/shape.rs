//! Whether each field of a CSV or a CRD is of its type.

use super::object;
use crate::yaml::Value;

#[derive(Clone, Copy)]
enum Type {
    Text,
    Flag,
    Number,
    List,
    Map,
    Texts,
}
use Type::{Flag, List, Map, Number, Text, Texts};

/// Paths below the top; `*` is every element of a list.
const CSV: &[(&str, Type)] = &[
    ("metadata", Map),
    ("metadata/name", Text),
    ("metadata/labels", Texts),
    ("metadata/annotations", Texts),
    ("spec", Map),
    ("spec/displayName", Text),
    ("spec/description", Text),
    ("spec/version", Text),
    ("spec/maturity", Text),
    ("spec/minKubeVersion", Text),
    ("spec/replaces", Text),
    ("spec/skips", List),
    ("spec/skips/*", Text),
    ("spec/keywords", List),
    ("spec/keywords/*", Text),
    ("spec/maintainers", List),
    ("spec/maintainers/*", Map),
    ("spec/maintainers/*/name", Text),
    ("spec/maintainers/*/email", Text),
    ("spec/links", List),
    ("spec/links/*", Map),
    ("spec/links/*/name", Text),
    ("spec/links/*/url", Text),
    ("spec/icon", List),
    ("spec/icon/*", Map),
    ("spec/icon/*/base64data", Text),
    ("spec/icon/*/mediatype", Text),
    ("spec/provider", Map),
    ("spec/provider/name", Text),
    ("spec/provider/url", Text),
    ("spec/labels", Texts),
    ("spec/annotations", Texts),
    ("spec/selector", Map),
    ("spec/cleanup", Map),
    ("spec/cleanup/enabled", Flag),
    ("spec/installModes", List),
    ("spec/installModes/*", Map),
    ("spec/installModes/*/type", Text),
    ("spec/installModes/*/supported", Flag),
    ("spec/relatedImages", List),
    ("spec/relatedImages/*", Map),
    ("spec/relatedImages/*/name", Text),
    ("spec/relatedImages/*/image", Text),
    ("spec/nativeAPIs", List),
    ("spec/nativeAPIs/*", Map),
    ("spec/install", Map),
    ("spec/install/strategy", Text),
    ("spec/install/spec", Map),
    ("spec/install/spec/deployments", List),
    ("spec/install/spec/deployments/*", Map),
    ("spec/install/spec/deployments/*/name", Text),
    ("spec/install/spec/deployments/*/label", Texts),
    ("spec/install/spec/deployments/*/spec", Map),
    ("spec/install/spec/deployments/*/spec/replicas", Number),
    ("spec/install/spec/deployments/*/spec/selector", Map),
    ("spec/install/spec/deployments/*/spec/template", Map),
    ("spec/install/spec/deployments/*/spec/template/metadata/labels", Texts),
    ("spec/install/spec/deployments/*/spec/template/metadata/annotations", Texts),
    ("spec/install/spec/deployments/*/spec/template/spec/containers", List),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*", Map),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/image", Text),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/args/*", Text),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/command/*", Text),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/env/*", Map),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/env/*/name", Text),
    ("spec/install/spec/deployments/*/spec/template/spec/containers/*/env/*/value", Text),
    ("spec/install/spec/deployments/*/spec/template/spec/serviceAccountName", Text),
    ("spec/install/spec/permissions", List),
    ("spec/install/spec/permissions/*/serviceAccountName", Text),
    ("spec/install/spec/permissions/*/rules", List),
    ("spec/install/spec/clusterPermissions", List),
    ("spec/install/spec/clusterPermissions/*/serviceAccountName", Text),
    ("spec/install/spec/clusterPermissions/*/rules", List),
    ("spec/customresourcedefinitions", Map),
    ("spec/customresourcedefinitions/owned", List),
    ("spec/customresourcedefinitions/owned/*", Map),
    ("spec/customresourcedefinitions/owned/*/name", Text),
    ("spec/customresourcedefinitions/owned/*/version", Text),
    ("spec/customresourcedefinitions/owned/*/kind", Text),
    ("spec/customresourcedefinitions/owned/*/displayName", Text),
    ("spec/customresourcedefinitions/owned/*/description", Text),
    ("spec/customresourcedefinitions/owned/*/resources", List),
    ("spec/customresourcedefinitions/owned/*/specDescriptors", List),
    ("spec/customresourcedefinitions/owned/*/statusDescriptors", List),
    ("spec/customresourcedefinitions/owned/*/actionDescriptors", List),
    ("spec/customresourcedefinitions/required", List),
    ("spec/customresourcedefinitions/required/*/name", Text),
    ("spec/webhookdefinitions", List),
    ("spec/webhookdefinitions/*/containerPort", Number),
    ("spec/webhookdefinitions/*/generateName", Text),
    ("spec/apiservicedefinitions", Map),
];

/// The same of a CustomResourceDefinition, schemas aside.
const CRD: &[(&str, Type)] = &[
    ("metadata", Map),
    ("metadata/name", Text),
    ("metadata/labels", Texts),
    ("metadata/annotations", Texts),
    ("spec", Map),
    ("spec/group", Text),
    ("spec/scope", Text),
    ("spec/preserveUnknownFields", Flag),
    ("spec/names", Map),
    ("spec/names/plural", Text),
    ("spec/names/singular", Text),
    ("spec/names/kind", Text),
    ("spec/names/listKind", Text),
    ("spec/names/shortNames", List),
    ("spec/names/shortNames/*", Text),
    ("spec/names/categories", List),
    ("spec/names/categories/*", Text),
    ("spec/conversion", Map),
    ("spec/versions", List),
    ("spec/versions/*", Map),
    ("spec/versions/*/name", Text),
    ("spec/versions/*/served", Flag),
    ("spec/versions/*/storage", Flag),
    ("spec/versions/*/deprecated", Flag),
    ("spec/versions/*/deprecationWarning", Text),
    ("spec/versions/*/schema", Map),
    ("spec/versions/*/schema/openAPIV3Schema", Map),
    ("spec/versions/*/subresources", Map),
    ("spec/versions/*/subresources/status", Map),
    ("spec/versions/*/subresources/scale", Map),
    ("spec/versions/*/additionalPrinterColumns", List),
    ("spec/versions/*/additionalPrinterColumns/*", Map),
    ("spec/versions/*/additionalPrinterColumns/*/priority", Number),
    ("spec/versions/*/selectableFields", List),
    ("spec/versions/*/selectableFields/*", Map),
];

/// Every field of a CSV that Go would not read.
pub fn unreadable(csv: &Value) -> Vec<String> {
    let mut res = found(csv, CSV);
    let version = object::text(csv, "/spec/version");
    if !version.is_empty() && !is_version(version) {
        res.push(format!("`spec.version` is `{version}`, which is no semantic version"));
    }
    res
}

/// Every field of a CRD that Go would not read.
pub fn unreadable_crd(crd: &Value) -> Vec<String> {
    found(crd, CRD)
}

fn found(object: &Value, fields: &[(&str, Type)]) -> Vec<String> {
    let mut res = Vec::new();
    for (path, type_) in fields {
        let mut at = vec![(object, String::new())];
        for step in path.split('/') {
            at = at.into_iter().flat_map(|(value, name)| below(value, &name, step)).collect();
        }
        for (value, name) in at {
            if !value.is_null() && !reads(value, *type_) {
                res.push(format!("`{name}` is no {}", said(*type_)));
            }
        }
    }
    res
}

/// What Go takes: where a text belongs, numbers and flags too.
fn reads(value: &Value, type_: Type) -> bool {
    let is_scalar = |it: &Value| it.is_string() || it.is_number() || it.is_boolean();
    match type_ {
        Text => is_scalar(value),
        Texts => {
            value.as_object().is_some_and(|it| it.values().all(|it| it.is_null() || is_scalar(it)))
        }
        _ => is(value, type_),
    }
}

/// A version as OLM reads it: `v`, leading zeros and missing numbers are forgiven.
fn is_version(text: &str) -> bool {
    let text = text.trim();
    let parts: Vec<&str> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').collect();
    if parts.len() < 3 && parts.last().is_some_and(|it| it.contains(['+', '-'])) {
        return false;
    }
    let number = |it: Option<&&str>| match it.map_or("0", |it| it.trim_start_matches('0')) {
        text if text.starts_with(|c: char| c.is_ascii_digit()) => text.to_owned(),
        text => format!("0{text}"),
    };
    let [major, minor, patch] = [0, 1, 2].map(|it| number(parts.get(it)));
    semver::Version::parse(&format!("{major}.{minor}.{patch}")).is_ok()
}

fn below<'a>(value: &'a Value, name: &str, step: &str) -> Vec<(&'a Value, String)> {
    if step == "*" {
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        return list.iter().enumerate().map(|(at, it)| (it, format!("{name}[{at}]"))).collect();
    }
    let dot = if name.is_empty() { "" } else { "." };
    value.get(step).map(|it| (it, format!("{name}{dot}{step}"))).into_iter().collect()
}

fn is(value: &Value, type_: Type) -> bool {
    match type_ {
        Text => value.is_string(),
        Flag => value.is_boolean(),
        Number => value.is_i64() || value.is_u64(),
        List => value.is_array(),
        Map => value.is_object(),
        Texts => {
            value.as_object().is_some_and(|it| it.values().all(|it| it.is_string() || it.is_null()))
        }
    }
}

fn said(type_: Type) -> &'static str {
    match type_ {
        Text => "string",
        Flag => "boolean",
        Number => "integer",
        List => "list",
        Map => "object",
        Texts => "map of strings",
    }
}

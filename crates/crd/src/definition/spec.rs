//! A CustomResourceDefinition without its schemas.

use super::{conversion, names, of, selectable};
use go_data::{
    kubernetes::url::Url,
    yaml::{Value, json, pointer::escaped},
};

/// What is wrong, in the words of Kubernetes.
pub fn faults(crd: &Value) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    metadata(crd, &mut faults);
    spec(crd, &mut faults);
    kind_names(crd, &mut faults);
    versions(crd, &mut faults);
    conversion::check(crd, &mut faults);
    faults.0
}

/// The pointer of the field that a fault of Kubernetes begins with: `spec.versions[0].name: …`.
pub fn pointer(fault: &str) -> String {
    let field = fault.split(": ").next().unwrap_or_default();
    let mut res = String::new();
    let mut rest = field;
    while !rest.is_empty() {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if 0 < end {
            res += &format!("/{}", escaped(&rest[..end]));
        }
        // Keys of annotations have dots.
        let Some(key) = rest[end..].strip_prefix('[').and_then(|it| it.split_once(']')) else {
            rest = rest[end..].trim_start_matches('.');
            continue;
        };
        res += &format!("/{}", escaped(key.0));
        rest = key.1.trim_start_matches('.');
    }
    res.replace("/conversion/webhookClientConfig", "/conversion/webhook/clientConfig")
        .replace(
            "/conversion/conversionReviewVersions",
            "/conversion/webhook/conversionReviewVersions",
        )
        .replace("/JSONPath", "/jsonPath")
}

/// Faults in the words of Kubernetes.
#[derive(Default)]
pub struct Faults(pub Vec<String>);

impl Faults {
    pub fn required(&mut self, field: &str, detail: &str) {
        let colon = if detail.is_empty() { "" } else { ": " };
        self.0.push(format!("{field}: Required value{colon}{detail}"));
    }
    pub fn invalid(&mut self, field: &str, value: &str, detail: &str) {
        self.0.push(format!("{field}: Invalid value: {value:?}: {detail}"));
    }
    pub fn list(&mut self, field: &str, detail: &str) {
        self.0.push(format!("{field}: {detail}"));
    }
    pub fn unsupported(&mut self, field: &str, value: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|it| format!("{it:?}")).collect();
        let supported = supported.join(", ");
        self.0
            .push(format!("{field}: Unsupported value: {value:?}: supported values: {supported}"));
    }
    pub fn label(&mut self, field: &str, value: &str, before: &str) {
        // Kinds may have capitals.
        let lower = if before.is_empty() { value.to_owned() } else { value.to_lowercase() };
        let faults = names::dns_1035(&lower);
        if !faults.is_empty() {
            self.invalid(field, value, &format!("{before}{}", faults.join(",")));
        }
    }
}

fn metadata(crd: &Value, faults: &mut Faults) {
    let [plural, group] = ["/spec/names/plural", "/spec/group"].map(|it| of::text(crd, it));
    let prefix = of::text(crd, "/metadata/generateName");
    // A prefix may end in a dash.
    let masked = match prefix.strip_suffix('-') {
        Some(rest) if 1 < prefix.len() => format!("{rest}a"),
        _ => prefix.to_owned(),
    };
    let name = of::text(crd, "/metadata/name");
    for (field, name, checked) in [("generateName", prefix, masked.as_str()), ("name", name, name)]
    {
        if name.is_empty() {
            continue;
        }
        let field = format!("metadata.{field}");
        for fault in names::subdomain(checked) {
            faults.invalid(&field, name, &fault);
        }
        if name != format!("{plural}.{group}") {
            faults.invalid(&field, name, "must be spec.names.plural+\".\"+spec.group");
        }
    }
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|it| group == *it || group.ends_with(&format!(".{it}")));
    if !is_protected {
        return;
    }
    let approval = "api-approved.kubernetes.io";
    let annotations = crd.pointer("/metadata/annotations");
    let text =
        annotations.and_then(|it| it.get(approval)).and_then(Value::as_str).unwrap_or_default();
    let is_url = |text| {
        Url::parse_request(text).is_some_and(|it| !it.host.is_empty() && !it.scheme.is_empty())
    };
    let field = format!("metadata.annotations[{approval}]");
    let detail = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    let more = "see https://github.com/kubernetes/enhancements/pull/1111";
    if text.is_empty() {
        faults.required(&field, &format!("{detail}, {more}"));
    } else if !text.starts_with("unapproved") && !is_url(text) {
        faults.invalid(
            &field,
            text,
            &format!("{detail} with either a URL or a reason starting with \"unapproved\", {more}"),
        );
    }
}

fn spec(crd: &Value, faults: &mut Faults) {
    let group = of::text(crd, "/spec/group");
    let wrong = names::subdomain(group);
    if group.is_empty() {
        faults.required("spec.group", "");
    } else if !wrong.is_empty() {
        faults.invalid("spec.group", group, &wrong.join(","));
    } else if !group.contains('.') {
        faults.invalid("spec.group", group, "should be a domain with at least one dot");
    }
    match of::text(crd, "/spec/scope") {
        "Cluster" | "Namespaced" => {}
        "" => faults.required("spec.scope", ""),
        scope => faults.0.push(format!(
            "spec.scope: Unsupported value: {scope:?}: supported values: \"Cluster\", \"Namespaced\""
        )),
    }
    if crd.pointer("/spec/preserveUnknownFields") == Some(&json!(true)) {
        faults.list(
            "spec.preserveUnknownFields",
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        );
    }
}

fn kind_names(crd: &Value, faults: &mut Faults) {
    let name = |field: &str| of::text(crd, &format!("/spec/names/{field}"));
    let kind = name("kind");
    for field in ["plural", "kind"] {
        if name(field).is_empty() {
            faults.required(&format!("spec.names.{field}"), "");
        }
    }
    if kind.is_empty() {
        // Both are made from the kind where they are missing.
        for field in ["singular", "listKind"] {
            if name(field).is_empty() {
                faults.required(&format!("spec.names.{field}"), "");
            }
        }
    }
    for (field, before) in [
        ("plural", ""),
        ("singular", ""),
        ("kind", "may have mixed case, but should otherwise match: "),
        ("listKind", "may have mixed case, but should otherwise match: "),
    ] {
        if !name(field).is_empty() {
            faults.label(&format!("spec.names.{field}"), name(field), before);
        }
    }
    for field in ["shortNames", "categories"] {
        for (at, it) in of::list(crd, &format!("/spec/names/{field}")).iter().enumerate() {
            faults.label(&format!("spec.names.{field}[{at}]"), it.as_str().unwrap_or_default(), "");
        }
    }
    if !kind.is_empty() && kind == name("listKind") {
        faults.invalid("spec.names.listKind", kind, "kind and listKind may not be the same");
    }
}

fn versions(crd: &Value, faults: &mut Faults) {
    let versions = of::list(crd, "/spec/versions");
    let mut seen: Vec<&str> = versions.iter().map(|it| of::text(it, "/name")).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|it| it[0] == it[1]) {
        faults.list("spec.versions", "must contain unique version names");
    }
    let storage = versions.iter().filter(|it| it.get("storage") == Some(&json!(true))).count();
    if storage != 1 {
        faults.list("spec.versions", "must have exactly one version marked as storage version");
    }
    for (at, version) in versions.iter().enumerate() {
        let field = format!("spec.versions[{at}]");
        faults.label(&format!("{field}.name"), of::text(version, "/name"), "");
        deprecation(version, &field, faults);
        columns(version, &hoisted(versions, at, "additionalPrinterColumns"), faults);
        scale(version, &hoisted(versions, at, "subresources"), faults);
        let own = hoisted(versions, at, "selectableFields");
        let is_own =
            own.starts_with("spec.versions") && !of::list(version, "/selectableFields").is_empty();
        if is_own && hoisted(versions, at, "schema") == "spec.schema" {
            // Kubernetes keeps a schema that all versions share above, and looks for it here.
            faults.invalid(
                &own,
                "",
                "may only be set when `version.schema.openAPIV3Schema` is not included",
            );
            continue;
        }
        let selectable = selectable::faults(version, &hoisted(versions, at, "selectableFields"));
        faults.0.extend(selectable);
    }
}

/// Where Kubernetes sees a field of a version: above, if all versions have the same.
fn hoisted(versions: &[Value], at: usize, field: &str) -> String {
    let value = versions[at].get(field);
    if value.is_some() && versions.iter().all(|it| it.get(field) == value) {
        return format!("spec.{field}");
    }
    format!("spec.versions[{at}].{field}")
}

fn deprecation(version: &Value, field: &str, faults: &mut Faults) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let field = format!("{field}.deprecationWarning");
    if version.get("deprecated") != Some(&json!(true)) {
        return faults.invalid(&field, warning, "can only be set for deprecated versions");
    }
    if 256 < warning.len() {
        faults.invalid(&field, warning, "must be <= 256 characters long");
    }
    if warning.is_empty() {
        faults.invalid(&field, warning, "must not be an empty string");
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, it)| it.is_control()) {
        let detail = format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        );
        faults.invalid(&field, warning, &detail);
    }
}

fn columns(version: &Value, field: &str, faults: &mut Faults) {
    const TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
    const FORMATS: &[&str] =
        &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (at, column) in of::list(version, "/additionalPrinterColumns").iter().enumerate() {
        let field = format!("{field}[{at}]");
        if of::text(column, "/name").is_empty() {
            faults.required(&format!("{field}.name"), "");
        }
        let types = format!("must be one of {}", TYPES.join(","));
        match of::text(column, "/type") {
            "" => faults.required(&format!("{field}.type"), &types),
            it if !TYPES.contains(&it) => faults.invalid(&format!("{field}.type"), it, &types),
            _ => {}
        }
        let format = of::text(column, "/format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            faults.invalid(&format!("{field}.format"), format, &detail);
        }
        match of::text(column, "/jsonPath") {
            "" => faults.required(&format!("{field}.JSONPath"), ""),
            it if !it.starts_with('.') => faults.invalid(
                &format!("{field}.JSONPath"),
                it,
                "must be a simple json path starting with .",
            ),
            _ => {}
        }
    }
}

fn scale(version: &Value, field: &str, faults: &mut Faults) {
    let Some(scale) = version.pointer("/subresources/scale") else { return };
    for (name, parts, detail) in [
        ("specReplicasPath", &[".spec."][..], "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], "should be a json path under .status"),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let path = of::text(scale, &format!("/{name}"));
        let field = format!("{field}.scale.{name}");
        if path.is_empty() {
            if name != "labelSelectorPath" {
                faults.required(&field, "");
            }
        } else if !path.starts_with('.') {
            faults.invalid(&field, path, "must be a simple json path starting with .");
        } else if !parts.iter().any(|it| path.starts_with(it)) {
            faults.invalid(&field, path, detail);
        }
    }
}

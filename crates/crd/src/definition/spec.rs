//! Checks a CustomResourceDefinition without its schemas.

use super::{conversion, names, pointer, selectable};
use go_data::{
    kubernetes::url::Url,
    yaml::{Value, json, pointer::escape_key},
};

/// Returns the faults outside of the schemas, in the words of Kubernetes.
pub fn check_definition(crd: &Value) -> Vec<String> {
    let mut faults = Faults(Vec::new());
    check_metadata(crd, &mut faults);
    check_group_and_scope(crd, &mut faults);
    check_kind_names(crd, &mut faults);
    check_versions(crd, &mut faults);
    conversion::check_conversion(crd, &mut faults);
    faults.0
}

/// Returns the JSON pointer of the field that a message of Kubernetes begins with: `spec.versions[0].name: …`.
pub fn pointer_of_fault(fault: &str) -> String {
    let field = fault.split(": ").next().unwrap_or_default();
    let mut pointer = String::new();
    let mut rest = field;
    while !rest.is_empty() {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end > 0 {
            pointer += &format!("/{}", escape_key(&rest[..end]));
        }
        // Keys of annotations have dots.
        let Some(key) = rest[end..].strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            rest = rest[end..].trim_start_matches('.');
            continue;
        };
        pointer += &format!("/{}", escape_key(key.0));
        rest = key.1.trim_start_matches('.');
    }
    pointer
        .replace("/conversion/webhookClientConfig", "/conversion/webhook/clientConfig")
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
    pub fn add_required(&mut self, field: &str, detail: &str) {
        let colon = if detail.is_empty() { "" } else { ": " };
        self.0.push(format!("{field}: Required value{colon}{detail}"));
    }
    pub fn add_invalid(&mut self, field: &str, value: &str, detail: &str) {
        self.0.push(format!("{field}: Invalid value: {value:?}: {detail}"));
    }
    pub fn add_detail(&mut self, field: &str, detail: &str) {
        self.0.push(format!("{field}: {detail}"));
    }
    pub fn add_unsupported(&mut self, field: &str, value: &str, supported: &[&str]) {
        let supported: Vec<String> =
            supported.iter().map(|supported| format!("{supported:?}")).collect();
        let supported = supported.join(", ");
        self.0
            .push(format!("{field}: Unsupported value: {value:?}: supported values: {supported}"));
    }
    pub fn check_label(&mut self, field: &str, value: &str, before: &str) {
        // Kinds may have capitals.
        let lower = if before.is_empty() { value.to_owned() } else { value.to_lowercase() };
        let faults = names::validate_dns_1035_label(&lower);
        if !faults.is_empty() {
            self.add_invalid(field, value, &format!("{before}{}", faults.join(",")));
        }
    }
}

fn check_metadata(crd: &Value, faults: &mut Faults) {
    let [plural, group] =
        ["/spec/names/plural", "/spec/group"].map(|path| pointer::text(crd, path));
    let prefix = pointer::text(crd, "/metadata/generateName");
    // A prefix may end in a dash.
    let masked = match prefix.strip_suffix('-') {
        Some(rest) if prefix.len() > 1 => format!("{rest}a"),
        _ => prefix.to_owned(),
    };
    let name = pointer::text(crd, "/metadata/name");
    for (field, name, checked) in [("generateName", prefix, masked.as_str()), ("name", name, name)]
    {
        if name.is_empty() {
            continue;
        }
        let field = format!("metadata.{field}");
        for fault in names::validate_subdomain(checked) {
            faults.add_invalid(&field, name, &fault);
        }
        if name != format!("{plural}.{group}") {
            faults.add_invalid(&field, name, "must be spec.names.plural+\".\"+spec.group");
        }
    }
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    if !is_protected {
        return;
    }
    let approval = "api-approved.kubernetes.io";
    let annotations = crd.pointer("/metadata/annotations");
    let text = annotations
        .and_then(|annotations| annotations.get(approval))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_url = |text| {
        Url::parse_request(text).is_some_and(|url| !url.host.is_empty() && !url.scheme.is_empty())
    };
    let field = format!("metadata.annotations[{approval}]");
    let detail = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    let more = "see https://github.com/kubernetes/enhancements/pull/1111";
    if text.is_empty() {
        faults.add_required(&field, &format!("{detail}, {more}"));
    } else if !text.starts_with("unapproved") && !is_url(text) {
        faults.add_invalid(
            &field,
            text,
            &format!("{detail} with either a URL or a reason starting with \"unapproved\", {more}"),
        );
    }
}

fn check_group_and_scope(crd: &Value, faults: &mut Faults) {
    let group = pointer::text(crd, "/spec/group");
    let wrong = names::validate_subdomain(group);
    if group.is_empty() {
        faults.add_required("spec.group", "");
    } else if !wrong.is_empty() {
        faults.add_invalid("spec.group", group, &wrong.join(","));
    } else if !group.contains('.') {
        faults.add_invalid("spec.group", group, "should be a domain with at least one dot");
    }
    match pointer::text(crd, "/spec/scope") {
        "Cluster" | "Namespaced" => {}
        "" => faults.add_required("spec.scope", ""),
        scope => faults.0.push(format!(
            "spec.scope: Unsupported value: {scope:?}: supported values: \"Cluster\", \"Namespaced\""
        )),
    }
    if crd.pointer("/spec/preserveUnknownFields") == Some(&json!(true)) {
        faults.add_detail(
            "spec.preserveUnknownFields",
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        );
    }
}

fn check_kind_names(crd: &Value, faults: &mut Faults) {
    let name = |field: &str| pointer::text(crd, &format!("/spec/names/{field}"));
    let kind = name("kind");
    for field in ["plural", "kind"] {
        if name(field).is_empty() {
            faults.add_required(&format!("spec.names.{field}"), "");
        }
    }
    if kind.is_empty() {
        // Both are made from the kind where they are missing.
        for field in ["singular", "listKind"] {
            if name(field).is_empty() {
                faults.add_required(&format!("spec.names.{field}"), "");
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
            faults.check_label(&format!("spec.names.{field}"), name(field), before);
        }
    }
    for field in ["shortNames", "categories"] {
        for (at, it) in pointer::list(crd, &format!("/spec/names/{field}")).iter().enumerate() {
            faults.check_label(
                &format!("spec.names.{field}[{at}]"),
                it.as_str().unwrap_or_default(),
                "",
            );
        }
    }
    if !kind.is_empty() && kind == name("listKind") {
        faults.add_invalid("spec.names.listKind", kind, "kind and listKind may not be the same");
    }
}

fn check_versions(crd: &Value, faults: &mut Faults) {
    let versions = pointer::list(crd, "/spec/versions");
    let mut seen: Vec<&str> =
        versions.iter().map(|version| pointer::text(version, "/name")).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        faults.add_detail("spec.versions", "must contain unique version names");
    }
    let storage =
        versions.iter().filter(|version| version.get("storage") == Some(&json!(true))).count();
    if storage != 1 {
        faults
            .add_detail("spec.versions", "must have exactly one version marked as storage version");
    }
    for (at, version) in versions.iter().enumerate() {
        let field = format!("spec.versions[{at}]");
        faults.check_label(&format!("{field}.name"), pointer::text(version, "/name"), "");
        check_deprecation(version, &field, faults);
        check_columns(version, &field_location(versions, at, "additionalPrinterColumns"), faults);
        check_scale(version, &field_location(versions, at, "subresources"), faults);
        let own = field_location(versions, at, "selectableFields");
        let is_own = own.starts_with("spec.versions")
            && !pointer::list(version, "/selectableFields").is_empty();
        if is_own && field_location(versions, at, "schema") == "spec.schema" {
            // Kubernetes keeps a schema that all versions share above, and looks for it here.
            faults.add_invalid(
                &own,
                "",
                "may only be set when `version.schema.openAPIV3Schema` is not included",
            );
            continue;
        }
        let selectable = selectable::check_selectable_fields(
            version,
            &field_location(versions, at, "selectableFields"),
        );
        faults.0.extend(selectable);
    }
}

/// Returns the path by which Kubernetes names a field of a version: that of `spec`, if all versions have the same
/// value.
fn field_location(versions: &[Value], at: usize, field: &str) -> String {
    let value = versions[at].get(field);
    if value.is_some() && versions.iter().all(|version| version.get(field) == value) {
        return format!("spec.{field}");
    }
    format!("spec.versions[{at}].{field}")
}

fn check_deprecation(version: &Value, field: &str, faults: &mut Faults) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let field = format!("{field}.deprecationWarning");
    if version.get("deprecated") != Some(&json!(true)) {
        return faults.add_invalid(&field, warning, "can only be set for deprecated versions");
    }
    if warning.len() > 256 {
        faults.add_invalid(&field, warning, "must be <= 256 characters long");
    }
    if warning.is_empty() {
        faults.add_invalid(&field, warning, "must not be an empty string");
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, it)| it.is_control()) {
        let detail = format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        );
        faults.add_invalid(&field, warning, &detail);
    }
}

fn check_columns(version: &Value, field: &str, faults: &mut Faults) {
    const TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
    const FORMATS: &[&str] =
        &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (at, column) in pointer::list(version, "/additionalPrinterColumns").iter().enumerate() {
        let field = format!("{field}[{at}]");
        if pointer::text(column, "/name").is_empty() {
            faults.add_required(&format!("{field}.name"), "");
        }
        let types = format!("must be one of {}", TYPES.join(","));
        match pointer::text(column, "/type") {
            "" => faults.add_required(&format!("{field}.type"), &types),
            it if !TYPES.contains(&it) => faults.add_invalid(&format!("{field}.type"), it, &types),
            _ => {}
        }
        let format = pointer::text(column, "/format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            faults.add_invalid(&format!("{field}.format"), format, &detail);
        }
        match pointer::text(column, "/jsonPath") {
            "" => faults.add_required(&format!("{field}.JSONPath"), ""),
            it if !it.starts_with('.') => faults.add_invalid(
                &format!("{field}.JSONPath"),
                it,
                "must be a simple json path starting with .",
            ),
            _ => {}
        }
    }
}

fn check_scale(version: &Value, field: &str, faults: &mut Faults) {
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
        let path = pointer::text(scale, &format!("/{name}"));
        let field = format!("{field}.scale.{name}");
        if path.is_empty() {
            if name != "labelSelectorPath" {
                faults.add_required(&field, "");
            }
        } else if !path.starts_with('.') {
            faults.add_invalid(&field, path, "must be a simple json path starting with .");
        } else if !parts.iter().any(|part| path.starts_with(part)) {
            faults.add_invalid(&field, path, detail);
        }
    }
}

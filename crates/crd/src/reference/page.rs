//! Renders the page of a kind.

use std::fmt::Write as _;

use super::{
    Kinds,
    anchors::Anchors,
    field::{Context, Field},
    markdown::{code_block, code_span, escape_text, first_sentence},
    sorted_versions,
};
use crate::keyword::{flag, text};
use go_data::yaml::{self, Value, pointer};

/// Renders the page, and returns it with the first sentence of the kind's description.
pub fn render_page(kinds: &Kinds, crd: &Value) -> (String, String) {
    let spec = &crd["spec"];
    let mut anchors = Anchors::default();
    let versions = sorted_versions(crd);
    let version_anchors: Vec<String> =
        versions.iter().map(|version| anchors.add_anchor([text(version, "name")])).collect();
    let mut page = format!("\n# {}\n\n", escape_text(text(&spec["names"], "kind")));
    write_head(spec, &mut page);
    for (version, anchor) in versions.iter().zip(&version_anchors) {
        let marks = version_marks(version);
        let marks = if marks.is_empty() { marks } else { format!(": {marks}") };
        let _ =
            writeln!(page, "- Version [{}](#{anchor}){marks}", code_span(text(version, "name")));
    }
    for (at, (version, anchor)) in versions.iter().zip(&version_anchors).enumerate() {
        let prefix = Some(text(version, "name")).filter(|_| at != 0);
        self::write_version(kinds, crd, version, (anchor, prefix), &mut anchors, &mut page);
    }
    let schema = versions.first().and_then(|version| version.pointer("/schema/openAPIV3Schema"));
    let about = schema.map(|schema| text(schema, "description")).unwrap_or_default();
    (page, first_sentence(about))
}

/// Writes what all versions have in common.
fn write_head(spec: &Value, to: &mut String) {
    let names = &spec["names"];
    let list = |key: &str| {
        let all = names[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.map(code_span).collect::<Vec<_>>().join(", ")
    };
    let one = |value: &str| if value.is_empty() { String::new() } else { code_span(value) };
    for (title, value) in [
        ("Group", one(text(spec, "group"))),
        ("Scope", escape_text(text(spec, "scope"))),
        ("Plural", one(text(names, "plural"))),
        ("Singular", one(text(names, "singular"))),
        ("Short names", list("shortNames")),
        ("Categories", list("categories")),
    ] {
        if !value.is_empty() {
            let _ = writeln!(to, "- {title}: {value}");
        }
    }
}

/// Returns the particularities of a version: stored, not served, deprecated.
fn version_marks(version: &Value) -> String {
    let mut marks = Vec::new();
    marks.extend(flag(version, "storage").then(|| "stored".to_owned()));
    marks.extend((!flag(version, "served")).then(|| "not served".to_owned()));
    if flag(version, "deprecated") {
        let warning = escape_text(text(version, "deprecationWarning"));
        marks.push(if warning.is_empty() {
            "deprecated".to_owned()
        } else {
            format!("deprecated ({warning})")
        });
    }
    marks.join(", ")
}

fn write_version(
    kinds: &Kinds,
    crd: &Value,
    version: &Value,
    (anchor, prefix): (&str, Option<&str>),
    anchors: &mut Anchors,
    to: &mut String,
) {
    let name = text(version, "name");
    let _ = write!(to, "\n## <a id=\"{anchor}\"></a>{}\n", escape_text(name));
    let marks = version_marks(version);
    if !marks.is_empty() {
        let _ = write!(to, "\nThis version is {marks}.\n");
    }
    write_subresources(version, to);
    write_columns(version, to);
    let group = text(&crd["spec"], "group");
    let kind = text(&crd["spec"]["names"], "kind");
    let api_version = format!("{group}/{name}");
    let is_example =
        |sample: &&Value| sample["apiVersion"] == *api_version && sample["kind"] == *kind;
    for it in kinds.samples.iter().filter(is_example) {
        let title = match pointer::text(it, "/metadata/name") {
            "" => "Example".to_owned(),
            name => format!("Example {}", code_span(name)),
        };
        let _ = write!(to, "\n{title}:\n\n{}", code_block(&yaml::to_text(it), "yaml"));
    }
    let key = (pointer::text(crd, "/metadata/name").to_owned(), name.to_owned());
    let types = kinds.types.get(&key);
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else {
        to.push_str("\nThis version has no schema.\n");
        return;
    };
    let mut context = Context { anchors, prefix };
    Field::of_object(&mut context, schema).write_sections(types, to);
}

fn write_subresources(version: &Value, to: &mut String) {
    let subresources = &version["subresources"];
    let mut all = Vec::new();
    if subresources.get("status").is_some() {
        all.push("- `status`\n".to_owned());
    }
    if let Some(scale) = subresources.get("scale") {
        let paths = [
            ("replicas", "specReplicasPath"),
            ("status", "statusReplicasPath"),
            ("selector", "labelSelectorPath"),
        ];
        let paths = paths.iter().filter(|path| !text(scale, path.1).is_empty());
        let paths: Vec<String> =
            paths.map(|(title, key)| format!("{title} {}", code_span(text(scale, key)))).collect();
        all.push(format!("- `scale`: {}\n", paths.join(", ")));
    }
    if !all.is_empty() {
        let _ = write!(to, "\nSubresources:\n\n{}", all.concat());
    }
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let fields: Vec<String> = fields.map(|field| code_span(text(field, "jsonPath"))).collect();
    if !fields.is_empty() {
        let _ = write!(to, "\nSelectable fields: {}\n", fields.join(", "));
    }
}

fn write_columns(version: &Value, to: &mut String) {
    let columns = version["additionalPrinterColumns"].as_array().map(Vec::as_slice);
    let columns = columns.unwrap_or_default();
    if columns.is_empty() {
        return;
    }
    to.push_str("\nPrinter columns:\n\n");
    for it in columns {
        let kind = [text(it, "type"), text(it, "format")].map(escape_text);
        let kind =
            kind.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(", ");
        let wide =
            if it["priority"].as_i64().unwrap_or_default() > 0 { ", with `-o wide`" } else { "" };
        let (name, path) = (escape_text(text(it, "name")), code_span(text(it, "jsonPath")));
        let about = escape_text(text(it, "description"));
        let about = if about.is_empty() { about } else { format!(": {about}") };
        let _ = writeln!(to, "- {name} ({kind}{wide}), {path}{about}");
    }
}

//! The page of a kind.

use std::fmt::Write as _;

use super::{
    Kinds,
    anchors::Anchors,
    field::{Context, Field},
    markdown::{block, code, plain, summary},
    versions,
};
use crate::keyword::{flag, text};
use go_data::yaml::{self, Value, pointer};

/// The page, and the first sentence of the kind's description.
pub fn page(kinds: &Kinds, crd: &Value) -> (String, String) {
    let spec = &crd["spec"];
    let mut anchors = Anchors::default();
    let versions = versions(crd);
    let version_anchors: Vec<String> =
        versions.iter().map(|it| anchors.of([text(it, "name")])).collect();
    let mut res = format!("\n# {}\n\n", plain(text(&spec["names"], "kind")));
    head(spec, &mut res);
    for (version, anchor) in versions.iter().zip(&version_anchors) {
        let marks = marks(version);
        let marks = if marks.is_empty() { marks } else { format!(": {marks}") };
        let _ = writeln!(res, "- Version [{}](#{anchor}){marks}", code(text(version, "name")));
    }
    for (at, (version, anchor)) in versions.iter().zip(&version_anchors).enumerate() {
        let prefix = Some(text(version, "name")).filter(|_| at != 0);
        self::version(kinds, crd, version, (anchor, prefix), &mut anchors, &mut res);
    }
    let schema = versions.first().and_then(|it| it.pointer("/schema/openAPIV3Schema"));
    let about = schema.map(|it| text(it, "description")).unwrap_or_default();
    (res, summary(about))
}

/// What is the same in all versions.
fn head(spec: &Value, to: &mut String) {
    let names = &spec["names"];
    let list = |key: &str| {
        let all = names[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.map(code).collect::<Vec<_>>().join(", ")
    };
    let one = |it: &str| if it.is_empty() { String::new() } else { code(it) };
    for (title, value) in [
        ("Group", one(text(spec, "group"))),
        ("Scope", plain(text(spec, "scope"))),
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

/// What is particular about a version.
fn marks(version: &Value) -> String {
    let mut res = Vec::new();
    res.extend(flag(version, "storage").then(|| "stored".to_owned()));
    res.extend((!flag(version, "served")).then(|| "not served".to_owned()));
    if flag(version, "deprecated") {
        let warning = plain(text(version, "deprecationWarning"));
        res.push(match warning.is_empty() {
            true => "deprecated".to_owned(),
            false => format!("deprecated ({warning})"),
        });
    }
    res.join(", ")
}

fn version(
    kinds: &Kinds,
    crd: &Value,
    version: &Value,
    (anchor, prefix): (&str, Option<&str>),
    anchors: &mut Anchors,
    to: &mut String,
) {
    let name = text(version, "name");
    let _ = write!(to, "\n## <a id=\"{anchor}\"></a>{}\n", plain(name));
    let marks = marks(version);
    if !marks.is_empty() {
        let _ = write!(to, "\nThis version is {marks}.\n");
    }
    subresources(version, to);
    columns(version, to);
    let group = text(&crd["spec"], "group");
    let kind = text(&crd["spec"]["names"], "kind");
    let api_version = format!("{group}/{name}");
    let is_example = |it: &&Value| it["apiVersion"] == *api_version && it["kind"] == *kind;
    for it in kinds.samples.iter().filter(is_example) {
        let title = match pointer::text(it, "/metadata/name") {
            "" => "Example".to_owned(),
            name => format!("Example {}", code(name)),
        };
        let _ = write!(to, "\n{title}:\n\n{}", block(&yaml::to_text(it), "yaml"));
    }
    let key = (pointer::text(crd, "/metadata/name").to_owned(), name.to_owned());
    let types = kinds.types.get(&key);
    let Some(schema) = version.pointer("/schema/openAPIV3Schema") else {
        to.push_str("\nThis version has no schema.\n");
        return;
    };
    let mut context = Context { anchors, prefix };
    Field::top(&mut context, schema).write(types, to);
}

fn subresources(version: &Value, to: &mut String) {
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
        let paths = paths.iter().filter(|it| !text(scale, it.1).is_empty());
        let paths: Vec<String> =
            paths.map(|(title, key)| format!("{title} {}", code(text(scale, key)))).collect();
        all.push(format!("- `scale`: {}\n", paths.join(", ")));
    }
    if !all.is_empty() {
        let _ = write!(to, "\nSubresources:\n\n{}", all.concat());
    }
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let fields: Vec<String> = fields.map(|it| code(text(it, "jsonPath"))).collect();
    if !fields.is_empty() {
        let _ = write!(to, "\nSelectable fields: {}\n", fields.join(", "));
    }
}

fn columns(version: &Value, to: &mut String) {
    let columns = version["additionalPrinterColumns"].as_array().map(Vec::as_slice);
    let columns = columns.unwrap_or_default();
    if columns.is_empty() {
        return;
    }
    to.push_str("\nPrinter columns:\n\n");
    for it in columns {
        let kind = [text(it, "type"), text(it, "format")].map(plain);
        let kind = kind.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(", ");
        let wide =
            if it["priority"].as_i64().unwrap_or_default() > 0 { ", with `-o wide`" } else { "" };
        let (name, path) = (plain(text(it, "name")), code(text(it, "jsonPath")));
        let about = plain(text(it, "description"));
        let about = if about.is_empty() { about } else { format!(": {about}") };
        let _ = writeln!(to, "- {name} ({kind}{wide}), {path}{about}");
    }
}

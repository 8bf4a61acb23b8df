//! The objects with placeholders in their names, which the chart's templates replace by the values of a release.

use std::collections::BTreeSet;

use crate::{
    app::deployment::rendered,
    disk::Root,
    project::{DEFAULT_CONFIG, Project},
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::Value;
use model::Image;

/// The beginning of names.
pub const FULLNAME: &str = "chart-value-fullname";
pub const NAMESPACE: &str = "chart-value-namespace";
/// The name of the release.
pub const INSTANCE: &str = "chart-value-instance";
/// The name of the manager's service account.
pub const ACCOUNT: &str = "chart-value-account";

/// The objects of the project, with what is to be known of their names.
pub struct RenamedObjects {
    pub all: Vec<Value>,
    /// The namespace of the project.
    pub namespace: String,
    pub warnings: Vec<Diagnostic>,
}

/// Renders config/default with placeholders. It is refused unless the placeholders of a release that has the project's
/// name are the only difference.
pub fn render_objects(
    root: &Root,
    project: &Project,
    image: Option<&Image>,
) -> anyhow::Result<RenamedObjects> {
    let names =
        kustomize::Names { prefix: format!("{FULLNAME}-"), namespace: NAMESPACE.to_owned() };
    let Some(rendered) = rendered::renamed(root, project, image, &names)? else {
        return Err(anyhow::format_err!(
            "{}/kustomization.yaml has no `namePrefix` or no `namespace`, and the names in a chart depend on the release",
            DEFAULT_CONFIG
        ))
        .hint("add `namePrefix: NAME-` and `namespace: NAMESPACE`");
    };
    let own = &rendered.names;
    let mut problems = Vec::new();
    if let Some(object) =
        rendered.plain.iter().find(|object| object.to_string().contains("chart-value-"))
    {
        let message = format!(
            "{} contains `chart-value-`, which is reserved for placeholders of values",
            object_title(object)
        );
        problems.push(Diagnostic::from(message).with_hint("use another text there"));
    }
    let replace = |object: &Value| {
        let text = object.to_string().replace(&names.prefix, &own.prefix);
        text.replace(NAMESPACE, &own.namespace)
    };
    let plain: Vec<String> = rendered.plain.iter().map(ToString::to_string).collect();
    for object in rendered.renamed.iter().filter(|object| !plain.contains(&replace(object))) {
        let message = format!(
            "{} would differ from the project's: something other than names depends on `namePrefix` and `namespace`",
            object_title(object)
        );
        let hint = "look for a replacement that copies a part of a name, and copy the whole name";
        problems.push(Diagnostic::from(message).with_hint(hint));
    }
    if !problems.is_empty() {
        let headline = "the project cannot be turned into a chart".to_owned();
        return Err(Diagnostics { headline, list: problems }.into());
    }
    let warnings = literal_names(&rendered);
    let is_own_namespace = |object: &Value| {
        object["apiVersion"] == "v1"
            && object["kind"] == "Namespace"
            && object["metadata"]["name"] == NAMESPACE
    };
    let all = rendered.renamed.into_iter().filter(|object| !is_own_namespace(object)).collect();
    Ok(RenamedObjects { all, namespace: rendered.names.namespace, warnings })
}

/// Warns of texts with the name or namespace of an object that kustomize does not know as such.
fn literal_names(rendered: &rendered::RenamedObjects) -> Vec<Diagnostic> {
    let prefix = &rendered.names.prefix;
    let names = rendered.plain.iter().filter_map(|object| object["metadata"]["name"].as_str());
    let names = names.filter(|name| !prefix.is_empty() && name.starts_with(prefix.as_str()));
    let names: BTreeSet<&str> = names.chain([rendered.names.namespace.as_str()]).collect();
    let mut diagnostics = Vec::new();
    for object in &rendered.renamed {
        let mut texts = Vec::new();
        collect_texts(object, &mut texts);
        for name in &names {
            if texts.iter().any(|text| text.contains(name)) {
                let message = format!(
                    "{} contains `{name}` as plain text, which would be the same in every release of the chart",
                    object_title(object)
                );
                diagnostics.push(
                    Diagnostic::from(message).with_hint(
                        "let kustomize fill it in, with `replacements` or `nameReference`",
                    ),
                );
            }
        }
    }
    diagnostics
}

/// All texts in a value but descriptions of schemas.
pub fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => list.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(map) => {
            map.iter()
                .filter(|entry| *entry.0 != "description")
                .for_each(|entry| collect_texts(entry.1, texts));
        }
        _ => {}
    }
}

/// Kind and name of an object, as the project has it.
pub fn object_title(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = text(&object["metadata"]["name"]);
    let name =
        name.strip_prefix(FULLNAME).map_or(name.as_str(), |rest| rest.trim_start_matches('-'));
    format!("{} `{name}`", text(&object["kind"]))
}

//! JSON paths of `#[kube(…)]` that lead to no field. API servers accept them: the column stays empty, and the scale
//! subresource has no replicas.

use super::place;
use crate::manifests::Version;
use crate::project::Problem;
use go_data::yaml::Value;

pub fn lints(version: &Version<'_>) -> Vec<Problem> {
    let Some(schema) = version.schema() else { return Vec::new() };
    let columns = version.own.additional_printer_columns.iter().flatten().enumerate();
    let columns = columns.map(|(at, it)| {
        let pointer = format!("/additionalPrinterColumns/{at}");
        (pointer, format!("the printer column `{}`", it.name), it.json_path.as_str())
    });
    let subresources = version.own.subresources.as_ref();
    let scale = subresources.and_then(|it| it.scale.as_ref()).map(|it| {
        let selector = it.label_selector_path.as_deref();
        [Some(it.spec_replicas_path.as_str()), Some(it.status_replicas_path.as_str()), selector]
    });
    let scale = scale.into_iter().flatten().flatten();
    let scale = scale
        .map(|path| ("/subresources/scale".to_owned(), "the subresource `scale`".to_owned(), path));
    let problem = |(pointer, what, path): (String, String, &str)| {
        let wrong = wrong(&schema, path)?;
        let message = format!(
            "{} {}: {what} has the path `{path}`, and there is no field `{}`",
            version.kind(),
            version.name(),
            wrong.field
        );
        let hint = match wrong.near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use the path of a field, with the names that JSON has".to_owned(),
        };
        Some(Problem::new(place(version, &pointer), message).with_hint(hint))
    };
    columns.chain(scale).filter_map(problem).collect()
}

struct Wrong {
    field: String,
    near: Option<String>,
}

/// The first part of a path that is no field, as far as the schema says what there is.
fn wrong(schema: &Value, path: &str) -> Option<Wrong> {
    // What is in brackets is not followed.
    let (plain, _) = path.split_once('[').unwrap_or((path, ""));
    let names: Vec<&str> = plain.strip_prefix('.')?.split('.').collect();
    // API servers fill in these.
    if ["metadata", "apiVersion", "kind"].contains(&names[0]) {
        return None;
    }
    let mut here = schema;
    for (at, name) in names.iter().enumerate() {
        let open = here.get("x-kubernetes-preserve-unknown-fields").is_some()
            || here.get("x-kubernetes-embedded-resource").is_some();
        // An odd name may be quoted or escaped.
        let is_plain =
            !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || "_-".contains(it));
        if open || !is_plain {
            return None;
        }
        let fields = here.get("properties").and_then(Value::as_object);
        let next = fields.and_then(|it| it.get(*name)).or_else(|| here.get("additionalProperties"));
        let Some(next) = next else {
            let parent = names[..at].iter().map(|it| format!(".{it}")).collect::<String>();
            let near =
                diagnostics::nearest(name, fields.into_iter().flatten().map(|it| it.0.as_str()));
            let near = near.map(|it| format!("{parent}.{it}"));
            return Some(Wrong { field: format!("{parent}.{name}"), near });
        };
        here = next;
    }
    None
}

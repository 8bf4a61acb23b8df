//! The ClusterServiceVersion: the user's base, completed from the objects.
//!
//! The base's description of the operator (names, texts, links, install modes, …) is never changed. What
//! follows from the objects (install strategy, owned CRDs, examples, related images, webhooks) replaces
//! the values in the base, except that descriptions and descriptors in the base take precedence.

mod base;
mod crds;
mod deployments;

use super::{
    Input, Refusals, Warnings, collected::SortedObjects, object, permissions::Permissions,
    related_images, webhooks,
};
use go_data::{
    kubernetes,
    yaml::{Map, Value, json, to_value},
};

pub fn build_csv(
    input: &Input,
    collected: &SortedObjects,
    permissions: &Permissions,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Value {
    let Some(base) = collected.csv else {
        refuse_missing(input, collected, refusals);
        return Value::Null;
    };
    let mut spec = base::complete_spec(base, input);
    let mut annotations = base::complete_annotations(base, input);

    let name = format!("{}.v{}", input.package, input.version);
    spec.insert("version".into(), json!(input.version.to_string()));
    spec.insert(
        "install".into(),
        build_install_strategy(collected, permissions, refusals, warnings),
    );
    let related =
        related_images::build_related_images(&collected.deployments, base, refusals, warnings);
    set_list(&mut spec, "relatedImages", related);
    set_list(
        &mut spec,
        "webhookdefinitions",
        webhooks::webhook_definitions(collected, refusals, warnings),
    );
    let required = object::list(base, "/spec/customresourcedefinitions/required").to_vec();
    let mut crds = Map::new();
    let mut owned = crds::build_owned(&collected.crds, base, warnings);
    crds::name_events(&mut owned, permissions);
    set_list(&mut crds, "owned", owned);
    set_list(&mut crds, "required", required);
    spec.insert("customresourcedefinitions".into(), crds.into());

    set_examples(base, collected, &mut annotations, warnings);
    set_origin_annotations(base, input, &mut annotations, warnings);

    let mut metadata = base.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("name".into(), json!(name));
    metadata.insert("annotations".into(), annotations.into());
    let csv = json!({
        "apiVersion": base.get("apiVersion"),
        "kind": base.get("kind"),
        "metadata": metadata,
        "spec": spec,
    });
    let mut csv = kubernetes::decode(&csv).value;
    csv.as_object_mut().map(|csv| csv.remove("status"));
    object::without_times(&mut csv);
    // This is OLM's default.
    if csv.pointer("/spec/cleanup/enabled") == Some(&json!(false))
        && let Some(spec) = csv["spec"].as_object_mut()
    {
        spec.remove("cleanup");
    }
    csv
}

/// Reports that the package's CSV has no base.
fn refuse_missing(input: &Input, collected: &SortedObjects, refusals: &mut Refusals) {
    if let Some(other) = collected.foreign_csvs.first() {
        refusals.push(
            format!(
                "{} belongs to another package, because its name does not begin with `{}.`; operator-sdk would use placeholders",
                object::title(other),
                input.package
            ),
            format!("name it `{}.v0.0.0`, or pass `--package`", input.package),
        );
        return;
    }
    let file = format!("{}.clusterserviceversion.yaml", input.package);
    refusals.push(
        "found no base of the ClusterServiceVersion",
        if input.is_stream() { format!(
                "add one to the manifests that are given; config/manifests/bases/{file} of a project that `operator-rs init` creates in an empty directory is an example"
            ) } else { format!(
            "list `bases/{file}` in config/manifests/kustomization.yaml; `operator-rs init` in an empty directory creates an example"
            ) },
    );
}

/// Writes the samples into the annotation `alm-examples`.
fn set_examples(
    base: &Value,
    collected: &SortedObjects,
    annotations: &mut Map<String, Value>,
    warnings: &mut Warnings,
) {
    let examples = format_examples(&collected.samples);
    let value = annotations.get("alm-examples").and_then(Value::as_str).unwrap_or("[]");
    if value.trim() != "[]" && value.trim() != examples {
        warnings.push(format!(
            "{}: its `alm-examples` are replaced by the samples of config/samples",
            object::title(base)
        ));
    }
    annotations.insert("alm-examples".into(), json!(examples));
}

/// Records the program that wrote the CSV, and the layout of the project.
fn set_origin_annotations(
    base: &Value,
    input: &Input,
    annotations: &mut Map<String, Value>,
    warnings: &mut Warnings,
) {
    for (part, value) in [("builder", input.builder), ("project_layout", input.layout)] {
        let key = format!("operators.operatorframework.io/{part}");
        let before = annotations.get(&key).and_then(Value::as_str).unwrap_or_default();
        if !before.is_empty() && before != value && !is_of_tool(before) {
            warnings.push(format!(
                "{}: its annotation `{key}: {before}` is replaced by `{value}`",
                object::title(base)
            ));
        }
        annotations.insert(key, json!(value));
    }
}

/// Returns whether this builder or layout was written by operator-sdk or operator-rs, not by the user.
pub fn is_of_tool(value: &str) -> bool {
    let is_version = |version: &str| {
        version.starts_with('v') && version[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    let builder =
        ["operator-sdk-", "operator-rs-"].iter().find_map(|prefix| value.strip_prefix(prefix));
    let layout = value.split_once(".io/").map(|parts| parts.1);
    builder.or(layout).is_some_and(is_version)
}

fn build_install_strategy(
    collected: &SortedObjects,
    permissions: &Permissions,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Value {
    let mut spec = Map::new();
    set_list(&mut spec, "clusterPermissions", permissions.cluster.clone());
    let deployments = deployments::strategy_deployments(&collected.deployments, refusals, warnings);
    spec.insert("deployments".into(), deployments.into());
    set_list(&mut spec, "permissions", permissions.namespaced.clone());
    json!({ "strategy": "deployment", "spec": spec })
}

/// Inserts a list, or removes the key if the list is empty, as Go omits empty lists.
fn set_list(map: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if list.is_empty() {
        map.remove(key);
    } else {
        map.insert(key.into(), list.into());
    }
}

/// Formats the samples as JSON with an indentation of two spaces, as the console shows them.
fn format_examples(samples: &[&Value]) -> String {
    if samples.is_empty() {
        return "[]".to_owned();
    }
    format!("{:#}", to_value(&samples))
}

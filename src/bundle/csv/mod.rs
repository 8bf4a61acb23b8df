//! The ClusterServiceVersion: the user's base, completed from the objects.
//!
//! The base's description of the operator (names, texts, links, install modes, …) is never changed. What
//! follows from the objects (install strategy, owned CRDs, examples, related images, webhooks) replaces
//! the values in the base, except that descriptions and descriptors in the base take precedence.

mod base;
mod crds;
mod deployments;

use super::{
    Input, Refusals, collected::Collected, explanation::Journal, object, permissions::Permissions,
    related_images, webhooks,
};
use go_data::{
    kubernetes,
    yaml::{Map, Value, json, to_value},
};

pub fn assemble(
    input: &Input,
    collected: &Collected,
    permissions: &Permissions,
    refusals: &mut Refusals,
    journal: &mut Journal,
) -> Value {
    let Some(base) = collected.csv else {
        refuse_missing(input, collected, refusals);
        return Value::Null;
    };
    journal.csv(base, "", "");
    let mut spec = base::spec(base, input, journal);
    let mut annotations = base::annotations(base, input, journal);

    let name = format!("{}.v{}", input.package, input.version);
    base::record(journal, "metadata.name", &json!(name), "the package and the version");
    let by_flag = input.flags.iter().any(|it| it.starts_with("--version="));
    let origin = if by_flag { "--version" } else { base::CARGO };
    base::record(journal, "spec.version", &json!(input.version.to_string()), origin);
    spec.insert("version".into(), json!(input.version.to_string()));
    spec.insert("install".into(), install(collected, permissions, refusals, journal));
    let related = related_images::listed(&collected.deployments, base, refusals, journal);
    put(&mut spec, "relatedImages", related);
    put(&mut spec, "webhookdefinitions", webhooks::definitions(collected, refusals, journal));
    let required = object::list(base, "/spec/customresourcedefinitions/required").to_vec();
    let mut crds = Map::new();
    let mut owned = crds::owned(&collected.crds, base, journal);
    crds::name_events(&mut owned, permissions, journal);
    put(&mut crds, "owned", owned);
    put(&mut crds, "required", required);
    spec.insert("customresourcedefinitions".into(), crds.into());

    examples(base, collected, &mut annotations, journal);
    origins(base, input, &mut annotations, journal);

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
    csv.as_object_mut().map(|it| it.remove("status"));
    object::without_times(&mut csv);
    // This is OLM's default.
    if csv.pointer("/spec/cleanup/enabled") == Some(&json!(false))
        && let Some(spec) = csv["spec"].as_object_mut()
    {
        spec.remove("cleanup");
    }
    note_replaced(base, &csv, journal);
    csv
}

/// There is no base of the package's CSV.
fn refuse_missing(input: &Input, collected: &Collected, refusals: &mut Refusals) {
    if let Some(other) = collected.foreign_csvs.first() {
        refusals.push(
            format!(
                "{} belongs to another package, because its name does not begin with `{}.`; operator-sdk would use placeholders",
                object::title(other),
                input.package
            ),
            format!("name it `{}.v0.0.0`, or give `--package`", input.package),
        );
        return;
    }
    refusals.push(
        "found no base of the ClusterServiceVersion",
        format!(
            "have config/manifests/kustomization.yaml list `bases/{}.clusterserviceversion.yaml`; `operator-rs init` in an empty folder \
             shows what is in it",
            input.package
        ),
    );
}

/// The samples as `alm-examples`.
fn examples(
    base: &Value,
    collected: &Collected,
    annotations: &mut Map<String, Value>,
    journal: &mut Journal,
) {
    let examples = readable(&collected.samples);
    let said = annotations.get("alm-examples").and_then(Value::as_str).unwrap_or("[]");
    if said.trim() != "[]" && said.trim() != examples {
        let note = "its `alm-examples` are replaced by the samples of config/samples";
        journal.warn(format!("{}: {note}", object::title(base)));
        journal.note(base, note);
    }
    for sample in &collected.samples {
        journal.csv(sample, "metadata.annotations.alm-examples", "");
    }
    annotations.insert("alm-examples".into(), json!(examples));
}

/// Which program wrote the CSV, and for which layout of a project.
fn origins(
    base: &Value,
    input: &Input,
    annotations: &mut Map<String, Value>,
    journal: &mut Journal,
) {
    for (part, value) in [("builder", input.builder), ("project_layout", input.layout)] {
        let key = format!("operators.operatorframework.io/{part}");
        let before = annotations.get(&key).and_then(Value::as_str).unwrap_or_default();
        let mut from = "generated".to_owned();
        if !before.is_empty() && before != value {
            from = format!("generated; the CSV base has `{before}`");
            if !is_of_tool(before) {
                let note = format!("its annotation `{key}: {before}` is replaced by `{value}`");
                journal.warn(format!("{}: {note}", object::title(base)));
                journal.note(base, note);
            }
        }
        base::record(journal, &format!("metadata.annotations.{key}"), &json!(value), &from);
        annotations.insert(key, json!(value));
    }
}

/// Whether a program wrote this builder or layout, and not a person.
pub fn is_of_tool(value: &str) -> bool {
    let is_version =
        |it: &str| it.starts_with('v') && it[1..].starts_with(|c: char| c.is_ascii_digit());
    let builder = ["operator-sdk-", "operator-rs-"].iter().find_map(|it| value.strip_prefix(it));
    let layout = value.split_once(".io/").map(|it| it.1);
    builder.or(layout).is_some_and(is_version)
}

/// Says which fields of the base the CSV has with another value.
fn note_replaced(base: &Value, csv: &Value, journal: &mut Journal) {
    for field in [
        "install.spec.deployments",
        "install.spec.permissions",
        "install.spec.clusterPermissions",
        "webhookdefinitions",
        "relatedImages",
    ] {
        let at = format!("/spec/{}", field.replace('.', "/"));
        let Some(before) = base.pointer(&at).filter(|it| !base::is_empty(it)) else { continue };
        let after = csv.pointer(&at).unwrap_or(&Value::Null);
        let items = before.as_array().into_iter().flatten();
        let keeps = before.is_array()
            && items.clone().all(|it| after.as_array().is_some_and(|after| after.contains(it)));
        if before != after && !keeps {
            journal.note(base, format!("its `spec.{field}` is replaced"));
        }
    }
}

fn install(
    collected: &Collected,
    permissions: &Permissions,
    refusals: &mut Refusals,
    journal: &mut Journal,
) -> Value {
    let mut spec = Map::new();
    put(&mut spec, "clusterPermissions", permissions.cluster.clone());
    let deployments = deployments::all(&collected.deployments, refusals, journal);
    spec.insert("deployments".into(), deployments.into());
    put(&mut spec, "permissions", permissions.namespaced.clone());
    json!({ "strategy": "deployment", "spec": spec })
}

/// Empty lists are omitted, as in Go.
fn put(map: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if list.is_empty() {
        map.remove(key);
    } else {
        map.insert(key.into(), list.into());
    }
}

/// The samples as JSON with an indentation of two spaces, for readers of the console.
fn readable(samples: &[&Value]) -> String {
    if samples.is_empty() {
        return "[]".to_owned();
    }
    format!("{:#}", to_value(&samples))
}

//! The ClusterServiceVersion: the user's base, completed from the objects.
//!
//! The base's description of the operator (names, texts, links, install modes, …) is never changed. What
//! follows from the objects (install strategy, owned CRDs, examples, related images, webhooks) replaces
//! the values in the base, except that descriptions and descriptors in the base take precedence.

mod base;
mod crds;
mod deployments;

use super::{
    Input, Refusals, collected::Collected, object, permissions::Permissions, related_images,
    webhooks,
};
use crate::{
    kubernetes,
    yaml::{Map, Value, json, to_value},
};

pub fn assemble(
    input: &Input,
    collected: &Collected,
    permissions: &Permissions,
    refusals: &mut Refusals,
    warnings: &mut Vec<String>,
) -> Value {
    let Some(base) = collected.csv else {
        if let Some(other) = collected.foreign_csvs.first() {
            refusals.push(
                format!(
                    "{} belongs to another package, because its name does not begin with `{}.`; operator-sdk would use placeholders",
                    object::title(other),
                    input.package
                ),
                format!("name it `{}.v0.0.0`, or give `--package`", input.package),
            );
            return Value::Null;
        }
        refusals.push(
            "found no base of the ClusterServiceVersion",
            format!(
                "have config/manifests/kustomization.yaml list `bases/{}.clusterserviceversion.yaml`; `operator-rs init` in an empty folder \
                 shows what is in it",
                input.package
            ),
        );
        return Value::Null;
    };
    let mut spec = base::spec(base, input);
    let mut annotations = base::annotations(base, input);

    spec.insert("version".into(), json!(input.version.to_string()));
    spec.insert("install".into(), install(collected, permissions, refusals));
    let related = related_images::merged(&collected.deployments, base, refusals);
    put(&mut spec, "relatedImages", related);
    put(&mut spec, "webhookdefinitions", webhooks::definitions(collected, refusals, warnings));
    let required = object::list(base, "/spec/customresourcedefinitions/required").to_vec();
    let mut crds = Map::new();
    let mut owned = crds::owned(&collected.crds, base, warnings);
    crds::name_events(&mut owned, permissions);
    put(&mut crds, "owned", owned);
    put(&mut crds, "required", required);
    spec.insert("customresourcedefinitions".into(), crds.into());

    let examples = readable(&collected.samples);
    let said = annotations.get("alm-examples").and_then(Value::as_str).unwrap_or("[]");
    if said.trim() != "[]" && said.trim() != examples {
        warnings.push(format!(
            "{}: its `alm-examples` are replaced by the samples of config/samples",
            object::title(base)
        ));
    }
    annotations.insert("alm-examples".into(), json!(examples));
    annotations.insert("operators.operatorframework.io/builder".into(), json!(input.builder));
    annotations.insert("operators.operatorframework.io/project_layout".into(), json!(input.layout));

    let mut metadata = base.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("name".into(), json!(format!("{}.v{}", input.package, input.version)));
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
    csv
}

fn install(collected: &Collected, permissions: &Permissions, refusals: &mut Refusals) -> Value {
    let mut spec = Map::new();
    put(&mut spec, "clusterPermissions", permissions.cluster.clone());
    let deployments = deployments::all(&collected.deployments, refusals);
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

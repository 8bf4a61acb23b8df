//! Deployments as part of the install strategy.

use super::super::{Refusals, Warnings, object};
use go_data::yaml::{Value, json};

pub fn strategy_deployments(
    deployments: &[&Value],
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    deployments
        .iter()
        .map(|deployment| strategy_deployment(deployment, refusals, warnings))
        .collect()
}

fn strategy_deployment(
    deployment: &Value,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Value {
    let name = object::name(deployment);
    let pods = deployment.pointer("/spec/template").unwrap_or(&Value::Null);
    let lost: Vec<String> = object::distinct_metadata(deployment, "annotation", pods).collect();
    warnings.warn_of_lost_parts(
        deployment,
        &lost,
        "a CSV has no annotations of Deployments, only of their pods",
    );
    let mut spec = deployment.get("spec").cloned().unwrap_or_default();
    if spec.get("template").is_none() {
        refusals.push(format!("{} has no pod template", object::title(deployment)), "");
    }
    target_namespaces(&mut spec);
    let mut entry = json!({ "name": name, "spec": spec });
    if let Some(labels) = deployment.pointer("/metadata/labels").filter(|labels| !labels.is_null())
    {
        entry["label"] = labels.clone();
    }
    entry
}

/// Under OLM, the namespaces to watch are those of the OperatorGroup.
fn target_namespaces(spec: &mut Value) {
    let containers = spec.pointer_mut("/template/spec/containers").and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        let env = container.get_mut("env").and_then(Value::as_array_mut);
        for variable in env.into_iter().flatten() {
            if object::text(variable, "/name") == "WATCH_NAMESPACE" {
                let field = "metadata.annotations['olm.targetNamespaces']";
                *variable = json!({
                    "name": "WATCH_NAMESPACE",
                    "valueFrom": { "fieldRef": { "fieldPath": field } },
                });
            }
        }
    }
}

//! Deployments as part of the install strategy.

use super::super::{Refusals, explanation::Journal, object};
use go_data::yaml::{Value, json};

pub fn all(deployments: &[&Value], refusals: &mut Refusals, journal: &mut Journal) -> Vec<Value> {
    deployments.iter().map(|it| one(it, refusals, journal)).collect()
}

fn one(deployment: &Value, refusals: &mut Refusals, journal: &mut Journal) -> Value {
    let name = object::name(deployment);
    journal.csv(deployment, "spec.install.spec.deployments", name);
    let pods = deployment.pointer("/spec/template").unwrap_or(&Value::Null);
    let lost: Vec<String> = object::own(deployment, "annotation", pods).collect();
    journal.lose(deployment, &lost, "a CSV has no annotations of Deployments, only of their pods");
    let mut spec = deployment.get("spec").cloned().unwrap_or_default();
    if spec.get("template").is_none() {
        refusals.push(format!("{} has no pod template", object::title(deployment)), "");
    }
    if target_namespaces(&mut spec) {
        journal.note(deployment, TARGETS);
    }
    let mut res = json!({ "name": name, "spec": spec });
    if let Some(labels) = deployment.pointer("/metadata/labels").filter(|it| !it.is_null()) {
        res["label"] = labels.clone();
    }
    res
}

const TARGETS: &str = "its `WATCH_NAMESPACE` is set to the namespaces of the OperatorGroup";

/// Under OLM, the namespaces to watch are those of the OperatorGroup. Returns whether a container has the variable.
fn target_namespaces(spec: &mut Value) -> bool {
    let mut has = false;
    let containers = spec.pointer_mut("/template/spec/containers").and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        let env = container.get_mut("env").and_then(Value::as_array_mut);
        for variable in env.into_iter().flatten() {
            if object::text(variable, "/name") == "WATCH_NAMESPACE" {
                has = true;
                let field = "metadata.annotations['olm.targetNamespaces']";
                *variable = json!({
                    "name": "WATCH_NAMESPACE",
                    "valueFrom": { "fieldRef": { "fieldPath": field } },
                });
            }
        }
    }
    has
}

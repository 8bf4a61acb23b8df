//! `customresourcedefinitions.owned`: one entry for every version that a CRD serves.

use super::super::{
    Warnings, collected::served_versions, descriptors, object, permissions::Permissions, words,
};
use go_data::yaml::{Map, Value, json};

pub fn owned(crds: &[&Value], base: &Value, warnings: &mut Warnings) -> Vec<Value> {
    let mut descriptions: Vec<&Value> =
        object::list(base, "/spec/customresourcedefinitions/owned").iter().collect();
    let mut res = Vec::new();
    for crd in crds {
        for version in served_versions(crd) {
            let key = [
                object::name(crd),
                object::text(version, "/name"),
                object::text(crd, "/spec/names/kind"),
            ];
            let at = descriptions.iter().position(|it| self::key(it) == key);
            let own = at.map(|it| descriptions.remove(it));
            res.push(entry(key, version, own));
        }
    }
    for entry in descriptions {
        let [name, version, _] = key(entry);
        warnings.push(format!(
            "{}: its `customresourcedefinitions.owned` describes {version} of `{name}`, which no CRD here serves: it is left out",
            object::title(base)
        ));
    }
    res
}

/// Lists the events of an operator that may create events. From a rule alone, the validator of removed APIs would
/// conclude that the operator uses the version that Kubernetes 1.25 removed.
pub fn name_events(owned: &mut [Value], permissions: &Permissions) {
    let has =
        |rule: &Value, field: &str, word: &str| object::texts(rule, field).any(|it| it == word);
    let is_for_events = |rule: &Value| {
        has(rule, "/apiGroups", "events.k8s.io") && has(rule, "/resources", "events")
    };
    let mut all = permissions.cluster.iter().chain(&permissions.namespaced);
    if !all.any(|it| object::list(it, "/rules").iter().any(is_for_events)) {
        return;
    }
    for entry in owned.iter_mut().filter_map(Value::as_object_mut) {
        if entry.contains_key("resources") {
            continue;
        }
        let event = json!([{ "kind": "Event", "name": "", "version": "events.k8s.io/v1" }]);
        entry.insert("resources".into(), event);
    }
}

fn key(entry: &Value) -> [&str; 3] {
    ["/name", "/version", "/kind"].map(|it| object::text(entry, it))
}

/// The values from the schema, overridden by the user's.
fn entry([name, version, kind]: [&str; 3], crd: &Value, own: Option<&Value>) -> Value {
    let schema = crd.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    let mut res = Map::new();
    res.insert("name".into(), json!(name));
    res.insert("version".into(), json!(version));
    res.insert("kind".into(), json!(kind));
    res.insert("displayName".into(), json!(words::title(kind)));
    if let Some(description) = descriptors::description(schema) {
        res.insert("description".into(), json!(description));
    }
    let replicas = object::text(crd, "/subresources/scale/specReplicasPath");
    for (field, part, replicas) in
        [("specDescriptors", "spec", replicas), ("statusDescriptors", "status", "")]
    {
        let derived = descriptors::of(schema, part, replicas);
        let own = own.map_or(&[][..], |it| object::list(it, &format!("/{field}")));
        let merged = descriptors::merged(derived, own);
        if !merged.is_empty() {
            res.insert(field.into(), merged.into());
        }
    }
    for (field, value) in own.and_then(Value::as_object).into_iter().flatten() {
        let is_set = !value.is_null() && *value != json!("") && !field.ends_with("Descriptors");
        if is_set || field == "actionDescriptors" {
            res.insert(field.clone(), value.clone());
        }
    }
    res.into()
}

//! `customresourcedefinitions.owned`: one entry for every version that a CRD serves.

use super::super::{
    Warnings, collected::served_versions, descriptors, object, permissions::Permissions, words,
};
use go_data::yaml::{Map, Value, json};

pub fn build_owned(crds: &[&Value], base: &Value, warnings: &mut Warnings) -> Vec<Value> {
    let mut descriptions: Vec<&Value> =
        object::list(base, "/spec/customresourcedefinitions/owned").iter().collect();
    let mut entries = Vec::new();
    for crd in crds {
        for version in served_versions(crd) {
            let key = [
                object::name(crd),
                object::text(version, "/name"),
                object::text(crd, "/spec/names/kind"),
            ];
            let at =
                descriptions.iter().position(|description| self::entry_key(description) == key);
            let user_entry = at.map(|index| descriptions.remove(index));
            entries.push(build_entry(key, version, user_entry));
        }
    }
    for entry in descriptions {
        let [name, version, _] = entry_key(entry);
        warnings.push(format!(
            "{}: its `customresourcedefinitions.owned` describes {version} of `{name}`, which no CRD here serves: it is left out",
            object::title(base)
        ));
    }
    entries
}

/// Lists the events of an operator that may create events. From a rule alone, the validator of removed APIs would
/// conclude that the operator uses the version that Kubernetes 1.25 removed.
pub fn name_events(owned: &mut [Value], permissions: &Permissions) {
    let has = |rule: &Value, field: &str, word: &str| {
        object::texts(rule, field).any(|value| value == word)
    };
    let is_for_events = |rule: &Value| {
        has(rule, "/apiGroups", "events.k8s.io") && has(rule, "/resources", "events")
    };
    let mut entries = permissions.cluster.iter().chain(&permissions.namespaced);
    if !entries.any(|entry| object::list(entry, "/rules").iter().any(is_for_events)) {
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

fn entry_key(entry: &Value) -> [&str; 3] {
    ["/name", "/version", "/kind"].map(|pointer| object::text(entry, pointer))
}

/// The values from the schema, overridden by the user's.
fn build_entry([name, version, kind]: [&str; 3], crd: &Value, user_entry: Option<&Value>) -> Value {
    let schema = crd.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    let mut entry = Map::new();
    entry.insert("name".into(), json!(name));
    entry.insert("version".into(), json!(version));
    entry.insert("kind".into(), json!(kind));
    entry.insert("displayName".into(), json!(words::display_name(kind)));
    if let Some(description) = descriptors::description_of_version(schema) {
        entry.insert("description".into(), json!(description));
    }
    let replicas = object::text(crd, "/subresources/scale/specReplicasPath");
    for (field, part, replicas) in
        [("specDescriptors", "spec", replicas), ("statusDescriptors", "status", "")]
    {
        let derived = descriptors::descriptors_of_fields(schema, part, replicas);
        let user_descriptors =
            user_entry.map_or(&[][..], |entry| object::list(entry, &format!("/{field}")));
        let merged = descriptors::merge_with_user_descriptors(derived, user_descriptors);
        if !merged.is_empty() {
            entry.insert(field.into(), merged.into());
        }
    }
    for (field, value) in user_entry.and_then(Value::as_object).into_iter().flatten() {
        let is_set = !value.is_null() && *value != json!("") && !field.ends_with("Descriptors");
        if is_set || field == "actionDescriptors" {
            entry.insert(field.clone(), value.clone());
        }
    }
    entry.into()
}

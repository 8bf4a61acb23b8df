//! Does an object on the server still have everything that we ask for?

use serde_json::Value;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The fields of an object that is asked for. Not what kind it is: lists leave that out.
pub fn wanted(desired: &str) -> serde_json::Result<Value> {
    let mut fields: Value = serde_json::from_str(desired)?;
    if let Value::Object(map) = &mut fields {
        map.remove("apiVersion");
        map.remove("kind");
    }
    Ok(fields)
}

/// Whether `actual` has all of `desired`. Fields that only the server or others set are ignored, as
/// server-side apply would leave them alone: maps may have more keys, and lists of objects more
/// elements (a sidecar). Lists of scalars have to be equal.
pub fn covers(actual: &Value, desired: &Value) -> bool {
    match (actual, desired) {
        (Value::Object(a), Value::Object(d)) => {
            d.iter().all(|(key, want)| a.get(key).map_or_else(|| is_empty(want), |have| covers(have, want)))
        }
        (Value::Array(a), Value::Array(d)) if d.iter().all(Value::is_object) => {
            d.iter().all(|want| a.iter().any(|have| covers(have, want)))
        }
        (a, d) => a == d,
    }
}

/// The server drops these rather than storing them.
fn is_empty(v: &Value) -> bool {
    match v {
        Value::Null => true,
        Value::Object(m) => m.values().all(is_empty),
        Value::Array(l) => l.is_empty(),
        _ => false,
    }
}

/// A hash of what users may edit: all but the kind, the status and the server's metadata.
pub fn fingerprint(object: &Value) -> u64 {
    let meta = &object["metadata"];
    let mut rest = object.clone();
    if let Value::Object(map) = &mut rest {
        for it in ["apiVersion", "kind", "status", "metadata"] {
            map.remove(it);
        }
    }
    let text = format!("{rest}{}{}", meta["labels"], meta["annotations"]);
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_others_add_is_no_drift() {
        let want = json!({"spec": {"replicas": 1, "c": [{"name": "a", "args": ["-m"], "resources": {}}]}});
        let have = json!({"status": {}, "spec": {"replicas": 1, "x": 2, "c": [
            {"name": "sidecar"}, {"name": "a", "args": ["-m"], "policy": "Always"}]}});
        assert!(covers(&have, &want));
    }

    #[test]
    fn what_others_change_or_remove_is() {
        let want = json!({"replicas": 1, "c": [{"name": "a", "args": ["-m"]}]});
        for have in [
            json!({"replicas": 2, "c": [{"name": "a", "args": ["-m"]}]}),
            json!({"replicas": 1, "c": [{"name": "a", "args": ["-m", "-v"]}]}),
            json!({"replicas": 1, "c": [{"name": "b", "args": ["-m"]}]}),
            json!({"c": [{"name": "a", "args": ["-m"]}]}),
        ] {
            assert!(!covers(&have, &want), "{have}");
        }
    }
}

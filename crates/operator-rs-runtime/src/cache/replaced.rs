//! Finds empty objects that another client has replaced: it has set another member of the same union, such as
//! `hostPath` instead of `emptyDir: {}`. Server-side apply would only add the first member again, because this operator
//! does not own the other one and so cannot remove it.

use serde_json::Value;

/// Returns a message for each empty object of `desired` that is not in `current`, where another object is in its place.
/// An example is `` `spec.volumes[0].emptyDir` was replaced by `hostPath` ``.
pub fn find_replaced(desired: &Value, current: &Value) -> Vec<String> {
    let mut replaced = vec![];
    collect_replaced(desired, current, "", &mut replaced);
    replaced
}

fn collect_replaced(desired: &Value, current: &Value, path: &str, replaced: &mut Vec<String>) {
    match (desired, current) {
        (Value::Object(desired), Value::Object(current)) => {
            let others = || current.iter().filter(|(name, value)| value.is_object() && !desired.contains_key(*name));
            for (name, value) in desired {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match current.get(name) {
                    Some(current) => collect_replaced(value, current, &path, replaced),
                    None if value.as_object().is_some_and(serde_json::Map::is_empty) => {
                        let others: Vec<_> = others().map(|(name, _)| format!("`{name}`")).collect();
                        if !others.is_empty() {
                            replaced.push(format!("`{path}` was replaced by {}", others.join(", ")));
                        }
                    }
                    None => {}
                }
            }
        }
        (Value::Array(desired), Value::Array(current)) => {
            for element in desired.iter().filter(|element| element["name"].is_string()) {
                if let Some(index) = current.iter().position(|other| other["name"] == element["name"]) {
                    collect_replaced(element, &current[index], &format!("{path}[{index}]"), replaced);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_of_unions_that_were_replaced_are_named() {
        let desired = json!({ "spec": {
            "selfSigned": {}, "volumes": [{ "name": "a", "emptyDir": {} }, { "name": "b", "emptyDir": {} }],
        } });
        let found = json!({ "spec": {
            "ca": { "secretName": "s" },
            "volumes": [{ "name": "b", "hostPath": { "path": "/" } }, { "name": "a", "emptyDir": {}, "other": {} }],
        } });
        assert_eq!(
            find_replaced(&desired, &found),
            ["`spec.selfSigned` was replaced by `ca`", "`spec.volumes[0].emptyDir` was replaced by `hostPath`"]
        );
        assert!(find_replaced(&desired, &desired).is_empty());
        let gone = json!({ "spec": { "replicas": 1, "volumes": [{ "name": "a" }] } });
        assert!(find_replaced(&desired, &gone).is_empty(), "nothing is in its place");
    }
}

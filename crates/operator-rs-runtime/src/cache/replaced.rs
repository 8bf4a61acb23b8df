//! Empty objects that somebody has replaced: one member of a union by another, as `emptyDir: {}` by `hostPath`.
//! Server-side apply can only add the member again, because the other is not ours to remove.

use serde_json::Value;

/// Each empty object of `desired` that is not in `found`, where another object is in its place: such as
/// `` `spec.volumes[0].emptyDir` was replaced by `hostPath` ``.
pub fn find_replaced(desired: &Value, found: &Value) -> Vec<String> {
    let mut replaced = vec![];
    collect_replaced(desired, found, "", &mut replaced);
    replaced
}

fn collect_replaced(desired: &Value, found: &Value, path: &str, replaced: &mut Vec<String>) {
    match (desired, found) {
        (Value::Object(desired), Value::Object(found)) => {
            let others = || found.iter().filter(|(name, it)| it.is_object() && !desired.contains_key(*name));
            for (name, value) in desired {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match found.get(name) {
                    Some(found) => collect_replaced(value, found, &path, replaced),
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
        (Value::Array(desired), Value::Array(found)) => {
            for element in desired.iter().filter(|it| it["name"].is_string()) {
                let at = found.iter().position(|it| it["name"] == element["name"]);
                at.into_iter().for_each(|at| collect_replaced(element, &found[at], &format!("{path}[{at}]"), replaced));
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

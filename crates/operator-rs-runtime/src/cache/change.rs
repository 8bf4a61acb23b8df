//! Detects changes by other clients in the response to an own write. The watch has not shown such a change yet. When it
//! does, the cache ignores the event, because the response is newer.

use super::ownership::has_no_fields;
use serde_json::Value;

/// Returns whether two states of an object differ in any field outside of `ours`, the fields that were written between
/// them. Fields that are no longer written count as a difference, too.
pub fn has_foreign_changes(before: &Value, after: &Value, ours: &Value) -> bool {
    const CHANGED_BY_EACH_WRITE: [&str; 3] = ["resourceVersion", "generation", "managedFields"];
    let strip = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            CHANGED_BY_EACH_WRITE.iter().for_each(|field| drop(metadata.remove(*field)));
        }
        object
    };
    differ_outside(&strip(before), &strip(after), ours)
}

fn differ_outside(before: &Value, after: &Value, ours: &Value) -> bool {
    if has_no_fields(before) && has_no_fields(after) {
        return false;
    }
    match ours {
        Value::Null => before != after,
        Value::Object(_) => {
            let keys = [before, after].into_iter().filter_map(Value::as_object).flat_map(|object| object.keys());
            keys.into_iter().any(|key| differ_outside(&before[key], &after[key], &ours[key]))
        }
        // Other clients may own elements of a list of conditions. Every other list that was written is ours as a whole.
        Value::Array(ours) if ours.iter().all(|condition| condition["type"].is_string()) => {
            let theirs = |list: &Value| -> Vec<Value> {
                let conditions = list.as_array().into_iter().flatten();
                let is_theirs = |condition: &&Value| ours.iter().all(|ours| ours["type"] != condition["type"]);
                conditions.filter(is_theirs).cloned().collect()
            };
            theirs(before) != theirs(after)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_others_have_changed_is_news() {
        let before = json!({
            "metadata": { "resourceVersion": "1", "labels": { "a": "b" } }, "spec": { "c": 1 },
            "status": { "id": null, "conditions": [{ "type": "Theirs", "status": "False" }] },
        });
        let ours = json!({ "status": { "id": "e", "conditions": [{ "type": "Ours", "status": "True" }] } });
        let mut after = before.clone();
        after["metadata"]["resourceVersion"] = json!("2");
        after["status"] = json!({ "id": "e", "conditions": [
            { "type": "Theirs", "status": "False" }, { "type": "Ours", "status": "True" }] });
        assert!(!has_foreign_changes(&before, &after, &ours));
        for change in [
            |object: &mut Value| object["status"]["conditions"][0]["status"] = json!("True"),
            |object: &mut Value| object["status"]["other"] = json!(1),
            |object: &mut Value| object["spec"]["c"] = json!(2),
            |object: &mut Value| object["metadata"]["labels"] = json!({}),
            |object: &mut Value| object["metadata"]["ownerReferences"] = json!([{ "uid": "u" }]),
        ] {
            let mut after = after.clone();
            change(&mut after);
            assert!(has_foreign_changes(&before, &after, &ours), "{after}");
        }
    }
}

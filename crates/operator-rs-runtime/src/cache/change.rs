//! Changes that the answer to an own write shows besides the write itself: a change by others that no event
//! has shown, and none will, because the answer is newer than its event.

use super::ownership::has_no_fields;
use serde_json::Value;

/// Whether two states of an object differ in anything but `ours`, which was written between them.
/// (What is not written any more differs, too.)
pub fn has_foreign_changes(before: &Value, after: &Value, ours: &Value) -> bool {
    const OF_EACH_WRITE: [&str; 3] = ["resourceVersion", "generation", "managedFields"];
    let strip = |it: &Value| {
        let mut it = it.clone();
        if let Some(metadata) = it.get_mut("metadata").and_then(Value::as_object_mut) {
            OF_EACH_WRITE.iter().for_each(|field| drop(metadata.remove(*field)));
        }
        it
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
            let keys = [before, after].into_iter().filter_map(Value::as_object).flat_map(|it| it.keys());
            keys.into_iter().any(|key| differ_outside(&before[key], &after[key], &ours[key]))
        }
        // Of conditions others have some; other lists are ours as a whole.
        Value::Array(ours) if ours.iter().all(|it| it["type"].is_string()) => {
            let theirs = |list: &Value| -> Vec<Value> {
                let all = list.as_array().into_iter().flatten();
                all.filter(|it| ours.iter().all(|ours| ours["type"] != it["type"])).cloned().collect()
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
            |it: &mut Value| it["status"]["conditions"][0]["status"] = json!("True"),
            |it: &mut Value| it["status"]["other"] = json!(1),
            |it: &mut Value| it["spec"]["c"] = json!(2),
            |it: &mut Value| it["metadata"]["labels"] = json!({}),
            |it: &mut Value| it["metadata"]["ownerReferences"] = json!([{ "uid": "u" }]),
        ] {
            let mut after = after.clone();
            change(&mut after);
            assert!(has_foreign_changes(&before, &after, &ours), "{after}");
        }
    }
}

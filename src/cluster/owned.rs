//! Whose an object is: what `managedFields` tells about who has applied it.
//!
//! What was not there before is applied by [`MANAGER`]; what was there before and is not ours by
//! [`ADOPTED`], so that it can be given back and is never deleted.

use crate::yaml::{Value, json};

pub const MANAGER: &str = "operator-rs";
pub const ADOPTED: &str = "operator-rs-adopted";

/// How an object stands to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// We made it.
    Ours,
    /// It was there before us, and has fields of ours.
    Adopted,
    Theirs,
}

pub fn standing(live: &Value) -> Standing {
    if !entries(live, MANAGER).is_empty() {
        Standing::Ours
    } else if !entries(live, ADOPTED).is_empty() {
        Standing::Adopted
    } else {
        Standing::Theirs
    }
}

/// As whom to apply over what is there.
pub fn manager(live: Option<&Value>) -> &'static str {
    match live.map(standing) {
        None | Some(Standing::Ours) => MANAGER,
        Some(Standing::Adopted | Standing::Theirs) => ADOPTED,
    }
}

/// Whether an apply changes what is there: the object, or what of it is ours. What other programs
/// write meanwhile, its status above all, does not count.
pub fn differs(live: &Value, applied: &Value, manager: &str) -> bool {
    plain(live) != plain(applied) || entries(live, manager) != entries(applied, manager)
}

fn plain(object: &Value) -> Value {
    let mut res = object.clone();
    if let Value::Object(object) = &mut res {
        object.remove("status");
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            for it in ["resourceVersion", "generation", "managedFields"] {
                metadata.remove(it);
            }
        }
    }
    res
}

/// What a manager has applied.
fn entries<'a>(object: &'a Value, manager: &str) -> Vec<&'a Value> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let applied = entries.filter(|it| it["manager"] == *manager && it["operation"] == "Apply");
    applied.filter(|it| it["subresource"].is_null()).map(|it| &it["fieldsV1"]).collect()
}

/// What gives all of a manager's fields back: an apply of none.
pub fn nothing_of(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut res = json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "metadata": {"name": metadata["name"]},
    });
    if !metadata["namespace"].is_null() {
        res["metadata"]["namespace"] = metadata["namespace"].clone();
    }
    res
}

#[test]
fn what_we_made_is_ours_and_what_was_there_before_is_adopted() {
    let by = |manager: &str, operation: &str| json!({"metadata": {"managedFields": [{"manager": manager, "operation": operation, "fieldsV1": {}}]}});
    let check = |live: &Value, expected: Standing, as_whom: &str| {
        assert_eq!((standing(live), manager(Some(live))), (expected, as_whom));
    };
    check(&by(MANAGER, "Apply"), Standing::Ours, MANAGER);
    check(&by(MANAGER, "Update"), Standing::Theirs, ADOPTED);
    check(&by(ADOPTED, "Apply"), Standing::Adopted, ADOPTED);
    check(&by("kubectl", "Apply"), Standing::Theirs, ADOPTED);
    check(&json!({}), Standing::Theirs, ADOPTED);
    assert_eq!(manager(None), MANAGER);
}

#[test]
fn a_status_is_no_change_and_a_field_that_becomes_ours_is_one() {
    let object = |version: &str, fields: Value, ready: i32| {
        json!({
            "metadata": {"resourceVersion": version, "managedFields": [
                {"manager": MANAGER, "operation": "Apply", "fieldsV1": fields, "time": version},
                {"manager": "other", "operation": "Update", "subresource": "status", "fieldsV1": {"v": version}},
            ]},
            "status": {"ready": ready},
        })
    };
    let live = object("1", json!({"f:a": {}}), 0);
    assert!(!differs(&live, &object("2", json!({"f:a": {}}), 1), MANAGER));
    assert!(differs(&live, &object("1", json!({"f:b": {}}), 0), MANAGER));
    let mut other = live.clone();
    other["spec"] = json!({"a": 1});
    assert!(differs(&live, &other, MANAGER));
}

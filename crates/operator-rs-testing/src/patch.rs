//! Merge, JSON and strategic-merge patches.

use super::{
    apply::{Keys, Schema, Shape},
    built_in::is_built_in,
    refusal::Refusal,
};
use json_patch::{AddOperation, PatchOperation, jsonptr::PointerBuf};
use serde_json::{Map, Value};

/// Checks that a resource accepts patches of this content type.
pub fn check_content_type(content_type: &str, resource: &str) -> Result<(), Refusal> {
    if content_type.starts_with("application/strategic-merge-patch+json") && !is_built_in(resource) {
        let types = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
        let message = "the body of the request was in an unknown format - accepted media types include";
        return Err(Refusal::new(415, "UnsupportedMediaType", format!("{message}: {types}")));
    }
    Ok(())
}

/// The object after a patch of this content type.
pub fn apply_patch(content_type: &str, resource: &str, mut object: Value, patch: Value) -> Result<Value, Refusal> {
    match content_type.split(';').next().unwrap_or_default().trim() {
        "application/merge-patch+json" => json_patch::merge(&mut object, &patch),
        "application/strategic-merge-patch+json" => {
            object = strategic_merge(object, patch, Schema::root(resource, None));
        }
        "application/json-patch+json" => {
            let patch: json_patch::Patch =
                serde_json::from_value(patch).map_err(|error| Refusal::bad_request(error.to_string()))?;
            for step in &*patch {
                // The real server takes a missing field for null; kube's finalizer relies on it.
                let is_missing = |path: &PointerBuf| {
                    let parent = path.parent().and_then(|parent| object.pointer(parent.as_str()));
                    object.pointer(path.as_str()).is_none() && parent.is_some_and(Value::is_object)
                };
                let step = match step {
                    PatchOperation::Copy(it) if is_missing(&it.from) => {
                        PatchOperation::Add(AddOperation { path: it.path.clone(), value: Value::Null })
                    }
                    PatchOperation::Replace(it) if is_missing(&it.path) => {
                        PatchOperation::Add(AddOperation { path: it.path.clone(), value: it.value.clone() })
                    }
                    PatchOperation::Test(it) if it.value.is_null() && object.pointer(it.path.as_str()).is_none() => {
                        continue;
                    }
                    step => step.clone(),
                };
                json_patch::patch(&mut object, &[step]).map_err(|_| Refusal::patch_failed())?;
            }
        }
        _ => {
            let message = "415: Unsupported Media Type";
            return Err(Refusal { details: Map::new().into(), ..Refusal::new(415, "UnsupportedMediaType", message) });
        }
    }
    Ok(object)
}

/// Lists with keys are merged item by item; `$patch: delete` and `$patch: replace` are known.
fn strategic_merge(object: Value, patch: Value, schema: Schema) -> Value {
    match (object, patch) {
        (Value::Object(mut object), Value::Object(mut patch)) => {
            match patch.remove("$patch").as_ref().and_then(Value::as_str) {
                Some("replace") => return Value::Object(patch),
                Some("delete") => return Value::Object(Map::new()),
                _ => {}
            }
            for (name, value) in patch {
                if let Some(name) = name.strip_prefix("$deleteFromPrimitiveList/") {
                    let gone = value.as_array().cloned().unwrap_or_default();
                    if let Some(Value::Array(list)) = object.get_mut(name) {
                        list.retain(|item| !gone.contains(item));
                    }
                } else if value.is_null() {
                    object.remove(&name);
                } else if !name.starts_with('$') {
                    let before = object.remove(&name).unwrap_or_default();
                    object.insert(name.clone(), strategic_merge(before, value, schema.field(&name)));
                }
            }
            Value::Object(object)
        }
        (Value::Array(list), Value::Array(patch)) => merge_list(list, patch, schema),
        (Value::Null, patch @ Value::Object(_)) => strategic_merge(Value::Object(Map::new()), patch, schema),
        (Value::Null, patch @ Value::Array(_)) => strategic_merge(Value::Array(vec![]), patch, schema),
        (_, patch) => patch,
    }
}

fn merge_list(list: Vec<Value>, patch: Vec<Value>, schema: Schema) -> Value {
    let shape = match schema.shape(&Value::Array(vec![])) {
        // Patches find items by the first key alone.
        Shape::Keyed(Keys::Known(keys)) => Shape::Keyed(Keys::Known(&keys[..1])),
        shape => shape,
    };
    if shape == Shape::Leaf {
        return Value::Array(patch);
    }
    let keys: Vec<_> = list.iter().map(|item| shape.path_element(item)).collect();
    let mut rest: Vec<_> = list.into_iter().map(Some).collect();
    let (mut out, mut next) = (Vec::new(), 0);
    // The patch's items keep their order; the others stay before those that they were before. New ones come first.
    let patched: Vec<_> = patch.iter().map(|item| shape.path_element(item)).collect();
    for (element, item) in patched.iter().zip(patch) {
        let at = keys.iter().position(|key| key == element);
        while next < at.unwrap_or_default() {
            if !patched.contains(&keys[next]) {
                out.extend(rest[next].take());
            }
            next += 1;
        }
        if item["$patch"] != "delete" {
            let before = at.and_then(|at| rest[at].take()).unwrap_or_default();
            out.push(strategic_merge(before, item, schema.item()));
        }
    }
    let left = rest.into_iter().zip(&keys).filter(|(_, key)| !patched.contains(key));
    out.extend(left.filter_map(|(item, _)| item));
    Value::Array(out)
}

//! The argument `patch` of a webhook.

use crate::project::{Problem, Webhook, WebhookArguments};
use go_data::{
    kubernetes::{Reader, decode_type, json},
    yaml::{Map, Value},
};

/// Returns the webhook with its patch, a strategic merge patch: maps are merged, null removes, and lists are replaced.
/// Only `matchConditions` would be merged, by their names, and a webhook has none before its patch.
pub fn apply(object: Value, webhook: &Webhook) -> Result<Value, Vec<Problem>> {
    let WebhookArguments { patch, mutating, .. } = &webhook.arguments;
    if patch.is_empty() {
        return Ok(object);
    }
    let problem = |message: String, hint: &str| {
        vec![Problem::new(webhook.place_of("patch"), message).with_hint(hint)]
    };
    let patch = json::parse_strict(patch).map_err(|error| {
        let hint = "write one JSON object between backticks: `patch=`{\"timeoutSeconds\": 5}``";
        problem(format!("the patch is not valid JSON: {error}"), hint)
    })?;
    let Value::Object(patch) = patch else {
        return Err(problem(
            "the patch is not a JSON object".to_owned(),
            "write e.g. `patch=`{\"timeoutSeconds\": 5}``",
        ));
    };
    if let Some(directive) = find_directive(&patch) {
        let hint = "write the fields as they should be; null removes one";
        return Err(problem(format!("`{directive}` is not supported in a patch"), hint));
    }
    let type_ = if *mutating {
        "admissionregistration.MutatingWebhook"
    } else {
        "admissionregistration.ValidatingWebhook"
    };
    // The patch is checked by itself, too: a null would remove a field that does not exist.
    let before = object.as_object().cloned().unwrap_or_default();
    let res = merge_patch(before, &patch).into();
    for value in [&patch.into(), &res] {
        let decoded = decode_type(type_, value, Reader::Server);
        if let Some(unknown) = decoded.unknown.first() {
            let message = format!("a webhook has no field `{}`", unknown.path);
            let hint = unknown.nearest().map(|near| format!("did you mean `{near}`?"));
            let hint = hint.unwrap_or_else(|| "delete the field from the patch".to_owned());
            return Err(problem(message, &hint));
        }
        if let Some(fault) = decoded.faults.first() {
            return Err(problem(format!("the patch: {fault}"), "correct the value"));
        }
    }
    Ok(res)
}

/// Returns a directive of strategic merge patches, which are no fields.
fn find_directive(patch: &Map<String, Value>) -> Option<&str> {
    patch.iter().find_map(|(key, value)| match value {
        _ if key.starts_with('$') => Some(&**key),
        Value::Object(inner) => find_directive(inner),
        Value::Array(items) => items.iter().filter_map(Value::as_object).find_map(find_directive),
        _ => None,
    })
}

fn merge_patch(mut object: Map<String, Value>, patch: &Map<String, Value>) -> Map<String, Value> {
    for (key, value) in patch {
        let before = object.remove(key);
        match value {
            Value::Null => {}
            Value::Object(value) => {
                let before =
                    before.and_then(|value| value.as_object().cloned()).unwrap_or_default();
                object.insert(key.clone(), merge_patch(before, value).into());
            }
            value => drop(object.insert(key.clone(), value.clone())),
        }
    }
    object
}

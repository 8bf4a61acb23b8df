//! The argument `patch` of a webhook.

use crate::project::{Problem, Webhook, WebhookArguments};
use go_data::{
    kubernetes::{Reader, json, read_as},
    yaml::{Map, Value},
};

/// The webhook with its patch, a strategic merge patch: maps are merged, null removes, `matchConditions` are merged by
/// their names, and other lists are replaced.
pub fn apply(object: Value, webhook: &Webhook) -> Result<Value, Vec<Problem>> {
    let WebhookArguments { patch, mutating, .. } = &webhook.arguments;
    if patch.is_empty() {
        return Ok(object);
    }
    let problem = |message: String, hint: &str| {
        vec![Problem::new(webhook.at("patch"), message).with_hint(hint)]
    };
    let patch = json::strict(patch).map_err(|error| {
        let hint = "write one JSON object between backticks: `patch=`{\"timeoutSeconds\": 5}``";
        problem(format!("the patch is no JSON: {error}"), hint)
    })?;
    let Value::Object(patch) = patch else {
        return Err(problem(
            "the patch is no JSON object".to_owned(),
            "write e.g. `patch=`{\"timeoutSeconds\": 5}``",
        ));
    };
    if let Some(directive) = directive(&patch) {
        let hint = "write the fields as they should be; null removes one";
        return Err(problem(format!("`{directive}` is not supported in a patch"), hint));
    }
    let type_ = match mutating {
        true => "admissionregistration.MutatingWebhook",
        false => "admissionregistration.ValidatingWebhook",
    };
    // The patch is checked by itself, too: a null would remove a field that does not exist.
    let patch = Value::Object(patch);
    let res = merged(object, &patch);
    for value in [&patch, &res] {
        let decoded = read_as(type_, value, Reader::Server);
        if let Some(unknown) = decoded.unknown.first() {
            let message = format!("a webhook has no field `{}`", unknown.path);
            let hint = unknown.nearest().map(|it| format!("did you mean `{it}`?"));
            let hint = hint.unwrap_or_else(|| "delete the field from the patch".to_owned());
            return Err(problem(message, &hint));
        }
        if let Some(fault) = decoded.faults.first() {
            return Err(problem(format!("the patch: {fault}"), "correct the value"));
        }
    }
    Ok(res)
}

/// A directive of strategic merge patches, which are no fields.
fn directive(patch: &Map<String, Value>) -> Option<&str> {
    patch.iter().find_map(|(key, value)| match value {
        _ if key.starts_with('$') => Some(&**key),
        Value::Object(inner) => directive(inner),
        Value::Array(items) => items.iter().filter_map(Value::as_object).find_map(directive),
        _ => None,
    })
}

fn merged(object: Value, patch: &Value) -> Value {
    let (Value::Object(mut object), Value::Object(patch)) = (object, patch) else {
        return without_nulls(patch.clone());
    };
    for (key, value) in patch {
        match (object.remove(key), value) {
            (_, Value::Null) => {}
            (before, Value::Object(_)) => {
                let before =
                    before.filter(Value::is_object).unwrap_or_else(|| Value::Object(Map::new()));
                object.insert(key.clone(), merged(before, value));
            }
            (_, value) => {
                object.insert(key.clone(), value.clone());
            }
        }
    }
    object.into()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            map.into_iter().filter(|it| !it.1.is_null()).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

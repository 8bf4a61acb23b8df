//! The fields of a Secret.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

/// Moves the `stringData` of a Secret to its `data`: the server never stores it, and never returns it.
pub fn encode_string_data(resource: &str, object: &mut Value) {
    if resource != "secrets" || !(object["data"].is_null() || object["data"].is_object()) {
        return;
    }
    let Some(Value::Object(texts)) = object.as_object_mut().and_then(|object| object.remove("stringData")) else {
        return;
    };
    for (key, text) in texts {
        let bytes = ByteString(text.as_str().unwrap_or_default().into());
        object["data"][key] = json!(bytes);
    }
}

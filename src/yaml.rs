//! The only room that names a YAML library.
//!
//! Kubernetes objects are [`Value`]s: maps are sorted, as Go prints them. What is written here, a
//! YAML 1.1 reader reads back as the same value.

use anyhow::Context as _;
use serde::de::DeserializeOwned;

pub use serde_json::{Map, Value, json};

/// One document in block style, ending in a newline, without `---`.
pub fn to_text(value: &Value) -> String {
    serde_yaml::to_string(value).expect("JSON values are plain data")
}

/// The one document of a text. Fails with the line and column of what is malformed.
pub fn from_text(text: &str) -> anyhow::Result<Value> {
    let mut documents = documents(text)?;
    match documents.len() {
        0 => Ok(Value::Null),
        1 => Ok(documents.remove(0)),
        more => anyhow::bail!("{more} documents, where one is expected"),
    }
}

/// Every document of a stream that is not empty.
pub fn documents(text: &str) -> anyhow::Result<Vec<Value>> {
    use serde::Deserialize as _;
    let mut res = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        // By way of the library's own value, which refuses duplicate keys.
        let value = serde_yaml::Value::deserialize(document)?;
        if value.is_null() {
            continue;
        }
        res.push(serde_json::to_value(value).context("a key is not a string")?);
    }
    Ok(res)
}

/// A typed document. Errors name line and column.
pub fn typed<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    Ok(serde_yaml::from_str(text)?)
}

/// A text that is JSON, and not YAML besides.
pub fn from_json(text: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(text)?)
}

/// Any serializable value as a [`Value`].
pub fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("what we serialize is plain data")
}

//! The only room that names a YAML library.
//!
//! Kubernetes objects are [`Value`]s: maps are sorted, as Go prints them. What is written here, every
//! YAML 1.1 and 1.2 reader reads back as the same value. What is read here is what the
//! Go program sees in it that the text is for ([`Dialect`]); where that cannot be told, it is refused
//! with its place.

mod difference;
mod events;
mod fault;
mod guard;
mod maps;
mod node;
mod parse;
mod plain;
mod printed;
mod read;
mod scalar;
mod stream;
#[cfg(test)]
pub mod tests;
mod timestamp;
mod typed;
mod write;

pub use difference::difference;
pub use fault::Fault;
pub use node::{Data, Entry, Mark, Node};
pub use printed::is_written_in_quotes;

pub use serde_json::{Map, Number, Value, json};
pub use write::to_text;

use serde::de::DeserializeOwned;

/// Which Go program reads a text, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `sigs.k8s.io/yaml`: kubectl, operator-sdk, OLM, and kustomize for its own files.
    Kubernetes,
    /// The same, with `UnmarshalStrict`: a key that is there twice is refused. kubebuilder reads PROJECT so.
    Strict,
    /// kyaml, as kustomize reads resources and patches.
    Kustomize,
}

/// The one document of a text. Fails with the line and column of what is malformed.
pub fn from_text(text: &str, dialect: Dialect) -> anyhow::Result<Value> {
    Ok(whole(text, dialect)?.map_or(Value::Null, Node::into_value))
}

/// Every document of a stream that is not empty.
pub fn documents(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Value>> {
    Ok(nodes(text, dialect)?.into_iter().map(Node::into_value).collect())
}

/// The same, with the place of every part.
pub fn nodes(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
    let mut res = Vec::new();
    for document in stream::split(text, dialect)? {
        res.extend(read::read(&document, dialect)?.filter(|it| !it.is_null()));
    }
    Ok(res)
}

/// The one document of a text, with the place of every part; nothing, if the text is empty.
pub fn whole(text: &str, dialect: Dialect) -> Result<Option<Node>, Fault> {
    read::read(&stream::Part { text: text.into(), line: 0 }, dialect)
}

/// A typed document. Errors name line and column.
pub fn typed<T: DeserializeOwned>(text: &str, dialect: Dialect) -> anyhow::Result<T> {
    let mark = Mark { line: 1, column: 1 };
    let null = Node { data: Data::Scalar(Value::Null), mark, spelling: None, is_quoted: false };
    Ok(T::deserialize(whole(text, dialect)?.as_ref().unwrap_or(&null))?)
}

/// A text that is JSON, and not YAML besides.
pub fn from_json(text: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(text)?)
}

/// Any serializable value as a [`Value`].
pub fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("what we serialize is plain data")
}

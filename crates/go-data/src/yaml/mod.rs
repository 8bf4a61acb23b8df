//! The only module that uses a YAML library.
//!
//! Kubernetes objects are [`Value`]s: maps are sorted, as Go prints them. Every YAML 1.1 or 1.2 parser reads the text
//! that this module writes as the same value. A text is read as the Go program reads it that will use the text
//! ([`Dialect`]); if its result cannot be predicted, the text is refused with the place of the problem.

pub mod block;
mod difference;
pub mod edit;
mod events;
mod fault;
mod guard;
mod maps;
mod node;
mod parse;
mod plain;
pub mod pointer;
mod printed;
mod read;
mod scalar;
mod stream;
#[cfg(test)]
mod tests;
mod timestamp;
#[cfg(test)]
mod tricky;
mod typed;
mod write;

pub use difference::{Difference, Part, difference, differences};
pub use fault::{Fault, locate, malformed};
pub use node::{Data, Entry, Mark, Node};
pub use printed::{
    added_key_fault, fault as printing_fault, is_written_in_quotes, key_fault,
    string as printed_string,
};

pub use serde_json::{Map, Number, Value, json};
pub use timestamp::is_respelled_time;
pub use write::to_text;

use serde::de::DeserializeOwned;

/// Which Go program reads a text, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `sigs.k8s.io/yaml`: kubectl, operator-sdk, OLM, and kustomize for its own files.
    Kubernetes,
    /// `sigs.k8s.io/yaml` with `UnmarshalStrict`: duplicate keys are refused. kubebuilder reads PROJECT this way.
    Strict,
    /// kyaml, as kustomize reads resources and patches.
    Kustomize,
}

/// Parses the only document of a text. Errors name line and column.
pub fn from_text(text: &str, dialect: Dialect) -> anyhow::Result<Value> {
    Ok(whole(text, dialect)?.map_or(Value::Null, Node::into_value))
}

/// Parses every document of a stream, without the empty ones.
pub fn documents(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Value>> {
    Ok(nodes(text, dialect)?.into_iter().map(Node::into_value).collect())
}

/// Parses every document of a stream, without the empty ones, with the position of every node.
pub fn nodes(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
    let mut res = Vec::new();
    for document in stream::split(text, dialect)? {
        res.extend(read::read(&document, dialect)?.filter(|it| !it.is_null()));
    }
    Ok(res)
}

/// Parses every document of a stream, each with the line that it begins on. `None` is a document of comments only.
pub fn parts(text: &str, dialect: Dialect) -> Result<Vec<(usize, Option<Node>)>, Fault> {
    let mut res = Vec::new();
    for document in stream::split(text, dialect)? {
        if !document.text.is_empty() {
            let node = read::read(&document, dialect)?;
            res.push((document.line + 1, node.filter(|it| !it.is_null())));
        }
    }
    Ok(res)
}

/// Reads every document of a stream for Kubernetes, one after another; also those that hold only comments or `null`.
/// Each comes with the line that it begins on.
pub fn each(text: &str, document: &mut dyn FnMut(usize, Value)) -> Result<(), Fault> {
    for part in stream::split(text, Dialect::Kubernetes)? {
        if part.text.is_empty() {
            continue;
        }
        match read::read(&part, Dialect::Kubernetes)?.filter(|it| !it.is_null()) {
            Some(node) => document(node.mark.line, node.into_value()),
            None => document(part.line + 1, Value::Null),
        }
    }
    Ok(())
}

/// The first document of a text, as Go's programs read it that look at nothing behind it.
pub fn first(text: &str) -> Result<Value, Fault> {
    let part = stream::Part { text: text.into(), line: 0 };
    Ok(read::first(&part, Dialect::Kubernetes)?.map_or(Value::Null, Node::into_value))
}

/// The only document of a text, with the place of every part; `None` if the text is empty.
pub fn whole(text: &str, dialect: Dialect) -> Result<Option<Node>, Fault> {
    read::read(&stream::Part { text: text.into(), line: 0 }, dialect)
}

/// Deserializes a document. Errors name line and column.
pub fn typed<T: DeserializeOwned>(text: &str, dialect: Dialect) -> anyhow::Result<T> {
    typed_document(whole(text, dialect)?.as_ref())
}

/// Deserializes a document that was parsed; `None` is an empty one.
pub fn typed_document<T: DeserializeOwned>(document: Option<&Node>) -> anyhow::Result<T> {
    let mark = Mark { line: 1, column: 1 };
    let null = Node { data: Data::Scalar(Value::Null), mark, spelling: None, is_quoted: false };
    Ok(T::deserialize(document.unwrap_or(&null))?)
}

/// Parses JSON; other YAML is refused.
pub fn from_json(text: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(text)?)
}

/// Any serializable value as a [`Value`].
pub fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("what we serialize is plain data")
}

//! The only module that uses a YAML library.
//!
//! Kubernetes objects are [`Value`]s: maps are sorted, as Go prints them. Every YAML 1.1 or 1.2 parser reads the text
//! that this module writes as the same value. A text is read as the Go program reads it that will use the text
//! ([`Dialect`]); if its result cannot be predicted, the text is refused with the location of the error.

pub mod block;
mod difference;
pub mod edit;
mod error;
mod events;
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

pub use difference::{Difference, Part, diff_values, first_difference};
pub use error::{YamlError, locate_error, malformed_diagnostic};
pub use node::{Data, Entry, Mark, Node};
pub use printed::{
    find_added_key_error, find_key_error, find_printing_error, is_written_in_quotes, printed_string,
};

pub use serde_json::{Map, Number, Value, json};
pub use timestamp::is_respelled_time;
pub use write::to_text;

use serde::de::DeserializeOwned;

/// The Go program that reads a text, and how it does.
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
    Ok(parse_document(text, dialect)?.map_or(Value::Null, Node::into_value))
}

/// Parses every document of a stream, without the empty ones.
pub fn parse_documents(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Value>> {
    Ok(parse_nodes(text, dialect)?.into_iter().map(Node::into_value).collect())
}

/// Parses every document of a stream, without the empty ones, with the position of every node.
pub fn parse_nodes(text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
    let mut nodes = Vec::new();
    for document in stream::split_documents(text, dialect)? {
        nodes.extend(read::build_document(&document, dialect)?.filter(|node| !node.is_null()));
    }
    Ok(nodes)
}

/// Parses every document of a stream, each with the line that it begins on. `None` is a document of comments only.
pub fn parse_numbered_documents(
    text: &str,
    dialect: Dialect,
) -> Result<Vec<(usize, Option<Node>)>, YamlError> {
    let mut documents = Vec::new();
    for document in stream::split_documents(text, dialect)? {
        if !document.text.is_empty() {
            let node = read::build_document(&document, dialect)?;
            documents.push((document.line + 1, node.filter(|node| !node.is_null())));
        }
    }
    Ok(documents)
}

/// Parses the documents of a stream for Kubernetes one by one, also those that hold only comments or `null`, and passes
/// each to `document` with the line that it begins on.
pub fn visit_documents(
    text: &str,
    document: &mut dyn FnMut(usize, Value),
) -> Result<(), YamlError> {
    for part in stream::split_documents(text, Dialect::Kubernetes)? {
        if part.text.is_empty() {
            continue;
        }
        match read::build_document(&part, Dialect::Kubernetes)?.filter(|node| !node.is_null()) {
            Some(node) => document(node.mark.line, node.into_value()),
            None => document(part.line + 1, Value::Null),
        }
    }
    Ok(())
}

/// Parses the first document of a text, and ignores what follows it, as some Go programs do.
pub fn parse_first_document(text: &str) -> Result<Value, YamlError> {
    let part = stream::DocumentText { text: text.into(), line: 0 };
    Ok(read::build_first_document(&part, Dialect::Kubernetes)?
        .map_or(Value::Null, Node::into_value))
}

/// Parses the only document of a text, with the location of every node; `None` if the text is empty.
pub fn parse_document(text: &str, dialect: Dialect) -> Result<Option<Node>, YamlError> {
    read::build_document(&stream::DocumentText { text: text.into(), line: 0 }, dialect)
}

/// Parses and deserializes the only document of a text. Errors name line and column.
pub fn parse_typed<T: DeserializeOwned>(text: &str, dialect: Dialect) -> anyhow::Result<T> {
    deserialize_document(parse_document(text, dialect)?.as_ref())
}

/// Deserializes a document that was parsed; `None` is an empty one.
pub fn deserialize_document<T: DeserializeOwned>(document: Option<&Node>) -> anyhow::Result<T> {
    let mark = Mark { line: 1, column: 1 };
    let null = Node { data: Data::Scalar(Value::Null), mark, spelling: None, is_quoted: false };
    Ok(T::deserialize(document.unwrap_or(&null))?)
}

/// Parses JSON; other YAML is refused.
pub fn from_json(text: &str) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(text)?)
}

/// Converts any serializable value into a [`Value`].
pub fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("what we serialize is plain data")
}

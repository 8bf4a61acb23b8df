//! The API server's treatment of a custom resource by the structural schema in its CRD: it removes unknown fields,
//! removes nulls, fills in defaults and validates, in this order. Values in, values out.
//!
//! This is apiextensions-apiserver 0.36 (pkg/apiserver/schema/{pruning,defaulting} and the validator of kube-openapi).
//! The in-memory server, the checks of random values, the warnings of `operator-rs generate manifests` and its checks
//! of samples use this one module, so that they cannot disagree. Rules (CEL) are not part of it.

mod defaults;
mod field;
mod findings;
mod formats;
mod number;
mod prune;
mod validate;
#[cfg(test)]
mod tests;

pub use defaults::{fill_defaults, remove_nulls};
pub use field::{FieldPath, Step};
pub use findings::{FieldFault, Findings};
pub use formats::{Texts, format_of, is_known_format};
pub use prune::{META_FIELDS, prune, undeclared_in_apply};
pub use validate::{WRONG_TYPE, validate};

use serde_json::Value;

/// Treats a resource as the server does before it validates it. Returns the paths of the unknown fields that it
/// removed.
pub fn conform(resource: &mut Value, schema: &Value) -> Vec<String> {
    let unknown = remove_unknown(resource, schema);
    complete(resource, schema);
    unknown
}

/// Removes the fields of a resource that its schema does not declare, and returns their paths.
pub fn remove_unknown(resource: &mut Value, schema: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    prune(resource, Some(schema), &FieldPath::default(), &mut |path, _| unknown.push(path.to_string()));
    unknown
}

/// Removes nulls and fills in defaults.
pub fn complete(resource: &mut Value, schema: &Value) {
    remove_nulls(resource, schema);
    fill_defaults(resource, schema);
}

/// The string of a keyword; empty if there is none.
pub fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a keyword is `true`.
pub fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

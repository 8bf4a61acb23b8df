//! Checks a CustomResourceDefinition as an API server does, and returns everything that the server refuses, each with
//! its JSON pointer.
//!
//! The rules are those of apiextensions-apiserver 0.36. The contents of certificates are not checked.

mod conversion;
mod costs;
mod defaults;
mod lists;
mod metadata;
pub mod rules;
mod selectable;
mod spec;
pub mod structural;
mod unknown;

pub(crate) use conversion::{check_client_config, check_review_versions};
pub use metadata::check_metadata;
pub(crate) use spec::Faults;

use go_data::{
    kubernetes::names,
    yaml::{Value, pointer},
};

/// Why an API server refuses a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The JSON pointer of the field.
    pub pointer: String,
    pub message: String,
    /// The place in the schema of a version; none outside of schemas.
    pub version: Option<SchemaFault>,
}

/// A fault in the schema of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    pub name: String,
    /// The field path, such as `spec.size`; empty for the resource itself.
    pub at: String,
    pub what: String,
    pub hint: &'static str,
}

/// A fault in a schema: its field path, such as `spec.size`, and its cause.
pub struct Fault {
    pub at: String,
    pub message: String,
    pub hint: &'static str,
}

impl Refusal {
    /// The field as Kubernetes names it.
    pub fn field(&self) -> &str {
        self.message.split(": ").next().unwrap_or_default()
    }
}

/// Returns everything that an API server refuses: first outside of the schemas, in the words of Kubernetes, then in
/// them.
pub fn refusals(crd: &Value) -> Vec<Refusal> {
    let refusal = |message: String| {
        let pointer = spec::pointer_of_fault(&message);
        Refusal { pointer, message, version: None }
    };
    let outside = check_metadata(crd).into_iter().chain(spec::check_definition(crd)).map(refusal);
    outside.chain(check_schemas(crd, check_schema)).collect()
}

/// Returns what API servers may refuse: rules that are not checked here, and fields that they do not know.
pub fn doubts(crd: &Value) -> Vec<Refusal> {
    let rules = check_schemas(crd, |schema, _| rules::find_unchecked(schema));
    rules.into_iter().chain(unknown::find_unknown_fields(crd)).collect()
}

fn check_schemas(crd: &Value, check: fn(&Value, bool) -> Vec<Fault>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (at, version) in pointer::list(crd, "/spec/versions").iter().enumerate() {
        let pointer = format!("/spec/versions/{at}");
        let name = pointer::text(version, "/name");
        let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
        let faults = check(schema, version.pointer("/subresources/status").is_some());
        let inside = format!("{pointer}/schema/openAPIV3Schema");
        refusals.extend(faults.into_iter().map(|fault| {
            let place = if fault.at.is_empty() {
                "the schema".to_owned()
            } else {
                format!("`{}`", fault.at)
            };
            let message = format!("the version `{name}`: {place} {}", fault.message);
            let pointer = if schema.is_object() {
                pointer_of_path(&inside, schema, &fault.at)
            } else {
                pointer.clone()
            };
            let Fault { at, message: what, hint } = fault;
            let version = Some(SchemaFault { name: name.to_owned(), at, what, hint });
            Refusal { pointer, message, version }
        }));
    }
    refusals
}

const SCHEMA: &str = "describe the fields: the API server refuses a version without a schema";

/// Returns the faults in the schema of a version.
fn check_schema(schema: &Value, has_status: bool) -> Vec<Fault> {
    if !schema.is_object() {
        return vec![Fault { at: String::new(), message: "is missing".to_owned(), hint: SCHEMA }];
    }
    let mut faults = structural::check_schema(schema);
    faults.extend(structural::check_root(schema, has_status));
    // The API server checks defaults and rules only where the schema itself is valid.
    if faults.is_empty() {
        faults.extend(defaults::check_defaults(schema));
        faults.extend(rules::check_rules(schema));
    }
    faults
}

/// Returns the JSON pointer of the field at a path such as `spec.list[].name`, or of the nearest one around it.
fn pointer_of_path(pointer: &str, schema: &Value, path: &str) -> String {
    let (mut located, mut here) = (pointer.to_owned(), schema);
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches("[]");
        let lists = (part.len() - name.len()) / 2;
        let steps = match name {
            "*" => vec!["additionalProperties"],
            name => vec!["properties", name],
        };
        for step in steps.into_iter().chain(std::iter::repeat_n("items", lists)) {
            let Some(next) = here.get(step) else { return located };
            located += &format!("/{}", pointer::escape_key(step));
            here = next;
        }
    }
    located
}

/// The path of a value one level further down.
pub fn child_path(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}

/// Calls `visit` with a schema and every schema in it, each with its path from the top.
pub fn visit_schemas(at: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(at, schema);
    let Value::Object(map) = schema else { return };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(properties)) => {
                properties
                    .iter()
                    .for_each(|(name, it)| visit_schemas(&child_path(at, name), it, visit));
            }
            ("items", Value::Object(_)) => visit_schemas(&format!("{at}[]"), value, visit),
            ("additionalProperties", Value::Object(_)) => {
                visit_schemas(&format!("{at}.*"), value, visit)
            }
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(list)) => {
                list.iter().for_each(|item| visit_schemas(at, item, visit));
            }
            ("not", Value::Object(_)) => visit_schemas(at, value, visit),
            _ => {}
        }
    }
}

/// The faults without duplicates.
fn without_duplicates(mut faults: Vec<Fault>) -> Vec<Fault> {
    let mut seen = std::collections::BTreeSet::new();
    faults.retain(|fault| seen.insert((fault.at.clone(), fault.message.clone())));
    faults
}

//! What an API server says of a CustomResourceDefinition: everything that it refuses, each with its place.
//!
//! The rules are those of apiextensions-apiserver 0.36. Not checked: what is in certificates.

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

pub(crate) use conversion::{client, review_versions};
pub use metadata::metadata;
pub(crate) use spec::Faults;

use go_data::{
    kubernetes::names,
    yaml::{Value, pointer as of},
};

/// Why an API server refuses a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The JSON pointer of the field.
    pub pointer: String,
    pub message: String,
    /// Where it is in the schema of a version; none outside of schemas.
    pub version: Option<InSchema>,
}

/// A fault in the schema of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InSchema {
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

/// Everything that is wrong: outside of the schemas in the words of Kubernetes, then in them.
pub fn refusals(crd: &Value) -> Vec<Refusal> {
    let refusal = |message: String| {
        let pointer = spec::pointer(&message);
        Refusal { pointer, message, version: None }
    };
    let outside = metadata(crd).into_iter().chain(spec::faults(crd)).map(refusal);
    outside.chain(in_schemas(crd, faults)).collect()
}

/// What API servers may refuse: rules that are not checked here, and fields that they do not know.
pub fn doubts(crd: &Value) -> Vec<Refusal> {
    let rules = in_schemas(crd, |schema, _| rules::unchecked(schema));
    rules.into_iter().chain(unknown::fields(crd)).collect()
}

fn in_schemas(crd: &Value, faults: fn(&Value, bool) -> Vec<Fault>) -> Vec<Refusal> {
    let mut res = Vec::new();
    for (at, version) in of::list(crd, "/spec/versions").iter().enumerate() {
        let pointer = format!("/spec/versions/{at}");
        let name = of::text(version, "/name");
        let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
        let faults = faults(schema, version.pointer("/subresources/status").is_some());
        let inside = format!("{pointer}/schema/openAPIV3Schema");
        res.extend(faults.into_iter().map(|it| {
            let place =
                if it.at.is_empty() { "the schema".to_owned() } else { format!("`{}`", it.at) };
            let message = format!("the version `{name}`: {place} {}", it.message);
            let pointer = match schema.is_object() {
                true => located(&inside, schema, &it.at),
                false => pointer.clone(),
            };
            let Fault { at, message: what, hint } = it;
            let version = Some(InSchema { name: name.to_owned(), at, what, hint });
            Refusal { pointer, message, version }
        }));
    }
    res
}

const SCHEMA: &str = "describe the fields: the API server refuses a version without a schema";

/// What is wrong with the schema of a version.
fn faults(schema: &Value, has_status: bool) -> Vec<Fault> {
    if !schema.is_object() {
        return vec![Fault { at: String::new(), message: "is missing".to_owned(), hint: SCHEMA }];
    }
    let mut res = structural::faults(schema);
    res.extend(structural::at_root(schema, has_status));
    // The API server checks defaults and rules only where the schema itself is valid.
    if res.is_empty() {
        res.extend(defaults::faults(schema));
        res.extend(rules::faults(schema));
    }
    res
}

/// The JSON pointer of the field at a path such as `spec.list[].name`, or of what comes nearest around it.
fn located(pointer: &str, schema: &Value, path: &str) -> String {
    let (mut res, mut here) = (pointer.to_owned(), schema);
    for part in path.split('.').filter(|it| !it.is_empty()) {
        let name = part.trim_end_matches("[]");
        let lists = (part.len() - name.len()) / 2;
        let steps = match name {
            "*" => vec!["additionalProperties"],
            name => vec!["properties", name],
        };
        for step in steps.into_iter().chain(std::iter::repeat_n("items", lists)) {
            let Some(next) = here.get(step) else { return res };
            res += &format!("/{}", of::escaped(step));
            here = next;
        }
    }
    res
}

/// The path of a value one level further down.
pub fn below(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}

/// Calls `f` with a schema and every schema in it, each with its path from the top.
pub fn walk(at: &str, schema: &Value, f: &mut impl FnMut(&str, &Value)) {
    f(at, schema);
    let Value::Object(map) = schema else { return };
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(properties)) => {
                properties.iter().for_each(|(name, it)| walk(&below(at, name), it, f));
            }
            ("items", Value::Object(_)) => walk(&format!("{at}[]"), value, f),
            ("additionalProperties", Value::Object(_)) => walk(&format!("{at}.*"), value, f),
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(list)) => {
                list.iter().for_each(|it| walk(at, it, f));
            }
            ("not", Value::Object(_)) => walk(at, value, f),
            _ => {}
        }
    }
}

/// The faults without duplicates.
fn once(mut faults: Vec<Fault>) -> Vec<Fault> {
    let mut seen = std::collections::BTreeSet::new();
    faults.retain(|it| seen.insert((it.at.clone(), it.message.clone())));
    faults
}

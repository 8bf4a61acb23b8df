//! What the reader gives: kinds, places and problems.

use std::collections::BTreeMap;

use serde_json::Value;

pub use crate::source_path::{SourcePath, below};

/// One version of a kind, as `#[derive(CustomResource)]` declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomResource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
    pub shortnames: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub served: bool,
    pub storage: Storage,
    pub deprecated: Option<Deprecation>,
    pub columns: Vec<PrintColumn>,
    /// JSON paths of selectable fields.
    pub selectable: Vec<String>,
    pub status: bool,
    pub scale: Option<Scale>,
    /// `openAPIV3Schema`; none where the source says `schema = "disabled"`.
    pub schema: Option<Schema>,
    /// What is not set is written all the same, as `categories: []`: kube before 4.2 does so.
    pub empty: bool,
    /// Where the source declares it.
    pub place: Place,
}

/// What the source calls a kind, as far as it can be told where the rest is malformed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KindName {
    pub group: Option<String>,
    pub kind: Option<String>,
    /// The struct that declares it, where the kind is not known.
    pub unnamed: Option<String>,
}

impl KindName {
    /// Whether this may be a version of that resource's kind.
    pub fn may_be(&self, it: &CustomResource) -> bool {
        self.group.as_ref().is_none_or(|group| *group == it.group)
            && self.kind.as_ref().is_none_or(|kind| *kind == it.kind)
    }
}

/// A kind that the source declares, whether its schema can be read or not: where code finds its struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Where the source declares it.
    pub place: Place,
    /// The struct that kube's derive makes.
    pub name: String,
    /// The root file of its crate, and the name that code knows the crate by.
    pub root: SourcePath,
    pub krate: String,
    /// The folder of its package; empty at the top.
    pub folder: String,
    /// The features of its package that are on, and those of dependencies (`a/b`) that are asked for.
    pub features: Vec<String>,
    pub target: Target,
    /// The struct's path from the crate's root.
    pub path: Vec<String>,
    pub reach: Reach,
    /// What it says of being stored.
    pub storage: Storage,
    /// Where its code has kube's core and serde_json.
    pub kube_core: String,
    pub serde_json: String,
}

/// What cargo makes of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Library,
    /// A program; whether its package has a library that it may use.
    Program {
        beside_library: bool,
    },
    /// An example, which may use what its package depends on to be developed.
    Example {
        beside_library: bool,
    },
}

/// From where a struct can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From other crates.
    Public,
    /// From the root of its own crate.
    Crate,
    /// From some modules of its crate only.
    Hidden,
    /// From its crate's root, as a person says who names it: the source tells nothing of it.
    Said,
}

/// A structural schema, as kube-rs would print it.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(pub Value);

/// What `#[kube(storage = …)]` says; kube-derive takes silence for `true`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Unsaid,
    Yes,
    No,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deprecation {
    pub warning: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintColumn {
    pub name: String,
    pub type_: String,
    pub json_path: String,
    pub description: Option<String>,
    pub format: Option<String>,
    pub priority: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    pub spec_replicas_path: String,
    pub status_replicas_path: String,
    pub label_selector_path: Option<String>,
}

/// A place in a file: line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: SourcePath,
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, column } = self;
        write!(f, "{path}:{line}:{column}")
    }
}

/// Something in a user's file that a room cannot make sense of: where, what, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub place: Place,
    pub message: String,
    /// What led there, of a custom resource: its kind, the fields, the type that could not be read.
    pub way: Vec<String>,
    pub hint: Option<String>,
}

impl Problem {
    /// Over several lines: the way and the hint below what was met.
    pub fn told(&self, indent: &str) -> String {
        let Self { place, message, way, hint } = self;
        let mut res = format!("{indent}{place}: {message}");
        if 1 < way.len() {
            res += &format!("\n{indent}  {}", way.join(" → "));
        }
        if let Some(hint) = hint {
            res += &format!("\n{indent}  hint: {hint}");
        }
        res
    }
}

/// In one line, without the way out.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, message, way, .. } = self;
        write!(f, "{place}: {message}")?;
        match &way[..] {
            [kind, fields, ..] if !fields.is_empty() => write!(f, " (`{kind}` → `{fields}`)"),
            _ => Ok(()),
        }
    }
}

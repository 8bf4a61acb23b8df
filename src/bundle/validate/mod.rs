//! The checks of `operator-sdk bundle validate`, with its verdicts and its words: those that it always runs,
//! and in `optional` those that it runs where they are asked for.
//!
//! One file a suite: the bundle's format, every object, the CSV, the CRDs, and the bundle as a whole.
//! Given the files of a bundle, this reads nothing else.

use std::{collections::BTreeMap, fmt};

use super::object as of;
use crate::model::ProjectPath;

mod beta;
mod bundle;
mod conversion;
mod crd;
mod csv;
mod dependencies;
mod format;
mod grammar;
mod load;
mod names;
mod object;
pub mod optional;
mod selectable;
mod size;

use crate::yaml::Value;

/// The files of a bundle, by their paths inside it.
pub type Files = BTreeMap<ProjectPath, Vec<u8>>;

/// Something that OLM would stumble over, or that it would like otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub severity: Severity,
    /// The file, as far as it is known, inside the bundle.
    pub file: String,
    /// The words of operator-framework's own validators.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

impl Finding {
    /// The finding, with its file in this folder.
    pub fn within(&self, folder: &str) -> String {
        let separator = if self.file.is_empty() { ": " } else { "/" };
        format!("{folder}{separator}{self}")
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, message, .. } = self;
        if file.is_empty() { f.write_str(message) } else { write!(f, "{file}: {message}") }
    }
}

/// What has been found so far.
#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn error(&mut self, file: &str, message: impl Into<String>) {
        self.push(Severity::Error, file, message.into());
    }
    fn warning(&mut self, file: &str, message: impl Into<String>) {
        self.push(Severity::Warning, file, message.into());
    }
    fn push(&mut self, severity: Severity, file: &str, message: String) {
        self.0.push(Finding { severity, file: file.to_owned(), message });
    }
}

/// One file of a bundle's manifests, read.
struct Manifest<'a> {
    path: &'a str,
    object: Value,
}

/// Checks a bundle, with the optional validators that are selected.
pub fn validate(
    files: &Files,
    selected: &[&optional::Validator],
    context: &optional::Context,
) -> Vec<Finding> {
    let mut findings = Findings::default();
    let loaded = load::load(files, &mut findings);
    format::check(files, loaded.is_some(), &mut findings);
    if let Some(loaded) = loaded {
        object::check(&loaded.objects, &mut findings);
        csv::check(&loaded, &mut findings);
        bundle::check(&loaded, &mut findings);
        size::check(files, &loaded.folder, &mut findings);
        loaded.crds.iter().for_each(|it| crd::check(it, &mut findings));
        selected.iter().for_each(|it| it.check(&loaded, context, &mut findings));
    }
    findings.0.sort();
    findings.0.dedup();
    findings.0
}

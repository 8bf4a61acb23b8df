//! The checks that `operator-sdk bundle validate` always runs, with its verdicts and its words.
//!
//! One file a suite: the bundle's format, every object, the CSV, the CRDs, and the bundle as a whole.
//! Given the files of a bundle, this reads nothing else.

use std::{collections::BTreeMap, fmt};

use super::{object as of, shape};
use crate::{
    model::ProjectPath,
    yaml::{self, Value},
};

mod bundle;
mod crd;
mod csv;
mod format;
mod names;
mod object;
mod selectable;
mod size;

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

/// One file of `manifests/`, read.
struct Manifest<'a> {
    path: &'a str,
    object: Value,
}

/// Checks the files of a bundle, by their paths inside it.
pub fn validate(files: &BTreeMap<ProjectPath, String>) -> Vec<Finding> {
    let mut findings = Findings::default();
    let manifests = read(files, &mut findings);
    format::check(files, &manifests, &mut findings);
    object::check(&manifests, &mut findings);
    let csvs: Vec<&Manifest> =
        manifests.iter().filter(|it| of::kind(&it.object) == "ClusterServiceVersion").collect();
    match csvs[..] {
        [] => findings.error("", "no ClusterServiceVersion in bundle"),
        [csv] => {
            csv::check(csv, &mut findings);
            bundle::check(csv, &manifests, &mut findings);
        }
        _ => findings.error("", "invalid bundle: contains multiple CSVs"),
    }
    size::check(files, &mut findings);
    for manifest in &manifests {
        if of::kind(&manifest.object) == "CustomResourceDefinition" {
            crd::check(manifest, &mut findings);
        }
    }
    findings.0.sort();
    findings.0.dedup();
    findings.0
}

/// The first document of every file of `manifests/`: what OLM reads.
fn read<'a>(
    files: &'a BTreeMap<ProjectPath, String>,
    findings: &mut Findings,
) -> Vec<Manifest<'a>> {
    let mut res = Vec::new();
    for (path, text) in files {
        let path = path.as_str();
        let Some(name) = path.strip_prefix("manifests/") else { continue };
        if let Some((folder, _)) = name.split_once('/') {
            findings.error(path, format!("bundle manifests dir contains directory: {folder}"));
            continue;
        }
        if name.starts_with('.') {
            findings.error(path, format!("bundle manifests dir has hidden file: {name}"));
            continue;
        }
        match yaml::documents(text, yaml::Dialect::Kubernetes) {
            Ok(documents) => match documents.into_iter().next() {
                Some(object) if of::kind(&object).is_empty() => {
                    findings.error(path, "unable to decode object: Object 'Kind' is missing");
                }
                Some(object) => res.push(Manifest { path, object }),
                None => findings.error(path, "unable to decode object: EOF"),
            },
            Err(error) => findings.error(path, format!("unable to decode object: {error:#}")),
        }
    }
    res
}

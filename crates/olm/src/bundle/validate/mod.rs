//! The checks of `operator-sdk bundle validate`, with its verdicts and its words: those that it always runs,
//! and in `optional` those that it runs where they are asked for.
//!
//! One file a suite: the bundle's format, every object, the CSV, the CRDs, and the bundle as a whole.
//! Given the files of a bundle, this reads nothing else.

use std::collections::BTreeMap;

use super::object as of;
use go_data::kubernetes::names;
pub use model::Files;

mod beta;
mod bundle;
mod crd;
mod csv;
mod dependencies;
mod finding;
pub(super) mod format;
mod grammar;
pub(crate) mod load;
mod object;
mod olm;
pub mod optional;
pub(super) mod requirements;
pub mod rules;
mod size;

pub use finding::Finding;
pub(super) use finding::{Findings, node};
use rules::{Rule, Selection, Target};

use go_data::yaml::Value;

/// One file of a bundle's manifests, read.
pub(crate) struct Manifest<'a> {
    pub path: &'a str,
    pub object: Value,
}

/// Which checks are run.
#[derive(Default)]
pub struct Request<'a> {
    /// The rules that are checked; none for those of the default suites.
    pub select: Option<&'a Selection>,
    /// Optional validators, with all of their rules.
    pub validators: &'a [&'a optional::Validator],
    /// Whether these also have the rules about APIs that operator-sdk does not know.
    pub has_later_apis: bool,
    /// The version of OLM that the bundle is for, where it is for one alone.
    pub target: Option<Target>,
    /// The labels of the image that the bundle was read from.
    pub labels: Option<&'a BTreeMap<String, String>>,
    /// The directories in the bundle, with those that have no files.
    pub folders: &'a [String],
}

impl Request<'_> {
    fn has(&self, rule: Rule) -> bool {
        self.select.is_none_or(|it| it.has(rule))
    }
}

/// Checks a bundle.
pub fn validate(files: &Files, request: &Request, context: &optional::Context) -> Vec<Finding> {
    let mut findings = Findings::default();
    let loaded = load::load(files, &mut findings);
    let Some(loaded) = loaded.filter(|it| it.require_no_folders(request.folders, &mut findings))
    else {
        // What cannot be read is told, whatever is selected.
        format::check(files, false, &mut findings);
        return findings.located(files);
    };
    format::check(files, true, &mut findings);
    object::check(&loaded.objects, &mut findings);
    csv::check(&loaded, &mut findings);
    bundle::check(&loaded, &mut findings);
    size::check(files, &loaded.folder, &mut findings);
    loaded.crds.iter().for_each(|it| crd::check(it, &mut findings));
    if let Some(labels) = request.labels {
        format::labels(&loaded.annotations, labels, &mut findings);
    }
    olm::check(&loaded, files, request.target, &mut findings);
    for it in optional::VALIDATORS.iter().filter(|it| request.select.is_some_and(|by| it.has(by))) {
        it.check(&loaded, context, &mut findings);
    }
    findings.0.retain(|it| request.has(it.rule));
    let mut optional = Findings::default();
    request.validators.iter().for_each(|it| it.check(&loaded, context, &mut optional));
    // Selected as with operator-sdk, a validator has only the rules that it has there.
    let is_later = |it: Rule| matches!(it, Rule::ApiRemovedLater | Rule::ApiNotYet);
    optional.0.retain(|it| request.has_later_apis || !is_later(it.rule));
    findings.0.append(&mut optional.0);
    findings.located(files)
}

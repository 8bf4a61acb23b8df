//! The checks of `operator-sdk bundle validate`, with its verdicts and messages: those that it always runs, and in
//! `optional` those that run on request.
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
pub(super) use finding::{Findings, parse_first_document};
use rules::{Rule, Selection, Target};

use go_data::yaml::Value;

/// One file of a bundle's manifests, read.
pub(crate) struct Manifest<'a> {
    pub path: &'a str,
    pub object: Value,
}

/// The selection of the checks.
#[derive(Default)]
pub struct Request<'a> {
    /// The rules that are checked; none for those of the default suites.
    pub select: Option<&'a Selection>,
    /// Optional validators, with all of their rules.
    pub validators: &'a [&'a optional::Validator],
    /// True if these include the rules about APIs that operator-sdk does not know.
    pub has_later_apis: bool,
    /// The version of OLM that the bundle is for, where it is for one alone.
    pub target: Option<Target>,
    /// The labels of the image that the bundle was read from.
    pub labels: Option<&'a BTreeMap<String, String>>,
    /// The directories in the bundle, with those that have no files.
    pub folders: &'a [String],
}

impl Request<'_> {
    fn selects(&self, rule: Rule) -> bool {
        self.select.is_none_or(|selection| selection.contains(rule))
    }
}

/// Checks a bundle.
pub fn validate(files: &Files, request: &Request, context: &optional::Context) -> Vec<Finding> {
    let mut findings = Findings::default();
    let loaded = load::load_bundle(files, &mut findings);
    let Some(loaded) =
        loaded.filter(|loaded| loaded.require_no_folders(request.folders, &mut findings))
    else {
        // Files that cannot be read are reported for any selection.
        format::check(files, false, &mut findings);
        return findings.into_located(files);
    };
    format::check(files, true, &mut findings);
    object::check(&loaded.objects, &mut findings);
    csv::check(&loaded, &mut findings);
    bundle::check(&loaded, &mut findings);
    size::check(files, &loaded.folder, &mut findings);
    loaded.crds.iter().for_each(|crd| crd::check(crd, &mut findings));
    if let Some(labels) = request.labels {
        format::check_labels(&loaded.annotations, labels, &mut findings);
    }
    olm::check(&loaded, files, request.target, &mut findings);
    for validator in optional::VALIDATORS
        .iter()
        .filter(|validator| request.select.is_some_and(|by| validator.has_selected_rules(by)))
    {
        validator.check(&loaded, context, &mut findings);
    }
    findings.0.retain(|finding| request.selects(finding.rule));
    let mut optional = Findings::default();
    request
        .validators
        .iter()
        .for_each(|validator| validator.check(&loaded, context, &mut optional));
    // A validator that is selected by its name has only the rules that operator-sdk has.
    let is_later = |rule: Rule| matches!(rule, Rule::ApiRemovedLater | Rule::ApiNotYet);
    optional.0.retain(|finding| request.has_later_apis || !is_later(finding.rule));
    findings.0.append(&mut optional.0);
    findings.into_located(files)
}

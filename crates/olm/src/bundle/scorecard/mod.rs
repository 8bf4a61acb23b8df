//! The six built-in tests of operator-sdk's scorecard, with its verdicts. operator-sdk starts a pod for each test;
//! here, each test is a function that reads only the files of a bundle.

mod checks;
mod config;

pub use config::{Configuration, Test, config_path};

use super::validate::{Files, Findings, load};

/// The result of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Empty where the test could not be run.
    pub name: String,
    pub log: String,
    pub state: TestState,
    pub errors: Vec<String>,
    pub suggestions: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestState {
    #[default]
    Pass,
    Fail,
    Error,
}

impl TestState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

/// The built-in tests, by the names that a configuration gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    Spec,
    Validation,
    CrdsHaveValidation,
    CrdsHaveResources,
    SpecDescriptors,
    StatusDescriptors,
}

impl BuiltIn {
    pub const ALL: [Self; 6] = [
        Self::Spec,
        Self::Validation,
        Self::CrdsHaveValidation,
        Self::CrdsHaveResources,
        Self::SpecDescriptors,
        Self::StatusDescriptors,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Spec => "basic-check-spec",
            Self::Validation => "olm-bundle-validation",
            Self::CrdsHaveValidation => "olm-crds-have-validation",
            Self::CrdsHaveResources => "olm-crds-have-resources",
            Self::SpecDescriptors => "olm-spec-descriptors",
            Self::StatusDescriptors => "olm-status-descriptors",
        }
    }
}

/// Runs a test on a bundle. The program in operator-sdk's pod prints no result for a bundle that it cannot read, and
/// then its test has failed.
pub fn run_test(test: BuiltIn, files: &Files) -> Outcome {
    let mut unread = Findings::default();
    let Some(bundle) = load::load_bundle(files, &mut unread) else {
        let errors = unread
            .0
            .iter()
            .map(|finding| format!("{}: {}", finding.file, finding.message))
            .collect();
        return Outcome { state: TestState::Fail, errors, ..Outcome::default() };
    };
    let mut outcome = Outcome { name: test.name().to_owned(), ..Outcome::default() };
    let checked = match test {
        BuiltIn::Spec => checks::check_spec(&bundle, &mut outcome),
        BuiltIn::Validation => checks::check_validation(files, &mut outcome),
        BuiltIn::CrdsHaveValidation => checks::crds_have_validation(&bundle, &mut outcome),
        BuiltIn::CrdsHaveResources => checks::crds_have_resources(&bundle, &mut outcome),
        BuiltIn::SpecDescriptors => checks::spec_descriptors(&bundle, &mut outcome),
        BuiltIn::StatusDescriptors => checks::status_descriptors(&bundle, &mut outcome),
    };
    match checked {
        Ok(()) => outcome,
        Err(why) => Outcome { state: TestState::Fail, errors: vec![why], ..Outcome::default() },
    }
}

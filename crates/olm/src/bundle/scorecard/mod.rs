//! The six tests that operator-sdk's scorecard brings along, with its verdicts. They read the files of a bundle and
//! nothing else: where operator-sdk starts a pod for each, this room is a function.

mod checks;
mod config;

pub use config::{Configuration, Test, config_path};

use super::validate::{Files, Findings, load};

/// What a test found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Empty where the test could not be run.
    pub name: String,
    pub log: String,
    pub state: State,
    pub errors: Vec<String>,
    pub suggestions: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Pass,
    Fail,
    Error,
}

impl State {
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
pub fn run(test: BuiltIn, files: &Files) -> Outcome {
    let mut unread = Findings::default();
    let Some(bundle) = load::load(files, &mut unread) else {
        let errors = unread.0.iter().map(|it| format!("{}: {}", it.file, it.message)).collect();
        return Outcome { state: State::Fail, errors, ..Outcome::default() };
    };
    let mut res = Outcome { name: test.name().to_owned(), ..Outcome::default() };
    let checked = match test {
        BuiltIn::Spec => checks::spec(&bundle, &mut res),
        BuiltIn::Validation => checks::validation(files, &mut res),
        BuiltIn::CrdsHaveValidation => checks::crds_have_validation(&bundle, &mut res),
        BuiltIn::CrdsHaveResources => checks::crds_have_resources(&bundle, &mut res),
        BuiltIn::SpecDescriptors => checks::spec_descriptors(&bundle, &mut res),
        BuiltIn::StatusDescriptors => checks::status_descriptors(&bundle, &mut res),
    };
    match checked {
        Ok(()) => res,
        Err(why) => Outcome { state: State::Fail, errors: vec![why], ..Outcome::default() },
    }
}

//! The rules that bundles are checked by: one line each in `table`, with an id that never changes.

mod table;

use std::str::FromStr;

use diagnostics::Severity;

pub use table::Rule;

/// The suite and the origin of a rule.
pub type Group = (Suite, Origin);

/// The program that enforces or recommends the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `operator-sdk bundle validate`.
    Sdk,
    /// OLM v0 alone fails.
    OlmV0,
    /// OLM v1 alone refuses it.
    OlmV1,
    /// Both versions of OLM, or the API server below them.
    Olm,
    /// Only operator-rs.
    Ours,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sdk => "operator-sdk",
            Self::OlmV0 => "OLM v0",
            Self::OlmV1 => "OLM v1",
            Self::Olm => "OLM v0 and v1",
            Self::Ours => "operator-rs",
        }
    }
}

/// The version of OLM that a bundle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Olmv0,
    Olmv1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suite {
    Format,
    Bundle,
    Csv,
    Crd,
    Olmv0,
    Olmv1,
    Operatorhub,
    Capabilities,
    Categories,
    GoodPractices,
    DeprecatedApis,
    Multiarch,
}

impl Suite {
    pub const ALL: [Self; 12] = [
        Self::Format,
        Self::Bundle,
        Self::Csv,
        Self::Crd,
        Self::Olmv0,
        Self::Olmv1,
        Self::Operatorhub,
        Self::Capabilities,
        Self::Categories,
        Self::GoodPractices,
        Self::DeprecatedApis,
        Self::Multiarch,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Bundle => "bundle",
            Self::Csv => "csv",
            Self::Crd => "crd",
            Self::Olmv0 => "olmv0",
            Self::Olmv1 => "olmv1",
            Self::Operatorhub => "operatorhub",
            Self::Capabilities => "capabilities",
            Self::Categories => "categories",
            Self::GoodPractices => "good-practices",
            Self::DeprecatedApis => "deprecated-apis",
            Self::Multiarch => "multiarch",
        }
    }

    /// Returns whether the suite is checked if nothing is selected.
    pub fn is_default(self) -> bool {
        self <= Self::Olmv1
    }
}

impl Rule {
    pub fn suite(self) -> Suite {
        self.info().group.0
    }

    pub fn origin(self) -> Origin {
        self.info().group.1
    }

    /// The severity of a rule of OLM for a target; none where the target does not have the rule. What only one version
    /// of OLM refuses is a warning as long as the bundle may be for the other.
    pub fn severity_for(self, target: Option<Target>) -> Option<Severity> {
        match (self.origin(), target) {
            (Origin::OlmV0, Some(Target::Olmv1)) | (Origin::OlmV1, Some(Target::Olmv0)) => None,
            (Origin::OlmV0 | Origin::OlmV1, None) => Some(Severity::Warning),
            _ => Some(self.info().severity),
        }
    }
}

/// Rules by their id or by their suite, as they are selected.
#[derive(Clone, Debug)]
pub struct Selection(Vec<Rule>);

impl Selection {
    pub fn contains(&self, rule: Rule) -> bool {
        self.0.contains(&rule)
    }

    pub fn extended_with(mut self, other: &Self) -> Self {
        self.0.extend(&other.0);
        self
    }
}

impl FromStr for Selection {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let is_selected = |rule: &Rule| match text {
            "all" => true,
            "default" => rule.suite().is_default(),
            // Rules of both versions are in both suites.
            "olmv1" if rule.origin() == Origin::Olm => true,
            text => rule.id() == text || rule.suite().name() == text,
        };
        let rules: Vec<Rule> = Rule::all().filter(is_selected).collect();
        anyhow::ensure!(
            !rules.is_empty(),
            "no rule and no suite has the name `{text}`; `operator-rs bundle validate --list` lists them"
        );
        Ok(Self(rules))
    }
}

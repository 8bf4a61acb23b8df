//! A finding of a rule.

use std::fmt;

use super::{
    Crd, Policy,
    rules::{Change, Rule},
};
use diagnostics::Severity;

/// One incompatible change.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub subject: Subject,
    pub rule: Rule,
    pub severity: Severity,
    /// A description of the change.
    pub what: String,
    /// The old and the new value, if they are all that `what` tells.
    pub values: Option<[String; 2]>,
    /// The remedy that would make the change compatible.
    pub remedy: String,
    /// True if only the old CRD has the field.
    pub removed: bool,
}

/// The CRD, versions and field that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The CRD's name: `memcacheds.cache.example.com`.
    pub crd: String,
    /// None for the CRD as a whole, two if one served version is compared with another.
    pub versions: Vec<String>,
    /// The field's path as crdify writes it, `^.spec.size`.
    pub field: Option<String>,
}

impl Finding {
    pub(super) fn new(subject: Subject, rule: Rule, severity: Severity, change: Change) -> Self {
        let Change { what, values, remedy, .. } = change;
        Self { subject, rule, severity, what, values, remedy, removed: false }
    }

    pub(super) fn about_crd(crd: &Crd, (rule, change): (Rule, Change), policy: &Policy) -> Self {
        let subject = Subject { crd: crd.name.clone(), versions: Vec::new(), field: None };
        let severity = policy.severity_of(change.effect, crd.converts());
        Self::new(subject, rule, severity, change)
    }

    /// Returns true if the finding only follows from the removal of its field.
    pub fn follows_removal(&self) -> bool {
        self.removed && self.rule != Rule::ExistingFieldRemoval
    }
}

impl Subject {
    /// `v1`, or `v1alpha1 -> v1` as crdify writes a pair; empty for the CRD as a whole.
    pub fn version(&self) -> String {
        self.versions.join(" -> ")
    }
}

impl fmt::Display for Subject {
    /// The CRD, the version and the field, as far as it is about them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.crd)?;
        let version = Some(self.version()).filter(|version| !version.is_empty());
        version.iter().chain(&self.field).try_for_each(|part| write!(f, " {part}"))
    }
}

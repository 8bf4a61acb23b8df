//! The severity of a finding.

/// The most severe one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input may fail later, or a person has to accept a consequence.
    Warning,
    /// Information only.
    Note,
}

impl Severity {
    /// Returns its name in text, JSON and SARIF.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

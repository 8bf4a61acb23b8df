//! How bad a finding of a rule is.

/// The worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It is refused.
    Error,
    /// Somebody has to agree, or it may fail.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// Its name in text, JSON and SARIF.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

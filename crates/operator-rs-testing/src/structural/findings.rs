//! The result of a validation.

use super::FieldPath;

/// Why an API server refuses an object, and what could not be checked.
#[derive(Debug, Default)]
pub struct Findings {
    pub faults: Vec<FieldFault>,
    pub unchecked: Vec<FieldFault>,
    /// True if one of the faults keeps an API server from evaluating rules.
    pub blocks_rules: bool,
}

/// A fault at a field. The message continues a sentence that begins with the field's path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldFault {
    pub path: FieldPath,
    pub message: String,
    pub hint: Option<String>,
}

impl Findings {
    pub fn fault(&mut self, path: &FieldPath, message: impl Into<String>) {
        self.faults.push(FieldFault { path: path.clone(), message: message.into(), hint: None });
    }

    /// A fault after which an API server evaluates no rules.
    pub fn blocking(&mut self, path: &FieldPath, message: impl Into<String>) {
        self.blocks_rules = true;
        self.fault(path, message);
    }

    pub fn unchecked(&mut self, path: &FieldPath, message: impl Into<String>) {
        self.unchecked.push(FieldFault { path: path.clone(), message: message.into(), hint: None });
    }
}

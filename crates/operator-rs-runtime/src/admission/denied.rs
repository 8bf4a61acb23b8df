//! The verdict of a webhook on an object, and the `Status` that explains a denial.

use super::Request;
use crate::{Error, explain};
use serde_json::{Value, json};

/// The decision on a request: `Ok` allows it.
pub type Verdict = Result<(), Denied>;

/// The invalid fields of an object, reported as Kubernetes' own validation does.
///
/// ```
/// use operator_rs_runtime::admission::FieldErrors;
///
/// let mut errors = FieldErrors::default();
/// assert!(errors.clone().into_verdict().is_ok());
/// errors.add("spec.size", "must be odd");
/// assert_eq!(errors.into_verdict().unwrap_err().to_string(), "spec.size: must be odd");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(String, String)>);

impl FieldErrors {
    /// Adds an invalid field by its path, such as `spec.targets[0].name`, with the reason.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) -> &mut Self {
        self.0.push((field.into(), message.into()));
        self
    }

    /// Allows the object if no field was added.
    ///
    /// # Errors
    ///
    /// Denies it with 422 Invalid if a field was added.
    pub fn into_verdict(self) -> Verdict {
        if self.0.is_empty() { Ok(()) } else { Err(Denied { causes: self.0, ..Denied::new(422, "Invalid", "") }) }
    }
}

/// The reason for denying a request, which the API server shows to the user. To name fields, use [`FieldErrors`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    code: u16,
    reason: &'static str,
    message: String,
    /// Each invalid field, and the reason.
    causes: Vec<(String, String)>,
}

impl Denied {
    /// Denies the request with 403 Forbidden and this message.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// Denies the request because this field of the object cannot be read.
    pub(super) fn unreadable_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { causes: vec![(field.into(), message.into())], ..Self::bad_request("") }
    }

    /// Denies a request that the webhook is not for, or whose object cannot be read.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Denies the request because the check itself failed.
    pub(super) fn internal_error(message: impl Into<String>) -> Self {
        Self::new(500, "InternalError", message)
    }

    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), causes: vec![] }
    }

    /// Returns the `status` of the response, worded as by Kubernetes' own validation.
    pub(super) fn to_status(&self, request: &Request) -> Value {
        let (kind, name) = (&request.kind, &request.name);
        let message = match self.code {
            422 => {
                let dot = if kind.group.is_empty() { "" } else { "." };
                format!("{}{dot}{} \"{name}\" is invalid: {self}", kind.kind, kind.group)
            }
            _ => self.to_string(),
        };
        let mut status = json!({ "metadata": {}, "status": "Failure", "message": message, "reason": self.reason,
            "code": self.code });
        if !self.causes.is_empty() {
            let cause = |(field, message): &(String, String)| {
                json!({ "reason": "FieldValueInvalid",
                "field": field, "message": message })
            };
            let causes: Vec<_> = self.causes.iter().map(cause).collect();
            status["details"] = json!({ "name": name, "group": kind.group, "kind": kind.kind, "causes": causes });
        }
        status
    }
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let causes = self.causes.iter().map(|(field, message)| format!("{field}: {message}"));
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        f.write_str(&message.into_iter().chain(causes).collect::<Vec<_>>().join(", "))
    }
}

impl std::error::Error for Denied {}

/// Denies the request with 500 because a look-up failed. The user may try again.
impl From<Error> for Denied {
    fn from(error: Error) -> Self {
        Self::internal_error(error.to_string())
    }
}

/// Denies the request with 500 because a look-up failed. The user may try again.
impl From<kube::Error> for Denied {
    fn from(error: kube::Error) -> Self {
        Self::internal_error(explain(&error))
    }
}

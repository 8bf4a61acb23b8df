//! The errors that the server answers with.

use super::request::Request;
use serde_json::{Value, json};
use std::{error::Error, fmt};

/// The error with which the server refuses a request: a `Status` with the reason and message of a real server.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, such as `Conflict`; empty for none.
    pub reason: String,
    /// The sentence for people.
    pub message: String,
    /// The `details`, or null.
    pub details: Value,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (HTTP status code {})", self.message, self.code)
    }
}

impl Error for Refusal {}

/// The object that a request is about, as messages name it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The resource, such as `deployments.apps`.
    pub resource: &'a str,
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The object's name.
    pub name: &'a str,
}

impl Subject<'_> {
    fn api_group(&self) -> Option<&str> {
        self.resource.split_once('.').map(|(_, group)| group)
    }

    fn details(&self, kind: &str) -> Value {
        let mut details = json!({ "kind": kind });
        if !self.name.is_empty() {
            details["name"] = json!(self.name);
        }
        if let Some(group) = self.api_group() {
            details["group"] = json!(group);
        }
        details
    }

    fn plural_details(&self) -> Value {
        self.details(self.resource.split('.').next().unwrap_or_default())
    }

    fn qualified_kind(&self) -> String {
        self.api_group().map_or(self.kind.to_owned(), |group| format!("{}.{group}", self.kind))
    }
}

impl Refusal {
    /// Creates an error with this code, reason and message.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), message: message.into(), details: Value::Null }
    }

    /// Creates an error with the reason and message that a real server gives with a code.
    pub fn with_code(code: u16) -> Self {
        let (reason, message) = match code {
            400 => ("BadRequest", "the server rejected our request for an unknown reason"),
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "forbidden"),
            404 => ("NotFound", "the server could not find the requested resource"),
            409 => ("Conflict", "the object has been modified; please apply your changes to the latest version"),
            410 => ("Expired", "too old resource version"),
            422 => ("Invalid", "refused"),
            429 => ("TooManyRequests", "too many requests, please try again later"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in the time allotted"),
            _ => ("InternalError", "Internal error occurred"),
        };
        Self::new(code, reason, message)
    }

    /// 403, as from a server whose roles do not permit a request.
    pub(crate) fn forbidden(request: &Request) -> Self {
        let (plural, group) = request.resource.split_once('.').unwrap_or((&request.resource, ""));
        let scope = match request.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let what = match request.name.as_str() {
            "" => request.resource.clone(),
            name => format!("{} \"{name}\"", request.resource),
        };
        let why = format!("cannot {} resource \"{plural}\" in API group \"{group}\" {scope}", request.rbac_verb());
        Self::new(403, "Forbidden", format!("{what} is forbidden: User \"operator\" {why}"))
    }

    /// 400, with the reason in a sentence.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 404 of a path that does not exist.
    pub(crate) fn no_such_resource() -> Self {
        Self { details: json!({}), ..Self::with_code(404) }
    }

    /// 501 of what this server does not do, where a real one does.
    pub(crate) fn unsupported(what: &str) -> Self {
        Self::new(501, "NotImplemented", format!("operator-rs-testing does not support {what}"))
    }

    /// 404 of an object.
    pub(crate) fn not_found(subject: Subject) -> Self {
        let message = format!("{} \"{}\" not found", subject.resource, subject.name);
        Self { details: subject.plural_details(), ..Self::new(404, "NotFound", message) }
    }

    /// 409 of a create.
    pub(crate) fn already_exists(subject: Subject) -> Self {
        let message = format!("{} \"{}\" already exists", subject.resource, subject.name);
        Self { details: subject.plural_details(), ..Self::new(409, "AlreadyExists", message) }
    }

    /// 409 of a write with an old resource version.
    pub(crate) fn conflict(subject: Subject) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        let message = format!("Operation cannot be fulfilled on {} \"{}\": {why}", subject.resource, subject.name);
        Self { details: subject.plural_details(), ..Self::new(409, "Conflict", message) }
    }

    /// 409 of an apply with a uid to an object that is not there.
    pub(crate) fn absent_uid(subject: Subject, uid: &str) -> Self {
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        let message = format!("Operation cannot be fulfilled on {} \"{}\": {why}", subject.resource, subject.name);
        Self { details: subject.plural_details(), ..Self::new(409, "Conflict", message) }
    }

    /// 409 of a PUT with the uid of another object.
    pub(crate) fn other_uid(subject: Subject, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{}\": {why}", subject.resource, subject.name);
        Self { details: subject.plural_details(), ..Self::new(409, "Conflict", message) }
    }

    /// 409 of a precondition.
    pub(crate) fn precondition(subject: Subject, why: &str) -> Self {
        let kind = subject.qualified_kind();
        let message = format!("Operation cannot be fulfilled on {kind} \"{}\": {why}", subject.name);
        Self { details: subject.details(subject.kind), ..Self::new(409, "Conflict", message) }
    }

    /// 422 of one field.
    pub(crate) fn invalid(subject: Subject, field: &str, reason: &str, why: &str) -> Self {
        let message = format!("{} \"{}\" is invalid: {field}: {why}", subject.qualified_kind(), subject.name);
        let mut details = subject.details(subject.kind);
        details["causes"] = json!([{ "reason": reason, "message": why, "field": field }]);
        Self { details, ..Self::new(422, "Invalid", message) }
    }

    /// 422 of a JSON patch.
    pub(crate) fn patch_failed() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self { details: json!({}), ..Self::new(422, "Invalid", message) }
    }

    /// The `Status` that is sent.
    pub(crate) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = json!(self.reason);
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }
}

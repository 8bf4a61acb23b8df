//! The errors of a reconcile. The message of each is one readable sentence: kube's errors contain Rust's Debug
//! output and repeat their causes.

use crate::explain;
use kube::core::Status;
use std::time::Duration;

/// An error as the runtime sees it. [`Error`] is enough for most operators; implement this for an
/// error type of your own.
///
/// ```
/// use operator_rs_runtime::ReconcileError;
///
/// #[derive(Debug)]
/// enum MyError {
///     Runtime(operator_rs_runtime::Error),
///     QuotaExceeded,
/// }
///
/// impl std::fmt::Display for MyError {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         match self {
///             Self::Runtime(error) => error.fmt(f),
///             Self::QuotaExceeded => f.write_str("the quota is exceeded"),
///         }
///     }
/// }
///
/// impl std::error::Error for MyError {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         match self {
///             Self::Runtime(error) => Some(error),
///             Self::QuotaExceeded => None,
///         }
///     }
/// }
///
/// impl From<operator_rs_runtime::Error> for MyError {
///     fn from(error: operator_rs_runtime::Error) -> Self {
///         Self::Runtime(error)
///     }
/// }
///
/// impl ReconcileError for MyError {
///     fn reason(&self) -> &'static str {
///         match self {
///             Self::Runtime(error) => error.reason(),
///             Self::QuotaExceeded => "QuotaExceeded",
///         }
///     }
///
///     fn is_transient(&self) -> bool {
///         matches!(self, Self::Runtime(error) if error.is_transient())
///     }
/// }
/// ```
pub trait ReconcileError: std::error::Error + From<Error> + Send + Sync + 'static {
    /// The reason in conditions and events: one word in UpperCamelCase.
    fn reason(&self) -> &'static str;

    /// Returns true if a retry can fix the error, as when the API server is busy or unreachable. Such an error
    /// is reported on the object only if it persists.
    fn is_transient(&self) -> bool;
}

/// The result of a reconcile or of a step of it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of a reconcile: those of the runtime, and your own.
///
/// ```
/// use operator_rs_runtime::{Error, ReconcileError, Result};
///
/// fn publish() -> Result<()> {
///     let answer = Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused));
///     answer.map_err(|error| Error::transient("DnsUnavailable", error))
/// }
///
/// let error = publish().unwrap_err();
/// assert_eq!((error.reason(), error.is_transient()), ("DnsUnavailable", true));
/// let error = Error::permanent("SecretMissing", "the Secret `a` does not exist");
/// assert_eq!((error.to_string().as_str(), error.is_transient()), ("the Secret `a` does not exist", false));
/// ```
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The API server refused a request, or could not be reached.
    #[error("{}", explain(.0))]
    Kube(#[source] kube::Error),
    /// A field of an object is not set.
    #[error("the object has no {0}")]
    MissingField(&'static str),
    /// An environment variable is not set.
    #[error("the environment variable `{0}` is not set")]
    MissingEnvVar(&'static str),
    /// A failure of your own: see [`Error::transient`] and [`Error::permanent`].
    #[error("{}", explain(&**cause))]
    Custom {
        /// The reason in conditions and events.
        reason: &'static str,
        /// A retry can fix the failure.
        is_transient: bool,
        /// The error, or its message.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An object cannot be written as JSON, or read from it.
    #[error("cannot convert an object to or from JSON: {0}")]
    Encode(#[from] serde_json::Error),
    /// An object with this name exists, and the object that is reconciled does not own it.
    #[error("{kind} `{name}` already exists and {}", describe_controller(.controller))]
    NotOwned {
        /// The kind of the object.
        kind: String,
        /// The name of the object.
        name: String,
        /// Kind and name of its controller, or of the owner that its annotations name, if it has one.
        controller: Option<String>,
    },
    /// The object belongs to an earlier owner of the same name, and the garbage collector has not deleted it yet.
    #[error("{0}")]
    StaleOwner(#[source] StaleOwner),
    /// A desired object has another value of a label that its watch selects by, so that the watch would not
    /// show it.
    #[error("{kind} `{name}` needs the label `{label}`, because the controller watches only objects with it")]
    Unselected {
        /// The kind of the object.
        kind: String,
        /// The name of the object.
        name: String,
        /// The label, as `key=value`.
        label: String,
    },
    /// The owner that was passed to `apply` cannot own the desired object. Nothing was written.
    #[error("{kind} `{name}` cannot be owned: {why}")]
    CannotOwn {
        /// The kind of the object.
        kind: String,
        /// The name of the object.
        name: String,
        /// The reason, and what to do about it.
        why: String,
    },
    /// Fields of one kind were applied through a handle of another. Nothing was written.
    #[error("{kind} `{name}` cannot be applied through a handle of {expected}: use a handle of {kind}")]
    WrongKind {
        /// The kind of the fields.
        kind: String,
        /// The name of the object.
        name: String,
        /// The kind of the handle.
        expected: String,
    },
    /// [`Dependents::prune`](crate::Dependents::prune) was called outside of a reconcile of the object.
    #[error(
        "{kind} `{name}` is not being reconciled, so it is not known which of its dependents are desired: call `prune` in its reconcile"
    )]
    NotReconciled {
        /// The kind of the object.
        kind: String,
        /// The name of the object.
        name: String,
    },
    /// The API server refuses a desired object, because another client has replaced fields in a way that server-side
    /// apply cannot undo.
    #[error(
        "{kind} `{name}`: {fields}, which server-side apply cannot undo: remove that or delete the object: {refusal}"
    )]
    Replaced {
        /// The kind of the object.
        kind: String,
        /// The name of the object.
        name: String,
        /// The fields, and what they were replaced by.
        fields: String,
        /// The answer of the API server.
        refusal: String,
    },
    /// A status cannot be written, because the kind has no subresource for it.
    #[error(
        "the status of `{name}` cannot be written, because `{resource}` has no subresource `status`: declare it in the CRD, as by `#[kube(status = …)]`, and install the CRD again"
    )]
    NoStatus {
        /// The resource, as `things.example.com`.
        resource: String,
        /// The name of the object.
        name: String,
    },
    /// A controller cannot run: its caches cannot be filled, or two controllers would delete the dependents of each
    /// other.
    #[error("{0}")]
    ControllerFailed(String),
    /// There is no cluster to connect to, or the configuration of the process cannot be used.
    #[error("{0}")]
    Configuration(String),
    /// The reconciler panicked, with this message.
    #[error("the reconciler panicked: {0}")]
    Panic(String),
    /// The reconciler took longer than `reconcile_timeout`.
    #[error("the reconciler took longer than {0:?}")]
    Timeout(Duration),
}

impl Error {
    /// A failure that a retry can fix, as of another system that is busy. It is reported on the object only if it
    /// persists.
    pub fn transient(reason: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Custom { reason, is_transient: true, cause: cause.into() }
    }

    /// A failure that no retry can fix. It is reported on the object at once, and retried with growing pauses.
    pub fn permanent(reason: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Custom { reason, is_transient: false, cause: cause.into() }
    }
}

/// An object whose owner was deleted, while another object has the owner's name now. The garbage collector deletes it.
#[derive(thiserror::Error, Debug)]
#[error("{kind} `{name}` belongs to an earlier {owner}, and has not been deleted yet")]
pub struct StaleOwner {
    /// The kind of the object.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// The kind and the name of its owner.
    pub owner: String,
}

/// Returns true if the API server refused a request because the namespace is being deleted.
pub(crate) fn is_terminating(refusal: &Status) -> bool {
    refusal.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == "NamespaceTerminating")
}

/// Returns an error and its causes.
fn cause_chain(error: &impl ReconcileError) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source())
}

/// Returns the responses of the API server among the causes of an error.
fn api_statuses(error: &impl ReconcileError) -> impl Iterator<Item = &Status> {
    cause_chain(error).filter_map(|cause| match cause.downcast_ref() {
        Some(kube::Error::Api(status)) => Some(&**status),
        _ => None,
    })
}

/// Returns the number of consecutive failures after which an error is reported. It is more than one if the error may
/// resolve itself.
pub(crate) fn failures_before_report(error: &impl ReconcileError) -> u32 {
    match error.is_transient() {
        // The object will be deleted with its namespace.
        _ if api_statuses(error).any(is_terminating) => u32::MAX,
        // Ten failures take about two minutes. If the garbage collector has not deleted the objects of the stale owner by
        // then, the user may have to.
        _ if cause_chain(error).any(|cause| cause.is::<StaleOwner>()) => 10,
        true => 4,
        false => 1,
    }
}

/// Returns true if this account lacks a permission.
pub(crate) fn is_forbidden(error: &impl ReconcileError) -> bool {
    api_statuses(error).any(|status| status.is_forbidden() && !is_terminating(status))
}

/// Returns true if the object of a request does not exist, or another object with its name does.
pub(crate) fn is_not_found_or_conflict(error: &impl ReconcileError) -> bool {
    api_statuses(error).any(|status| status.is_not_found() || status.is_conflict())
}

/// Returns the time after which the API server accepts a retry.
pub(crate) fn retry_after(error: &impl ReconcileError) -> Duration {
    api_statuses(error).map(status_retry_after).max().unwrap_or_default()
}

/// Returns the `Retry-After` time of a response.
pub(crate) fn status_retry_after(status: &Status) -> Duration {
    Duration::from_secs(status.details.as_ref().map_or(0, |details| details.retry_after_seconds).into())
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Kube(error)
    }
}

fn describe_controller(controller: &Option<String>) -> String {
    match controller {
        Some(controller) => format!("is controlled by {controller}"),
        None => "was not created by this operator: rename the desired object, or delete the existing one if nothing \
                 needs it"
            .into(),
    }
}

impl ReconcileError for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(kube::Error::Api(s)) if s.is_conflict() => "Conflict",
            Self::Kube(kube::Error::Api(s)) if s.is_forbidden() => "Forbidden",
            Self::Kube(kube::Error::Api(s)) if s.is_invalid() => "Invalid",
            Self::Kube(kube::Error::Api(s)) if s.is_not_found() => "NotFound",
            Self::Kube(kube::Error::Api(s)) if s.code == 429 => "TooManyRequests",
            Self::Kube(_) => "KubernetesError",
            Self::MissingField(_) => "MissingField",
            Self::MissingEnvVar(_) => "NotConfigured",
            Self::Custom { reason, .. } => reason,
            Self::Encode(_) => "EncodeError",
            Self::NotOwned { .. } => "NotOwned",
            Self::StaleOwner(_) => "StaleOwner",
            Self::Unselected { .. } => "MissingLabel",
            Self::CannotOwn { .. } => "CannotOwn",
            Self::WrongKind { .. } => "WrongKind",
            Self::NotReconciled { .. } => "NotReconciled",
            Self::Replaced { .. } => "Replaced",
            Self::NoStatus { .. } => "NoStatus",
            Self::ControllerFailed(_) => "ControllerFailed",
            Self::Configuration(_) => "ConfigurationError",
            Self::Panic(_) => "Panic",
            Self::Timeout(_) => "Timeout",
        }
    }

    fn is_transient(&self) -> bool {
        match self {
            Self::Kube(kube::Error::Api(s)) => matches!(s.code, 401 | 409 | 429) || s.code >= 500 || is_terminating(s),
            Self::Kube(_) | Self::Timeout(_) | Self::StaleOwner(_) => true,
            Self::Custom { is_transient, .. } => *is_transient,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_api_server_is_its_message() {
        let refused = Status::failure("pods \"a\" is forbidden: no", "Forbidden").with_code(403);
        let error = Error::from(kube::Error::Api(refused.boxed()));
        assert_eq!(error.to_string(), "pods \"a\" is forbidden: no");
        assert_eq!((error.reason(), error.is_transient()), ("Forbidden", false));
        let empty = Status::failure("", "").with_code(503);
        assert_eq!(Error::from(kube::Error::Api(empty.boxed())).to_string(), "the API server answered 503");
    }

    #[test]
    fn an_error_of_your_own_keeps_its_cause() {
        let refused = r#"{"message":"later","code":503,"details":{"retryAfterSeconds":7}}"#;
        let refused: Status = serde_json::from_str(refused).unwrap();
        let error = Error::transient("DnsUnavailable", kube::Error::Api(refused.boxed()));
        assert_eq!((error.to_string().as_str(), retry_after(&error).as_secs()), ("later", 7));
        assert_eq!((error.reason(), failures_before_report(&error)), ("DnsUnavailable", 4));
        let error = Error::permanent("SecretMissing", format!("the Secret `{}` does not exist", "a"));
        assert_eq!((error.reason(), failures_before_report(&error)), ("SecretMissing", 1));
    }

    #[test]
    fn an_error_of_the_network_says_each_thing_once() {
        let cause = std::io::Error::other("connection refused");
        let error = Error::from(kube::Error::Service(Box::new(cause)));
        assert_eq!(error.to_string(), "connection refused");
        assert!(error.is_transient());
    }
}

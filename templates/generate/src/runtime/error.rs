//! What can go wrong while an object is reconciled, and what the runtime has to know about it.

/// Why a reconcile failed, as far as the runtime cares. `crate::Error` implements it.
pub trait Failure: std::error::Error + From<Error> + Send + Sync + 'static {
    /// One word for conditions and events, in UpperCamelCase.
    fn reason(&self) -> &'static str;

    /// Whether it passes by itself: a busy, restarting or unreachable API server is retried, but is
    /// no fault of the object.
    fn is_transient(&self) -> bool;
}

/// What the runtime itself fails with.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    #[error("kubernetes: {0}")]
    Kube(#[from] kube::Error),
    #[error("the object has no {0}")]
    Missing(&'static str),
    #[error("cannot write or read JSON: {0}")]
    Encode(#[from] serde_json::Error),
    #[error("the reconciler panicked: {0}")]
    Panic(String),
    #[error("the reconciler took longer than {0:?}")]
    Timeout(std::time::Duration),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Kube(kube::Error::Api(s)) if s.is_conflict() => "Conflict",
            Self::Kube(kube::Error::Api(s)) if s.is_forbidden() => "Forbidden",
            Self::Kube(kube::Error::Api(s)) if s.is_invalid() => "Invalid",
            Self::Kube(kube::Error::Api(s)) if s.is_not_found() => "NotFound",
            Self::Kube(kube::Error::Api(s)) if s.code == 429 => "TooManyRequests",
            Self::Kube(_) => "KubernetesError",
            Self::Missing(_) => "MissingField",
            Self::Encode(_) => "EncodeError",
            Self::Panic(_) => "Panic",
            Self::Timeout(_) => "Timeout",
        }
    }

    fn is_transient(&self) -> bool {
        match self {
            Self::Kube(kube::Error::Api(s)) => matches!(s.code, 401 | 409 | 429) || s.code >= 500,
            Self::Kube(_) | Self::Timeout(_) => true,
            _ => false,
        }
    }
}

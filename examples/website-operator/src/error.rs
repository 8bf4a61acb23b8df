//! The errors of this operator.

use runtime::Failure;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a reconcile failed. Add your own errors here.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Runtime(#[from] runtime::Error),
    #[error("the object has no {0}")]
    Missing(&'static str),
    #[error("the environment variable `{0}` is not set")]
    Unset(&'static str),
    #[error("the Secret `{0}` does not exist")]
    NoSecret(String),
    #[error("cannot update the DNS records: {0}")]
    Dns(#[from] std::io::Error),
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Runtime(error.into())
    }
}

impl Failure for Error {
    /// The reason in conditions and events, one word in UpperCamelCase.
    fn reason(&self) -> &'static str {
        match self {
            Self::Runtime(error) => error.reason(),
            Self::Missing(_) => "MissingField",
            Self::Unset(_) => "NotConfigured",
            Self::NoSecret(_) => "SecretMissing",
            Self::Dns(_) => "DnsUnavailable",
        }
    }

    /// Whether a retry can fix the error. Such an error is reported on the object only if it persists.
    fn is_transient(&self) -> bool {
        match self {
            Self::Runtime(error) => error.is_transient(),
            Self::Dns(_) => true,
            Self::Missing(_) | Self::Unset(_) | Self::NoSecret(_) => false,
        }
    }
}

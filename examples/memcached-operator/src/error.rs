//! What this operator can fail with.

use crate::runtime::{self, Failure};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a reconcile failed. Your own reasons have their place here.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    #[error(transparent)]
    Runtime(#[from] runtime::Error),
    #[error("the object has no {0}")]
    Missing(&'static str),
    #[error("the environment variable `{0}` is not set")]
    Unset(&'static str),
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Runtime(error.into())
    }
}

impl Failure for Error {
    /// What conditions and events say in one word.
    fn reason(&self) -> &'static str {
        match self {
            Self::Runtime(error) => error.reason(),
            Self::Missing(_) => "MissingField",
            Self::Unset(_) => "NotConfigured",
        }
    }

    /// Whether it passes by itself, and is no fault of the object.
    fn is_transient(&self) -> bool {
        match self {
            Self::Runtime(error) => error.is_transient(),
            Self::Missing(_) | Self::Unset(_) => false,
        }
    }
}

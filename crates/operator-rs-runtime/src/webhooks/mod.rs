//! The webhooks of the process: their paths, their flags, and their certificate. The module `webhook_server` serves them;
//! `admission` and `conversion` read and answer the reviews.

#[cfg(feature = "flags")]
mod certificates;
#[cfg(feature = "conversion")]
mod conversions;
#[cfg(feature = "flags")]
mod flags;
#[cfg(feature = "admission")]
mod guard;
mod metrics;
mod routes;

#[cfg(feature = "admission")]
use crate::Manager;
#[cfg(feature = "conversion")]
use crate::conversion::Convert;
#[cfg(feature = "admission")]
use futures::future::BoxFuture;
#[cfg(feature = "admission")]
use http::Response;
use hyper::body::Bytes;
use std::sync::Arc;
use tokio::time::Instant;

#[cfg(feature = "flags")]
pub(crate) use certificates::CertificateKeeper;
#[cfg(feature = "flags")]
pub(crate) use flags::WebhookFlags;
#[cfg(feature = "admission")]
pub(crate) use guard::run_guarded;
#[cfg(feature = "admission")]
pub(crate) use routes::json_response;
pub(crate) use routes::{Routes, error_response};

/// A webhook of an operator.
pub(crate) enum Webhook {
    /// Reviews objects before they are stored.
    #[cfg(feature = "admission")]
    Admission {
        /// The path at which it is served.
        path: String,
        /// Answers an AdmissionReview.
        review: Arc<dyn Fn(Manager, Call) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>,
    },
    /// Converts the objects of a kind. All conversions are served at `/convert`.
    #[cfg(feature = "conversion")]
    #[allow(dead_code)]
    Conversion(Arc<dyn Convert>),
}

impl Webhook {
    /// Returns the name of the CRD by which API servers call the webhook.
    fn crd_name(&self) -> Option<String> {
        match self {
            #[cfg(feature = "admission")]
            Self::Admission { .. } => None,
            #[cfg(feature = "conversion")]
            Self::Conversion(converter) => Some(converter.crd_name()),
        }
    }
}

/// A request to a webhook that was read within the limits.
pub(crate) struct Call {
    /// The review, as JSON.
    pub body: Bytes,
    /// The time by which the API server needs the answer.
    pub until: Instant,
}

#[cfg(all(test, feature = "admission", feature = "conversion"))]
pub(crate) mod tests;

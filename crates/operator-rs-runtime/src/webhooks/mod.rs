//! The webhooks of the process: their paths, and the server for them. The modules `admission` and `conversion` read and
//! answer the reviews.

#[cfg(feature = "flags")]
mod certificates;
#[cfg(feature = "flags")]
mod flags;
#[cfg(feature = "admission")]
mod guard;
mod metrics;
mod routes;
#[cfg(feature = "flags")]
mod serving;

#[cfg(feature = "conversion")]
use crate::conversion::Convert;
use crate::{Component, Manager};
use futures::future::{BoxFuture, FutureExt};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Bytes;
use std::{convert::Infallible, sync::Arc};
use tokio::time::Instant;
use tower::Service;

#[cfg(feature = "flags")]
pub(crate) use certificates::CertificateKeeper;
#[cfg(feature = "flags")]
pub(crate) use flags::WebhookFlags;
#[cfg(feature = "admission")]
pub(crate) use guard::run_guarded;
#[cfg(feature = "admission")]
pub(crate) use routes::json_response;
pub(crate) use routes::{Routes, error_response};
#[cfg(feature = "flags")]
pub(crate) use serving::{keep_certificate, start_server};

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

/// Returns the webhooks as a service without TLS, which answers as the server does, for tests.
///
/// # Panics
/// If two webhooks have the same path.
pub fn webhook_service(
    parts: impl IntoIterator<Item = Component>,
    manager: &Manager,
) -> impl Service<
    Request<Bytes>,
    Response = Response<Bytes>,
    Error = Infallible,
    Future = BoxFuture<'static, Result<Response<Bytes>, Infallible>>,
> + Clone
+ Send
+ Sync
+ 'static {
    let parts: Vec<_> = parts.into_iter().collect();
    let routes = Routes::new(parts.iter().filter_map(Component::as_webhook), manager);
    let routes = Arc::new(routes.unwrap_or_else(|error| panic!("{error}")));
    tower::service_fn(move |request: Request<Bytes>| {
        let routes = routes.clone();
        async move { Ok(routes.answer_request(request.map(Full::new), || ()).await) }.boxed()
    })
}

#[cfg(all(test, feature = "admission", feature = "conversion"))]
pub(crate) mod tests;

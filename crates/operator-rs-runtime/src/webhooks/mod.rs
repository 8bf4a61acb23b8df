//! The webhooks of the process: which path is answered by what, and the server around it. What a review says is
//! the matter of `admission` and `conversion`.

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
pub(crate) use certificates::Keeper;
#[cfg(feature = "flags")]
pub(crate) use flags::WebhookFlags;
#[cfg(feature = "admission")]
pub(crate) use guard::guard;
#[cfg(feature = "admission")]
pub(crate) use routes::json_answer;
pub(crate) use routes::{Routes, refuse};
#[cfg(feature = "flags")]
pub(crate) use serving::{keep_certificate, serve};

/// A webhook of an operator.
pub(crate) enum Webhook {
    /// Reviews objects before they are stored.
    #[cfg(feature = "admission")]
    Admission {
        /// Where it is served.
        path: String,
        /// Answers an AdmissionReview.
        review: Arc<dyn Fn(Manager, Call) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>,
    },
    /// Converts the objects of a kind. All are served at `/convert`.
    #[cfg(feature = "conversion")]
    #[allow(dead_code)]
    Conversion(Arc<dyn Convert>),
}

impl Webhook {
    /// The name of the CRD that has API servers call it.
    fn crd(&self) -> Option<String> {
        match self {
            #[cfg(feature = "admission")]
            Self::Admission { .. } => None,
            #[cfg(feature = "conversion")]
            Self::Conversion(it) => Some(it.crd()),
        }
    }
}

/// A request to a webhook that is read and within the limits.
pub(crate) struct Call {
    /// The review, as JSON.
    pub body: Bytes,
    /// When the API server needs the answer.
    pub until: Instant,
}

/// The webhooks as a service without TLS, for tests: it answers as the server does.
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
    let routes = Routes::new(parts.iter().filter_map(Component::webhook), manager);
    let routes = Arc::new(routes.unwrap_or_else(|it| panic!("{it}")));
    tower::service_fn(move |request: Request<Bytes>| {
        let routes = routes.clone();
        async move { Ok(routes.answer(request.map(Full::new), || ()).await) }.boxed()
    })
}

#[cfg(all(test, feature = "admission", feature = "conversion"))]
pub(crate) mod tests;

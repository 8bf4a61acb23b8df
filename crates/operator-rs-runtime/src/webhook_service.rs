//! The webhooks of an operator as a service, for tests.

use crate::{Component, Manager, webhooks::Routes};
use futures::future::{BoxFuture, FutureExt};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Bytes;
use std::{convert::Infallible, sync::Arc};
use tower::Service;

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

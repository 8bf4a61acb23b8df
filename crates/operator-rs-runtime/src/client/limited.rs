//! A layer that counts each request and limits its rate and its time. The layers of tower-http limit either the head of
//! a response or the pauses in it, and cannot tell watches from other requests.

use super::Limits;
use crate::{explain, limit::RateLimit, metrics::Metrics};
use futures::future::{BoxFuture, FutureExt};
use http::{Method, Request, Response, Uri};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use kube::client::Body;
use std::{
    error::Error,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout_at};
use tower::{BoxError, Layer, Service, layer::layer_fn};

/// A watch that has received nothing for this long is closed, and resumed at its last resource version.
///
/// The API server sends a bookmark each minute, so only a dead connection is silent for this long.
/// (An API server whose etcd sends no progress notifications sends no bookmarks for kinds that never change:
/// their watches restart every 150 s instead of every 290 s.)
pub(crate) const WATCH_IDLE: Duration = Duration::from_secs(150);

/// Returns the layer for requests to `host`.
pub(super) fn limit_layer<S>(
    host: String,
    limits: &Limits,
    metrics: &Arc<Metrics>,
) -> impl Layer<S, Service = Limited<S>> + use<S> {
    let burst = if limits.burst == 0 { 10 } else { limits.burst };
    let rate = (limits.qps > 0.0).then(|| RateLimit::new(limits.qps, burst));
    let shared = Arc::new(Shared { host, timeout: limits.timeout, rate, metrics: metrics.clone() });
    layer_fn(move |inner| Limited { inner, shared: shared.clone() })
}

struct Shared {
    host: String,
    timeout: Duration,
    rate: Option<RateLimit>,
    metrics: Arc<Metrics>,
}

pub(super) struct Limited<S> {
    inner: S,
    shared: Arc<Shared>,
}

/// The time that the body of a response may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BodyLength {
    /// The body ends soon.
    Short,
    /// The body does not end, and is never silent for long.
    Watch,
    /// The body does not end and may be silent: followed logs, and commands in a pod.
    Stream,
}

pub(super) fn body_length(uri: &Uri) -> BodyLength {
    let has_parameter = |wanted: &str| uri.query().is_some_and(|query| query.split('&').any(|pair| pair == wanted));
    match uri.path().rsplit('/').next() {
        _ if has_parameter("watch=true") || has_parameter("watch=1") => BodyLength::Watch,
        Some("exec" | "attach" | "portforward") => BodyLength::Stream,
        Some("log") if has_parameter("follow=true") => BodyLength::Stream,
        _ => BodyLength::Short,
    }
}

impl<S, B> Service<Request<Body>> for Limited<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error: Into<BoxError>, Future: Send + 'static>,
{
    type Response = Response<Timed<B>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (shared, method, uri) = (self.shared.clone(), request.method().clone(), request.uri().clone());
        let response = self.inner.call(request); // this future sends nothing before it is polled
        async move {
            // Requests for Leases are not delayed, so that the leader can renew under load, as in client-go.
            if let Some(rate) = shared.rate.as_ref().filter(|_| !uri.path().contains("/coordination.k8s.io/")) {
                rate.acquire().await;
            }
            let deadline = Instant::now() + shared.timeout;
            let response = timeout_at(deadline, response).await;
            let code = match &response {
                Ok(Ok(response)) => response.status().as_u16().to_string(),
                _ => "<error>".to_owned(),
            };
            shared.metrics.count_request(&code, method.as_str(), &shared.host);
            let sent = SentRequest { method, uri, shared };
            let response = response.map_err(|_| sent.timeout_error())?;
            let response = response.map_err(|error| sent.connection_error(error.into()))?;
            Ok(response.map(|inner| Timed::new(inner, deadline, sent)))
        }
        .boxed()
    }
}

/// A request that was sent, for error messages.
struct SentRequest {
    method: Method,
    uri: Uri,
    shared: Arc<Shared>,
}

impl SentRequest {
    fn timeout_error(&self) -> BoxError {
        let (Self { method, uri, .. }, Shared { host, timeout, .. }) = (self, &*self.shared);
        format!("the API server at {host} did not answer {method} {} within {timeout:?}", uri.path()).into()
    }

    /// Names the API server in errors of the connection. Other errors, such as a failed login, stay as they are.
    fn connection_error(&self, error: BoxError) -> BoxError {
        match error.downcast::<hyper_util::client::legacy::Error>() {
            Ok(error) => {
                let cause = error.source().map_or_else(|| error.to_string(), explain);
                format!("cannot reach the API server at {}: {cause}", self.shared.host).into()
            }
            Err(other) => other,
        }
    }
}

/// The body of a response, with a time limit.
pub(super) struct Timed<B> {
    inner: B,
    length: BodyLength,
    limit: Pin<Box<Sleep>>,
    sent: SentRequest,
}

impl<B> Timed<B> {
    fn new(inner: B, deadline: Instant, sent: SentRequest) -> Self {
        let length = body_length(&sent.uri);
        let limit = if length == BodyLength::Watch { sleep(WATCH_IDLE) } else { sleep_until(deadline) };
        Self { inner, length, limit: Box::pin(limit), sent }
    }
}

impl<B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin> HttpBody for Timed<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            if this.length == BodyLength::Watch {
                this.limit.as_mut().reset(Instant::now() + WATCH_IDLE);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        match this.length {
            BodyLength::Stream => return Poll::Pending,
            _ => ready!(this.limit.as_mut().poll(cx)),
        }
        if this.length == BodyLength::Short {
            return Poll::Ready(Some(Err(this.sent.timeout_error())));
        }
        tracing::debug!(path = this.sent.uri.path(), "restarting a watch that was silent for {WATCH_IDLE:?}");
        Poll::Ready(None) // as if the server had ended it: the client resumes the watch
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

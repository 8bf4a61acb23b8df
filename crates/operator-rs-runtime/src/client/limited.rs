//! A layer around each request: a count, a rate limit, and limits on its time. The layers of tower-http
//! limit either the head or the pauses of an answer, and know no watches.

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

/// A watch that has received nothing for this long is closed, and resumed at its last version.
///
/// The API server sends a bookmark each minute, so only a dead connection is silent for this long.
/// (An API server whose etcd sends no progress notifications sends no bookmarks for kinds that never change:
/// their watches restart every 150 s instead of every 290 s.)
pub(crate) const WATCH_IDLE: Duration = Duration::from_secs(150);

/// Counts, limits and times the requests to `host`.
pub(super) fn layer<S>(
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

/// The limits on the time of the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// In one go.
    Short,
    /// Without end, with something at times.
    Watch,
    /// Without end: logs that are followed, and what runs in a pod.
    Stream,
}

pub(super) fn length(uri: &Uri) -> Length {
    let asks = |it: &str| uri.query().is_some_and(|query| query.split('&').any(|pair| pair == it));
    match uri.path().rsplit('/').next() {
        _ if asks("watch=true") || asks("watch=1") => Length::Watch,
        Some("exec" | "attach" | "portforward") => Length::Stream,
        Some("log") if asks("follow=true") => Length::Stream,
        _ => Length::Short,
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
        let answer = self.inner.call(request); // nothing is sent before it is polled
        async move {
            // A Lease must be renewed however much there is to do, as in client-go.
            if let Some(rate) = shared.rate.as_ref().filter(|_| !uri.path().contains("/coordination.k8s.io/")) {
                rate.acquire().await;
            }
            let deadline = Instant::now() + shared.timeout;
            let answer = timeout_at(deadline, answer).await;
            let code = match &answer {
                Ok(Ok(response)) => response.status().as_u16().to_string(),
                _ => "<error>".to_owned(),
            };
            shared.metrics.request(&code, method.as_str(), &shared.host);
            let what = What { method, uri, shared };
            let response = answer.map_err(|_| what.late())?.map_err(|error| what.failed(error.into()))?;
            Ok(response.map(|inner| Timed::new(inner, deadline, what)))
        }
        .boxed()
    }
}

/// A request, for the message when it takes too long.
struct What {
    method: Method,
    uri: Uri,
    shared: Arc<Shared>,
}

impl What {
    fn late(&self) -> BoxError {
        let (Self { method, uri, .. }, Shared { host, timeout, .. }) = (self, &*self.shared);
        format!("the API server at {host} did not answer {method} {} within {timeout:?}", uri.path()).into()
    }

    /// Names the API server in errors of the connection; others, like those of logging in, stay.
    fn failed(&self, error: BoxError) -> BoxError {
        match error.downcast::<hyper_util::client::legacy::Error>() {
            Ok(error) => {
                let cause = error.source().map_or_else(|| error.to_string(), explain);
                format!("cannot reach the API server at {}: {cause}", self.shared.host).into()
            }
            Err(other) => other,
        }
    }
}

/// The body of an answer, with a limit on its time.
pub(super) struct Timed<B> {
    inner: B,
    length: Length,
    limit: Pin<Box<Sleep>>,
    what: What,
}

impl<B> Timed<B> {
    fn new(inner: B, deadline: Instant, what: What) -> Self {
        let length = length(&what.uri);
        let limit = if length == Length::Watch { sleep(WATCH_IDLE) } else { sleep_until(deadline) };
        Self { inner, length, limit: Box::pin(limit), what }
    }
}

impl<B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin> HttpBody for Timed<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            if this.length == Length::Watch {
                this.limit.as_mut().reset(Instant::now() + WATCH_IDLE);
            }
            return Poll::Ready(frame.map(|it| it.map_err(Into::into)));
        }
        match this.length {
            Length::Stream => return Poll::Pending,
            _ => ready!(this.limit.as_mut().poll(cx)),
        }
        if this.length == Length::Short {
            return Poll::Ready(Some(Err(this.what.late())));
        }
        tracing::debug!(path = this.what.uri.path(), "restarting a watch that was silent for {WATCH_IDLE:?}");
        Poll::Ready(None) // as if the server had ended it: the watch goes on from where it was
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

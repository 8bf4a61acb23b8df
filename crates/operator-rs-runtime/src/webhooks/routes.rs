//! Reads a request within limits, and hands it to what serves its path.

use super::{Call, Webhook, metrics::Series};
#[cfg(feature = "conversion")]
use crate::conversion::{self, Convert};
use crate::{Manager, flag_values::time};
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

const MEBIBYTE: usize = 1024 * 1024;
/// A body of this size has always room. It is more than almost all objects have.
const SMALL: u32 = 128 * 1024;
/// How long a body may take, and how much longer for each mebibyte.
const BODY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_millis(250));
/// The large bodies of conversions together. Each takes about three times its size until it is answered, so that this many
/// fit into the memory of a small pod. A body that is larger takes all of it.
const CONVERSION: usize = 16 * MEBIBYTE;
/// How long a large body may wait for room.
const ROOM: Duration = Duration::from_secs(5);

/// What serves the paths.
pub(crate) struct Routes {
    by_path: BTreeMap<String, Route>,
    stop: CancellationToken,
}

struct Route {
    series: Series,
    answer: Box<dyn Fn(Call) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>,
    /// The largest body.
    largest: usize,
    /// The bytes of large bodies that may be in memory at once: anybody in the cluster can send some.
    room: Arc<Semaphore>,
    /// The time for an answer, if the API server does not say it.
    limit: Duration,
}

impl Routes {
    /// # Errors
    /// If two webhooks have the same path.
    pub fn new<'a>(webhooks: impl Iterator<Item = &'a Webhook>, manager: &Manager) -> anyhow::Result<Self> {
        let mut routes = BTreeMap::new();
        let mut add = |path: &str, route: Route| match routes.insert(path.to_owned(), route) {
            Some(_) => Err(anyhow::anyhow!("two webhooks have the path `{path}`: give each its own")),
            None => Ok(()),
        };
        #[cfg(feature = "admission")]
        let room = Arc::new(Semaphore::new(28 * MEBIBYTE));
        #[cfg(feature = "conversion")]
        let mut converters: Vec<Arc<dyn Convert>> = vec![];
        for webhook in webhooks {
            match webhook {
                #[cfg(feature = "admission")]
                Webhook::Admission { path, review } => {
                    let (manager, review) = (manager.clone(), review.clone());
                    add(
                        path,
                        Route {
                            series: Series::new(&manager.metrics, path),
                            answer: Box::new(move |call| review(manager.clone(), call)),
                            largest: 7 * MEBIBYTE,
                            room: room.clone(),
                            limit: Duration::from_secs(10),
                        },
                    )?;
                }
                #[cfg(feature = "conversion")]
                Webhook::Conversion(converter) => {
                    let (group, kind) = (converter.group(), converter.kind());
                    match converters.iter_mut().find(|it| it.group() == group && it.kind() == kind) {
                        Some(it) => *it = it.joined(&**converter).map_err(anyhow::Error::msg)?,
                        None => converters.push(converter.clone()),
                    }
                }
            }
        }
        #[cfg(feature = "conversion")]
        if !converters.is_empty() {
            let converters: Arc<[_]> = converters.into();
            add(
                "/convert",
                Route {
                    series: Series::new(&manager.metrics, "/convert"),
                    answer: Box::new(move |call| Box::pin(conversion::answer(converters.clone(), call))),
                    largest: 64 * MEBIBYTE,
                    room: Arc::new(Semaphore::new(CONVERSION)),
                    limit: Duration::from_secs(30),
                },
            )?;
        }
        Ok(Self { by_path: routes, stop: manager.stop.clone() })
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Answers a request. What is no review is refused with a `Status`, which the API server shows. The guard is kept
    /// from when the request is read.
    pub async fn answer<B: Body<Data = Bytes>, G>(
        &self,
        request: Request<B>,
        guard: impl FnOnce() -> G,
    ) -> Response<Bytes> {
        let path = request.uri().path();
        let mut answer = match self.by_path.get(path) {
            Some(route) => route.series.observe(route.answer(request, guard)).await,
            None => refuse(StatusCode::NOT_FOUND, &format!("no webhook has the path `{path}`")),
        };
        // An API server that keeps its connection would go on sending to this replica until it ends.
        if self.stop.is_cancelled() {
            answer.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        }
        answer
    }
}

impl Route {
    async fn answer<B: Body<Data = Bytes>, G>(
        &self,
        request: Request<B>,
        guard: impl FnOnce() -> G,
    ) -> Response<Bytes> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            let mut refused = refuse(StatusCode::METHOD_NOT_ALLOWED, "a webhook takes POST only");
            refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
            return refused;
        }
        if !is_json(&head.headers) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a review has the content type `application/json`");
        }
        let (body, _room) = match self.read(body).await {
            Ok(it) => it,
            Err(refused) => return refused,
        };
        let _guard = guard();
        let limit = timeout_in(&head.uri).unwrap_or(self.limit);
        (self.answer)(Call { body, until: began + limit }).await
    }

    /// The body, and the room that it takes until that is dropped.
    async fn read<B: Body<Data = Bytes>>(
        &self,
        body: B,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Response<Bytes>> {
        let Some(length) = body.size_hint().exact() else {
            return Err(refuse(StatusCode::LENGTH_REQUIRED, "a review has a `content-length`"));
        };
        let length = u32::try_from(length).ok().filter(|it| *it as usize <= self.largest).ok_or_else(|| {
            let most = format!("a review may have {} MiB at most", self.largest / MEBIBYTE);
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &most)
        })?;
        let room = match length {
            ..=SMALL => None,
            _ => match timeout(ROOM, self.room.acquire_many(length.min(CONVERSION as u32))).await {
                Ok(room) => Some(room.expect("it is never closed")),
                Err(_) => return Err(refuse(StatusCode::SERVICE_UNAVAILABLE, "too many large reviews are answered")),
            },
        };
        let limit = BODY.0 + BODY.1 * (length / 1024 / 1024);
        match timeout(limit, body.collect()).await {
            Ok(Ok(body)) => Ok((body.to_bytes(), room)),
            Ok(Err(_)) => Err(refuse(StatusCode::BAD_REQUEST, "the body cannot be read")),
            Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body takes too long")),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// `?timeout=10s`, which the API server adds.
fn timeout_in(uri: &Uri) -> Option<Duration> {
    uri.query()?.split('&').find_map(|it| time(it.strip_prefix("timeout=")?).ok())
}

/// An answer that is no review.
pub(crate) fn refuse(code: StatusCode, message: &str) -> Response<Bytes> {
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    json_answer(
        code,
        &json!({ "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16() }),
    )
}

/// An answer of JSON.
pub(crate) fn json_answer(code: StatusCode, body: &impl serde::Serialize) -> Response<Bytes> {
    let body = serde_json::to_vec(body).expect("it is JSON");
    let response = Response::builder().status(code).header(header::CONTENT_TYPE, "application/json");
    response.body(body.into()).expect("the header is valid")
}

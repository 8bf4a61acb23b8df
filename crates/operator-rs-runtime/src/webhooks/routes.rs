//! Reads a request within limits, and passes it to the webhook at its path.

#[cfg(feature = "conversion")]
use super::conversions::answer_conversion;
use super::{Call, Webhook, metrics::Series};
#[cfg(feature = "conversion")]
use crate::conversion::Convert;
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
/// A body up to this size is read without a permit. Almost all objects are smaller.
const SMALL_BODY: u32 = 128 * 1024;
/// The time limit for reading a body, and the additional time for each mebibyte.
const BODY_TIMEOUT: (Duration, Duration) = (Duration::from_secs(2), Duration::from_millis(250));
/// The total size of the large bodies of conversions in memory. Each takes about three times its size until it is
/// answered, so that they fit into the memory of a small pod. A body that is larger takes all permits.
const CONVERSION_BYTES: usize = 16 * MEBIBYTE;
/// The time for which a large body may wait for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The webhooks by their paths.
pub(crate) struct Routes {
    by_path: BTreeMap<String, Route>,
    stop: CancellationToken,
}

struct Route {
    series: Series,
    answer: Box<dyn Fn(Call) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>,
    /// The maximum size of a body.
    max_body: usize,
    /// A permit for each byte of large bodies that may be in memory at once: every client in the cluster can send some.
    body_bytes: Arc<Semaphore>,
    /// The time limit of an answer, if the request has none.
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
        let body_bytes = Arc::new(Semaphore::new(28 * MEBIBYTE));
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
                            max_body: 7 * MEBIBYTE,
                            body_bytes: body_bytes.clone(),
                            limit: Duration::from_secs(10),
                        },
                    )?;
                }
                #[cfg(feature = "conversion")]
                Webhook::Conversion(converter) => {
                    let (group, kind) = (converter.group(), converter.kind());
                    let same_kind = converters.iter_mut().find(|known| known.group() == group && known.kind() == kind);
                    match same_kind {
                        Some(known) => *known = known.join_versions(&**converter).map_err(anyhow::Error::msg)?,
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
                    answer: Box::new(move |call| Box::pin(answer_conversion(converters.clone(), call))),
                    max_body: 64 * MEBIBYTE,
                    body_bytes: Arc::new(Semaphore::new(CONVERSION_BYTES)),
                    limit: Duration::from_secs(30),
                },
            )?;
        }
        Ok(Self { by_path: routes, stop: manager.stop.clone() })
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Answers a request. A request without a review is refused with a `Status`, which the API server shows. The guard
    /// is created when the request has been read, and dropped when it is answered.
    pub async fn answer_request<B: Body<Data = Bytes>, G>(
        &self,
        request: Request<B>,
        guard: impl FnOnce() -> G,
    ) -> Response<Bytes> {
        let path = request.uri().path();
        let mut answer = match self.by_path.get(path) {
            Some(route) => route.series.observe_answer(route.answer_request(request, guard)).await,
            None => error_response(StatusCode::NOT_FOUND, &format!("no webhook has the path `{path}`")),
        };
        // An API server that keeps its connection would go on sending requests to this replica until the process ends.
        if self.stop.is_cancelled() {
            answer.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        }
        answer
    }
}

impl Route {
    async fn answer_request<B: Body<Data = Bytes>, G>(
        &self,
        request: Request<B>,
        guard: impl FnOnce() -> G,
    ) -> Response<Bytes> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            let mut refused = error_response(StatusCode::METHOD_NOT_ALLOWED, "a webhook takes POST only");
            refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
            return refused;
        }
        if !is_json(&head.headers) {
            let message = "a review has the content type `application/json`";
            return error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        }
        let (body, _permit) = match self.read_body(body).await {
            Ok(body) => body,
            Err(refused) => return refused,
        };
        let _guard = guard();
        let limit = timeout_in(&head.uri).unwrap_or(self.limit);
        (self.answer)(Call { body, until: began + limit }).await
    }

    /// Reads the body. A large body comes with a permit, which limits the memory of all bodies until it is dropped.
    async fn read_body<B: Body<Data = Bytes>>(
        &self,
        body: B,
    ) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Response<Bytes>> {
        let Some(length) = body.size_hint().exact() else {
            return Err(error_response(StatusCode::LENGTH_REQUIRED, "a review has a `content-length`"));
        };
        let length = u32::try_from(length).ok().filter(|length| *length as usize <= self.max_body);
        let length = length.ok_or_else(|| {
            let message = format!("a review may have {} MiB at most", self.max_body / MEBIBYTE);
            error_response(StatusCode::PAYLOAD_TOO_LARGE, &message)
        })?;
        let permit = match length {
            ..=SMALL_BODY => None,
            _ => {
                let permits = length.min(CONVERSION_BYTES as u32);
                match timeout(PERMIT_TIMEOUT, self.body_bytes.acquire_many(permits)).await {
                    Ok(permit) => Some(permit.expect("it is never closed")),
                    Err(_) => {
                        let message = "too many large reviews are answered";
                        return Err(error_response(StatusCode::SERVICE_UNAVAILABLE, message));
                    }
                }
            }
        };
        let limit = BODY_TIMEOUT.0 + BODY_TIMEOUT.1 * (length / 1024 / 1024);
        match timeout(limit, body.collect()).await {
            Ok(Ok(body)) => Ok((body.to_bytes(), permit)),
            Ok(Err(_)) => Err(error_response(StatusCode::BAD_REQUEST, "the body cannot be read")),
            Err(_) => Err(error_response(StatusCode::REQUEST_TIMEOUT, "the body takes too long")),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// Returns the value of `?timeout=10s`, which the API server adds to the URL.
fn timeout_in(uri: &Uri) -> Option<Duration> {
    uri.query()?.split('&').find_map(|pair| time(pair.strip_prefix("timeout=")?).ok())
}

/// Returns a response with a `Status` in place of a review.
pub(crate) fn error_response(code: StatusCode, message: &str) -> Response<Bytes> {
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    json_response(
        code,
        &json!({ "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16() }),
    )
}

pub(crate) fn json_response(code: StatusCode, body: &impl serde::Serialize) -> Response<Bytes> {
    let body = serde_json::to_vec(body).expect("it is JSON");
    let response = Response::builder().status(code).header(header::CONTENT_TYPE, "application/json");
    response.body(body.into()).expect("the header is valid")
}

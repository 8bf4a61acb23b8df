//! Reads a request within limits, and hands it to what serves its path.

use super::{Call, Webhook};
#[cfg(feature = "conversion")]
use crate::conversion::{self, Convert};
use crate::{Operator, flags::time};
use futures::future::{BoxFuture, FutureExt};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};

const MEBIBYTE: usize = 1024 * 1024;
/// The longest that the body of a request may take.
const BODY: Duration = Duration::from_secs(10);

/// What serves the paths.
pub(crate) struct Routes(BTreeMap<String, Route>);

struct Route {
    answer: Box<dyn Fn(Call) -> BoxFuture<'static, Response<Bytes>> + Send + Sync>,
    /// The largest body.
    largest: usize,
    /// The bytes of bodies that may be in memory at once: anybody in the cluster can send some.
    room: Arc<Semaphore>,
    /// The time for an answer, if the API server does not say it.
    limit: Duration,
}

impl Routes {
    /// # Errors
    /// If two webhooks have the same path.
    pub fn new<'a>(webhooks: impl Iterator<Item = &'a Webhook>, operator: &Operator) -> anyhow::Result<Self> {
        let mut routes = BTreeMap::new();
        let mut add = |path: &str, route| match routes.insert(path.to_owned(), route) {
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
                    let (operator, review) = (operator.clone(), review.clone());
                    add(
                        path,
                        Route {
                            answer: Box::new(move |call| review(operator.clone(), call)),
                            largest: 7 * MEBIBYTE,
                            room: room.clone(),
                            limit: Duration::from_secs(10),
                        },
                    )?;
                }
                #[cfg(feature = "conversion")]
                Webhook::Conversion(converter) => {
                    let (group, kind) = (converter.group(), converter.kind());
                    if converters.iter().any(|it| it.group() == group && it.kind() == kind) {
                        anyhow::bail!("`{kind}.{group}` has two hubs: add all its versions to one of them");
                    }
                    converters.push(converter.clone());
                }
            }
        }
        #[cfg(feature = "conversion")]
        if !converters.is_empty() {
            let converters: Arc<[_]> = converters.into();
            add(
                "/convert",
                Route {
                    answer: Box::new(move |call| conversion::answer(converters.clone(), call).boxed()),
                    largest: 64 * MEBIBYTE,
                    room: Arc::new(Semaphore::new(64 * MEBIBYTE)),
                    limit: Duration::from_secs(30),
                },
            )?;
        }
        Ok(Self(routes))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Answers a request. What is no review is refused with a `Status`, which the API server shows.
    pub async fn answer<B: Body<Data = Bytes>>(&self, request: Request<B>) -> Response<Bytes> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let Some(route) = self.0.get(head.uri.path()) else {
            return refuse(StatusCode::NOT_FOUND, &format!("no webhook has the path `{}`", head.uri.path()));
        };
        if head.method != Method::POST {
            let mut refused = refuse(StatusCode::METHOD_NOT_ALLOWED, "a webhook takes POST only");
            refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
            return refused;
        }
        if !is_json(&head.headers) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a review has the content type `application/json`");
        }
        let body = match route.read(body).await {
            Ok(it) => it,
            Err(refused) => return refused,
        };
        let limit = wanted(&head.uri).unwrap_or(route.limit);
        (route.answer)(Call { body: body.0, until: began + limit }).await
    }
}

impl Route {
    /// The body, and the room that it takes until it is dropped.
    async fn read<B: Body<Data = Bytes>>(&self, body: B) -> Result<(Bytes, impl Sized + use<'_, B>), Response<Bytes>> {
        let Some(length) = body.size_hint().exact() else {
            return Err(refuse(StatusCode::LENGTH_REQUIRED, "a review has a `content-length`"));
        };
        let length = u32::try_from(length).ok().filter(|it| *it as usize <= self.largest).ok_or_else(|| {
            let most = format!("a review may have {} MiB at most", self.largest / MEBIBYTE);
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &most)
        })?;
        let room = self.room.acquire_many(length).await.expect("it is never closed");
        match timeout(BODY, body.collect()).await {
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
fn wanted(uri: &Uri) -> Option<Duration> {
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

//! The server behind a client: no socket, no TLS.

use super::{
    Cluster,
    admission::{self, Desk},
    built_in::is_built_in,
    cancellation::unless_cancelled,
    discovery::answer_discovery,
    dry_run::{dry_run, is_dry_run},
    execute::execute_request,
    fault::Fault,
    refusal::{Refusal, Subject},
    request::Request,
    review::{REVIEWS, answer_review},
    watch::Watch,
};
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Bytes;
use kube::{Client, client::Body};
use std::convert::Infallible;
use tokio_util::sync::CancellationToken;

/// The body of an answer: text, or a stream of events.
type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// A client of the server. Once `dead` is cancelled, it gets no answer and no event, and changes nothing.
pub fn client(cluster: &Cluster, dead: &CancellationToken) -> Client {
    let (cluster, dead) = (cluster.clone(), dead.clone());
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (cluster, dead) = (cluster.clone(), dead.clone());
        async move { Ok::<_, Infallible>(unless_cancelled(&dead, answer_request(&cluster, request, &dead)).await) }
    });
    Client::new(service, "default")
}

async fn answer_request(cluster: &Cluster, request: http::Request<Body>, dead: &CancellationToken) -> Answer {
    let (parts, body) = request.into_parts();
    let body = body.collect_bytes().await.unwrap_or_default();
    let Some(mut request) = Request::from_parts(&parts) else {
        return answer_path(cluster, &parts);
    };
    request.is_dry_run = is_dry_run(&request, &body);
    let request = cluster.record_request(request, &body);
    let fault = cluster.fault_of(&request);
    match &fault {
        Some(Fault::LoseRequest) => return std::future::pending().await,
        Some(it @ (Fault::Refuse { .. } | Fault::RefuseWith(_) | Fault::Forbid)) => {
            let refusal = it.error_for(&request).unwrap_or_else(|| Refusal::with_code(500));
            return error_response(cluster, &request, &refusal);
        }
        _ => {}
    }
    if request.verb == "watch" {
        let opened = cluster.with_store(|store| Watch::open(cluster.clone(), store, request.clone(), dead));
        return match opened {
            Ok(watch) => Response::new(StreamBody::new(Box::pin(watch.into_stream())).boxed_unsync()),
            Err(refusal) => error_response(cluster, &request, &refusal),
        };
    }
    let carry_out = |desk: &mut Desk| carry_out(cluster, &request, &body, desk);
    let (done, warnings) = admission::carry_out_with_reviews(cluster, &request, &body, carry_out).await;
    if done.is_ok() {
        cluster.note_success(&request);
    }
    cluster.collect_garbage_soon();
    if fault == Some(Fault::LoseResponse) {
        cluster.shared.lost_responses.send_modify(|count| *count += 1);
        return std::future::pending().await;
    }
    let replaced = fault.and_then(|fault| fault.error_for(&request));
    let mut answer = match replaced.map_or(done, Err) {
        Ok((code, body)) => text_response(StatusCode::from_u16(code).unwrap_or_default(), body),
        Err(refusal) => error_response(cluster, &request, &refusal),
    };
    for warning in warnings {
        let value = HeaderValue::from_bytes(admission::warning_header(&warning).as_bytes());
        answer.headers_mut().extend(value.ok().map(|value| (header::WARNING, value)));
    }
    answer
}

/// Answers a request that is not for a resource.
fn answer_path(cluster: &Cluster, parts: &http::request::Parts) -> Answer {
    let accept = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = match parts.method {
        Method::GET => cluster.with_store(|store| answer_discovery(store, parts.uri.path(), accept)),
        _ => None,
    };
    match known {
        Some(body) => text_response(StatusCode::OK, body.to_string()),
        None => text_response(StatusCode::NOT_FOUND, "404 page not found\n".into()),
    }
}

/// Carries out anything but a watch.
fn carry_out(cluster: &Cluster, request: &Request, body: &[u8], desk: &mut Desk) -> Result<(u16, String), Refusal> {
    check_subresource(cluster, request)?;
    if request.verb == "create" && request.resource == REVIEWS {
        return Ok((201, answer_review(cluster, body)));
    }
    if request.is_dry_run {
        dry_run(cluster, request, body, desk)
    } else {
        execute_request(cluster, request, body, desk)
    }
}

fn check_subresource(cluster: &Cluster, request: &Request) -> Result<(), Refusal> {
    let kind = cluster.with_store(|store| store.collection(&request.resource).kind.clone());
    match request.subresource.as_str() {
        "" => Ok(()),
        "status" if kind.status => Ok(()),
        "status" if is_built_in(&request.resource) => Err(Refusal::no_such_resource()),
        "status" => {
            let it = Subject { resource: &request.resource, kind: &kind.name, name: &request.name };
            Err(Refusal { message: Refusal::no_such_resource().message, ..Refusal::not_found(it) })
        }
        other => Err(Refusal::unsupported(&format!("the subresource `{other}` of {}", request.resource))),
    }
}

fn error_response(cluster: &Cluster, request: &Request, refusal: &Refusal) -> Answer {
    cluster.note_error(request, refusal);
    text_response(StatusCode::from_u16(refusal.code).unwrap_or_default(), refusal.status().to_string())
}

fn text_response(code: StatusCode, text: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = code;
    response
}

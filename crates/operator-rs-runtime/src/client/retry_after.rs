//! Copies the header `Retry-After` into the `Status` of a response. A request that is refused before it reaches a
//! handler, as by priority and fairness, is answered with the header only, and kube reads only the body.

use http::{Response, StatusCode, header};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body as HttpBody, Bytes};
use serde_json::{Value, json};
use tower::BoxError;

/// Returns the response with the seconds of its header in its `Status`. (Dates in the header are ignored, as in
/// client-go.)
pub(super) async fn copy_into_status<B>(response: Response<B>) -> Result<Response<Either<B, Full<Bytes>>>, BoxError>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let code = response.status();
    let header = response.headers().get(header::RETRY_AFTER);
    let header = header.and_then(|value| value.to_str().ok()?.parse::<u32>().ok());
    let seconds = header.filter(|_| code.is_client_error() || code.is_server_error());
    let (mut parts, body) = response.into_parts();
    let Some(seconds) = seconds else { return Ok(Response::from_parts(parts, Either::Left(body))) };
    let bytes = body.collect().await.map_err(Into::into)?.to_bytes();
    let mut status = match serde_json::from_slice::<Value>(&bytes) {
        Ok(status) if status["kind"] == "Status" => status,
        _ => {
            let reason = match code {
                StatusCode::TOO_MANY_REQUESTS => "TooManyRequests",
                StatusCode::SERVICE_UNAVAILABLE => "ServiceUnavailable",
                _ => "",
            };
            let message = String::from_utf8_lossy(&bytes).trim().to_owned();
            json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason,
                "message": message, "code": code.as_u16() })
        }
    };
    if status["details"]["retryAfterSeconds"].is_null() {
        status["details"]["retryAfterSeconds"] = seconds.into();
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Either::Right(status.to_string().into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, error::retry_after};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{
        Api,
        client::{Body, ClientBuilder},
    };
    use std::time::Duration;
    use tower::util::AndThenLayer;

    /// Returns the error for a response, and the time before a retry.
    async fn check(code: u16, header: &str, body: &'static str) -> (String, Duration) {
        let header = header.to_owned();
        let service = tower::service_fn(move |_: http::Request<Body>| {
            let answer = Response::builder().status(code).header("Retry-After", header.as_str());
            let answer = answer.body(Full::from(body)).unwrap();
            async move { Ok::<_, BoxError>(answer) }
        });
        let client = ClientBuilder::new(service, "default").with_layer(&AndThenLayer::new(copy_into_status)).build();
        let error = Error::from(Api::<ConfigMap>::all(client).get("a").await.unwrap_err());
        (error.to_string(), retry_after(&error))
    }

    #[tokio::test]
    async fn the_header_of_a_refusal_is_known() {
        let seconds = Duration::from_secs;
        let refused = check(429, "7", "Too many requests, please try again later.\n").await;
        assert_eq!(refused, ("Too many requests, please try again later.".into(), seconds(7)));
        let status = r#"{"kind":"Status","apiVersion":"v1","message":"busy","code":503,"reason":"ServiceUnavailable"}"#;
        assert_eq!(check(503, "8", status).await, ("busy".into(), seconds(8)));
        let status =
            r#"{"kind":"Status","apiVersion":"v1","message":"busy","code":429,"details":{"retryAfterSeconds":9}}"#;
        assert_eq!(check(429, "1", status).await, ("busy".into(), seconds(9)));
        assert_eq!(check(503, "Wed, 21 Oct 2026 07:28:00 GMT", "no").await, ("no".into(), seconds(0)));
    }
}

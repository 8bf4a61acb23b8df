//! Answers the requests to `/convert`.

use super::{Call, error_response};
use crate::conversion::{Convert, answer_review};
use http::{Response, StatusCode, header};
use hyper::body::Bytes;
use std::sync::Arc;

/// Answers a ConversionReview, on a thread that it may block for long.
pub async fn answer_conversion(converters: Arc<[Arc<dyn Convert>]>, call: Call) -> Response<Bytes> {
    let answer = move || answer_review(&converters, &call.body, call.until.into_std());
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(body)) => {
            let mut response = Response::new(Bytes::from(body));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(why)) => error_response(StatusCode::BAD_REQUEST, &why),
        Err(_) => error_response(StatusCode::INTERNAL_SERVER_ERROR, "the conversion panicked"),
    }
}

//! Conversion between the versions of a kind.

use crate::webhooks::{Call, refuse};
use http::{Response, StatusCode};
use hyper::body::Bytes;
use std::sync::Arc;

/// Converts the objects of a kind.
pub(crate) trait Convert: Send + Sync {}

/// Answers a ConversionReview.
pub(crate) async fn answer(_converters: Arc<[Arc<dyn Convert>]>, _call: Call) -> Response<Bytes> {
    refuse(StatusCode::NOT_FOUND, "no kind is converted")
}

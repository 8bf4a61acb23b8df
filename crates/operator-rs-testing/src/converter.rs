//! The service that converts objects between the versions of their kind.

use futures::future::BoxFuture;
use hyper::body::Bytes;
use std::{fmt, sync::Arc};

/// Answers the requests to webhooks.
type Service =
    Arc<dyn Fn(http::Request<Bytes>) -> BoxFuture<'static, Result<http::Response<Bytes>, String>> + Send + Sync>;

/// Converts objects between versions, by a service.
#[derive(Clone, Default)]
pub struct Converter(pub Option<Service>);

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Converter").field(&self.0.is_some()).finish()
    }
}

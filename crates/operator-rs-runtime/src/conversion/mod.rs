//! Conversion of objects between the versions of a kind: the webhook `/convert`.
//!
//! The versions convert by [`From`], whole objects, through one of them, the [`Hub`]. The API server also sends partial
//! objects: for each field manager of a server-side apply, the fields that the manager has, without those that the type
//! requires. What is missing by the schema of its version is made up in several ways, each result is converted, and
//! only what all conversions agree on is returned. So a conversion has to accept all values that the schema accepts,
//! and must not panic.
//!
//! Of the metadata, a conversion may change labels and annotations; the rest stays as it is. Fields that the type of
//! a version does not have are lost, as in each other version; the API server has removed them before, except where
//! the schema has `x-kubernetes-preserve-unknown-fields`.

mod agree;
mod complete;
mod object;
mod partial;
mod path;
mod review;
mod schema;
mod versions;

pub use versions::Hub;

pub(crate) use review::Convert;

use crate::{
    Start,
    webhooks::{Call, Webhook, refuse},
};
use http::{Response, StatusCode, header};
use hyper::body::Bytes;
use kube::{CustomResourceExt, Resource};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// The conversion of a kind, a part of the operator. All kinds are converted at `/convert`.
pub fn converting<H>(hub: Hub<H>) -> Start
where
    H: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
{
    Webhook::Conversion(Arc::new(hub)).into()
}

/// Answers a ConversionReview, on a thread that may be busy for long.
pub(crate) async fn answer(converters: Arc<[Arc<dyn Convert>]>, call: Call) -> Response<Bytes> {
    let answered =
        tokio::task::spawn_blocking(move || review::answer(&converters, &call.body, call.until.into_std())).await;
    match answered {
        Ok(Ok(body)) => {
            let mut response = Response::new(Bytes::from(body));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(why)) => refuse(StatusCode::BAD_REQUEST, &why),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the conversion panicked"),
    }
}

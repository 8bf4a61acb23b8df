//! What is desired, and what is sent for it: the object with the hash of itself. kube sends what it is
//! given.

use super::ownership;
use crate::error::Error;
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Resource, api::PartialObjectMeta};
use serde::Serialize;
use serde_json::Value;

/// An object that a cache of `C`s can apply: a `C`, or a `K` if the cache holds `PartialObjectMeta<K>`.
pub trait Desired<C>: Resource<DynamicType = ()> + Serialize + Sync {}
impl<K: Resource<DynamicType = ()> + Serialize + Sync> Desired<K> for K {}
impl<K: Resource<DynamicType = ()> + Serialize + Sync> Desired<PartialObjectMeta<K>> for K {}

/// What is sent: the object with what `meta` adds to it, and with the hash of itself. The status is not ours to
/// apply.
pub(super) fn body(text: &str, meta: &ObjectMeta) -> Result<Value, Error> {
    let mut body: Value = serde_json::from_str(text)?;
    for (field, value) in [
        ("namespace", serde_json::to_value(&meta.namespace)?),
        ("labels", serde_json::to_value(&meta.labels)?),
        ("ownerReferences", serde_json::to_value(&meta.owner_references)?),
    ] {
        if !value.is_null() {
            body["metadata"][field] = value;
        }
    }
    if let Some(object) = body.as_object_mut() {
        object.remove("status");
    }
    if body["kind"] == "Secret" && body["apiVersion"] == "v1" {
        text_as_data(&mut body)?;
    }
    body.sort_all_objects();
    let hash = ownership::hash(body.to_string().as_bytes());
    body["metadata"]["annotations"][ownership::DESIRED_HASH] = hash.into();
    Ok(body)
}

/// The `stringData` of a Secret as `data`, which is what the server makes of it. The server
/// never removes what is applied as `stringData`, and does not show when somebody changes it.
fn text_as_data(secret: &mut Value) -> Result<(), Error> {
    let text = secret.as_object_mut().and_then(|it| it.remove("stringData"));
    for (key, value) in text.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let bytes = ByteString(value.as_str().unwrap_or_default().as_bytes().to_vec());
        secret["data"][key] = serde_json::to_value(bytes)?;
    }
    Ok(())
}

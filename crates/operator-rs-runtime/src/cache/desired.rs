//! Desired objects, and the body in which they are sent, which has a hash of the content as an annotation. kube sends
//! an object as it is. The hash leaves out the values of a Secret, because weak values could be guessed from it.

use super::entry::fast_hash;
use crate::{
    error::Error,
    hash::{DESIRED_HASH, stable_hash},
};
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Resource, api::PartialObjectMeta};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An object that a cache of `C`s can apply: a `C`, or a `K` if the cache holds `PartialObjectMeta<K>`.
#[diagnostic::on_unimplemented(
    message = "a handle of `{C}` cannot apply `{Self}`",
    note = "each kind has a handle of its own, which `Controller::owns` returns"
)]
pub trait Desired<C>: Resource<DynamicType = ()> + Serialize + Sync {}
impl<K: Resource<DynamicType = ()> + Serialize + Sync> Desired<K> for K {}
impl<K: Resource<DynamicType = ()> + Serialize + Sync> Desired<PartialObjectMeta<K>> for K {}

/// Returns the body in which an object is sent. It has the namespace, labels, annotations and owner references of
/// `meta`, and the hash of itself. It has no status, because the status belongs to the object's own controller.
pub(super) fn build_body(json: &str, meta: &ObjectMeta) -> Result<Value, Error> {
    let mut body: Value = serde_json::from_str(json)?;
    for (field, value) in [
        ("namespace", serde_json::to_value(&meta.namespace)?),
        ("labels", serde_json::to_value(&meta.labels)?),
        ("annotations", serde_json::to_value(&meta.annotations)?),
        ("ownerReferences", serde_json::to_value(&meta.owner_references)?),
    ] {
        if !value.is_null() {
            body["metadata"][field] = value;
        }
    }
    if let Some(object) = body.as_object_mut() {
        object.remove("status");
    }
    let is_secret = body["kind"] == "Secret" && body["apiVersion"] == "v1";
    if is_secret {
        encode_string_data(&mut body)?;
    }
    body.sort_all_objects();
    let hash = match is_secret {
        true => {
            let mut body = body.clone();
            body["data"].as_object_mut().into_iter().flatten().for_each(|(_, value)| *value = Value::Null);
            stable_hash(body.to_string().as_bytes())
        }
        false => stable_hash(body.to_string().as_bytes()),
    };
    body["metadata"]["annotations"][DESIRED_HASH] = hash.into();
    Ok(body)
}

/// Returns whether a Secret has all values of the desired one. For other kinds it returns `true`, because their values
/// are in the hash.
pub(super) fn has_secret_values<C: Resource<DynamicType = ()>>(json: &str, desired: &Value) -> bool {
    let values = secret_values::<C>(json);
    let desired = desired["data"].as_object();
    !is_secret::<C>() || desired.into_iter().flatten().all(|(key, value)| values.get(key) == Some(value))
}

/// Returns a hash of the values of a Secret, which is valid only in this process, or `None` if the cache has only
/// metadata. For other kinds it returns the same hash for every object.
pub(super) fn hash_secret_values<C: Resource<DynamicType = ()>>(json: &str) -> Option<u64> {
    match (is_secret::<C>(), C::metadata_api()) {
        (true, true) => None,
        (true, false) => Some(fast_hash(&serde_json::to_string(&secret_values::<C>(json)).unwrap_or_default())),
        (false, _) => Some(0),
    }
}

fn is_secret<C: Resource<DynamicType = ()>>() -> bool {
    C::kind(&()) == "Secret" && C::group(&()).is_empty()
}

fn secret_values<C: Resource<DynamicType = ()>>(json: &str) -> BTreeMap<String, Value> {
    #[derive(Deserialize)]
    struct Secret {
        data: Option<BTreeMap<String, Value>>,
    }
    let secret = is_secret::<C>().then(|| serde_json::from_str::<Secret>(json).ok()).flatten();
    secret.and_then(|secret| secret.data).unwrap_or_default()
}

/// Moves the `stringData` of a Secret to `data`, as the server does. Server-side apply never removes a value that was
/// applied as `stringData`, and does not show when another client changes it.
fn encode_string_data(secret: &mut Value) -> Result<(), Error> {
    let string_data = secret.as_object_mut().and_then(|secret| secret.remove("stringData"));
    for (key, value) in string_data.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let bytes = ByteString(value.as_str().unwrap_or_default().as_bytes().to_vec());
        secret["data"][key] = serde_json::to_value(bytes)?;
    }
    Ok(())
}

//! Desired objects, and the form in which they are sent: with a hash of their content. kube sends an object as it is.
//! The values of a Secret are left out of the hash, because weak ones could be guessed from it.

use super::{entry::fast_hash, ownership};
use crate::error::Error;
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

/// The object as it is sent: with the additions of `meta`, and with the hash of itself. The status is not ours to
/// apply.
pub(super) fn build_body(text: &str, meta: &ObjectMeta) -> Result<Value, Error> {
    let mut body: Value = serde_json::from_str(text)?;
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
            ownership::hash(body.to_string().as_bytes())
        }
        false => ownership::hash(body.to_string().as_bytes()),
    };
    body["metadata"]["annotations"][ownership::DESIRED_HASH] = hash.into();
    Ok(body)
}

/// Whether a Secret has all values of the desired one. Of other kinds, the hash says that.
pub(super) fn has_secret_values<C: Resource<DynamicType = ()>>(found: &str, desired: &Value) -> bool {
    let found = secret_values::<C>(found);
    let desired = desired["data"].as_object();
    !is_secret::<C>() || desired.into_iter().flatten().all(|(key, value)| found.get(key) == Some(value))
}

/// A hash of the values of a Secret, which is valid in this process only; of other kinds, always the same. Nothing
/// where the cache has only metadata.
pub(super) fn hash_secret_values<C: Resource<DynamicType = ()>>(found: &str) -> Option<u64> {
    match (is_secret::<C>(), C::metadata_api()) {
        (true, true) => None,
        (true, false) => Some(fast_hash(&serde_json::to_string(&secret_values::<C>(found)).unwrap_or_default())),
        (false, _) => Some(0),
    }
}

fn is_secret<C: Resource<DynamicType = ()>>() -> bool {
    C::kind(&()) == "Secret" && C::group(&()).is_empty()
}

fn secret_values<C: Resource<DynamicType = ()>>(found: &str) -> BTreeMap<String, Value> {
    #[derive(Deserialize)]
    struct Secret {
        data: Option<BTreeMap<String, Value>>,
    }
    let found = is_secret::<C>().then(|| serde_json::from_str::<Secret>(found).ok()).flatten();
    found.and_then(|it| it.data).unwrap_or_default()
}

/// The `stringData` of a Secret as `data`, which is what the server makes of it. The server
/// never removes what is applied as `stringData`, and does not show when somebody changes it.
fn encode_string_data(secret: &mut Value) -> Result<(), Error> {
    let text = secret.as_object_mut().and_then(|it| it.remove("stringData"));
    for (key, value) in text.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let bytes = ByteString(value.as_str().unwrap_or_default().as_bytes().to_vec());
        secret["data"][key] = serde_json::to_value(bytes)?;
    }
    Ok(())
}

//! One object that cannot be decoded must not stop the watch of all others (kube's
//! `DeserializeGuard`, without its intermediate copies).

use super::text::trimmed;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, api::PartialObjectMeta};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, sync::Arc};

/// An object, or why it could not be decoded.
#[derive(Clone, Debug)]
pub struct Guarded<K>(pub Result<Arc<K>, Box<Undecodable>>);

#[derive(Clone, Debug)]
pub struct Undecodable {
    pub error: String,
    pub metadata: ObjectMeta,
}

impl<'de, K: DeserializeOwned + Resource<DynamicType = ()>> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = trimmed(<&RawValue>::deserialize(deserializer)?.get()).map_err(D::Error::custom)?;
        Ok(Self(match serde_json::from_str::<K>(&text) {
            Ok(obj) => Ok(Arc::new(obj)),
            Err(error) => {
                let partial: PartialObjectMeta<K> = serde_json::from_str(&text).map_err(D::Error::custom)?;
                Err(Box::new(Undecodable { error: error.to_string(), metadata: partial.metadata }))
            }
        }))
    }
}

impl<K: Resource<DynamicType = ()> + Clone> Resource for Guarded<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn metadata_api() -> bool {
        K::metadata_api()
    }
    fn kind(dt: &()) -> Cow<'_, str> {
        K::kind(dt)
    }
    fn group(dt: &()) -> Cow<'_, str> {
        K::group(dt)
    }
    fn version(dt: &()) -> Cow<'_, str> {
        K::version(dt)
    }
    fn plural(dt: &()) -> Cow<'_, str> {
        K::plural(dt)
    }
    fn meta(&self) -> &ObjectMeta {
        match &self.0 {
            Ok(obj) => obj.meta(),
            Err(bad) => &bad.metadata,
        }
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match &mut self.0 {
            Ok(obj) => Arc::make_mut(obj).meta_mut(),
            Err(bad) => &mut bad.metadata,
        }
    }
}

//! What is kept of an object that the server sends: its text, without what nobody reads.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error},
};
use serde_json::value::{RawValue, to_raw_value};
use std::{borrow::Cow, collections::BTreeMap, marker::PhantomData};

/// An object without `metadata.managedFields`: these are half of it, and nobody reads them. What
/// stays is not even looked at.
pub fn trimmed(object: &str) -> serde_json::Result<String> {
    type Fields<'a> = BTreeMap<String, &'a RawValue>;
    let mut object: Fields = serde_json::from_str(object)?;
    let Some(metadata) = object.get("metadata") else { return serde_json::to_string(&object) };
    let mut metadata: Fields = serde_json::from_str(metadata.get())?;
    metadata.remove("managedFields");
    let metadata = to_raw_value(&metadata)?;
    object.insert("metadata".into(), &metadata);
    serde_json::to_string(&object)
}

/// A `K` as text: a quarter of the size of most that are decoded.
#[derive(Clone, Debug)]
pub struct Text<K> {
    pub json: Box<str>,
    /// Name, namespace, resourceVersion and owners at least.
    metadata: ObjectMeta,
    kind: PhantomData<K>,
}

impl<K: Resource + Serialize> Text<K> {
    pub fn new(object: &K) -> serde_json::Result<Self> {
        let json = serde_json::to_string(object)?.into();
        Ok(Self { json, metadata: object.meta().clone(), kind: PhantomData })
    }
}

impl<K: DeserializeOwned> Text<K> {
    pub fn decoded(&self) -> serde_json::Result<K> {
        serde_json::from_str(&self.json)
    }
}

impl<'de, K> Deserialize<'de> for Text<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            name: Option<String>,
            namespace: Option<String>,
            resource_version: Option<String>,
            owner_references: Option<Vec<OwnerReference>>,
        }
        let json = trimmed(<&RawValue>::deserialize(deserializer)?.get()).map_err(D::Error::custom)?;
        let Object { metadata: it } = serde_json::from_str(&json).map_err(D::Error::custom)?;
        let metadata = ObjectMeta {
            name: it.name,
            namespace: it.namespace,
            resource_version: it.resource_version,
            owner_references: it.owner_references,
            ..ObjectMeta::default()
        };
        Ok(Self { json: json.into(), metadata, kind: PhantomData })
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Text<K> {
    type DynamicType = ();
    type Scope = K::Scope;

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
    fn metadata_api() -> bool {
        K::metadata_api()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    #[test]
    fn all_but_the_managed_fields_is_kept() {
        let object =
            r#"{"metadata":{"name":"a","managedFields":[{"manager":"b"}],"labels":{"c":"\"d\""}},"data":{"e":"f"}}"#;
        let text: Text<ConfigMap> = serde_json::from_str(object).unwrap();
        assert_eq!(&*text.json, r#"{"data":{"e":"f"},"metadata":{"labels":{"c":"\"d\""},"name":"a"}}"#);
        assert_eq!(text.meta().name.as_deref(), Some("a"));
        assert_eq!(text.decoded().unwrap().data.unwrap()["e"], "f");
    }
}

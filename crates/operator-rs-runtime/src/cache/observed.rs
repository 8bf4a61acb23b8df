//! An object as the API server sent it: JSON text, which is decoded as late as possible. kube would decode every object
//! of a watch, so that one object that cannot be decoded would stop the watch of all the others.

use super::owner::OwnerAnnotations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use kube::Resource;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, marker::PhantomData, sync::Arc};

/// A `K` as JSON text, without its `managedFields`, which are often half of it. Clones share the text.
#[derive(Clone, Debug)]
pub(crate) struct Observed<K> {
    /// The object as JSON.
    pub json: Arc<str>,
    /// `metadata.managedFields` as JSON, or an empty text if the object has none.
    pub managed: Arc<str>,
    /// Only the name, namespace, uid, resource version, owner references and deletion timestamp.
    pub metadata: ObjectMeta,
    /// The owner that the object's annotations name.
    pub annotated_owner: Option<Box<OwnerAnnotations>>,
    kind: PhantomData<fn() -> K>,
}

impl<K: DeserializeOwned> Observed<K> {
    pub fn decode(&self) -> serde_json::Result<K> {
        serde_json::from_str(&self.json)
    }
}

impl<K> Observed<K> {
    /// Returns the resource version as a number, by which the versions of one kind are ordered.
    pub fn numeric_version(&self) -> Option<u64> {
        self.metadata.resource_version.as_deref()?.parse().ok()
    }

    /// Returns the key of the object in a cache.
    pub fn object_key(&self) -> Box<str> {
        super::object_key(self.metadata.namespace.as_deref(), self.metadata.name.as_deref().unwrap_or_default())
    }

    /// Returns the owner reference to the object's controller.
    pub fn controller_reference(&self) -> Option<&OwnerReference> {
        super::controller_reference(&self.metadata)
    }
}

#[derive(Deserialize)]
struct ObjectJson<'a> {
    #[serde(borrow)]
    metadata: MetadataJson<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataJson<'a> {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    deletion_timestamp: Option<Time>,
    owner_references: Option<Vec<OwnerReference>>,
    annotations: Option<Annotations>,
    #[serde(borrow)]
    managed_fields: Option<&'a RawValue>,
}

/// The annotations that name an owner.
#[derive(Deserialize)]
struct Annotations {
    #[serde(rename = "operator-sdk/primary-resource")]
    name: Option<Box<str>>,
    #[serde(rename = "operator-sdk/primary-resource-type")]
    type_: Option<Box<str>>,
}

impl Annotations {
    fn into_owner(self) -> Option<Box<OwnerAnnotations>> {
        Some(Box::new(OwnerAnnotations { name: self.name?, type_: self.type_? }))
    }
}

impl<'de, K> Deserialize<'de> for Observed<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let ObjectJson { metadata } = serde_json::from_str(text).map_err(D::Error::custom)?;
        let managed = metadata.managed_fields.map_or("", RawValue::get);
        let json = match managed {
            "" => text.to_owned(),
            // `part` borrows from `text`, so its offset is the difference of their addresses.
            part => {
                let start = part.as_ptr() as usize - text.as_ptr() as usize;
                format!("{}[]{}", &text[..start], &text[start + part.len()..])
            }
        };
        let annotated_owner = metadata.annotations.and_then(Annotations::into_owner);
        let metadata = ObjectMeta {
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            deletion_timestamp: metadata.deletion_timestamp,
            owner_references: metadata.owner_references,
            ..ObjectMeta::default()
        };
        Ok(Self { json: json.into(), managed: managed.into(), metadata, annotated_owner, kind: PhantomData })
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Observed<K> {
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
            r#"{"metadata":{"name":"a","managedFields": [{"manager":"b"}] ,"labels":{"c":"\"d\""}},"data":{"e":"f"}}"#;
        let observed: Observed<ConfigMap> = serde_json::from_str(object).unwrap();
        let kept = r#"{"metadata":{"name":"a","managedFields": [] ,"labels":{"c":"\"d\""}},"data":{"e":"f"}}"#;
        assert_eq!((&*observed.json, &*observed.managed), (kept, r#"[{"manager":"b"}]"#));
        assert_eq!(observed.metadata.name.as_deref(), Some("a"));
        assert_eq!(observed.decode().unwrap().data.unwrap()["e"], "f");
    }

    #[test]
    fn an_object_without_managed_fields_stays_as_it_is() {
        let object = r#"{"metadata":{"name":"a"}}"#;
        let observed: Observed<ConfigMap> = serde_json::from_str(object).unwrap();
        assert_eq!((&*observed.json, &*observed.managed), (object, ""));
    }
}

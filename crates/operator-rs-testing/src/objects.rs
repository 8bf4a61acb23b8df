//! The methods by which a test puts objects of Rust types into the cluster and reads them.

use super::{Cluster, refusal::Refusal, resource_name, versions::Versions};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::TypeId;

impl Cluster {
    /// With this object from the beginning. Its own uid, resource version and generation stay. If the CRD of its kind
    /// is registered, unknown fields are removed and defaults are filled in.
    ///
    /// # Panics
    /// If it has no name, or a namespaced kind has no namespace.
    pub fn with_object<K: Resource<DynamicType = ()> + Serialize + 'static>(self, object: &K) -> Self {
        self.with_json(&resource_name::<K>(), &[complete_object(object)])
    }

    /// With these objects of one kind from the beginning, as [`with_object`](Self::with_object) adds them.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::api::ObjectMeta;
    /// use operator_rs_testing::Cluster;
    ///
    /// let config = |name: &str| ConfigMap {
    ///     metadata: ObjectMeta { name: Some(name.into()), namespace: Some("default".into()), ..ObjectMeta::default() },
    ///     ..ConfigMap::default()
    /// };
    /// let cluster = Cluster::default().with_objects([config("a"), config("b")]);
    /// assert_eq!(cluster.list::<ConfigMap>().len(), 2);
    /// ```
    ///
    /// # Panics
    /// As [`with_object`](Self::with_object) does.
    pub fn with_objects<K>(self, objects: impl IntoIterator<Item = K>) -> Self
    where
        K: Resource<DynamicType = ()> + Serialize + 'static,
    {
        objects.into_iter().fold(self, |cluster, object| cluster.with_object(&object))
    }

    /// With these objects from the beginning, as if this field manager had applied them: their `managedFields` say so.
    /// The status belongs to the same manager, by its subresource.
    ///
    /// # Panics
    /// As [`with_object`](Self::with_object) does.
    pub fn with_objects_applied_by<K>(self, field_manager: &str, objects: impl IntoIterator<Item = K>) -> Self
    where
        K: Resource<DynamicType = ()> + Serialize + 'static,
    {
        let objects: Vec<Value> = objects.into_iter().map(|object| complete_object(&object)).collect();
        self.with_json_applied_by(field_manager, &resource_name::<K>(), &objects)
    }

    /// Returns an object, or `None`. The namespace of a cluster-scoped object is `None`.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{Namespace, Secret};
    /// use operator_rs_testing::Cluster;
    ///
    /// let cluster = Cluster::default();
    /// assert_eq!(cluster.get::<Secret>("default", "a"), None);
    /// assert_eq!(cluster.get::<Namespace>(None, "a"), None);
    /// ```
    ///
    /// # Panics
    /// If a namespaced kind is given no namespace, if a cluster-scoped kind is given one, or if the type does not read
    /// the object.
    pub fn get<'n, K>(&self, namespace: impl Into<Option<&'n str>>, name: &str) -> Option<K>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + 'static,
    {
        let namespace = checked_namespace::<K>(namespace.into(), name);
        let object = self.get_json(&resource_name::<K>(), namespace, name)?;
        Some(self.read_as(object))
    }

    /// Returns all objects of a kind, ordered by namespace and name.
    ///
    /// # Panics
    /// If the type does not read one.
    pub fn list<K: Resource<DynamicType = ()> + DeserializeOwned + 'static>(&self) -> Vec<K> {
        self.list_json(&resource_name::<K>()).into_iter().map(|object| self.read_as(object)).collect()
    }

    /// Creates or replaces an object, its status too, as another client would. Its resource version does not matter.
    ///
    /// # Errors
    /// As the server refuses it.
    ///
    /// # Panics
    /// If it has no name, or a namespaced kind has no namespace.
    pub fn put<K>(&self, object: &K) -> Result<K, Refusal>
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static,
    {
        self.put_json(&resource_name::<K>(), complete_object(object)).map(|stored| self.read_as(stored))
    }

    /// Edits an object, its status too, as another client would.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// # use operator_rs_testing::Cluster;
    /// # let config = serde_json::json!({ "metadata": { "name": "a", "namespace": "default" } });
    /// # let cluster = Cluster::default().with_json("configmaps", &[config]);
    /// cluster.edit::<ConfigMap>("default", "a", |config| config.immutable = Some(true));
    /// ```
    ///
    /// # Panics
    /// If it does not exist, the server refuses the result, or as [`get`](Self::get) does.
    pub fn edit<'n, K>(&self, namespace: impl Into<Option<&'n str>>, name: &str, edit: impl FnOnce(&mut K))
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static,
    {
        let (resource, namespace) = (resource_name::<K>(), namespace.into());
        let object = self.get::<K>(namespace, name);
        let mut object = object.unwrap_or_else(|| panic!("{}", missing_object(&resource, namespace, name)));
        edit(&mut object);
        self.put(&object).unwrap_or_else(|why| panic!("the edit of {resource} `{name}` is refused: {why}"));
    }

    /// Deletes an object as another client would, with its finalizers and its dependents; nothing happens if it does
    /// not exist.
    ///
    /// # Panics
    /// If a namespaced kind is given no namespace, or a cluster-scoped kind is given one.
    pub fn delete<'n, K>(&self, namespace: impl Into<Option<&'n str>>, name: &str)
    where
        K: Resource<DynamicType = ()> + 'static,
    {
        self.delete_json(&resource_name::<K>(), checked_namespace::<K>(namespace.into(), name), name);
    }

    /// A stored object in the version of a type.
    fn read_as<K: Resource<DynamicType = ()> + DeserializeOwned>(&self, mut object: Value) -> K {
        let (kind, version) = (K::kind(&()), K::api_version(&()));
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let versions = self.with_store(|store| Versions::of(store, &resource_name::<K>()));
        if let Some(versions) = versions.filter(|versions| versions.includes(&version)) {
            let converted = versions.convert(&object, &versions.stored, &version);
            object = converted.unwrap_or_else(|why| panic!("{kind} `{name}` is not converted to {version}: {why}"));
        }
        object["apiVersion"] = version.as_ref().into();
        object["kind"] = kind.as_ref().into();
        let read = serde_json::from_value(object);
        read.unwrap_or_else(|why| panic!("the {kind} `{name}` on the cluster is not one of the Rust type: {why}"))
    }
}

/// The JSON of an object with a type and a complete name.
fn complete_object<K: Resource<DynamicType = ()> + Serialize + 'static>(object: &K) -> Value {
    let kind = K::kind(&());
    let name = object.meta().name.as_deref().unwrap_or_default();
    let namespace = object.meta().namespace.as_deref().filter(|namespace| !namespace.is_empty());
    if is_namespaced::<K>() && namespace.is_none() {
        panic!("the {kind} `{name}` has no `metadata.namespace`: set one, such as `default`");
    }
    if is_cluster_scoped::<K>() && namespace.is_some() {
        panic!("the {kind} `{name}` has a `metadata.namespace`, but {kind} is cluster-scoped: remove it");
    }
    let mut value = serde_json::to_value(object).unwrap_or_else(|why| panic!("the {kind} `{name}` is not JSON: {why}"));
    value["apiVersion"] = K::api_version(&()).as_ref().into();
    value["kind"] = kind.as_ref().into();
    value
}

/// # Panics
/// If there is a namespace where none belongs, or none where one does.
fn checked_namespace<'n, K: Resource<DynamicType = ()> + 'static>(
    namespace: Option<&'n str>,
    name: &str,
) -> Option<&'n str> {
    let (kind, namespace) = (K::kind(&()), namespace.filter(|namespace| !namespace.is_empty()));
    if is_namespaced::<K>() && namespace.is_none() {
        panic!("{kind} is namespaced: pass the namespace of `{name}`, such as `\"default\"`");
    }
    if let (true, Some(namespace)) = (is_cluster_scoped::<K>(), namespace) {
        panic!("{kind} is cluster-scoped: pass `None` in place of the namespace `{namespace}` of `{name}`");
    }
    namespace
}

fn is_namespaced<K: Resource + 'static>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<NamespaceResourceScope>()
}

fn is_cluster_scoped<K: Resource + 'static>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>()
}

/// The message about an object that does not exist.
pub fn missing_object(resource: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{resource}: there is no `{name}` in the namespace `{namespace}`"),
        None => format!("{resource}: there is no cluster-scoped `{name}`, pass the namespace of a namespaced one"),
    }
}

//! The methods by which a test puts objects into the cluster and reads them.

use super::{
    Cluster,
    admission::Desk,
    delete::remove,
    kinds::Kind,
    refusal::Refusal,
    request::Request,
    store::Store,
    structural,
    versions::Versions,
    write::{CRDS, declared, put, write},
};
use serde::Serialize;
use serde_json::Value;

impl Cluster {
    /// With these objects of a resource, such as `deployments.apps` or `pods`. What they say of their own uid,
    /// version and generation stays. Where their CRD is known, unknown fields are removed, and defaults are filled in.
    pub fn with(self, resource: &str, objects: &[impl Serialize]) -> Self {
        for object in objects {
            let mut object = value(object);
            self.with_store(|store| {
                let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
                if let Some(schema) = declared(store, resource, &version) {
                    structural::conform(&mut object, &schema);
                }
                if let Some(versions) = Versions::of(store, resource).filter(|it| it.have(&version)) {
                    let stored = versions.convert(&object, &version, &versions.stored);
                    object = stored.unwrap_or_else(|why| panic!("{}", why.message));
                }
                store.seed(resource, object);
            });
        }
        self
    }

    /// With these CustomResourceDefinitions: lists and maps of their kinds are merged as the schemas say, and their
    /// status is what it declares, a subresource with conditions or not. Without, a custom resource has a status with
    /// conditions, and all its other lists are atomic.
    ///
    /// ```
    /// use kube::{CustomResource, CustomResourceExt};
    /// use operator_rs_testing::Cluster;
    ///
    /// #[derive(CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    /// #[kube(group = "example.com", version = "v1", kind = "Backup", namespaced)]
    /// struct BackupSpec {
    ///     target: String,
    /// }
    ///
    /// let cluster = Cluster::default().with_crds(&[Backup::crd()]);
    /// ```
    pub fn with_crds(self, crds: &[impl Serialize]) -> Self {
        for crd in crds {
            let (resource, kind) = Kind::declared(&value(crd));
            self.with_store(|store| store.collection(&resource).kind = kind);
        }
        self.with(CRDS, crds)
    }

    /// With these objects as if this field manager had applied them: their `managedFields` say so. The status
    /// belongs to the same manager, by its subresource.
    pub fn applied_by(self, manager: &str, resource: &str, objects: &[impl Serialize]) -> Self {
        for object in objects {
            let mut object = value(object);
            let status = self.with_store(|store| store.collection(resource).kind.status) && !object["status"].is_null();
            let mut scratch = Store::default();
            scratch.converter = self.with_store(|it| it.converter.clone());
            let crd = self.with_store(|store| store.get(CRDS, &(String::new(), resource.to_owned())));
            if let Some(crd) = crd {
                scratch.seed(CRDS, crd.value());
            }
            for subresource in ["", "status"].iter().take(1 + usize::from(status)) {
                let request = apply(manager, resource, subresource, &object);
                if let Ok((_, written)) = write(&mut scratch, &request, bare(&object), &mut Desk::empty()) {
                    object["metadata"]["managedFields"] = written.value()["metadata"]["managedFields"].take();
                }
            }
            self.with_store(|store| store.seed(resource, object));
        }
        self
    }

    /// Keeps only this many changes of each resource: a watch from an older version gets 410 Gone.
    pub fn with_window(self, changes: usize) -> Self {
        self.with_store(|store| store.window = changes);
        self
    }

    /// The status of this resource has no conditions: an apply that names them fails.
    pub fn without_conditions(self, resource: &str) -> Self {
        self.with_store(|store| store.collection(resource).kind.conditions = false);
        self
    }

    /// This resource has no subresource `status`.
    pub fn without_status(self, resource: &str) -> Self {
        self.with_store(|store| store.collection(resource).kind.status = false);
        self
    }

    /// An object, or `None`. `namespace` is empty for a cluster-scoped one.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let key = (namespace.to_owned(), name.to_owned());
        self.with_store(|store| store.get(resource, &key)).map(|it| it.value())
    }

    /// All objects of a resource, by namespace and name.
    pub fn list(&self, resource: &str) -> Vec<Value> {
        self.with_store(|store| store.collection(resource).objects.values().map(|it| it.value()).collect())
    }

    /// Creates or replaces an object, its status too, as somebody else would.
    ///
    /// # Errors
    /// As the server would refuse it.
    pub fn put(&self, resource: &str, object: impl Serialize) -> Result<Value, Refusal> {
        let written = self.with_store(|store| put(store, resource, value(&object)));
        self.collect_garbage_soon();
        written.map(|(_, it)| it.value())
    }

    /// Edits an object as somebody else would.
    ///
    /// # Panics
    /// If it is not there.
    pub fn edit(&self, resource: &str, namespace: &str, name: &str, edit: impl FnOnce(&mut Value)) -> Value {
        let mut object = self.get(resource, namespace, name);
        let object = object.as_mut().unwrap_or_else(|| panic!("there is no {resource} {namespace}/{name}"));
        edit(object);
        self.put(resource, object).unwrap_or_else(|it| panic!("{}", it.message))
    }

    /// Deletes an object as somebody else would; nothing happens if it is not there.
    pub fn delete(&self, resource: &str, namespace: &str, name: &str) {
        let key = (namespace.to_owned(), name.to_owned());
        self.with_store(|store| {
            if let Some(object) = store.get(resource, &key) {
                remove(store, resource, &object, "Background");
            }
        });
        self.collect_garbage_soon();
    }
}

fn value(object: &impl Serialize) -> Value {
    serde_json::to_value(object).expect("an object of Kubernetes is JSON")
}

/// Without what an applier does not say.
fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(meta) = object["metadata"].as_object_mut() {
        for name in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
            meta.remove(name);
        }
    }
    object
}

fn apply(manager: &str, resource: &str, subresource: &str, object: &Value) -> Request {
    let word = |it: &str| object["metadata"][it].as_str().unwrap_or_default().to_owned();
    let group = resource.split_once('.').map_or("v1".to_owned(), |(_, group)| format!("{group}/v1"));
    Request {
        verb: "apply",
        resource: resource.into(),
        api_version: object["apiVersion"].as_str().map_or(group, Into::into),
        subresource: subresource.into(),
        namespace: word("namespace"),
        name: word("name"),
        query: [("fieldManager", manager), ("force", "true")].map(|(k, v)| (k.into(), v.into())).into(),
        ..Request::default()
    }
}

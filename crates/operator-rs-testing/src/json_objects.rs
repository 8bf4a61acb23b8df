//! The methods by which a test puts JSON objects into the cluster and reads them, for kinds without a Rust type.

use super::{
    Cluster,
    admission::Desk,
    crd::{CRDS, declared_schema},
    delete::delete_by_policy,
    kinds::{Kind, is_in_core_group},
    objects::missing_object,
    refusal::Refusal,
    request::Request,
    store::Store,
    structural,
    versions::Versions,
    write::{put, write},
};
use serde::Serialize;
use serde_json::Value;

impl Cluster {
    /// With these JSON objects of a resource such as `deployments.apps` or `pods` from the beginning, for kinds without
    /// a Rust type; the twin of [`with_objects`](Self::with_objects).
    ///
    /// # Panics
    /// If an object has no name, or `resource` is not a plural with its group.
    pub fn with_json(self, resource: &str, objects: &[impl Serialize]) -> Self {
        check_resource(resource);
        for object in objects {
            let mut object = to_json(object);
            check_name(resource, &object);
            self.with_store(|store| {
                let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
                if let Some(schema) = declared_schema(store, resource, &version) {
                    structural::conform(&mut object, &schema);
                }
                if let Some(versions) = Versions::of(store, resource).filter(|versions| versions.includes(&version)) {
                    let stored = versions.convert(&object, &version, &versions.stored);
                    object = stored.unwrap_or_else(|why| panic!("an object of {resource} is not converted: {why}"));
                }
                store.seed(resource, object);
            });
        }
        self
    }

    /// With these CustomResourceDefinitions. The server merges lists and maps of their kinds as the schemas declare,
    /// prunes unknown fields, fills in defaults, and has the status subresource if it is declared. Without its CRD, a
    /// custom resource has a status with conditions, and all its other lists are atomic.
    ///
    /// Register a CRD before the objects of its kind.
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
    ///
    /// # Panics
    /// If one of them is not a CustomResourceDefinition.
    pub fn with_crds(self, crds: &[impl Serialize]) -> Self {
        for crd in crds {
            let crd = to_json(crd);
            for path in ["/spec/group", "/spec/names/plural", "/spec/names/kind"] {
                let is_set = crd.pointer(path).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
                let field = path[1..].replace('/', ".");
                assert!(is_set, "`with_crds` is given what is not a CustomResourceDefinition: it has no `{field}`");
            }
            let (resource, kind) = Kind::of_crd(&crd);
            self.with_store(|store| store.collection(&resource).kind = kind);
        }
        self.with_json(CRDS, crds)
    }

    /// With these JSON objects from the beginning, as if this field manager had applied them; the twin of
    /// [`with_objects_applied_by`](Self::with_objects_applied_by).
    ///
    /// # Panics
    /// As [`with_json`](Self::with_json) does.
    pub fn with_json_applied_by(self, manager: &str, resource: &str, objects: &[impl Serialize]) -> Self {
        check_resource(resource);
        for object in objects {
            let mut object = to_json(object);
            check_name(resource, &object);
            let status = self.with_store(|store| store.collection(resource).kind.status) && !object["status"].is_null();
            let mut scratch = Store::default();
            scratch.converter = self.with_store(|store| store.converter.clone());
            let crd = self.with_store(|store| store.get(CRDS, &(String::new(), resource.to_owned())));
            if let Some(crd) = crd {
                scratch.seed(CRDS, crd.value());
            }
            for subresource in ["", "status"].iter().take(1 + usize::from(status)) {
                let request = apply_request(manager, resource, subresource, &object);
                let written =
                    write(&mut scratch, &request, without_server_fields(&object), &mut Desk::without_webhooks());
                let (_, written) = written.unwrap_or_else(|why| {
                    panic!("the field manager `{manager}` cannot apply this object to {resource}: {why}: {object}")
                });
                object["metadata"]["managedFields"] = written.value()["metadata"]["managedFields"].take();
            }
            self.with_store(|store| store.seed(resource, object));
        }
        self
    }

    /// Keeps only this many changes of each resource: a watch from an older version gets 410 Gone.
    pub fn with_history_limit(self, changes: usize) -> Self {
        self.with_store(|store| store.window = changes);
        self
    }

    /// Declares that the status of this resource has no conditions: an apply that sets them fails. This is for kinds
    /// whose CRD is not registered.
    pub fn without_status_conditions(self, resource: &str) -> Self {
        check_resource(resource);
        self.with_store(|store| store.collection(resource).kind.conditions = false);
        self
    }

    /// Declares that this resource has no subresource `status`. This is for kinds whose CRD is not registered.
    pub fn without_status_subresource(self, resource: &str) -> Self {
        check_resource(resource);
        self.with_store(|store| store.collection(resource).kind.status = false);
        self
    }

    /// Returns an object as JSON without `apiVersion` and `kind`, or `None`; the twin of [`get`](Self::get). The
    /// namespace of a cluster-scoped object is `None`, or empty.
    ///
    /// # Panics
    /// If `resource` is not a plural with its group.
    pub fn get_json<'n>(&self, resource: &str, namespace: impl Into<Option<&'n str>>, name: &str) -> Option<Value> {
        check_resource(resource);
        let key = (namespace.into().unwrap_or_default().to_owned(), name.to_owned());
        self.with_store(|store| store.get(resource, &key)).map(|object| object.value())
    }

    /// Returns all objects of a resource as JSON without `apiVersion` and `kind`, ordered by namespace and name; the
    /// twin of [`list`](Self::list).
    ///
    /// # Panics
    /// If `resource` is not a plural with its group.
    pub fn list_json(&self, resource: &str) -> Vec<Value> {
        check_resource(resource);
        self.with_store(|store| store.collection(resource).objects.values().map(|object| object.value()).collect())
    }

    /// Creates or replaces a JSON object, its status too, as another client would; the twin of [`put`](Self::put).
    ///
    /// # Errors
    /// As the server refuses it.
    ///
    /// # Panics
    /// If `resource` is not a plural with its group.
    pub fn put_json(&self, resource: &str, object: impl Serialize) -> Result<Value, Refusal> {
        check_resource(resource);
        let written = self.with_store(|store| put(store, resource, to_json(&object)));
        self.collect_garbage_soon();
        written.map(|(_, object)| object.value())
    }

    /// Edits the JSON of an object, its status too, as another client would; the twin of [`edit`](Self::edit).
    ///
    /// # Panics
    /// If it does not exist, the server refuses the result, or `resource` is not a plural with its group.
    pub fn edit_json<'n>(
        &self,
        resource: &str,
        namespace: impl Into<Option<&'n str>>,
        name: &str,
        edit: impl FnOnce(&mut Value),
    ) {
        let namespace = namespace.into();
        let object = self.get_json(resource, namespace, name);
        let mut object = object.unwrap_or_else(|| panic!("{}", missing_object(resource, namespace, name)));
        edit(&mut object);
        self.put_json(resource, object)
            .unwrap_or_else(|why| panic!("the edit of {resource} `{name}` is refused: {why}"));
    }

    /// Deletes an object as another client would; the twin of [`delete`](Self::delete).
    ///
    /// # Panics
    /// If `resource` is not a plural with its group.
    pub fn delete_json<'n>(&self, resource: &str, namespace: impl Into<Option<&'n str>>, name: &str) {
        check_resource(resource);
        let key = (namespace.into().unwrap_or_default().to_owned(), name.to_owned());
        self.with_store(|store| {
            if let Some(object) = store.get(resource, &key) {
                delete_by_policy(store, resource, &object, "Background");
            }
        });
        self.collect_garbage_soon();
    }
}

/// # Panics
/// If a resource is not written as the server knows it: a misspelled one would be an empty list.
fn check_resource(resource: &str) {
    let is_known = match resource.split_once('.') {
        Some((plural, group)) => !plural.is_empty() && !group.is_empty(),
        None => is_in_core_group(resource),
    };
    let is_lower_case = !resource.chars().any(|letter| letter.is_uppercase() || letter == '/');
    assert!(
        is_known && is_lower_case,
        "`{resource}` is not a resource: write the plural, and the group if it is not the core group, as in `configmaps` \
         and `deployments.apps`"
    );
}

/// # Panics
/// If an object has no name.
fn check_name(resource: &str, object: &Value) {
    let is_named = object["metadata"]["name"].as_str().is_some_and(|name| !name.is_empty());
    assert!(is_named, "an object of {resource} has no `metadata.name`: {object}");
}

fn to_json(object: &impl Serialize) -> Value {
    serde_json::to_value(object).expect("an object of Kubernetes is JSON")
}

/// Without what an applier does not say.
fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(meta) = object["metadata"].as_object_mut() {
        for name in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
            meta.remove(name);
        }
    }
    object
}

fn apply_request(manager: &str, resource: &str, subresource: &str, object: &Value) -> Request {
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

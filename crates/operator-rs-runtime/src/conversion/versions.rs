//! The versions of a kind, and the ways between them.

use super::{
    agree::{drop_nulls, merge, reduce_to_differences},
    object::Source,
    partial::{Fault, Outcome, convert_partial},
    review::Convert,
    schema::Node,
};
use kube::{CustomResourceExt, Resource};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The annotation of a lossless conversion may be this long. All annotations of an object together have 256 KiB.
const LONGEST: usize = 200 * 1024;

/// A version that all others of its kind are converted through: by convention, the one that is stored.
///
/// ```
/// # mod v1 {
/// #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
/// #     #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub replicas: u32 }
/// # }
/// # mod v1alpha1 {
/// #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
/// #     #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub size: u32 }
/// # }
/// impl From<v1alpha1::Memcached> for v1::Memcached {
///     fn from(from: v1alpha1::Memcached) -> Self {
///         let v1alpha1::MemcachedSpec { size } = from.spec;
///         Self { metadata: from.metadata, spec: v1::MemcachedSpec { replicas: size } }
///     }
/// }
///
/// impl From<v1::Memcached> for v1alpha1::Memcached {
///     fn from(from: v1::Memcached) -> Self {
///         let v1::MemcachedSpec { replicas } = from.spec;
///         Self { metadata: from.metadata, spec: v1alpha1::MemcachedSpec { size: replicas } }
///     }
/// }
///
/// let hub = runtime::conversion::Hub::<v1::Memcached>::new().spoke::<v1alpha1::Memcached>();
/// ```
pub struct Hub<H> {
    hub: Version<H>,
    spokes: Vec<Version<H>>,
    annotation: Option<String>,
}

/// A version, its schema, and the ways from and to the hub.
struct Version<H> {
    name: String,
    schema: Node,
    to_hub: fn(&Value) -> serde_json::Result<H>,
    from_hub: fn(H) -> serde_json::Result<Value>,
    read: fn(&str) -> serde_json::Result<()>,
}

impl<H> Default for Hub<H>
where
    H: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<H> Hub<H>
where
    H: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
{
    /// A kind with this hub, and no other versions yet.
    pub fn new() -> Self {
        let hub = Version {
            name: H::version(&()).into_owned(),
            schema: Node::of(H::crd(), &H::version(&())),
            to_hub: |value| H::deserialize(value),
            from_hub: |hub| serde_json::to_value(hub),
            read: |text| serde_json::from_str::<H>(text).map(drop),
        };
        Self { hub, spokes: Vec::new(), annotation: None }
    }

    /// Adds a version that is converted to the hub and back.
    ///
    /// # Panics
    /// If it is a version of another kind, or the hub has this version already.
    #[must_use]
    pub fn spoke<S>(mut self) -> Self
    where
        H: From<S>,
        S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    {
        let (kind, version) = (S::crd_name(), S::version(&()));
        assert!(kind == H::crd_name(), "`{kind}` is a spoke of `{}`, which is another kind", H::crd_name());
        assert!(self.version(&version).is_none(), "`{kind}` has the version `{version}` twice");
        self.spokes.push(Version {
            name: version.clone().into_owned(),
            schema: Node::of(S::crd(), &version),
            to_hub: |value| S::deserialize(value).map(H::from),
            from_hub: |hub| serde_json::to_value(S::from(hub)),
            read: |text| serde_json::from_str::<S>(text).map(drop),
        });
        self
    }

    /// Keeps what a spoke cannot express in this annotation of the spoke's objects, such as
    /// `example.com/conversion-data`, and restores it when they are converted back.
    ///
    /// It has the fields of the hub that differ after a conversion to the spoke and back; a list counts as one field.
    /// A field that was changed in the spoke since is not restored. If it would be longer than 200 KiB, the conversion
    /// fails.
    #[must_use]
    pub fn lossless(mut self, annotation: &str) -> Self {
        self.annotation = Some(annotation.to_owned());
        self
    }
}

impl<H> Hub<H> {
    fn version(&self, name: &str) -> Option<&Version<H>> {
        std::iter::once(&self.hub).chain(&self.spokes).find(|it| it.name == name)
    }

    /// Converts a complete object.
    fn convert_complete(&self, from: &Version<H>, to: &Version<H>, object: &Value) -> Result<Outcome, Fault> {
        let mut hub = (from.to_hub)(object).map_err(Fault::Unreadable)?;
        let annotation = self.annotation.as_deref().unwrap_or_default();
        let data = object["metadata"]["annotations"][annotation].as_str();
        if let Some(data) = data.filter(|_| from.name != self.hub.name) {
            let unreadable = |why| Fault::Other(format!("annotation `{annotation}`: {why}"));
            hub = self.restore(hub, data).map_err(unreadable)?;
        }
        if annotation.is_empty() || to.name == self.hub.name {
            return Ok(Outcome { object: (to.from_hub)(hub)?, ..Outcome::default() });
        }
        let complete = (self.hub.from_hub)(hub)?;
        let object = (to.from_hub)((self.hub.to_hub)(&complete)?)?;
        let back = (self.hub.from_hub)((to.to_hub)(&object)?)?;
        Ok(Outcome { object, hub: without_metadata(complete), back: without_metadata(back) })
    }

    /// Sets the fields that a spoke has lost.
    fn restore(&self, hub: H, data: &str) -> serde_json::Result<H> {
        let lost: Lost = serde_json::from_str(data)?;
        let mut object = (self.hub.from_hub)(hub)?;
        let metadata = object["metadata"].take();
        let mut restored = merge(&lost.hub, &lost.back, without_metadata(object));
        restored["metadata"] = metadata;
        (self.hub.to_hub)(&restored)
    }

    /// Replaces the annotation of a lossless conversion.
    fn annotate(&self, mut outcome: Outcome) -> Result<Value, String> {
        let Some(annotation) = &self.annotation else { return Ok(outcome.object) };
        reduce_to_differences(&mut outcome.hub, &mut outcome.back);
        let lost = Lost { hub: outcome.hub, back: outcome.back };
        let annotations = &mut outcome.object["metadata"]["annotations"];
        let old = annotations.as_object_mut().and_then(|it| it.remove(annotation));
        if lost.hub == lost.back {
            if old.is_some() && annotations.as_object().is_some_and(Map::is_empty) {
                annotations.take();
            }
        } else {
            let text = serde_json::to_string(&lost).map_err(|it| it.to_string())?;
            if text.len() > LONGEST {
                return Err(format!("the fields that this version does not have do not fit into `{annotation}`"));
            }
            annotations[annotation] = text.into();
        }
        Ok(outcome.object)
    }
}

impl<H: Resource<DynamicType = ()>> Convert for Hub<H> {
    fn group(&self) -> String {
        H::group(&()).into_owned()
    }

    fn kind(&self) -> String {
        H::kind(&()).into_owned()
    }

    fn versions(&self) -> Vec<&str> {
        std::iter::once(&self.hub).chain(&self.spokes).map(|it| it.name.as_str()).collect()
    }

    fn convert(&self, from: &str, to: &str, source: &Source) -> Result<Value, String> {
        let (Some(from), Some(to)) = (self.version(from), self.version(to)) else {
            return Err(format!("the known versions are {}", self.versions().join(", ")));
        };
        let convert = |object: &Value| self.convert_complete(from, to, object);
        let outcome = convert_partial(source, &from.schema, from.read, convert)?;
        let mut object = self.annotate(outcome)?;
        drop_nulls(&mut object, &to.schema);
        Ok(object)
    }
}

/// What a lossless conversion keeps: fields of the hub, and their values after a conversion to the spoke and back.
#[derive(Deserialize, Serialize)]
struct Lost {
    hub: Value,
    back: Value,
}

fn without_metadata(mut object: Value) -> Value {
    if let Value::Object(object) = &mut object {
        for name in ["apiVersion", "kind", "metadata"] {
            object.remove(name);
        }
    }
    object
}

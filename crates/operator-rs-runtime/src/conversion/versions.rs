//! The versions of a kind, and the ways between them.

use super::{
    agree::{drop_nulls, merge, reduce_to_differences},
    keyed::{remove_orders, to_lists, to_maps},
    object::Source,
    partial::{Fault, Outcome, convert_partial},
    path::Key as _,
    review::Convert,
    schema::Node,
};
use kube::{CustomResourceExt, Resource};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{any::Any, sync::Arc};

/// The annotation of a lossless conversion may be this long. All annotations of an object together have 256 KiB.
const LONGEST: usize = 200 * 1024;

/// A version that all others of its kind are converted through: by convention, the one that is stored.
pub struct Hub<H> {
    hub: Version<H>,
    spokes: Vec<Version<H>>,
}

/// A version, its schema, and the ways from and to the hub.
struct Version<H> {
    name: String,
    schema: Arc<Node>,
    /// The annotation that keeps what this version cannot express.
    annotation: Option<String>,
    to_hub: fn(&Value) -> serde_json::Result<H>,
    from_hub: fn(H) -> serde_json::Result<Value>,
    read: fn(&str) -> serde_json::Result<()>,
}

impl<H> Hub<H>
where
    H: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
{
    /// A kind with this hub, and one version that is converted to it and back.
    ///
    /// # Panics
    /// If it is a version of another kind, or the hub itself.
    pub fn new<S>(annotation: Option<&str>) -> Self
    where
        H: From<S>,
        S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    {
        let hub = Version {
            name: H::version(&()).into_owned(),
            schema: Node::of(H::crd(), &H::version(&())).into(),
            annotation: None,
            to_hub: |value| H::deserialize(value),
            from_hub: |hub| serde_json::to_value(hub),
            read: |text| serde_json::from_str::<H>(text).map(drop),
        };
        let (kind, version) = (S::crd_name(), S::version(&()));
        assert!(kind == H::crd_name(), "`{kind}` is a spoke of `{}`, which is another kind", H::crd_name());
        assert!(version != hub.name, "`{kind}` has the version `{version}` twice");
        let spoke = Version {
            name: version.clone().into_owned(),
            schema: Node::of(S::crd(), &version).into(),
            annotation: annotation.map(str::to_owned),
            to_hub: |value| S::deserialize(value).map(H::from),
            from_hub: |hub| serde_json::to_value(S::from(hub)),
            read: |text| serde_json::from_str::<S>(text).map(drop),
        };
        Self { hub, spokes: vec![spoke] }
    }
}

impl<H> Clone for Version<H> {
    fn clone(&self) -> Self {
        let Self { name, schema, annotation, to_hub, from_hub, read } = self;
        Self {
            name: name.clone(),
            schema: schema.clone(),
            annotation: annotation.clone(),
            to_hub: *to_hub,
            from_hub: *from_hub,
            read: *read,
        }
    }
}

impl<H> Hub<H> {
    fn version(&self, name: &str) -> Option<&Version<H>> {
        std::iter::once(&self.hub).chain(&self.spokes).find(|it| it.name == name)
    }

    /// Converts a complete object.
    fn convert_complete(&self, from: &Version<H>, to: &Version<H>, object: &Value) -> Result<Outcome, Fault> {
        let mut hub = (from.to_hub)(object).map_err(Fault::Unreadable)?;
        let kept = from.annotation.as_deref().unwrap_or_default();
        if let Some(data) = object["metadata"]["annotations"][kept].as_str() {
            let unreadable = |why| Fault::Other(format!("annotation `{kept}`: {why}"));
            hub = self.restore(hub, data).map_err(unreadable)?;
        }
        if to.annotation.is_none() {
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
        let mut object = without_metadata(object);
        to_maps(&mut object, &self.hub.schema);
        let mut restored = merge(&lost.hub, &lost.back, object);
        to_lists(&mut restored, &self.hub.schema, &lost.hub);
        restored["metadata"] = metadata;
        (self.hub.to_hub)(&restored)
    }

    /// Replaces the annotation of a lossless conversion.
    fn annotate(&self, from: &Version<H>, to: &Version<H>, mut outcome: Outcome) -> Result<Value, String> {
        let annotations = &mut outcome.object["metadata"]["annotations"];
        for annotation in [from, to].into_iter().filter_map(|it| it.annotation.as_ref()) {
            let old = annotations.as_object_mut().and_then(|it| it.remove(annotation));
            if old.is_some() && annotations.as_object().is_some_and(Map::is_empty) {
                annotations.take();
            }
        }
        let Some(annotation) = &to.annotation else { return Ok(outcome.object) };
        to_maps(&mut outcome.hub, &self.hub.schema);
        to_maps(&mut outcome.back, &self.hub.schema);
        reduce_to_differences(&mut outcome.hub, &mut outcome.back);
        remove_orders(&mut outcome.back, &outcome.hub, &self.hub.schema);
        let lost = Lost { hub: outcome.hub, back: outcome.back };
        if lost.hub != lost.back {
            let text = serde_json::to_string(&lost).map_err(|it| it.to_string())?;
            if text.len() > LONGEST {
                let (field, size) = (largest_field(&lost.hub, &self.hub.schema), text.len().div_ceil(1024));
                return Err(format!(
                    "what {to} does not have does not fit into the annotation `{annotation}`: it is {size} KiB long, most of it \
                     `{field}` of {}, and may be {} KiB; add the field to {to}, or give the items of a list keys: \
                     `#[x_kube(merge_strategy = ListMerge::Map(…))]`",
                    self.hub.name,
                    LONGEST / 1024,
                    to = to.name,
                ));
            }
            annotations[annotation] = text.into();
        }
        Ok(outcome.object)
    }
}

impl<H: Resource<DynamicType = ()> + 'static> Convert for Hub<H> {
    fn joined(&self, other: &dyn Convert) -> Result<Arc<dyn Convert>, String> {
        let name = format!("{}.{}", self.kind(), self.group());
        let Some(other) = (other as &dyn Any).downcast_ref::<Self>() else {
            return Err(format!("`{name}` has two hubs: convert all versions to and from one of them"));
        };
        let twice = other.spokes.iter().find(|it| self.version(&it.name).is_some());
        match twice {
            Some(it) => Err(format!("`{name}` has the version `{}` twice", it.name)),
            None => Ok(Arc::new(Self { hub: self.hub.clone(), spokes: [&self.spokes[..], &other.spokes].concat() })),
        }
    }

    fn group(&self) -> String {
        H::group(&()).into_owned()
    }

    fn kind(&self) -> String {
        H::kind(&()).into_owned()
    }

    fn crd(&self) -> String {
        format!("{}.{}", H::plural(&()), H::group(&()))
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
        let mut object = self.annotate(from, to, outcome)?;
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

/// The path of the declared field that takes most space.
fn largest_field(mut value: &Value, mut schema: &Node) -> String {
    let mut path = String::new();
    while let Value::Object(fields) = value {
        let largest = fields.iter().max_by_key(|(_, field)| field.to_string().len());
        let Some((name, field)) = largest else { break };
        let Some(field_schema) = schema.properties.get(name) else { break };
        name.as_str().append(&mut path);
        (value, schema) = (field, field_schema);
    }
    path
}

fn without_metadata(mut object: Value) -> Value {
    if let Value::Object(object) = &mut object {
        for name in ["apiVersion", "kind", "metadata"] {
            object.remove(name);
        }
    }
    object
}

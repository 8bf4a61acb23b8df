//! The versions of a kind, and the conversions between them.

use super::{
    agree::{drop_nulls, merge_changes, reduce_to_differences},
    keyed::{remove_orders, to_lists, to_maps},
    object::Source,
    partial::{ConversionOutcome, Fault, convert_partial},
    path::PathSegment as _,
    review::Convert,
    schema::Node,
};
use kube::{CustomResourceExt, Resource};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{any::Any, sync::Arc};

/// The maximum length of the annotation of a lossless conversion. All annotations of an object may have 256 KiB.
const MAX_ANNOTATION_BYTES: usize = 200 * 1024;

/// The version through which all versions of its kind are converted, by convention the stored one, and its spokes.
pub struct ConversionHub<H> {
    hub: KindVersion<H>,
    spokes: Vec<KindVersion<H>>,
}

/// A version, its schema, and its conversions to and from the hub.
struct KindVersion<H> {
    name: String,
    schema: Arc<Node>,
    /// The annotation that keeps the fields of the hub that this version cannot express.
    annotation: Option<String>,
    to_hub: fn(&Value) -> serde_json::Result<H>,
    from_hub: fn(H) -> serde_json::Result<Value>,
    read: fn(&str) -> serde_json::Result<()>,
}

impl<H> ConversionHub<H>
where
    H: Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
{
    /// Returns a kind with this hub and one spoke.
    ///
    /// # Panics
    /// If the spoke is a version of another kind, or the hub itself.
    pub fn new<S>(annotation: Option<&str>) -> Self
    where
        H: From<S>,
        S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
    {
        let hub = KindVersion {
            name: H::version(&()).into_owned(),
            schema: Node::for_version(H::crd(), &H::version(&())).into(),
            annotation: None,
            to_hub: |value| H::deserialize(value),
            from_hub: |hub| serde_json::to_value(hub),
            read: |text| serde_json::from_str::<H>(text).map(drop),
        };
        let (kind, version) = (S::crd_name(), S::version(&()));
        assert!(kind == H::crd_name(), "`{kind}` is a spoke of `{}`, which is another kind", H::crd_name());
        assert!(version != hub.name, "`{kind}` has the version `{version}` twice");
        let spoke = KindVersion {
            name: version.clone().into_owned(),
            schema: Node::for_version(S::crd(), &version).into(),
            annotation: annotation.map(str::to_owned),
            to_hub: |value| S::deserialize(value).map(H::from),
            from_hub: |hub| serde_json::to_value(S::from(hub)),
            read: |text| serde_json::from_str::<S>(text).map(drop),
        };
        Self { hub, spokes: vec![spoke] }
    }
}

impl<H> Clone for KindVersion<H> {
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

impl<H> ConversionHub<H> {
    fn find_version(&self, name: &str) -> Option<&KindVersion<H>> {
        std::iter::once(&self.hub).chain(&self.spokes).find(|version| version.name == name)
    }

    /// Converts a complete object.
    fn convert_complete(
        &self,
        from: &KindVersion<H>,
        to: &KindVersion<H>,
        object: &Value,
    ) -> Result<ConversionOutcome, Fault> {
        let mut hub = (from.to_hub)(object).map_err(Fault::Unreadable)?;
        let annotation = from.annotation.as_deref().unwrap_or_default();
        if let Some(data) = object["metadata"]["annotations"][annotation].as_str() {
            let unreadable = |why| Fault::Other(format!("annotation `{annotation}`: {why}"));
            hub = self.restore_fields(hub, data).map_err(unreadable)?;
        }
        if to.annotation.is_none() {
            return Ok(ConversionOutcome { object: (to.from_hub)(hub)?, ..ConversionOutcome::default() });
        }
        let complete = (self.hub.from_hub)(hub)?;
        let object = (to.from_hub)((self.hub.to_hub)(&complete)?)?;
        let back = (self.hub.from_hub)((to.to_hub)(&object)?)?;
        Ok(ConversionOutcome { object, hub: without_metadata(complete), back: without_metadata(back) })
    }

    /// Restores the fields that a conversion to a spoke has lost.
    fn restore_fields(&self, hub: H, data: &str) -> serde_json::Result<H> {
        let lost: Lost = serde_json::from_str(data)?;
        let mut object = (self.hub.from_hub)(hub)?;
        let metadata = object["metadata"].take();
        let mut object = without_metadata(object);
        to_maps(&mut object, &self.hub.schema);
        let mut restored = merge_changes(&lost.hub, &lost.back, object);
        to_lists(&mut restored, &self.hub.schema, &lost.hub);
        restored["metadata"] = metadata;
        (self.hub.to_hub)(&restored)
    }

    /// Replaces the annotation of a lossless conversion, and returns the object.
    fn update_annotation(
        &self,
        from: &KindVersion<H>,
        to: &KindVersion<H>,
        mut outcome: ConversionOutcome,
    ) -> Result<Value, String> {
        let annotations = &mut outcome.object["metadata"]["annotations"];
        for annotation in [from, to].into_iter().filter_map(|version| version.annotation.as_ref()) {
            let old = annotations.as_object_mut().and_then(|annotations| annotations.remove(annotation));
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
            let json = serde_json::to_string(&lost).map_err(|error| error.to_string())?;
            if json.len() > MAX_ANNOTATION_BYTES {
                let (field, size) = (largest_field(&lost.hub, &self.hub.schema), json.len().div_ceil(1024));
                return Err(format!(
                    "what {to} does not have does not fit into the annotation `{annotation}`: it is {size} KiB long, most of it \
                     `{field}` of {}, and may be {} KiB; add the field to {to}, or give the items of a list keys: \
                     `#[x_kube(merge_strategy = ListMerge::Map(…))]`",
                    self.hub.name,
                    MAX_ANNOTATION_BYTES / 1024,
                    to = to.name,
                ));
            }
            annotations[annotation] = json.into();
        }
        Ok(outcome.object)
    }
}

impl<H: Resource<DynamicType = ()> + 'static> Convert for ConversionHub<H> {
    fn join_versions(&self, other: &dyn Convert) -> Result<Arc<dyn Convert>, String> {
        let name = format!("{}.{}", self.kind(), self.group());
        let Some(other) = (other as &dyn Any).downcast_ref::<Self>() else {
            return Err(format!("`{name}` has two hubs: convert all versions to and from one of them"));
        };
        let duplicate = other.spokes.iter().find(|spoke| self.find_version(&spoke.name).is_some());
        match duplicate {
            Some(spoke) => Err(format!("`{name}` has the version `{}` twice", spoke.name)),
            None => Ok(Arc::new(Self { hub: self.hub.clone(), spokes: [&self.spokes[..], &other.spokes].concat() })),
        }
    }

    fn group(&self) -> String {
        H::group(&()).into_owned()
    }

    fn kind(&self) -> String {
        H::kind(&()).into_owned()
    }

    fn crd_name(&self) -> String {
        format!("{}.{}", H::plural(&()), H::group(&()))
    }

    fn versions(&self) -> Vec<&str> {
        std::iter::once(&self.hub).chain(&self.spokes).map(|version| version.name.as_str()).collect()
    }

    fn convert(&self, from: &str, to: &str, source: &Source) -> Result<Value, String> {
        let (Some(from), Some(to)) = (self.find_version(from), self.find_version(to)) else {
            return Err(format!("the known versions are {}", self.versions().join(", ")));
        };
        let convert = |object: &Value| self.convert_complete(from, to, object);
        let outcome = convert_partial(source, &from.schema, from.read, convert)?;
        let mut object = self.update_annotation(from, to, outcome)?;
        drop_nulls(&mut object, &to.schema);
        Ok(object)
    }
}

/// The content of the annotation: fields of the hub, and their values after a conversion to the spoke and back.
#[derive(Deserialize, Serialize)]
struct Lost {
    hub: Value,
    back: Value,
}

/// Returns the path of the largest declared field.
fn largest_field(mut value: &Value, mut schema: &Node) -> String {
    let mut path = String::new();
    while let Value::Object(fields) = value {
        let largest = fields.iter().max_by_key(|(_, field)| field.to_string().len());
        let Some((name, field)) = largest else { break };
        let Some(field_schema) = schema.properties.get(name) else { break };
        name.as_str().append_to(&mut path);
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

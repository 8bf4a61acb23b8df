//! An object in a review. Only the fields that a conversion reads are parsed.

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// An object as the API server sent it.
pub struct Source<'a> {
    pub api_version: String,
    pub kind: String,
    metadata: BTreeMap<String, &'a RawValue>,
    fields: BTreeMap<String, &'a RawValue>,
}

/// A JSON value that may contain raw JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum PartlyRaw<'a> {
    Raw(&'a RawValue),
    Value(Value),
    Object(BTreeMap<String, PartlyRaw<'a>>),
}

impl<'a> Source<'a> {
    pub fn parse(object: &'a RawValue) -> Result<Self, String> {
        let mut fields: BTreeMap<String, &RawValue> =
            serde_json::from_str(object.get()).map_err(|why| format!("an object is not valid: {why}"))?;
        let mut take_string = |name: &str| {
            let string = fields.remove(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
            string.ok_or_else(|| format!("an object has no `{name}`"))
        };
        let (api_version, kind) = (take_string("apiVersion")?, take_string("kind")?);
        let metadata = fields.remove("metadata").filter(|raw| raw.get() != "null");
        let metadata = metadata.map(|raw| serde_json::from_str(raw.get())).transpose();
        let metadata = metadata.map_err(|why| format!("`metadata` of an object is not valid: {why}"))?;
        Ok(Self { api_version, kind, metadata: metadata.unwrap_or_default(), fields })
    }

    pub fn namespace_and_name(&self) -> (Option<String>, Option<String>) {
        let string = |name| self.metadata.get(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        (string("namespace"), string("name"))
    }

    /// Returns the kind, the namespace and the name, for messages.
    pub fn display_name(&self) -> String {
        let name = match self.namespace_and_name() {
            (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
            (_, name) => name.unwrap_or_else(|| "without a name".to_owned()),
        };
        format!("{} `{name}`", self.kind)
    }

    /// Parses the object, except for the managed fields, which a conversion cannot change.
    pub fn to_value(&self) -> Result<Value, String> {
        let parse = |(name, raw): (&String, &&RawValue)| Ok((name.clone(), serde_json::from_str(raw.get())?));
        let metadata = self.metadata.iter().filter(|(name, _)| *name != "managedFields").map(parse);
        let fields = self.fields.iter().map(parse);
        let parsed = fields.collect::<serde_json::Result<Map<String, Value>>>().and_then(|mut object| {
            object.insert("apiVersion".to_owned(), self.api_version.as_str().into());
            object.insert("kind".to_owned(), self.kind.as_str().into());
            object.insert("metadata".to_owned(), Value::Object(metadata.collect::<serde_json::Result<_>>()?));
            Ok(Value::Object(object))
        });
        parsed.map_err(|why| why.to_string())
    }

    /// Serializes a converted object with its labels and annotations, and with the rest of the metadata of the source.
    pub fn serialize_converted(&self, api_version: &str, mut converted: Value) -> Result<String, String> {
        let mut metadata: BTreeMap<_, _> = self.metadata.iter().map(|(k, v)| (k.clone(), PartlyRaw::Raw(v))).collect();
        for name in ["labels", "annotations"] {
            metadata.remove(name);
            let value = converted["metadata"][name].take();
            if !value.is_null() {
                metadata.insert(name.to_owned(), PartlyRaw::Value(value));
            }
        }
        let Value::Object(converted) = converted else { return Err("it is not an object".to_owned()) };
        let mut object: BTreeMap<_, _> = converted.into_iter().map(|(k, v)| (k, PartlyRaw::Value(v))).collect();
        object.insert("apiVersion".to_owned(), PartlyRaw::Value(api_version.into()));
        object.insert("kind".to_owned(), PartlyRaw::Value(self.kind.as_str().into()));
        object.insert("metadata".to_owned(), PartlyRaw::Object(metadata));
        serde_json::to_string(&object).map_err(|why| why.to_string())
    }
}

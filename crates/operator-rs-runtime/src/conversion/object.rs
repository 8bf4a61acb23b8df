//! An object in a review: its text, of which only what is converted is parsed.

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// An object as the API server has sent it.
pub struct Source<'a> {
    pub api_version: String,
    pub kind: String,
    metadata: BTreeMap<String, &'a RawValue>,
    fields: BTreeMap<String, &'a RawValue>,
}

/// A part of the answer.
#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Raw(&'a RawValue),
    Value(Value),
    Object(BTreeMap<String, Part<'a>>),
}

impl<'a> Source<'a> {
    pub fn parse(object: &'a RawValue) -> Result<Self, String> {
        let mut fields: BTreeMap<String, &RawValue> =
            serde_json::from_str(object.get()).map_err(|why| format!("an object is not valid: {why}"))?;
        let mut text = |name: &str| {
            let text = fields.remove(name).and_then(|it| serde_json::from_str::<String>(it.get()).ok());
            text.ok_or_else(|| format!("an object has no `{name}`"))
        };
        let (api_version, kind) = (text("apiVersion")?, text("kind")?);
        let metadata = fields.remove("metadata").filter(|it| it.get() != "null");
        let metadata = metadata.map(|it| serde_json::from_str(it.get())).transpose();
        let metadata = metadata.map_err(|why| format!("`metadata` of an object is not valid: {why}"))?;
        Ok(Self { api_version, kind, metadata: metadata.unwrap_or_default(), fields })
    }

    /// The namespace and the name.
    pub fn names(&self) -> (Option<String>, Option<String>) {
        let text = |name| self.metadata.get(name).and_then(|it| serde_json::from_str::<String>(it.get()).ok());
        (text("namespace"), text("name"))
    }

    /// The kind, the namespace and the name.
    pub fn name(&self) -> String {
        let name = match self.names() {
            (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
            (_, name) => name.unwrap_or_else(|| "without a name".to_owned()),
        };
        format!("{} `{name}`", self.kind)
    }

    /// The object as a value, but for the fields of field managers: a conversion cannot change them.
    pub fn read(&self) -> Result<Value, String> {
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

    /// The text of a converted object: labels and annotations are its own, the rest of the metadata is the source's.
    pub fn write(&self, api_version: &str, mut converted: Value) -> Result<String, String> {
        let mut metadata: BTreeMap<_, _> = self.metadata.iter().map(|(k, v)| (k.clone(), Part::Raw(v))).collect();
        for name in ["labels", "annotations"] {
            metadata.remove(name);
            let value = converted["metadata"][name].take();
            if !value.is_null() {
                metadata.insert(name.to_owned(), Part::Value(value));
            }
        }
        let Value::Object(converted) = converted else { return Err("it is not an object".to_owned()) };
        let mut object: BTreeMap<_, _> = converted.into_iter().map(|(k, v)| (k, Part::Value(v))).collect();
        object.insert("apiVersion".to_owned(), Part::Value(api_version.into()));
        object.insert("kind".to_owned(), Part::Value(self.kind.as_str().into()));
        object.insert("metadata".to_owned(), Part::Object(metadata));
        serde_json::to_string(&object).map_err(|why| why.to_string())
    }
}

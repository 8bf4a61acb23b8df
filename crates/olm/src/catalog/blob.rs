//! What a catalog consists of. Each blob becomes data with the fields that `opm` writes.

use go_data::yaml::{Map, Value, json};

pub const PACKAGE: &str = "olm.package";
pub const CHANNEL: &str = "olm.channel";
pub const BUNDLE: &str = "olm.bundle";
pub const DEPRECATIONS: &str = "olm.deprecations";

/// Types of properties.
pub mod property {
    pub const PACKAGE: &str = "olm.package";
    pub const PACKAGE_REQUIRED: &str = "olm.package.required";
    pub const GVK: &str = "olm.gvk";
    pub const GVK_REQUIRED: &str = "olm.gvk.required";
    pub const OBJECT: &str = "olm.bundle.object";
    pub const CSV_METADATA: &str = "olm.csv.metadata";
    pub const CHANNEL: &str = "olm.channel";
}

#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    pub type_: String,
    /// `None` where it is not given.
    pub value: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Package {
    pub name: String,
    pub default_channel: String,
    pub icon: Option<Icon>,
    pub description: String,
    pub properties: Vec<Property>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Icon {
    /// In base64; `None` where it is not given.
    pub data: Option<String>,
    pub media_type: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channel {
    pub name: String,
    pub package: String,
    /// `None` where the field is not given.
    pub entries: Option<Vec<Entry>>,
    pub properties: Vec<Property>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub name: String,
    pub replaces: String,
    pub skips: Vec<String>,
    pub skip_range: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    pub name: String,
    pub package: String,
    pub image: String,
    pub properties: Vec<Property>,
    pub related_images: Vec<RelatedImage>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RelatedImage {
    pub name: String,
    pub image: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deprecations {
    pub package: String,
    /// `None` where the field is not given.
    pub entries: Option<Vec<Deprecated>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Deprecated {
    pub schema: String,
    pub name: String,
    pub message: String,
}

/// A blob of a schema that OLM does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    pub schema: String,
    pub package: String,
    pub value: Value,
}

/// Fields of a Go struct; those that are added by `some` are left out where they are empty.
struct Fields(Map<String, Value>);

impl Fields {
    fn new(schema: &str) -> Self {
        Self(Map::new()).all("schema", json!(schema))
    }

    fn all(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn some(self, name: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.all(name, text) }
    }

    fn list<T>(self, name: &str, items: &[T], value: impl Fn(&T) -> Value) -> Self {
        if items.is_empty() {
            return self;
        }
        self.all(name, items.iter().map(value).collect::<Vec<_>>())
    }
}

impl Property {
    pub fn new(type_: &str, value: Value) -> Self {
        Self { type_: type_.to_owned(), value: Some(value) }
    }

    pub fn to_value(&self) -> Value {
        self.clone().into_value()
    }

    fn into_value(self) -> Value {
        let value = self.value.unwrap_or_default();
        Map::from_iter([("type".to_owned(), self.type_.into()), ("value".to_owned(), value)]).into()
    }
}

impl Package {
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::new(PACKAGE)
            .all("name", self.name.as_str())
            .all("defaultChannel", self.default_channel.as_str());
        if let Some(Icon { data, media_type }) = &self.icon {
            fields = fields.all("icon", json!({"base64data": data, "mediatype": media_type}));
        }
        let fields = fields.some("description", &self.description).list(
            "properties",
            &self.properties,
            Property::to_value,
        );
        fields.0.into()
    }
}

impl Channel {
    pub fn to_value(&self) -> Value {
        let entries = self.entries.as_ref().map(|it| it.iter().map(Entry::to_value).collect());
        let fields = Fields::new(CHANNEL)
            .all("name", self.name.as_str())
            .all("package", self.package.as_str())
            .all("entries", entries.unwrap_or(Value::Null))
            .list("properties", &self.properties, Property::to_value);
        fields.0.into()
    }

    pub fn entries(&self) -> &[Entry] {
        self.entries.as_deref().unwrap_or_default()
    }
}

impl Entry {
    pub fn to_value(&self) -> Value {
        let fields = Fields(Map::new())
            .all("name", self.name.as_str())
            .some("replaces", &self.replaces)
            .list("skips", &self.skips, |it| json!(it))
            .some("skipRange", &self.skip_range);
        fields.0.into()
    }
}

impl Bundle {
    /// Whether it carries its manifests.
    pub fn has_objects(&self) -> bool {
        self.properties.iter().any(|it| it.type_ == property::OBJECT)
    }

    pub fn to_value(&self) -> Value {
        self.clone().into_value()
    }

    pub fn into_value(self) -> Value {
        let mut fields = Fields::new(BUNDLE)
            .some("name", &self.name)
            .some("package", &self.package)
            .all("image", self.image);
        if !self.properties.is_empty() {
            let properties = self.properties.into_iter().map(Property::into_value);
            fields = fields.all("properties", properties.collect::<Vec<_>>());
        }
        let fields = fields.list(
            "relatedImages",
            &self.related_images,
            |it| json!({"name": it.name, "image": it.image}),
        );
        fields.0.into()
    }
}

impl Deprecations {
    pub fn to_value(&self) -> Value {
        let entry = |it: &Deprecated| {
            let reference = Fields::new(&it.schema).some("name", &it.name).0;
            json!({"reference": reference, "message": it.message})
        };
        let entries = self.entries.as_ref().map(|it| it.iter().map(entry).collect());
        let fields = Fields::new(DEPRECATIONS)
            .all("package", self.package.as_str())
            .all("entries", entries.unwrap_or(Value::Null));
        fields.0.into()
    }
}

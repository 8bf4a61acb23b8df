//! The blobs of a catalog. Each blob becomes a JSON value with the fields that `opm` writes.

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
pub struct PackageBlob {
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
pub struct ChannelBlob {
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
pub struct BundleBlob {
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

/// A blob with a schema that OLM does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownBlob {
    pub schema: String,
    pub package: String,
    pub value: Value,
}

/// Fields of a Go struct; `with_nonempty` leaves out empty ones.
struct BlobFields(Map<String, Value>);

impl BlobFields {
    fn new(schema: &str) -> Self {
        Self(Map::new()).with("schema", json!(schema))
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn with_nonempty(self, name: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.with(name, text) }
    }

    fn with_list<T>(self, name: &str, items: &[T], value: impl Fn(&T) -> Value) -> Self {
        if items.is_empty() {
            return self;
        }
        self.with(name, items.iter().map(value).collect::<Vec<_>>())
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

impl PackageBlob {
    pub fn to_value(&self) -> Value {
        let mut fields = BlobFields::new(PACKAGE)
            .with("name", self.name.as_str())
            .with("defaultChannel", self.default_channel.as_str());
        if let Some(Icon { data, media_type }) = &self.icon {
            fields = fields.with("icon", json!({"base64data": data, "mediatype": media_type}));
        }
        let fields = fields.with_nonempty("description", &self.description).with_list(
            "properties",
            &self.properties,
            Property::to_value,
        );
        fields.0.into()
    }
}

impl ChannelBlob {
    pub fn to_value(&self) -> Value {
        let entries =
            self.entries.as_ref().map(|entries| entries.iter().map(Entry::to_value).collect());
        let fields = BlobFields::new(CHANNEL)
            .with("name", self.name.as_str())
            .with("package", self.package.as_str())
            .with("entries", entries.unwrap_or(Value::Null))
            .with_list("properties", &self.properties, Property::to_value);
        fields.0.into()
    }

    pub fn entries(&self) -> &[Entry] {
        self.entries.as_deref().unwrap_or_default()
    }
}

impl Entry {
    pub fn to_value(&self) -> Value {
        let fields = BlobFields(Map::new())
            .with("name", self.name.as_str())
            .with_nonempty("replaces", &self.replaces)
            .with_list("skips", &self.skips, |name| json!(name))
            .with_nonempty("skipRange", &self.skip_range);
        fields.0.into()
    }
}

impl BundleBlob {
    /// Returns whether the blob contains the manifests of the bundle.
    pub fn has_objects(&self) -> bool {
        self.properties.iter().any(|property| property.type_ == property::OBJECT)
    }

    pub fn to_value(&self) -> Value {
        self.clone().into_value()
    }

    pub fn into_value(self) -> Value {
        let mut fields = BlobFields::new(BUNDLE)
            .with_nonempty("name", &self.name)
            .with_nonempty("package", &self.package)
            .with("image", self.image);
        if !self.properties.is_empty() {
            let properties = self.properties.into_iter().map(Property::into_value);
            fields = fields.with("properties", properties.collect::<Vec<_>>());
        }
        let fields = fields.with_list(
            "relatedImages",
            &self.related_images,
            |image| json!({"name": image.name, "image": image.image}),
        );
        fields.0.into()
    }
}

impl Deprecations {
    pub fn to_value(&self) -> Value {
        let entry = |deprecated: &Deprecated| {
            let reference =
                BlobFields::new(&deprecated.schema).with_nonempty("name", &deprecated.name).0;
            json!({"reference": reference, "message": deprecated.message})
        };
        let entries = self.entries.as_ref().map(|entries| entries.iter().map(entry).collect());
        let fields = BlobFields::new(DEPRECATIONS)
            .with("package", self.package.as_str())
            .with("entries", entries.unwrap_or(Value::Null));
        fields.0.into()
    }
}

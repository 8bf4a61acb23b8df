//! Decodes blobs like Go: the names of fields have any case, unknown fields are dropped, and values of other types
//! are refused.

use base64::{Engine as _, prelude::BASE64_STANDARD as STANDARD};

use super::{
    blob::{
        self, BundleBlob, ChannelBlob, Deprecated, Deprecations, Entry, Icon, PackageBlob,
        Property, RelatedImage, UnknownBlob,
    },
    go,
};
use go_data::yaml::{Map, Value};

/// A blob of any schema.
pub enum Blob {
    Package(PackageBlob),
    Channel(ChannelBlob),
    Bundle(BundleBlob),
    Deprecations(Deprecations),
    Other(UnknownBlob),
}

/// Reads a document of a catalog. Field names that are dropped are added to `dropped`.
pub fn decode_blob(value: Value, dropped: &mut Vec<String>) -> Result<Blob, String> {
    let mut map = match go::to_floats(value) {
        Value::Object(map) => map,
        Value::Null => return Err("this document has no blob".to_owned()),
        it => {
            return Err(format!("this is {}, not an object", go::describe_type(&it)));
        }
    };
    let [schema, package, _] = schema_package_name(&map)?;
    let mut decoder = Decoder { path: Vec::new(), fault: None, dropped };
    let blob = match schema.as_str() {
        blob::PACKAGE => Blob::Package(decoder.package(&mut map)),
        blob::CHANNEL => Blob::Channel(decoder.channel(&mut map)),
        blob::BUNDLE => Blob::Bundle(decoder.bundle(&mut map)),
        blob::DEPRECATIONS => Blob::Deprecations(decoder.deprecations(&mut map)),
        "" => return Err("this blob has no `schema`".to_owned()),
        _ => return Ok(Blob::Other(UnknownBlob { schema, package, value: map.into() })),
    };
    match decoder.fault {
        Some(fault) => Err(format!("{schema}: {fault}")),
        None => Ok(blob),
    }
}

/// Returns schema, package and name, whose keys may have any case, but occur only once.
fn schema_package_name(map: &Map<String, Value>) -> Result<[String; 3], String> {
    let mut keys: Vec<(String, &String)> =
        map.keys().map(|key| (key.to_lowercase(), key)).collect();
    keys.sort();
    for pair in keys.windows(2) {
        if pair[0].0 == pair[1].0 {
            let key = go::format_quoted(&pair[0].0);
            return Err(format!("duplicate keys for key {key}: [{} {}]", pair[0].1, pair[1].1));
        }
    }
    let mut texts = [const { String::new() }; 3];
    for (text, name) in texts.iter_mut().zip(["schema", "package", "name"]) {
        let Some((_, key)) = keys.iter().find(|entry| entry.0 == name) else { continue };
        match &map[*key] {
            Value::String(it) => it.clone_into(text),
            it => {
                return Err(format!("`{key}` is {}, not a string", go::describe_type(it)));
            }
        }
    }
    Ok(texts)
}

/// Decodes into structs. Like Go, it continues after a value of a wrong type, and reports the first one.
struct Decoder<'a> {
    /// The path of the struct that is decoded.
    path: Vec<&'static str>,
    fault: Option<String>,
    dropped: &'a mut Vec<String>,
}

type JsonObject = Map<String, Value>;

impl Decoder<'_> {
    fn package(&mut self, map: &mut JsonObject) -> PackageBlob {
        self.note_unknown_fields(
            map,
            &["schema", "name", "defaultChannel", "icon", "description", "properties"],
        );
        let icon = self.inner_struct(map, "icon", |decoder, icon| {
            decoder.note_unknown_fields(icon, &["base64data", "mediatype"]);
            let data = decoder.text_if_any(icon, "base64data");
            let data = data.map(|text| {
                decoder.decode_base64(&text).map(|bytes| STANDARD.encode(bytes)).unwrap_or_default()
            });
            Icon { data, media_type: decoder.text(icon, "mediatype") }
        });
        PackageBlob {
            name: self.text(map, "name"),
            default_channel: self.text(map, "defaultChannel"),
            icon,
            description: self.text(map, "description"),
            properties: self.properties(map),
        }
    }

    fn channel(&mut self, map: &mut JsonObject) -> ChannelBlob {
        self.note_unknown_fields(map, &["schema", "name", "package", "entries", "properties"]);
        ChannelBlob {
            name: self.text(map, "name"),
            package: self.text(map, "package"),
            entries: self.list(map, "entries", |decoder, entry| {
                decoder.note_unknown_fields(entry, &["name", "replaces", "skips", "skipRange"]);
                Entry {
                    name: decoder.text(entry, "name"),
                    replaces: decoder.text(entry, "replaces"),
                    skips: decoder.texts(entry, "skips"),
                    skip_range: decoder.text(entry, "skipRange"),
                }
            }),
            properties: self.properties(map),
        }
    }

    fn bundle(&mut self, map: &mut JsonObject) -> BundleBlob {
        self.note_unknown_fields(
            map,
            &["schema", "name", "package", "image", "properties", "relatedImages"],
        );
        let images = self.list(map, "relatedImages", |decoder, image| {
            decoder.note_unknown_fields(image, &["name", "image"]);
            RelatedImage { name: decoder.text(image, "name"), image: decoder.text(image, "image") }
        });
        BundleBlob {
            name: self.text(map, "name"),
            package: self.text(map, "package"),
            image: self.text(map, "image"),
            properties: self.properties(map),
            related_images: images.unwrap_or_default(),
        }
    }

    fn deprecations(&mut self, map: &mut JsonObject) -> Deprecations {
        self.note_unknown_fields(map, &["schema", "package", "entries"]);
        Deprecations {
            package: self.text(map, "package"),
            entries: self.list(map, "entries", |decoder, entry| {
                decoder.note_unknown_fields(entry, &["reference", "message"]);
                let reference = decoder.inner_struct(entry, "reference", |decoder, map| {
                    decoder.note_unknown_fields(map, &["schema", "name"]);
                    (decoder.text(map, "schema"), decoder.text(map, "name"))
                });
                let (schema, name) = reference.unwrap_or_default();
                Deprecated { schema, name, message: decoder.text(entry, "message") }
            }),
        }
    }

    fn properties(&mut self, map: &mut JsonObject) -> Vec<Property> {
        let property = |decoder: &mut Self, map: &mut JsonObject| {
            decoder.note_unknown_fields(map, &["type", "value"]);
            // A value of `null` is also a value.
            let value = map.iter_mut().find(|entry| entry.0.eq_ignore_ascii_case("value"));
            let value = value.map(|entry| entry.1.take());
            Property { type_: decoder.text(map, "type"), value }
        };
        self.list(map, "properties", property).unwrap_or_default()
    }

    /// Notes the fields that Go drops.
    fn note_unknown_fields(&mut self, map: &JsonObject, names: &[&str]) {
        for key in map.keys() {
            if !names.iter().any(|name| name.eq_ignore_ascii_case(key)) {
                let path: Vec<&str> = self.path.iter().copied().chain([key.as_str()]).collect();
                let path = path.join(".");
                if !self.dropped.contains(&path) {
                    self.dropped.push(path);
                }
            }
        }
    }

    fn note_fault(&mut self, value: &Value, name: &'static str, expected: &str) {
        let path: Vec<&str> = self.path.iter().copied().chain([name]).collect();
        let (path, found) = (path.join("."), go::describe_type(value));
        self.fault.get_or_insert_with(|| format!("`{path}` is {found}, not {expected}"));
    }

    fn text_if_any(&mut self, map: &JsonObject, name: &'static str) -> Option<String> {
        match go::find_field(map, name)? {
            Value::String(it) => Some(it.clone()),
            it => {
                self.note_fault(it, name, "a string");
                None
            }
        }
    }

    fn text(&mut self, map: &JsonObject, name: &'static str) -> String {
        self.text_if_any(map, name).unwrap_or_default()
    }

    fn texts(&mut self, map: &JsonObject, name: &'static str) -> Vec<String> {
        let items = match go::find_field(map, name) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(it) => {
                self.note_fault(it, name, "a list");
                return Vec::new();
            }
        };
        let text = |item: &Value| match item {
            Value::String(item) => item.clone(),
            Value::Null => String::new(),
            item => {
                self.note_fault(item, name, "a list of strings");
                String::new()
            }
        };
        items.iter().map(text).collect()
    }

    fn inner_struct<T>(
        &mut self,
        map: &mut JsonObject,
        name: &'static str,
        read: impl Fn(&mut Self, &mut JsonObject) -> T,
    ) -> Option<T> {
        match go::find_field_mut(map, name)? {
            Value::Object(inner) => Some(self.decode_inner(name, |decoder| read(decoder, inner))),
            it => {
                self.note_fault(it, name, "an object");
                None
            }
        }
    }

    fn list<T>(
        &mut self,
        map: &mut JsonObject,
        name: &'static str,
        read: impl Fn(&mut Self, &mut JsonObject) -> T,
    ) -> Option<Vec<T>> {
        let items = match go::find_field_mut(map, name)? {
            Value::Array(items) => items,
            it => {
                self.note_fault(it, name, "a list");
                return None;
            }
        };
        let mut structs = Vec::new();
        for item in items {
            let mut empty = JsonObject::new();
            let inner = match item {
                Value::Object(inner) => inner,
                Value::Null => &mut empty,
                it => {
                    self.note_fault(it, name, "a list of objects");
                    &mut empty
                }
            };
            structs.push(self.decode_inner(name, |decoder| read(decoder, inner)));
        }
        Some(structs)
    }

    /// Decodes a struct inside of this one.
    fn decode_inner<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name);
        let decoded = read(self);
        self.path.pop();
        decoded
    }

    fn decode_base64(&mut self, text: &str) -> Option<Vec<u8>> {
        match decode_base64(text) {
            Ok(bytes) => Some(bytes),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }
}

/// Decodes base64. Like Go, it accepts line breaks.
pub fn decode_base64(text: &str) -> Result<Vec<u8>, String> {
    let plain = text.replace(['\r', '\n'], "");
    STANDARD.decode(plain.as_bytes()).map_err(|error| format!("this is not base64: {error}"))
}

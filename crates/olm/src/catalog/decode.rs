//! Blobs as Go decodes them: names of fields in any case, unknown fields dropped, and what has another type is refused.

use base64::{Engine as _, prelude::BASE64_STANDARD as STANDARD};

use super::{
    blob::{
        self, Bundle, Channel, Deprecated, Deprecations, Entry, Icon, Other, Package, Property,
        RelatedImage,
    },
    go,
};
use go_data::yaml::{Map, Value};

/// A blob of any schema.
pub enum Blob {
    Package(Package),
    Channel(Channel),
    Bundle(Bundle),
    Deprecations(Deprecations),
    Other(Other),
}

/// Reads a document of a catalog. Field names that are dropped are added to `dropped`.
pub fn blob(value: Value, dropped: &mut Vec<String>) -> Result<Blob, String> {
    let mut map = match go::floats(value) {
        Value::Object(map) => map,
        Value::Null => return Err("this document has no blob".to_owned()),
        it => {
            return Err(format!("this is {}, not an object", go::described(&it)));
        }
    };
    let [schema, package, _] = meta(&map)?;
    let mut decoder = Decoder { path: Vec::new(), fault: None, dropped };
    let blob = match schema.as_str() {
        blob::PACKAGE => Blob::Package(decoder.package(&mut map)),
        blob::CHANNEL => Blob::Channel(decoder.channel(&mut map)),
        blob::BUNDLE => Blob::Bundle(decoder.bundle(&mut map)),
        blob::DEPRECATIONS => Blob::Deprecations(decoder.deprecations(&mut map)),
        "" => return Err("this blob has no `schema`".to_owned()),
        _ => return Ok(Blob::Other(Other { schema, package, value: map.into() })),
    };
    match decoder.fault {
        Some(fault) => Err(format!("{schema}: {fault}")),
        None => Ok(blob),
    }
}

/// Schema, package and name, whose keys may be spelled in any case, but only once.
fn meta(map: &Map<String, Value>) -> Result<[String; 3], String> {
    let mut keys: Vec<(String, &String)> = map.keys().map(|it| (it.to_lowercase(), it)).collect();
    keys.sort();
    for pair in keys.windows(2) {
        if pair[0].0 == pair[1].0 {
            let key = go::quoted(&pair[0].0);
            return Err(format!("duplicate keys for key {key}: [{} {}]", pair[0].1, pair[1].1));
        }
    }
    let mut res = [const { String::new() }; 3];
    for (text, name) in res.iter_mut().zip(["schema", "package", "name"]) {
        let Some((_, key)) = keys.iter().find(|it| it.0 == name) else { continue };
        match &map[*key] {
            Value::String(it) => it.clone_into(text),
            it => {
                return Err(format!("`{key}` is {}, not a string", go::described(it)));
            }
        }
    }
    Ok(res)
}

/// Decodes into structs; like Go, it goes on after a value of another type, and tells the first one.
struct Decoder<'a> {
    /// The path of the struct that is decoded.
    path: Vec<&'static str>,
    fault: Option<String>,
    dropped: &'a mut Vec<String>,
}

type Object = Map<String, Value>;

impl Decoder<'_> {
    fn package(&mut self, map: &mut Object) -> Package {
        self.known(map, &["schema", "name", "defaultChannel", "icon", "description", "properties"]);
        let icon = self.inner(map, "icon", |it, icon| {
            it.known(icon, &["base64data", "mediatype"]);
            let data = it.text_if_any(icon, "base64data");
            let data =
                data.map(|text| it.base64(&text).map(|it| STANDARD.encode(it)).unwrap_or_default());
            Icon { data, media_type: it.text(icon, "mediatype") }
        });
        Package {
            name: self.text(map, "name"),
            default_channel: self.text(map, "defaultChannel"),
            icon,
            description: self.text(map, "description"),
            properties: self.properties(map),
        }
    }

    fn channel(&mut self, map: &mut Object) -> Channel {
        self.known(map, &["schema", "name", "package", "entries", "properties"]);
        Channel {
            name: self.text(map, "name"),
            package: self.text(map, "package"),
            entries: self.list(map, "entries", |it, entry| {
                it.known(entry, &["name", "replaces", "skips", "skipRange"]);
                Entry {
                    name: it.text(entry, "name"),
                    replaces: it.text(entry, "replaces"),
                    skips: it.texts(entry, "skips"),
                    skip_range: it.text(entry, "skipRange"),
                }
            }),
            properties: self.properties(map),
        }
    }

    fn bundle(&mut self, map: &mut Object) -> Bundle {
        self.known(map, &["schema", "name", "package", "image", "properties", "relatedImages"]);
        let images = self.list(map, "relatedImages", |it, image| {
            it.known(image, &["name", "image"]);
            RelatedImage { name: it.text(image, "name"), image: it.text(image, "image") }
        });
        Bundle {
            name: self.text(map, "name"),
            package: self.text(map, "package"),
            image: self.text(map, "image"),
            properties: self.properties(map),
            related_images: images.unwrap_or_default(),
        }
    }

    fn deprecations(&mut self, map: &mut Object) -> Deprecations {
        self.known(map, &["schema", "package", "entries"]);
        Deprecations {
            package: self.text(map, "package"),
            entries: self.list(map, "entries", |it, entry| {
                it.known(entry, &["reference", "message"]);
                let reference = it.inner(entry, "reference", |it, map| {
                    it.known(map, &["schema", "name"]);
                    (it.text(map, "schema"), it.text(map, "name"))
                });
                let (schema, name) = reference.unwrap_or_default();
                Deprecated { schema, name, message: it.text(entry, "message") }
            }),
        }
    }

    fn properties(&mut self, map: &mut Object) -> Vec<Property> {
        let property = |it: &mut Self, map: &mut Object| {
            it.known(map, &["type", "value"]);
            // A value of `null` is one, too.
            let value = map.iter_mut().find(|it| it.0.eq_ignore_ascii_case("value"));
            let value = value.map(|it| it.1.take());
            Property { type_: it.text(map, "type"), value }
        };
        self.list(map, "properties", property).unwrap_or_default()
    }

    /// Notes the fields that Go drops.
    fn known(&mut self, map: &Object, names: &[&str]) {
        for key in map.keys() {
            if !names.iter().any(|it| it.eq_ignore_ascii_case(key)) {
                let path: Vec<&str> = self.path.iter().copied().chain([key.as_str()]).collect();
                let path = path.join(".");
                if !self.dropped.contains(&path) {
                    self.dropped.push(path);
                }
            }
        }
    }

    fn fault(&mut self, value: &Value, name: &'static str, expected: &str) {
        let path: Vec<&str> = self.path.iter().copied().chain([name]).collect();
        let (path, found) = (path.join("."), go::described(value));
        self.fault.get_or_insert_with(|| format!("`{path}` is {found}, not {expected}"));
    }

    fn text_if_any(&mut self, map: &Object, name: &'static str) -> Option<String> {
        match go::field(map, name)? {
            Value::String(it) => Some(it.clone()),
            it => {
                self.fault(it, name, "a string");
                None
            }
        }
    }

    fn text(&mut self, map: &Object, name: &'static str) -> String {
        self.text_if_any(map, name).unwrap_or_default()
    }

    fn texts(&mut self, map: &Object, name: &'static str) -> Vec<String> {
        let items = match go::field(map, name) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(it) => {
                self.fault(it, name, "a list");
                return Vec::new();
            }
        };
        let text = |it: &Value| match it {
            Value::String(it) => it.clone(),
            Value::Null => String::new(),
            it => {
                self.fault(it, name, "a list of strings");
                String::new()
            }
        };
        items.iter().map(text).collect()
    }

    fn inner<T>(
        &mut self,
        map: &mut Object,
        name: &'static str,
        read: impl Fn(&mut Self, &mut Object) -> T,
    ) -> Option<T> {
        match go::field_mut(map, name)? {
            Value::Object(inner) => Some(self.below(name, |it| read(it, inner))),
            it => {
                self.fault(it, name, "an object");
                None
            }
        }
    }

    fn list<T>(
        &mut self,
        map: &mut Object,
        name: &'static str,
        read: impl Fn(&mut Self, &mut Object) -> T,
    ) -> Option<Vec<T>> {
        let items = match go::field_mut(map, name)? {
            Value::Array(items) => items,
            it => {
                self.fault(it, name, "a list");
                return None;
            }
        };
        let mut res = Vec::new();
        for item in items {
            let mut empty = Object::new();
            let inner = match item {
                Value::Object(inner) => inner,
                Value::Null => &mut empty,
                it => {
                    self.fault(it, name, "a list of objects");
                    &mut empty
                }
            };
            res.push(self.below(name, |it| read(it, inner)));
        }
        Some(res)
    }

    /// Decodes a struct inside of this one.
    fn below<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name);
        let res = read(self);
        self.path.pop();
        res
    }

    fn base64(&mut self, text: &str) -> Option<Vec<u8>> {
        match base64(text) {
            Ok(bytes) => Some(bytes),
            Err(fault) => {
                self.fault.get_or_insert(fault);
                None
            }
        }
    }
}

/// Base64, in which Go forgives line breaks.
pub fn base64(text: &str) -> Result<Vec<u8>, String> {
    let plain = text.replace(['\r', '\n'], "");
    STANDARD.decode(plain.as_bytes()).map_err(|it| format!("this is not base64: {it}"))
}

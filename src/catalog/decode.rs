//! Blobs as Go decodes them: names of fields in any case, unknown fields dropped, and its words for other types.

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
        Value::Null => return Err("object '' is missing root schema field".to_owned()),
        it => {
            let title = go::title(&it);
            return Err(format!(
                "json: cannot unmarshal {title} into Go value of type map[string]interface {{}}"
            ));
        }
    };
    let [schema, package, _] = meta(&map)?;
    let mut decoder = Decoder { root: "", path: Vec::new(), fault: None, dropped };
    let (blob, what) = match schema.as_str() {
        blob::PACKAGE => (Blob::Package(decoder.package(&mut map)), "parse package"),
        blob::CHANNEL => (Blob::Channel(decoder.channel(&mut map)), "parse channel"),
        blob::BUNDLE => (Blob::Bundle(decoder.bundle(&mut map)), "parse bundle"),
        blob::DEPRECATIONS => {
            (Blob::Deprecations(decoder.deprecations(&mut map)), "parse deprecation")
        }
        "" => {
            let text = go::compact(&Value::Object(map));
            let short: String = text.chars().take(400).collect();
            let rest = if short.len() < text.len() { "…" } else { "" };
            return Err(format!("object '{short}{rest}' is missing root schema field"));
        }
        _ => return Ok(Blob::Other(Other { schema, package, value: map.into() })),
    };
    match decoder.fault {
        Some(fault) => Err(format!("{what}: {fault}")),
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
                let (key, title) = (go::quoted(key), go::title(it));
                return Err(format!(
                    "expected value for key {key} to be a string, got {title}: {it}"
                ));
            }
        }
    }
    Ok(res)
}

/// Decodes into structs; like Go, it goes on after a value of another type, and tells the first one.
struct Decoder<'a> {
    /// The struct that is decoded, and the path of its fields.
    root: &'static str,
    path: Vec<&'static str>,
    fault: Option<String>,
    dropped: &'a mut Vec<String>,
}

type Object = Map<String, Value>;

impl Decoder<'_> {
    fn package(&mut self, map: &mut Object) -> Package {
        self.root = "Package";
        self.known(map, &["schema", "name", "defaultChannel", "icon", "description", "properties"]);
        let icon = self.inner(map, "icon", "declcfg.Icon", |it, icon| {
            it.known(icon, &["base64data", "mediatype"]);
            let data = it.text_if_any(icon, "base64data", "[]uint8");
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
        self.root = "Channel";
        self.known(map, &["schema", "name", "package", "entries", "properties"]);
        Channel {
            name: self.text(map, "name"),
            package: self.text(map, "package"),
            entries: self.list(map, "entries", "declcfg.ChannelEntry", |it, entry| {
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
        self.root = "Bundle";
        self.known(map, &["schema", "name", "package", "image", "properties", "relatedImages"]);
        let images = self.list(map, "relatedImages", "declcfg.RelatedImage", |it, image| {
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
        self.root = "Deprecation";
        self.known(map, &["schema", "package", "entries"]);
        Deprecations {
            package: self.text(map, "package"),
            entries: self.list(map, "entries", "declcfg.DeprecationEntry", |it, entry| {
                it.known(entry, &["reference", "message"]);
                let reference =
                    it.inner(entry, "reference", "declcfg.PackageScopedReference", |it, map| {
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
        self.list(map, "properties", "property.Property", property).unwrap_or_default()
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

    fn fault(&mut self, value: &Value, name: &'static str, type_: &str) {
        let (root, title) = (self.root, go::title(value));
        let path: Vec<&str> = self.path.iter().copied().chain([name]).collect();
        let path = path.join(".");
        self.fault.get_or_insert_with(|| {
            format!(
                "json: cannot unmarshal {title} into Go struct field {root}.{path} of type {type_}"
            )
        });
    }

    fn text_if_any(&mut self, map: &Object, name: &'static str, type_: &str) -> Option<String> {
        match go::field(map, name)? {
            Value::String(it) => Some(it.clone()),
            it => {
                self.fault(it, name, type_);
                None
            }
        }
    }

    fn text(&mut self, map: &Object, name: &'static str) -> String {
        self.text_if_any(map, name, "string").unwrap_or_default()
    }

    fn texts(&mut self, map: &Object, name: &'static str) -> Vec<String> {
        let items = match go::field(map, name) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(it) => {
                self.fault(it, name, "[]string");
                return Vec::new();
            }
        };
        let text = |it: &Value| match it {
            Value::String(it) => it.clone(),
            Value::Null => String::new(),
            it => {
                self.fault(it, name, "string");
                String::new()
            }
        };
        items.iter().map(text).collect()
    }

    fn inner<T>(
        &mut self,
        map: &mut Object,
        name: &'static str,
        type_: &'static str,
        read: impl Fn(&mut Self, &mut Object) -> T,
    ) -> Option<T> {
        match go::field_mut(map, name)? {
            Value::Object(inner) => Some(self.below(name, type_, |it| read(it, inner))),
            it => {
                self.fault(it, name, type_);
                None
            }
        }
    }

    fn list<T>(
        &mut self,
        map: &mut Object,
        name: &'static str,
        type_: &'static str,
        read: impl Fn(&mut Self, &mut Object) -> T,
    ) -> Option<Vec<T>> {
        let items = match go::field_mut(map, name)? {
            Value::Array(items) => items,
            it => {
                self.fault(it, name, &format!("[]{type_}"));
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
                    self.fault(it, name, type_);
                    &mut empty
                }
            };
            res.push(self.below(name, type_, |it| read(it, inner)));
        }
        Some(res)
    }

    /// Decodes a struct inside of this one.
    fn below<T>(
        &mut self,
        name: &'static str,
        type_: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let struct_ = type_.rsplit('.').next().unwrap_or(type_);
        let root = std::mem::replace(&mut self.root, struct_);
        self.path.push(name);
        let res = read(self);
        self.path.pop();
        self.root = root;
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
    STANDARD.decode(plain.as_bytes()).map_err(|it| {
        let at = match it {
            base64::DecodeError::InvalidByte(at, _)
            | base64::DecodeError::InvalidLastSymbol(at, _) => at,
            _ => plain.len(),
        };
        format!("illegal base64 data at input byte {at}")
    })
}

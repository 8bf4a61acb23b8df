//! How large a bundle is, and the limits that OLM, etcd and kubectl set.

use std::io::Write as _;

use super::{object, validate::Files};
use go_data::yaml::{self, Dialect, Value};
use model::ProjectPath;

/// The files that OLM carries to the cluster, and the limits, the nearest first.
#[derive(Debug, Default)]
pub struct Sizes {
    pub files: Vec<Size>,
    pub limits: Vec<Limit>,
}

/// A file, in bytes.
#[derive(Debug)]
pub struct Size {
    pub path: ProjectPath,
    pub plain: usize,
    pub gzip: usize,
    /// In gzip, and then in base64.
    pub base64: usize,
}

/// A limit, and how much of it is used.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    pub what: &'static str,
    /// The file that is nearest to the limit; empty for all together.
    pub file: String,
    pub size: usize,
    pub most: usize,
}

impl Limit {
    /// How much of the limit is used, in tenths of a percent, rounded up.
    pub fn used(&self) -> usize {
        (self.size * 1000).div_ceil(self.most)
    }
}

const MANIFESTS: &str = "manifests/";
const MIB: usize = 1 << 20;
/// Of all annotations of an object together.
const ANNOTATIONS: usize = 256 << 10;

pub fn of(files: &Files) -> Sizes {
    let mut res = Sizes::default();
    let (mut all, mut unpacked) = (0, 0);
    let [mut object, mut annotations, mut applied, mut data] = [
        "etcd: one object as JSON",
        "API servers: the annotations of one object",
        "`kubectl apply` without `--server-side`: the annotations of a CRD, the applied configuration among them",
        "API servers: the data of one ConfigMap or Secret",
    ]
    .map(|what| Limit { what, file: String::new(), size: 0, most: ANNOTATIONS });
    object.most = MIB / 2 * 3;
    data.most = MIB;
    for (path, bytes) in files {
        let is_manifest = path.as_str().starts_with(MANIFESTS);
        if !is_manifest && !path.as_str().starts_with("metadata/") {
            continue;
        }
        let size = Size::of(path, bytes);
        // OLM takes six of the annotations in this file, and not the file.
        if path.as_str() != "metadata/annotations.yaml" {
            unpacked += size.base64;
        }
        if !is_manifest {
            continue;
        }
        all += size.base64;
        res.files.push(size);
        let Some(value) = value(bytes) else { continue };
        let json = go_json(&value);
        object.grow(path, json);
        let size = annotations_of(&value);
        annotations.grow(path, size);
        data.grow(path, data_of(&value));
        if object::kind(&value) == "CustomResourceDefinition" {
            // kubectl writes the empty map of an object that has none.
            let is_bare = value.pointer("/metadata/annotations").is_none_or(Value::is_null);
            let added = if is_bare { "\"annotations\":{},".len() } else { 0 };
            let key = "kubectl.kubernetes.io/last-applied-configuration".len();
            applied.grow(path, size + key + json + added);
        }
    }
    let compressed = [
        ("`bundle validate`: manifests/ in gzip and base64", all),
        (
            "OLM v0, which unpacks a bundle image into one ConfigMap: manifests/ and metadata/ in gzip and base64",
            unpacked,
        ),
    ];
    let limit = |(what, size)| Limit { what, file: String::new(), size, most: MIB };
    res.limits.extend(compressed.map(limit));
    res.limits.extend([object, annotations, applied, data].into_iter().filter(|it| it.size > 0));
    res.limits.sort_by_key(|it| std::cmp::Reverse(it.used()));
    res
}

impl Limit {
    fn grow(&mut self, path: &ProjectPath, size: usize) {
        if self.size < size {
            (self.size, self.file) = (size, path.to_string());
        }
    }
}

impl Size {
    fn of(path: &ProjectPath, bytes: &[u8]) -> Self {
        let gzip = gzip(bytes);
        Self { path: path.clone(), plain: bytes.len(), gzip, base64: base64(gzip) }
    }
}

/// The length of data in gzip. Go's compressor, which OLM uses, gives another one: see [`in_go`].
pub fn gzip(data: &[u8]) -> usize {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let written = gzip.write_all(data).and_then(|()| gzip.finish());
    written.map_or(data.len(), |it| it.len())
}

/// Between which lengths Go's compressor is, where [`gzip`] gives this one. The upper one is certain for data that hardly
/// compresses. Otherwise, both are wider than in any of 30,000 YAML and JSON files of Go modules.
pub fn in_go(plain: usize, gzip: usize) -> (usize, usize) {
    let by = gzip / 8 + 16;
    (gzip.saturating_sub(by), (gzip + by).min(plain + plain / 500 + 64))
}

/// The length of as many bytes in base64.
pub fn base64(length: usize) -> usize {
    length.div_ceil(3) * 4
}

fn value(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    yaml::from_text(text, Dialect::Kubernetes).ok()
}

fn annotations_of(value: &Value) -> usize {
    let annotations = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let length = |(key, it): (&String, &Value)| key.len() + it.as_str().unwrap_or_default().len();
    annotations.into_iter().flatten().map(length).sum()
}

/// The length of the values of a ConfigMap or a Secret, as API servers count them.
fn data_of(value: &Value) -> usize {
    let map = |field| value.get(field).and_then(Value::as_object).into_iter().flatten();
    let text = |it: &Value| it.as_str().map_or(0, str::len);
    let decoded = |it: &Value| {
        let letters = it.as_str().unwrap_or_default().bytes();
        letters.filter(|it| !matches!(it, b'=' | b'\r' | b'\n')).count() * 3 / 4
    };
    match object::kind(value) {
        "ConfigMap" => {
            map("data").map(|it| text(it.1)).sum::<usize>()
                + map("binaryData").map(|it| decoded(it.1)).sum::<usize>()
        }
        "Secret" => {
            let is_replaced = |key: &String| map("stringData").any(|it| it.0 == key);
            let data = map("data").filter(|it| !is_replaced(it.0));
            data.map(|it| decoded(it.1)).sum::<usize>()
                + map("stringData").map(|it| text(it.1)).sum::<usize>()
        }
        _ => 0,
    }
}

/// The length of a value as Go writes it in JSON, with a line feed at its end: five bytes more for each `<`, `>` and
/// `&`, and three more for each of two separators.
fn go_json(value: &Value) -> usize {
    let text = value.to_string();
    let longer = |it: char| match it {
        '<' | '>' | '&' => 5,
        '\u{2028}' | '\u{2029}' => 3,
        _ => 0,
    };
    text.len() + text.chars().map(longer).sum::<usize>() + 1
}

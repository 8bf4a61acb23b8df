//! The size of the Secret in which Helm stores a release: the files of the chart and its manifest, as JSON, compressed, as
//! Helm's pkg/storage/driver/util.go does it. No value makes it smaller.
//!
//! It is an estimate: the time, the notes and the values of a release are not known.

use std::io::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use go_data::yaml::{Value, json};

/// The bytes that an API server takes (`MaxSecretSize`).
pub const LIMIT: usize = 1 << 20;

/// Returns about the bytes in the Secret of a chart with these files, by their paths in it, and this manifest.
pub fn size<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>, manifest: &str) -> usize {
    let (templates, files): (Vec<_>, Vec<_>) =
        files.partition(|pair| pair.0.starts_with("templates/"));
    let list = |files: Vec<(&str, &[u8])>| {
        let file = |(name, bytes)| json!({ "name": name, "data": BASE64_STANDARD.encode(bytes) });
        files.into_iter().map(file).collect::<Vec<Value>>()
    };
    let release = json!({
        "chart": { "files": list(files), "templates": list(templates) },
        "manifest": manifest,
    });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let packed = gzip.write_all(release.to_string().as_bytes()).and_then(|()| gzip.finish());
    packed.expect("it is written to memory").len().div_ceil(3) * 4
}

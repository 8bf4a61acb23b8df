//! The size of the Secret in which Helm stores a release. It has the files of the chart besides the manifest, so that no
//! value makes it smaller.

use std::io::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use go_data::yaml::{Value, json};

/// What an API server takes.
pub const LIMIT: usize = 1024 * 1024;

/// About the bytes in the Secret of a chart with these files, whose objects are in the data of the chart.
pub fn of_release(files: &[(&str, &str)], manifest: &str) -> anyhow::Result<usize> {
    let file =
        |(name, text): &(&str, &str)| json!({ "name": name, "data": BASE64_STANDARD.encode(text) });
    let (templates, files): (Vec<_>, Vec<_>) =
        files.iter().partition(|it| it.0.starts_with("templates/"));
    let list = |it: Vec<&(&str, &str)>| it.into_iter().map(file).collect::<Vec<Value>>();
    let release = json!({
        "chart": { "files": list(files), "templates": list(templates) },
        "manifest": manifest,
    });
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(release.to_string().as_bytes())?;
    Ok(packed.finish()?.len().div_ceil(3) * 4)
}

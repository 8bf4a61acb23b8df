//! The size of the Secret in which helm stores a release: the files of the chart and its manifest, as JSON, compressed.
//!
//! It is an estimate: the time, the notes and the values of a release are not known.

use std::io::Write as _;

use super::{Chart, Finding, Rendering, Rule};
use diagnostics::Severity;
use go_data::yaml::json;

/// What API servers accept (`MaxSecretSize`).
const MOST: usize = 1 << 20;

/// Near enough to the limit that a release with more values may not fit.
const NEAR: usize = MOST / 10 * 8;

/// The larger of a release's sizes.
pub fn check(chart: &Chart, renderings: &[Rendering]) -> Vec<Finding> {
    let manifests = renderings.iter().map(|it| it.text.as_str());
    let manifest = manifests.max_by_key(|it| it.len()).unwrap_or_default();
    let size = estimate(chart, manifest);
    if size < NEAR {
        return Vec::new();
    }
    let kilobytes = size >> 10;
    let what = format!(
        "helm would store about {kilobytes} KiB for a release in a Secret, which can have 1024 KiB"
    );
    let mut res =
        Rule::ReleaseSize.finding(&chart.name, what, Some(chart.place("Chart.yaml", 0, 0)));
    if size < MOST {
        res.severity = Severity::Warning;
    }
    vec![res]
}

fn estimate(chart: &Chart, manifest: &str) -> usize {
    let file = |(name, bytes): (&String, &Vec<u8>)| json!({"name": name, "data": base64(bytes)});
    let is_template = |it: &(&String, &Vec<u8>)| it.0.starts_with("templates/");
    let templates = chart.files.iter().filter(is_template);
    let files = chart.files.iter().filter(|it| !is_template(it));
    let release = json!({
        "chart": {
            "templates": templates.map(file).collect::<Vec<_>>(),
            "files": files.map(file).collect::<Vec<_>>(),
        },
        "manifest": manifest,
    });
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let compressed = gzip.write_all(release.to_string().as_bytes()).and_then(|()| gzip.finish());
    compressed.expect("it is written to memory").len().div_ceil(3) * 4
}

/// As Go writes bytes into JSON.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut res = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let all =
            group.iter().fold(0, |all, it| all << 8 | u32::from(*it)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS[(all >> (18 - 6 * at) & 63) as usize];
            res.push(if at <= group.len() { digit.into() } else { '=' });
        }
    }
    res
}

#[test]
fn bytes_are_written_as_go_writes_them() {
    for (bytes, expected) in
        [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
    {
        assert_eq!(base64(bytes.as_bytes()), expected);
    }
}

//! Checks the size of the bundle: OLM puts all manifests, compressed, into one ConfigMap.

use std::io::Write as _;

use super::{Files, Findings, Rule};

/// Bytes, of all manifests together, each compressed with gzip and then written in base64.
const MOST: u64 = 1 << 20;

pub fn check(files: &Files, folder: &str, findings: &mut Findings) {
    let manifests = || files.iter().filter(|(path, _)| path.as_str().starts_with(folder));
    let size: u64 = manifests().map(|(_, text)| text.len() as u64).sum();
    // Compression makes no file larger by more than a thousandth, so most bundles need not be compressed here.
    let is_near = |size: u64| MOST * 85 < size * 100;
    if !is_near(size / 3 * 4 + size / 500 + 64 * manifests().count() as u64) {
        return;
    }
    // operator-framework compresses with Go, which gives other sizes.
    let (mut least, mut compressed, mut most) = (0, 0, 0);
    for (_, text) in manifests() {
        let gzip = gzip_length(text);
        let in_go = go_length_range(text.len(), gzip);
        least += base64_length(in_go.0) as u64;
        compressed += base64_length(gzip) as u64;
        most += base64_length(in_go.1) as u64;
    }
    let sizes = || format!("size=~{} , max={}", format_bytes(compressed), format_bytes(MOST));
    let uncompressed = || format!("Bundle uncompressed size is {}", format_bytes(size));
    let nearing = "nearing maximum bundle compressed size with gzip";
    if MOST < least {
        findings.error(
            Rule::SizeMax,
            folder.trim_end_matches('/'),
            format!(
                "maximum bundle compressed size with gzip size exceeded: {}. {}",
                sizes(),
                uncompressed()
            ),
        );
    } else if MOST < most {
        findings.warning(
            Rule::SizeNear,
            folder.trim_end_matches('/'),
            format!(
                "{nearing}: {}. {}. It may be too large: these are {compressed} of {MOST} bytes, and OLM's compressor, which is another one, \
                 may give between {least} and {most}; `operator-sdk bundle validate` has the exact verdict",
                sizes(),
                uncompressed()
            ),
        );
    } else if is_near(compressed) {
        findings.warning(
            Rule::SizeNear,
            folder.trim_end_matches('/'),
            format!("{nearing}: {}. {}", sizes(), uncompressed()),
        );
    }
}

/// Returns the length of compressed data. Go's compressor, which OLM uses, gives another length: see [`go_length_range`].
fn gzip_length(data: &[u8]) -> usize {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let compressed = gzip.write_all(data).and_then(|()| gzip.finish());
    compressed.map_or(data.len(), |bytes| bytes.len())
}

/// Returns the range of lengths of Go's compressor if [`gzip_length`] gives this one. The upper limit is certain for
/// data that hardly compresses. Otherwise, the range is wider than in any of 30,000 YAML and JSON files of Go
/// modules.
fn go_length_range(plain: usize, gzip: usize) -> (usize, usize) {
    let by = gzip / 8 + 16;
    (gzip.saturating_sub(by), (gzip + by).min(plain + plain / 500 + 64))
}

/// Returns the length of as many bytes in base64.
fn base64_length(length: usize) -> usize {
    length.div_ceil(3) * 4
}

/// Formats a size like operator-framework: `1.0 MB`.
fn format_bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB"] {
        if size < 1000.0 {
            break;
        }
        size /= 1000.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

#[test]
fn a_bundle_that_no_config_map_can_hold_is_an_error() {
    // Text that does not compress: half of it are the letters of a counter gone wild.
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b' ' + (state >> 58) as u8)
    };
    let text: String = (0..400_000).map(|_| next()).collect();
    let mut findings = Findings::default();
    let path = |it: u8| model::ProjectPath::fixed(&format!("manifests/{it}.yaml"));
    let mut files = Files::from([(path(0), text.clone().into_bytes())]);
    check(&files, "manifests/", &mut findings);
    assert!(findings.0.is_empty());
    files.extend((1..4).map(|it| (path(it), text.clone().into_bytes())));
    check(&files, "manifests/", &mut findings);
    assert_eq!(findings.0.len(), 1);
    assert!(findings.0[0].message.starts_with("maximum bundle compressed size"));

    // If only Go's compressor can tell, there is never an error, but always a finding.
    for length in [1_030_000, 1_060_000] {
        let text: String = std::iter::repeat_with(&mut next).take(length).collect();
        let mut findings = Findings::default();
        check(&Files::from([(path(0), text.into_bytes())]), "manifests/", &mut findings);
        assert_eq!(findings.0.len(), 1);
        assert_eq!(findings.0[0].severity, diagnostics::Severity::Warning);
        let message = &findings.0[0].message;
        assert!(message.contains("It may be too large: these are"), "{message}");
    }
}

//! Versions as the tolerant parser of github.com/blang/semver reads them.

use semver::Version;

use go_data::kubernetes::version as blang;

/// Parses a version, which may have a `v`, leading zeros, or missing numbers.
pub fn parse_tolerant(text: &str) -> Option<Version> {
    let text = text.trim();
    let mut parts: Vec<String> =
        text.strip_prefix('v').unwrap_or(text).splitn(3, '.').map(str::to_owned).collect();
    for part in parts.iter_mut().filter(|part| part.len() > 1) {
        let bare = part.trim_start_matches('0');
        let zero = if bare.starts_with(|letter: char| letter.is_ascii_digit()) { "" } else { "0" };
        *part = format!("{zero}{bare}");
    }
    if parts.len() < 3 && parts.last().is_some_and(|part| part.contains(['+', '-'])) {
        return None;
    }
    parts.resize(3, "0".to_owned());
    let text = parts.join(".");
    // The numbers of a pre-release have 64 bits at most, too.
    blang::Version::parse(&text)?;
    Version::parse(&text).ok()
}

#[test]
fn versions_are_parsed_leniently() {
    for (text, version) in
        [("v1", "1.0.0"), ("1.02", "1.2.0"), ("01.2.3-a", "1.2.3-a"), (" 4.9 ", "4.9.0")]
    {
        assert_eq!(parse_tolerant(text).map(|it| it.to_string()).as_deref(), Some(version));
    }
    for text in ["", "a", "1.0-rc1", "1..2", "x.y.z", "1.0.0-99999999999999999999999"] {
        assert_eq!(parse_tolerant(text), None, "{text}");
    }
}

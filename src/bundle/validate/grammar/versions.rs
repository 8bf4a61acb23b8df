//! Versions and ranges of versions as github.com/blang/semver parses them.

use semver::Version;

/// A version in which `v`, leading zeros and missing numbers are forgiven.
pub fn tolerant(text: &str) -> Option<Version> {
    let text = text.trim();
    let mut parts: Vec<String> =
        text.strip_prefix('v').unwrap_or(text).splitn(3, '.').map(str::to_owned).collect();
    for part in parts.iter_mut().filter(|it| it.len() > 1) {
        let bare = part.trim_start_matches('0');
        let zero = if bare.starts_with(|it: char| it.is_ascii_digit()) { "" } else { "0" };
        *part = format!("{zero}{bare}");
    }
    if parts.len() < 3 && parts.last().is_some_and(|it| it.contains(['+', '-'])) {
        return None;
    }
    parts.resize(3, "0".to_owned());
    Version::parse(&parts.join(".")).ok()
}

/// Whether the text is a range: `>=1.0.0 <2.0.0 || 3.x`.
pub fn is_range(text: &str) -> bool {
    let parts = parts(text);
    // `||` stands alone, and neither first nor last.
    let is_or = |it: &String| it == "||";
    let ends = [parts.first(), parts.last()];
    ends.iter().all(|it| it.is_some_and(|it| !is_or(it)))
        && parts.iter().filter(|it| !is_or(it)).all(|it| is_part(it))
}

/// The parts between spaces, which may also follow on an operator. Parts of one letter are lost.
fn parts(text: &str) -> Vec<String> {
    let mut res = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, it) in text.char_indices() {
        if it == ' ' && !matches!(before, '>' | '<' | '=') {
            if start + 1 < at {
                res.push(text[start..at].replace(' ', ""));
            }
            start = at + 1;
        } else if it != ' ' {
            before = it;
        }
    }
    if start + 1 < text.len() {
        res.push(text[start..].replace(' ', ""));
    }
    res
}

/// An operator and a version, whose last numbers may be `x`.
fn is_part(part: &str) -> bool {
    let Some((operator, version)) =
        part.find(|it: char| it.is_ascii_digit()).map(|it| part.split_at(it))
    else {
        return false;
    };
    let is_operator = ["", "=", "==", "!", "!=", ">", ">=", "<", "<="].contains(&operator);
    if !part.contains('x') {
        return is_operator && Version::parse(version).is_ok();
    }
    let mut flat = version.replacen(".x.x", ".x", 1).replacen(".x", ".0", 1);
    if flat.split('.').count() == 2 {
        flat.push_str(".0");
    }
    // Most operators lead to the next version, and that is known for an `x` alone. Others than these are forgotten.
    let leads_on = is_operator && !matches!(operator, ">=" | "<");
    let is_wild = version.ends_with(".x") && matches!(version.split('.').count(), 2 | 3);
    Version::parse(&flat).is_ok() && (is_wild || !leads_on)
}

#[test]
fn ranges_are_told_from_other_texts() {
    for text in [
        ">=1.0.0 <2.0.0",
        "1.2.3",
        ">1.0.0 || <0.5.0",
        "!=1.0.0",
        "1.2.x",
        "1.x",
        "1.x.x",
        ">= 1.0.0",
        ">=1.0.0-next",
        "~1.x",
    ] {
        assert!(is_range(text), "{text}");
    }
    for text in
        ["", "1", "^1.0.0", "~1.2", ">=a", "1.0.0 ||", "=>1.0.0", "1.0.0||2.0.0", "1.0.0-next"]
    {
        assert!(!is_range(text), "{text}");
    }
}

#[test]
fn versions_are_read_with_patience() {
    for (text, version) in
        [("v1", "1.0.0"), ("1.02", "1.2.0"), ("01.2.3-a", "1.2.3-a"), (" 4.9 ", "4.9.0")]
    {
        assert_eq!(tolerant(text).map(|it| it.to_string()).as_deref(), Some(version));
    }
    for text in ["", "a", "1.0-rc1", "1..2", "x.y.z"] {
        assert_eq!(tolerant(text), None, "{text}");
    }
}

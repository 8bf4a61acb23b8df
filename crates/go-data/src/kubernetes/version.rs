//! Versions and ranges of versions as github.com/blang/semver reads them.

use std::{cmp::Ordering, fmt};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    patch: u64,
    pre: Vec<Identifier>,
    pub build: Vec<String>,
}

/// An identifier of a pre-release; numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let [major, minor, rest] = [parts.next()?, parts.next()?, parts.next()?];
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let (patch, pre) = match rest.split_once('-') {
            Some((patch, pre)) => (patch, Some(pre)),
            None => (rest, None),
        };
        let pre = pre.map(|pre| pre.split('.').map(Identifier::parse).collect::<Option<_>>());
        let build: Vec<&str> = build.iter().flat_map(|build| build.split('.')).collect();
        if build.iter().any(|part| part.is_empty() || !part.bytes().all(is_alphanumeric)) {
            return None;
        }
        Some(Self {
            major: parse_number(major)?,
            minor: parse_number(minor)?,
            patch: parse_number(patch)?,
            pre: pre.unwrap_or_else(|| Some(Vec::new()))?,
            build: build.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Returns the order of precedence, in which build metadata does not count.
    pub fn compare_precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.pre.cmp(&other.pre),
            }
        })
    }

    pub fn without_build(&self) -> Self {
        Self { build: Vec::new(), ..self.clone() }
    }
}

impl Identifier {
    pub fn parse(text: &str) -> Option<Self> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return parse_number(text).map(Self::Number);
        }
        let is_word = !text.is_empty() && text.bytes().all(is_alphanumeric);
        is_word.then(|| Self::Word(text.to_owned()))
    }
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Parses digits without a leading zero.
fn parse_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() < 2 || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, pre, build } = self;
        write!(f, "{major}.{minor}.{patch}")?;
        for (at, identifier) in pre.iter().enumerate() {
            write!(f, "{}{identifier}", if at == 0 { '-' } else { '.' })?;
        }
        for (at, identifier) in build.iter().enumerate() {
            write!(f, "{}{identifier}", if at == 0 { '+' } else { '.' })?;
        }
        Ok(())
    }
}

/// Alternatives, of which each has conditions that must all be met.
#[derive(Debug)]
pub struct Range(Vec<Vec<(Comparator, Version)>>);

type Comparator = fn(Ordering) -> bool;

impl Range {
    pub fn parse(text: &str) -> Option<Self> {
        let mut alternatives = Vec::new();
        for alternative in split_alternatives(&split_parts(text))? {
            let mut conditions = Vec::new();
            for part in expand_wildcards(&alternative)? {
                conditions.push(parse_condition(&part)?);
            }
            alternatives.push(conditions);
        }
        Some(Self(alternatives))
    }

    pub fn contains_version(&self, version: &Version) -> bool {
        let fits = |bound: &(Comparator, Version)| (bound.0)(version.compare_precedence(&bound.1));
        // An alternative without conditions, as between two `||`, holds for no version.
        self.0.iter().any(|conditions| !conditions.is_empty() && conditions.iter().all(fits))
    }
}

/// Splits a range at spaces, but not behind an operator. Parts of one letter are lost.
fn split_parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, '\0');
    for (at, character) in text.char_indices() {
        if character == ' ' && !matches!(before, '>' | '<' | '=') {
            if start + 1 < at {
                parts.push(text[start..at].replace(' ', ""));
            }
            start = at + 1;
        } else if character != ' ' {
            before = character;
        }
    }
    if start + 1 < text.len() {
        parts.push(text[start..].replace(' ', ""));
    }
    parts
}

fn split_alternatives(parts: &[String]) -> Option<Vec<Vec<String>>> {
    if parts.first()? == "||" || parts.last()? == "||" {
        return None;
    }
    Some(parts.split(|part| part == "||").map(<[String]>::to_vec).collect())
}

/// Replaces versions that end in `x`.
fn expand_wildcards(parts: &[String]) -> Option<Vec<String>> {
    let mut expanded = Vec::new();
    for part in parts {
        if !part.contains('x') {
            expanded.push(part.clone());
            continue;
        }
        let (operator, version) = split_operator(part)?;
        let mut flat = version.replacen(".x.x", ".x", 1).replacen(".x", ".0", 1);
        if flat.split('.').count() == 2 {
            flat.push_str(".0");
        }
        let (operator, leads_on) = match operator {
            ">" => (">=", true),
            ">=" => (">=", false),
            "<" => ("<", false),
            "<=" => ("<", true),
            "" | "=" | "==" => {
                expanded.push(format!(">={flat}"));
                ("<", true)
            }
            "!=" | "!" => {
                expanded.push(format!("<{flat}"));
                (">=", true)
            }
            _ => ("", false),
        };
        let names: Vec<&str> = version.split('.').collect();
        let wild = if names.last() == Some(&"x") { names.len() } else { 0 };
        let next = match (leads_on, wild) {
            (false, _) => flat,
            (true, 3) => increment_number(&flat, 1),
            (true, 2) => increment_number(&flat, 0),
            (true, _) => String::new(),
        };
        expanded.push(format!("{operator}{next}"));
    }
    Some(expanded)
}

/// Returns the version with one of its numbers incremented; empty if there is no such number.
fn increment_number(version: &str, at: usize) -> String {
    let mut parts: Vec<String> = version.split('.').map(str::to_owned).collect();
    let next = parts
        .get(at)
        .and_then(|number| number.parse::<i64>().ok())
        .and_then(|number| number.checked_add(1));
    match next {
        Some(next) => {
            parts[at] = next.to_string();
            parts.join(".")
        }
        None => String::new(),
    }
}

fn split_operator(part: &str) -> Option<(&str, &str)> {
    let at = part.find(|character: char| character.is_numeric())?;
    Some((part[..at].trim(), &part[at..]))
}

fn parse_condition(part: &str) -> Option<(Comparator, Version)> {
    let (operator, version) = split_operator(part)?;
    let comparator: Comparator = match operator {
        "" | "=" | "==" => Ordering::is_eq,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        "!" | "!=" => Ordering::is_ne,
        _ => return None,
    };
    Some((comparator, Version::parse(version)?))
}

/// Returns whether a range contains a version; `None` if one of them is malformed.
pub fn range_contains(range: &str, version: &str) -> Option<bool> {
    Some(Range::parse(range)?.contains_version(&Version::parse(version)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let sorted = [
            "0.9.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0",
            "1.0.1",
            "1.10.0",
        ];
        for pair in sorted.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|text| Version::parse(text).expect(text));
            assert_eq!(one.compare_precedence(&other), Ordering::Less, "{pair:?}");
            assert_eq!(one.to_string(), pair[0]);
        }
        for text in
            ["", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0+_", "1..0"]
        {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn ranges_hold_what_go_says() {
        for (range, inside, outside) in [
            (">=1.0.0 <2.0.0", "1.5.0", "2.0.0"),
            ("<1.0.0 || >=3.0.0", "3.0.0", "2.0.0"),
            ("1.2.x", "1.2.9", "1.3.0"),
            (">1.x", "2.0.0", "1.9.9"),
            (">= 1.0.0", "1.0.0", "0.9.0"),
        ] {
            let range = Range::parse(range).expect(range);
            assert!(range.contains_version(&Version::parse(inside).expect(inside)));
            assert!(!range.contains_version(&Version::parse(outside).expect(outside)));
        }
        for text in ["", "|| 1.0.0", "1.0.0 ||", "=>1.0.0", "abc", "~1.2", ">=1.x.0.x"] {
            assert!(Range::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn ranges_are_distinguished_from_other_texts() {
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
            assert!(Range::parse(text).is_some(), "{text}");
        }
        for text in
            ["", "1", "^1.0.0", "~1.2", ">=a", "1.0.0 ||", "=>1.0.0", "1.0.0||2.0.0", "1.0.0-next"]
        {
            assert!(Range::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_range_contains_versions_between_its_bounds() {
        let check = |range: &str, version: &str, expected: Option<bool>| {
            assert_eq!(range_contains(range, version), expected, "{range} {version}");
        };
        check(">=1.0.0 <1.1.0", "1.0.5", Some(true));
        check(">=1.0.0 <1.1.0", "1.1.0", Some(false));
        check(">=1.0.0 <1.1.0", "1.1.0-rc1", Some(true));
        check("<0.5.0 || >1.0.0", "2.0.0", Some(true));
        check("<0.5.0 || >1.0.0", "0.7.0", Some(false));
        check("1.0.0", "1.0.0", Some(true));
        check("!1.0.0", "1.0.0", Some(false));
        check("1.x", "1.0.0", Some(true));
        check("^1.0.0", "1.0.0", None);
    }
}

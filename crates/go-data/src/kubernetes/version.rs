//! Versions and ranges of versions as github.com/blang/semver reads them, with its words.

use std::{cmp::Ordering, fmt};

use super::go;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    patch: u64,
    pre: Vec<Part>,
    pub build: Vec<String>,
}

/// A part of a pre-release; numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Number(u64),
    Word(String),
}

impl Version {
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts[..] else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (major, minor) = (number(major, "Major")?, number(minor, "Minor")?);
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let (patch, pre) = match rest.split_once('-') {
            Some((patch, pre)) => (patch, Some(pre)),
            None => (rest, None),
        };
        let patch = number(patch, "Patch")?;
        let pre = pre.map(|it| it.split('.').map(Part::parse).collect::<Result<_, _>>());
        let pre = pre.transpose()?.unwrap_or_default();
        for it in build.iter().flat_map(|it| it.split('.')) {
            if it.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !it.bytes().all(is_alphanumeric) {
                return Err(format!(
                    "Invalid character(s) found in build meta data {}",
                    go::quoted(it)
                ));
            }
        }
        let build = build.iter().flat_map(|it| it.split('.')).map(str::to_owned).collect();
        Ok(Self { major, minor, patch, pre, build })
    }

    /// The order of precedence, in which build metadata does not count.
    pub fn compare(&self, other: &Self) -> Ordering {
        let numbers = |it: &Self| (it.major, it.minor, it.patch);
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

impl Part {
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Prerelease is empty".to_owned());
        }
        if text.bytes().all(|it| it.is_ascii_digit()) {
            if text.len() > 1 && text.starts_with('0') {
                let text = go::quoted(text);
                return Err(format!(
                    "Numeric PreRelease version must not contain leading zeroes {text}"
                ));
            }
            return parse_uint(text).map(Self::Number);
        }
        match text.bytes().all(is_alphanumeric) {
            true => Ok(Self::Word(text.to_owned())),
            false => Err(format!("Invalid character(s) found in prerelease {}", go::quoted(text))),
        }
    }
}

fn is_alphanumeric(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'-'
}

fn number(text: &str, name: &str) -> Result<u64, String> {
    if !text.bytes().all(|it| it.is_ascii_digit()) {
        let (name, text) = (name.to_lowercase(), go::quoted(text));
        return Err(format!("Invalid character(s) found in {name} number {text}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{name} number must not contain leading zeroes {}", go::quoted(text)));
    }
    parse_uint(text)
}

fn parse_uint(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let why = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing {}: {why}", go::quoted(text))
    })
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(it) => it.fmt(f),
            Self::Word(it) => it.fmt(f),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, pre, build } = self;
        write!(f, "{major}.{minor}.{patch}")?;
        for (at, it) in pre.iter().enumerate() {
            write!(f, "{}{it}", if at == 0 { '-' } else { '.' })?;
        }
        for (at, it) in build.iter().enumerate() {
            write!(f, "{}{it}", if at == 0 { '+' } else { '.' })?;
        }
        Ok(())
    }
}

/// Alternatives, of which each has conditions that must all be met.
#[derive(Debug)]
pub struct Range(Vec<Vec<(Comparator, Version)>>);

type Comparator = fn(Ordering) -> bool;

impl Range {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut res = Vec::new();
        for part in alternatives(&parts(text))? {
            let mut conditions = Vec::new();
            for it in expand(&part)? {
                conditions.push(condition(&it)?);
            }
            res.push(conditions);
        }
        Ok(Self(res))
    }

    pub fn has(&self, version: &Version) -> bool {
        let fits = |it: &(Comparator, Version)| (it.0)(version.compare(&it.1));
        // Between two `||` is nothing to meet.
        self.0.iter().any(|it| !it.is_empty() && it.iter().all(fits))
    }
}

/// The parts between spaces, which may also follow on an operator. Parts of one letter are lost.
fn parts(text: &str) -> Vec<String> {
    let mut res = Vec::new();
    let (mut start, mut before) = (0, '\0');
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

fn alternatives(parts: &[String]) -> Result<Vec<Vec<String>>, String> {
    if parts.first().is_some_and(|it| it == "||") {
        return Err("First element in range is '||'".to_owned());
    }
    if parts.last().is_none_or(|it| it == "||") {
        return Err("Last element in range is '||'".to_owned());
    }
    Ok(parts.split(|it| it == "||").map(<[String]>::to_vec).collect())
}

/// Replaces versions that end in `x`.
fn expand(parts: &[String]) -> Result<Vec<String>, String> {
    let mut res = Vec::new();
    for part in parts {
        if !part.contains('x') {
            res.push(part.clone());
            continue;
        }
        let (operator, version) = split(part)?;
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
                res.push(format!(">={flat}"));
                ("<", true)
            }
            "!=" | "!" => {
                res.push(format!("<{flat}"));
                (">=", true)
            }
            _ => ("", false),
        };
        let names: Vec<&str> = version.split('.').collect();
        let wild = if names.last() == Some(&"x") { names.len() } else { 0 };
        let next = match (leads_on, wild) {
            (false, _) => flat,
            (true, 3) => increment(&flat, 1),
            (true, 2) => increment(&flat, 0),
            (true, _) => String::new(),
        };
        res.push(format!("{operator}{next}"));
    }
    Ok(res)
}

/// The version with the next number at one place; empty if there is no number.
fn increment(version: &str, at: usize) -> String {
    let mut parts: Vec<String> = version.split('.').map(str::to_owned).collect();
    let next = parts.get(at).and_then(|it| it.parse::<i64>().ok()).and_then(|it| it.checked_add(1));
    match next {
        Some(next) => {
            parts[at] = next.to_string();
            parts.join(".")
        }
        None => String::new(),
    }
}

fn split(part: &str) -> Result<(&str, &str), String> {
    match part.find(|it: char| it.is_numeric()) {
        Some(at) => Ok((part[..at].trim(), &part[at..])),
        None => Err(format!("Could not get version from string: {}", go::quoted(part))),
    }
}

fn condition(part: &str) -> Result<(Comparator, Version), String> {
    let (operator, version) = split(part)?;
    let fault = |it: String| format!("Could not parse Range {}: {it}", go::quoted(part));
    let joined = go::quoted(&format!("{operator}{version}"));
    let comparator: Comparator = match operator {
        "" | "=" | "==" => Ordering::is_eq,
        ">" => Ordering::is_gt,
        ">=" => Ordering::is_ge,
        "<" => Ordering::is_lt,
        "<=" => Ordering::is_le,
        "!" | "!=" => Ordering::is_ne,
        _ => {
            let operator = go::quoted(operator);
            return Err(fault(format!("Could not parse comparator {operator} in {joined}")));
        }
    };
    let parsed = Version::parse(version).map_err(|it| {
        fault(format!("Could not parse version {} in {joined}: {it}", go::quoted(version)))
    })?;
    Ok((comparator, parsed))
}

/// Whether a range contains a version; none if one of them is malformed.
pub fn contains(range: &str, version: &str) -> Option<bool> {
    let (range, version) = (Range::parse(range).ok()?, Version::parse(version).ok()?);
    Some(range.has(&version))
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
            let [one, other] = [pair[0], pair[1]].map(|it| Version::parse(it).expect(it));
            assert_eq!(one.compare(&other), Ordering::Less, "{pair:?}");
            assert_eq!(one.to_string(), pair[0]);
        }
        for text in
            ["", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0+_", "1..0"]
        {
            assert!(Version::parse(text).is_err(), "{text}");
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
            assert!(range.has(&Version::parse(inside).expect(inside)));
            assert!(!range.has(&Version::parse(outside).expect(outside)));
        }
        for text in ["", "|| 1.0.0", "1.0.0 ||", "=>1.0.0", "abc", "~1.2", ">=1.x.0.x"] {
            assert!(Range::parse(text).is_err(), "{text}");
        }
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
            assert!(Range::parse(text).is_ok(), "{text}");
        }
        for text in
            ["", "1", "^1.0.0", "~1.2", ">=a", "1.0.0 ||", "=>1.0.0", "1.0.0||2.0.0", "1.0.0-next"]
        {
            assert!(Range::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_contains_versions_between_its_bounds() {
        let check = |range: &str, version: &str, expected: Option<bool>| {
            assert_eq!(contains(range, version), expected, "{range} {version}");
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

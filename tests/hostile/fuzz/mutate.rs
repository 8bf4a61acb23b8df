//! Changes at random of a file's bytes, lines and words.

use super::structure;
use crate::random::Random;

/// What parsers, shells, terminals and paths take for something else than text.
const WORDS: &[&str] = &[
    "..",
    "/",
    "../../",
    "\0",
    "\"",
    "'",
    "`",
    "&a *a",
    "*a",
    "<<: *a",
    "!!binary",
    "!!set",
    "{{}}",
    "{{#each}}",
    "99999999999999999999",
    "-1",
    "1e999",
    ".nan",
    ".inf",
    "0x",
    "0o9",
    "🦀",
    "\u{feff}",
    "\r\n",
    "\r",
    "\u{1b}[2J",
    "\u{9b}2J",
    "\u{7}",
    "\u{7f}",
    "\u{202e}",
    "\u{2028}",
    "\u{85}",
    "#[kube(",
    "#[serde(",
    "#[schemars(",
    ")]",
    "$(",
    "${A}",
    "[[[[[[[[[[[[",
    "]]]]",
    "{{{{{{{{",
    "((((((((((",
    "))))",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "- ",
    ": ",
    "? ",
    "\t",
    "%YAML 1.1\n",
    "~",
    "null",
    "true",
    "no",
    "\u{0}\u{1}",
    "\\u{1b}",
    "\\x1b",
    "\\e",
    "//",
    "/*",
    "*/",
    "r#\"",
    "b'",
    "'a",
    "::",
    "crate::",
    "self::super::",
    "Self",
    "dyn ",
    "impl ",
    "fn ",
    "mod a;",
    "use a::*;",
    "<T>",
    ">>",
    "#![",
    "include!(\"main.rs\");",
    "env!(\"TOKEN\")",
    "concat!(",
    "i64::MAX + 1",
    "1 / 0",
    "1 << 99",
    "[0; 99999999999]",
    "+kubebuilder:rbac:",
    "groups=",
    ";",
    "verbs=*",
    "resources=",
    "workspace = true",
    "[package]",
    "[[",
    "]]",
    "path = \"..\"",
    "https://127.0.0.1:1/",
    "file:///",
];

/// Changes a file a little: one to four times, each in one of these ways.
pub fn mutate(path: &str, bytes: &[u8], others: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut res = bytes.to_vec();
    for _ in 0..=random.below(4) {
        res = match random.below(12) {
            0..=3 if structure::applies(path) => structure::mutate(&res, random).unwrap_or(res),
            0 => bits(res, random),
            1 => cut(&res, random),
            2..=5 => lines(&res, random),
            6 => splice(&res, others[random.below(others.len())], random),
            7 => value(&res, random),
            8 => exchange(&res, random),
            _ => word(&res, random),
        };
    }
    res
}

fn bits(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        if let Some(it) = bytes.get_mut(at) {
            *it ^= 1 << random.below(8);
        }
    }
    bytes
}

/// Without the end, without the beginning or without a part.
fn cut(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let at = random.below(bytes.len());
    match random.below(3) {
        0 => bytes[..at].to_vec(),
        1 => bytes[at..].to_vec(),
        _ => {
            let end = (at + random.below(40)).min(bytes.len());
            [&bytes[..at], &bytes[end..]].concat()
        }
    }
}

fn lines(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return random.pick(WORDS).as_bytes().to_vec();
    }
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(7) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.insert(at, lines[other].clone()),
        3 => lines.swap(at, other),
        4 => lines[at].splice(0..0, *b"  ").for_each(drop),
        5 => {
            let spaces = lines[at].iter().take_while(|it| **it == b' ').count();
            lines[at].drain(..spaces.min(2));
        }
        _ => {
            let many = 1 << random.below(12);
            let line = lines[at].clone();
            lines.splice(at..at, std::iter::repeat_n(line, many));
        }
    }
    lines.concat()
}

/// The beginning of one file and the end of another.
fn splice(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (at, from) = (random.below(bytes.len()), random.below(other.len()));
    let end = (from + random.below(300)).min(other.len());
    [&bytes[..at], &other[from..end], &bytes[at..]].concat()
}

/// Something else behind a `:` or a `=`.
fn value(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let marks = |it: &(usize, &u8)| matches!(it.1, b':' | b'=' | b'(');
    let places: Vec<usize> = bytes.iter().enumerate().filter(marks).map(|it| it.0 + 1).collect();
    if places.is_empty() {
        return word(bytes, random);
    }
    let at = *random.pick(&places);
    let stops = |it: &u8| matches!(it, b'\n' | b',' | b')' | b']' | b'}');
    let end = bytes[at..].iter().position(stops).map_or(bytes.len(), |it| at + it);
    [&bytes[..at], b" ", random.pick(WORDS).as_bytes(), &bytes[end..]].concat()
}

/// Two words of the file in each other's place.
fn exchange(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut words: Vec<&[u8]> = bytes.split_inclusive(|it| !it.is_ascii_alphanumeric()).collect();
    if 1 < words.len() {
        let (at, other) = (random.below(words.len()), random.below(words.len()));
        words.swap(at, other);
    }
    words.concat()
}

/// A strange word somewhere, once or very often.
fn word(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let at = random.below(bytes.len() + 1);
    let many = if random.one_in(12) { 1 << random.below(14) } else { 1 };
    let word = random.pick(WORDS).repeat(many);
    [&bytes[..at], word.as_bytes(), &bytes[at..]].concat()
}

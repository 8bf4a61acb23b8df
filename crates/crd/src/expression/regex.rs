//! Matches regular expressions as Go does.

use regex_lite::RegexBuilder;

/// The maximum product of an expression's size and a text's length, in bytes: a match takes time for each part of an
/// expression at each character.
const WORK: usize = 4 << 30;
const LARGEST: usize = 1 << 20;

/// Returns true if a text has a match; none if Go may read the expression differently, or if it is not supported here.
pub fn is_match(pattern: &str, text: &str) -> Option<bool> {
    // Go takes `{,` literally. It ignores case in all of Unicode, and this library in ASCII only.
    let ignores_case = pattern.contains("(?") && !(pattern.is_ascii() && text.is_ascii());
    if pattern.contains("{,") || pattern.contains("\\b{") || ignores_case {
        return None;
    }
    let limit = (WORK / text.len().max(1)).min(LARGEST);
    Some(RegexBuilder::new(pattern).size_limit(limit).build().ok()?.is_match(text))
}

#[test]
fn what_go_reads_otherwise_is_not_matched() {
    assert_eq!(is_match("^a+$", "aa"), Some(true));
    assert_eq!(is_match("^a+$", "ab"), Some(false));
    assert_eq!(is_match("(?i)k", "K"), Some(true));
    assert_eq!(is_match("(?i)k", "\u{212a}"), None);
    for pattern in ["a{,2}", r"\pL", r"\Qa\E", "(?=a)"] {
        assert_eq!(is_match(pattern, "a"), None, "{pattern}");
    }
}

#[test]
fn what_would_take_too_long_is_not_matched() {
    let text = "a".repeat(100_000);
    assert_eq!(is_match("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", &text), Some(true));
    assert_eq!(is_match("^((a?){100}){100}$", &text), None);
    assert_eq!(is_match("((((a{99}){99}){99}){99}){99}", "a"), None);
}

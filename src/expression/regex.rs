//! Regular expressions as Go reads them.

use regex_lite::Regex;

/// Whether a text has a match; nothing where Go may read the expression otherwise, or it is not supported here.
pub fn is_match(pattern: &str, text: &str) -> Option<bool> {
    // Go takes `{,` literally. It ignores case in all of Unicode, and this library in ASCII only.
    let ignores_case = pattern.contains("(?") && !(pattern.is_ascii() && text.is_ascii());
    if pattern.contains("{,") || pattern.contains("\\b{") || ignores_case {
        return None;
    }
    Some(Regex::new(pattern).ok()?.is_match(text))
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

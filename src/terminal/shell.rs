//! Words of commands that are printed, to be copied into a shell.

/// Returns a word as a shell reads it back: in quotes, if it has characters that a shell might read in another way.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[test]
fn only_words_that_need_quotes_have_them() {
    let check = |text: &str, expected: &str| assert_eq!(shell_word(text), expected);
    check("charts/my-operator", "charts/my-operator");
    check("my chärt", "'my chärt'");
    check("it's", r"'it'\''s'");
    check("$HOME", "'$HOME'");
    check("", "''");
}

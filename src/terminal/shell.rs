//! Words of commands that are printed, to be copied into a shell.

/// A word as a shell reads it back: in quotes, if it has characters that a shell might read in another way.
pub fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=@%+,".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
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

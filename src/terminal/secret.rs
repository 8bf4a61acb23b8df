//! Passwords inside of addresses, as in `https://me:secret@example.com`: whoever types one does not want it in a log.

/// How the digest of an image begins, which stands after an `@`, too.
const DIGESTS: [&str; 3] = ["sha256:", "sha384:", "sha512:"];

/// A text without the users and passwords of its addresses.
pub fn hidden(text: &str) -> String {
    text.split_inclusive(|it: char| it.is_whitespace() || "`'\"<>".contains(it)).map(word).collect()
}

fn word(word: &str) -> String {
    let Some((before, host)) = word.rsplit_once('@') else { return word.to_owned() };
    if DIGESTS.iter().any(|it| host.starts_with(it)) {
        // The name of the image may have a password of its own.
        return match before.contains('@') {
            true => format!("{}@{host}", self::word(before)),
            false => word.to_owned(),
        };
    }
    let (scheme, user) = match before.split_once("//") {
        Some((scheme, user)) => (format!("{scheme}//"), user),
        None if before.contains('/') || before.starts_with("mailto:") => return word.to_owned(),
        None => (String::new(), before),
    };
    match user.contains(':') {
        true => format!("{scheme}***@{host}"),
        false => word.to_owned(),
    }
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let check = |text: &str, expected: &str| assert_eq!(hidden(text), expected);
    check("there is no `https://me:secret@x.io/a:v1`\n", "there is no `https://***@x.io/a:v1`\n");
    check("'me:secret@x.io/a' \"docker://:p@x\"", "'***@x.io/a' \"docker://***@x\"");
    check("me:s@cr@t@x.io/a", "***@x.io/a");
    check("https://me:sec/ret@x.io/a@sha256:00", "https://***@x.io/a@sha256:00");
    check("a=https://me:secret@x.io", "a=https://***@x.io");
    for text in [
        "quay.io/a/b:v1@sha256:00",
        "a:v1@sha256:00",
        "git@github.com:a/b",
        "ssh://git@x.io/a",
        "mailto:a@b.c",
        "src/a.rs:1:2: me@example.com",
        "@generated",
        "localhost:5000/a b@c",
        "x@",
    ] {
        check(text, text);
    }
}

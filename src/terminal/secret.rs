//! Hides passwords inside of addresses, such as `https://me:secret@example.com`, so that no log contains them.

/// The prefixes of image digests, which also follow an `@`.
const DIGESTS: [&str; 3] = ["sha256:", "sha384:", "sha512:"];

/// Returns a text without the users and passwords of its addresses.
pub fn hide_passwords(text: &str) -> String {
    text.split_inclusive(|c: char| c.is_whitespace() || "`'\"<>".contains(c))
        .map(hide_password)
        .collect()
}

fn hide_password(word: &str) -> String {
    let Some((before, host)) = word.rsplit_once('@') else { return word.to_owned() };
    if DIGESTS.iter().any(|digest| host.starts_with(digest)) {
        // The name of the image may contain a password, too.
        return if before.contains('@') {
            format!("{}@{host}", self::hide_password(before))
        } else {
            word.to_owned()
        };
    }
    let (scheme, user) = match before.split_once("//") {
        Some((scheme, user)) => (format!("{scheme}//"), user),
        None if before.contains('/') || before.starts_with("mailto:") => return word.to_owned(),
        None => (String::new(), before),
    };
    if user.contains(':') { format!("{scheme}***@{host}") } else { word.to_owned() }
}

#[test]
fn a_password_in_an_address_is_not_shown() {
    let check = |text: &str, expected: &str| assert_eq!(hide_passwords(text), expected);
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

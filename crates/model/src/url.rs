//! URLs that are published.

/// Returns the URL without a name and a password.
pub fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}{path}")
}

#[test]
fn a_url_is_published_without_a_password() {
    let check = |url: &str, expected: &str| assert_eq!(without_user(url), expected);
    check("https://me:secret@example.com/x@y", "https://example.com/x@y");
    check("https://secret@example.com", "https://example.com");
    check("https://example.com/x", "https://example.com/x");
    check("git@example.com:x", "git@example.com:x");
}

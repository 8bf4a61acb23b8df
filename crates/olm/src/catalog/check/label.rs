//! References of images, as containers/image reads them.

use model::Image;

/// Returns whether a text is a reference of an image, in its short or long form.
pub fn is_image(text: &str) -> bool {
    if text.len() == 64 && text.bytes().all(is_hex) {
        return false;
    }
    let (domain, rest) = match text.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("docker.io", text),
    };
    let domain = if domain == "index.docker.io" { "docker.io" } else { domain };
    let is_official = domain == "docker.io" && !rest.contains('/');
    let rest = if is_official { format!("library/{rest}") } else { rest.to_owned() };
    let remote = rest.split(':').next().unwrap_or_default();
    let whole = format!("{domain}/{rest}");
    let (name, digest) = match whole.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (whole.as_str(), None),
    };
    let path = name.split('/').next_back().unwrap_or_default();
    let named = name.len() - path.len() + path.find(':').unwrap_or(path.len());
    // `Image` takes the addresses in brackets that this library does not know.
    remote.to_lowercase() == remote
        && !domain.starts_with('[')
        && named <= 255
        && name.parse::<Image>().is_ok()
        && digest.is_none_or(is_digest)
}

/// Returns whether `algorithm:hex` has a known algorithm and its number of digits.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length && hex.bytes().all(is_hex)
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[test]
fn references_of_images_are_distinguished_from_other_texts() {
    let digest = "0a".repeat(32);
    for text in ["a", "quay.io/a/b:v1", "localhost:5000/a", "a/b/c", &format!("a@sha256:{digest}")]
    {
        assert!(is_image(text), "{text}");
    }
    for text in [
        "A",
        "a b",
        "quay.io/a:b:c",
        &digest,
        &format!("a@sha1:{digest}"),
        &format!("a@sha256:{digest}00"),
        &format!("a@sha256:{}", digest.to_uppercase()),
        &"a/".repeat(200),
        &"a".repeat(300),
    ] {
        assert!(!is_image(text), "{text}");
    }
}

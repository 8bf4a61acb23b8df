//! The rules for names of packages and for references of images, in the words of the Go libraries.

use model::Image;

/// What is wrong with an RFC 1123 label.
pub fn faults(text: &str) -> Vec<&'static str> {
    let mut res = Vec::new();
    if text.len() > 63 {
        res.push("must be no more than 63 characters");
    }
    let is_label = |it: &str| {
        let inside = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        !it.is_empty() && it.bytes().all(inside) && !it.starts_with('-') && !it.ends_with('-')
    };
    if !is_label(text) {
        res.push(match text.split('.').all(is_label) {
            true => "must not contain dots",
            false => LABEL,
        });
    }
    res
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// What is wrong with a reference of an image, which may be a short one.
pub fn image_fault(text: &str) -> Option<String> {
    if text.len() == 64 && text.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
    {
        return Some(format!(
            "invalid repository name ({text}), cannot specify 64-byte hexadecimal strings"
        ));
    }
    let (domain, rest) = match text.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("docker.io", text),
    };
    let domain = if domain == "index.docker.io" { "docker.io" } else { domain };
    let is_official = domain == "docker.io" && !rest.contains('/');
    let rest = if is_official { format!("library/{rest}") } else { rest.to_owned() };
    let remote = rest.split(':').next().unwrap_or_default();
    if remote.to_lowercase() != remote {
        return Some("invalid reference format: repository name must be lowercase".to_owned());
    }
    let whole = format!("{domain}/{rest}");
    let (name, digest) = match whole.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (whole.as_str(), None),
    };
    let path = name.split('/').next_back().unwrap_or_default();
    let named = name.len() - path.len() + path.find(':').unwrap_or(path.len());
    // `Image` takes the addresses in brackets that this library does not know.
    let is_named = !domain.starts_with('[')
        && (name.parse::<Image>().is_ok() || named > 255 && is_short_named(name, named));
    let is_digest = digest.is_none_or(has_digest_format);
    if !is_named || !is_digest {
        let lower = whole.to_lowercase();
        let is_case = lower != whole && image_fault(&lower).is_none();
        return Some(match is_case {
            true => "repository name must be lowercase".to_owned(),
            false => "invalid reference format".to_owned(),
        });
    }
    if named > 255 {
        return Some("repository name must not be more than 255 characters".to_owned());
    }
    digest.and_then(digest_fault)
}

/// Whether a name is one apart from its length: runs of letters and digits are as good as one of them.
fn is_short_named(name: &str, end: usize) -> bool {
    let mut short = String::new();
    for c in name[..end].chars() {
        let is_run = |before: char| before.is_ascii_alphanumeric() && c.is_ascii_alphanumeric();
        let is_same = short.ends_with(|before| {
            is_run(before) && before.is_ascii_lowercase() == c.is_ascii_lowercase()
        });
        if !is_same {
            short.push(c);
        }
    }
    short.len() <= 255 && (short + &name[end..]).parse::<Image>().is_ok()
}

/// `algorithm:hex`, with 32 digits at least.
fn has_digest_format(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let is_word = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_alphabetic())
            && it.bytes().all(|c| c.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_word)
        && hex.len() >= 32
        && hex.bytes().all(|it| it.is_ascii_hexdigit())
}

fn digest_fault(digest: &str) -> Option<String> {
    let (algorithm, hex) = digest.split_once(':')?;
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return Some("unsupported digest algorithm".to_owned()),
    };
    if hex.len() != length {
        return Some("invalid checksum digest length".to_owned());
    }
    let is_lower = hex.bytes().all(|it| !it.is_ascii_uppercase());
    (!is_lower).then(|| "invalid checksum digest format".to_owned())
}

#[test]
fn names_are_refused_with_reasons() {
    assert_eq!(faults("a-1"), Vec::<&str>::new());
    assert_eq!(faults("a.b"), ["must not contain dots"]);
    assert_eq!(faults("A"), [LABEL]);
    assert_eq!(faults(&"a".repeat(64)), ["must be no more than 63 characters"]);
}

#[test]
fn images_are_refused_with_reasons() {
    let digest = "0a".repeat(32);
    for text in ["a", "quay.io/a/b:v1", "localhost:5000/a", "a/b/c", &format!("a@sha256:{digest}")]
    {
        assert_eq!(image_fault(text), None, "{text}");
    }
    for (text, expected) in [
        ("A", "invalid reference format: repository name must be lowercase"),
        ("a b", "invalid reference format"),
        ("quay.io/a:b:c", "invalid reference format"),
        (&digest, "invalid repository name"),
        (&format!("a@sha1:{digest}"), "unsupported digest algorithm"),
        (&format!("a@sha256:{digest}00"), "invalid checksum digest length"),
        (&"a/".repeat(200), "invalid reference format"),
        (&"a".repeat(300), "repository name must not be more than 255 characters"),
    ] {
        assert!(
            image_fault(text).is_some_and(|it| it.starts_with(expected)),
            "{text} {:?}",
            image_fault(text)
        );
    }
}

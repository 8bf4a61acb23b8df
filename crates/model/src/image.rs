use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Refusal, text};

/// A container image's reference, e.g. `quay.io/example/memcached-operator:v0.0.1`.
///
/// The grammar is that of <https://github.com/distribution/reference>; no defaults are added (no
/// `docker.io/library`, no `latest`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Image {
    name: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Image {
    /// Returns registry and repository, without tag and digest.
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }
    /// Returns the registry's address: the name's first part, or Docker Hub's.
    pub fn registry(&self) -> &str {
        match self.name.split_once('/') {
            Some((first, _)) if is_registry(first) && first != "index.docker.io" => first,
            _ => HUB,
        }
    }
    /// Returns the name in the registry. Docker Hub has its own images in `library`.
    pub fn repository(&self) -> String {
        let path = match self.name.split_once('/') {
            Some((first, path)) if is_registry(first) => path,
            _ => &self.name,
        };
        if self.registry() == HUB && !path.contains('/') {
            format!("library/{path}")
        } else {
            path.to_owned()
        }
    }
    /// Returns the digest, e.g. `sha256:…`.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

impl FromStr for Image {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::new("must not be empty"));
        }
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        // A colon after the last slash starts a tag; one before it, a registry's port.
        let start = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest[start..].split_once(':') {
            Some((last, tag)) => (&rest[..start + last.len()], Some(tag)),
            None => (rest, None),
        };
        check_name(name)?;
        if let Some(tag) = tag {
            check_tag(tag)?;
        }
        if let Some(digest) = digest {
            check_digest(digest)?;
        }
        Ok(Self {
            name: name.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }
}

/// Docker Hub's address in names.
const HUB: &str = "docker.io";

fn check_name(name: &str) -> Result<(), Refusal> {
    if name.len() > 255 {
        return Err(Refusal::new("must have at most 255 characters before its tag"));
    }
    let path = match name.split_once('/') {
        Some((first, path)) if is_registry(first) => {
            check_registry(first)?;
            path
        }
        _ => name,
    };
    if !path.split('/').all(is_path_part) {
        return Err(Refusal::new(
            "must look like `registry/repository:tag`, the repository in lowercase letters, digits and inner `-`, `_`, `.`",
        ));
    }
    Ok(())
}

/// Returns whether the first part of a name is a registry's address, by the rule that every client uses.
fn is_registry(first: &str) -> bool {
    first.contains(['.', ':']) || first == "localhost" || first.contains(char::is_uppercase)
}

fn check_registry(registry: &str) -> Result<(), Refusal> {
    let wrong = || {
        Refusal::new("must begin with a registry's address such as `quay.io` or `localhost:5000`")
    };
    let (host, port) = match registry.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (registry, None),
    };
    if port.is_some_and(|port| port.is_empty() || !port.bytes().all(|c| c.is_ascii_digit())) {
        return Err(wrong());
    }
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = address {
        return if address.parse::<std::net::Ipv6Addr>().is_ok() { Ok(()) } else { Err(wrong()) };
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.split('.').all(is_label) { Ok(()) } else { Err(wrong()) }
}

/// Returns whether a part of a path has only lowercase words, joined by one `.`, one or two `_`, or any number of `-`.
fn is_path_part(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut rest = part;
    loop {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            return false;
        }
        rest = &rest[word..];
        if rest.is_empty() {
            return true;
        }
        let joint = rest.find(is_word).unwrap_or(rest.len());
        if !matches!(&rest[..joint], "." | "_" | "__") && !rest[..joint].bytes().all(|c| c == b'-')
        {
            return false;
        }
        rest = &rest[joint..];
    }
}

fn check_tag(tag: &str) -> Result<(), Refusal> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if tag.is_empty() || tag.len() > 128 || !tag.chars().all(inside) || tag.starts_with(['.', '-'])
    {
        return Err(Refusal::new(
            "must have a tag of at most 128 letters, digits, `_`, `.` and `-`, not starting with `.` or `-`",
        ));
    }
    Ok(())
}

fn check_digest(digest: &str) -> Result<(), Refusal> {
    let length = match digest.split_once(':') {
        Some(("sha256", hex)) => (hex, 64),
        Some(("sha384", hex)) => (hex, 96),
        Some(("sha512", hex)) => (hex, 128),
        _ => ("", 1),
    };
    let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    if length.0.len() != length.1 || !length.0.bytes().all(is_hex) {
        return Err(Refusal::new("must have a digest such as `sha256:` and 64 hexadecimal digits"));
    }
    Ok(())
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

text!(Image);

#[test]
fn an_image_is_split_into_name_tag_and_digest() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let check = |text: &str, name: &str, tag: Option<&str>, digest: Option<&str>| {
        let image: Image = text.parse().unwrap_or_else(|refusal| panic!("{text} {refusal}"));
        assert_eq!((image.name(), image.tag(), image.digest()), (name, tag, digest));
        assert_eq!(image.to_string(), text);
    };
    check("memcached", "memcached", None, None);
    check("memcached:1.6.39-alpine", "memcached", Some("1.6.39-alpine"), None);
    check("localhost:5000/a/b", "localhost:5000/a/b", None, None);
    check("[::1]:5000/a:B_1", "[::1]:5000/a", Some("B_1"), None);
    check("quay.io/a__b/c-.d".replace("-.d", "--d").as_str(), "quay.io/a__b/c--d", None, None);
    check(&format!("quay.io/a:v1@{digest}"), "quay.io/a", Some("v1"), Some(&digest));
    check(&format!("quay.io/a@{digest}"), "quay.io/a", None, Some(&digest));
}

#[test]
fn what_no_registry_would_take_is_refused() {
    for text in [
        "",
        ":v1",
        "a:",
        "a b",
        "A",
        "quay.io/A",
        "quay.io/",
        "/a",
        "a//b",
        "a:-x",
        "a:b:c",
        "a._b",
        "a___b",
        "-a",
        "quay.io:x/a",
        "-x.io/a",
        "a@sha256:0",
        "a@",
        "https://quay.io/a",
        "[1]:5/a",
    ] {
        assert!(text.parse::<Image>().is_err(), "{text}");
    }
}

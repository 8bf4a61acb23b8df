//! Names in the paths of an API server. Each is a single segment, wherever the name came from.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters to escape: all but letters, digits and these.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// A name as a path segment, escaped.
///
/// Servers treat an escaped `/` as a `/`, so characters that Kubernetes allows in no name are refused.
pub fn path_segment(name: &str) -> anyhow::Result<String> {
    let is_wrong = name.is_empty()
        || [".", ".."].contains(&name)
        || name.chars().any(|letter| letter.is_control() || ['/', '%'].contains(&letter));
    if is_wrong {
        anyhow::bail!("{name:?} is not a valid name in an API server's path");
    }
    Ok(utf8_percent_encode(name, ESCAPED).to_string())
}

/// A name that needs no escaping: a group, a version, or a plural name.
pub fn plain_segment(name: &str) -> anyhow::Result<&str> {
    if path_segment(name)? == name {
        Ok(name)
    } else {
        anyhow::bail!("{name:?} is not a valid name in an API server's path")
    }
}

/// The path of a group and version: of `v1`, or `apps/v1`.
pub fn group_version_path(text: &str) -> anyhow::Result<String> {
    Ok(match text.split_once('/') {
        None => format!("/api/{}", plain_segment(text)?),
        Some((group, version)) => {
            format!("/apis/{}/{}", plain_segment(group)?, plain_segment(version)?)
        }
    })
}

#[test]
fn a_name_is_a_single_segment() {
    assert_eq!(path_segment("system:node b").unwrap(), "system:node%20b");
    assert_eq!(path_segment("a=b&c?d#é").unwrap(), "a%3Db%26c%3Fd%23%C3%A9");
    assert_eq!(group_version_path("apps/v1").unwrap(), "/apis/apps/v1");
    assert_eq!(group_version_path("v1").unwrap(), "/api/v1");
    for name in ["", ".", "..", "a/b", "../b", "a%2Fb", "a\nb", "\u{1b}[2J"] {
        assert!(path_segment(name).is_err(), "{name:?}");
    }
    for text in ["", "/", "a/", "/v1", "a/../v1", "a/b/c", "../v1", "a b/v1"] {
        assert!(group_version_path(text).is_err(), "{text:?}");
    }
}

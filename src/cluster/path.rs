//! Paths of an API server: each name in one is a single part of it, wherever the name came from.

use std::fmt::Write as _;

/// A name as a part of a path. To a server, an escaped `/` is a `/`, so what Kubernetes allows in no name is refused.
pub fn segment(name: &str) -> anyhow::Result<String> {
    let wrong = name.is_empty()
        || [".", ".."].contains(&name)
        || name.chars().any(|it| it.is_control() || ['/', '%'].contains(&it));
    if wrong {
        anyhow::bail!("{name:?} cannot be a part of an API server's path");
    }
    Ok(escape(name))
}

/// A group and version: `v1`, or `apps/v1`.
pub fn group_version(text: &str) -> anyhow::Result<String> {
    Ok(match text.split_once('/') {
        None => format!("/api/{}", segment(text)?),
        Some((group, version)) => format!("/apis/{}/{}", segment(group)?, segment(version)?),
    })
}

/// Any text as a part of a path or the value of a parameter.
pub fn escape(text: &str) -> String {
    let mut res = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                res.push(byte.into());
            }
            _ => write!(res, "%{byte:02X}").expect("a string takes all"),
        }
    }
    res
}

#[test]
fn a_name_leads_nowhere_but_to_itself() {
    assert_eq!(segment("system:node b").unwrap(), "system:node%20b");
    assert_eq!(group_version("apps/v1").unwrap(), "/apis/apps/v1");
    assert_eq!(group_version("v1").unwrap(), "/api/v1");
    for name in ["", ".", "..", "a/b", "../b", "a%2Fb", "a\nb", "\u{1b}[2J"] {
        assert!(segment(name).is_err(), "{name:?}");
    }
    for text in ["", "/", "a/", "/v1", "a/../v1", "a/b/c", "../v1"] {
        assert!(group_version(text).is_err(), "{text:?}");
    }
    assert_eq!(escape("a=b&c?d#é"), "a%3Db%26c%3Fd%23%C3%A9");
}

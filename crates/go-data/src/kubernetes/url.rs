//! URLs as Go's `net/url` parses them.

use std::net::Ipv6Addr;

#[derive(Debug, PartialEq, Eq)]
pub struct Url {
    pub scheme: String,
    pub user: bool,
    pub host: String,
    pub query: bool,
    pub fragment: bool,
}

impl Url {
    /// Parses a URL as `url.Parse` does.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let url = Self::parse_without_fragment(text, false)?;
        has_good_escapes(fragment).then_some(Self { fragment: !fragment.is_empty(), ..url })
    }

    /// Parses a URL as `url.ParseRequestURI` does.
    pub fn parse_request(text: &str) -> Option<Self> {
        Self::parse_without_fragment(text, true)
    }

    fn parse_without_fragment(text: &str, request: bool) -> Option<Self> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || (request && text.is_empty()) {
            return None;
        }
        let mut url = Self {
            scheme: String::new(),
            user: false,
            host: String::new(),
            query: false,
            fragment: false,
        };
        if text == "*" {
            return Some(url);
        }
        let (scheme, rest) = split_scheme(text)?;
        url.scheme = scheme.to_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        url.query = !query.is_empty();
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Some(url);
            }
            let has_colon = rest.split('/').next().is_some_and(|segment| segment.contains(':'));
            return (!request && !has_colon && has_good_escapes(rest)).then_some(url);
        }
        let is_absolute = !scheme.is_empty() || (!request && !rest.starts_with("///"));
        let mut path = rest;
        if let Some(authority) = rest.strip_prefix("//").filter(|_| is_absolute) {
            let end = authority.find('/').unwrap_or(authority.len());
            path = &authority[end..];
            let authority = &authority[..end];
            let (user, host) = match authority.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, authority),
            };
            url.user = user.is_some();
            url.host = host.to_owned();
            if !is_host(&url.scheme, host) || !user.is_none_or(is_user) {
                return None;
            }
        }
        has_good_escapes(path).then_some(url)
    }
}

/// Splits a URL into its scheme, which may be empty, and the rest; `None` if only the scheme's name is missing.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, character) in text.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at > 0 => return Some((&text[..at], &text[at + 1..])),
            ':' => return None,
            _ => break,
        }
    }
    Some(("", text))
}

fn is_user(text: &str) -> bool {
    let is_good = |character: char| {
        character.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(character)
    };
    text.chars().all(is_good) && has_good_escapes(text)
}

fn is_host(scheme: &str, host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let Some((name, port)) = rest.rsplit_once(']') else { return false };
        let (address, zone) = name.split_once("%25").unwrap_or((name, "any"));
        return is_port(port) && !zone.is_empty() && address.parse::<Ipv6Addr>().is_ok();
    }
    if host.contains('[') {
        return false;
    }
    let is_web = scheme == "http" || scheme == "https";
    let port = if is_web { host.find(':') } else { host.rfind(':') };
    port.is_none_or(|start| is_port(&host[start..])) && is_host_name(host)
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_host_name(text: &str) -> bool {
    let is_good = |character: char| {
        character.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(character)
    };
    // A percent sign may escape characters outside of ASCII, and itself.
    let is_escape = |escape: &str| {
        escape.starts_with("25")
            || matches!(escape.as_bytes().first(), Some(b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F'))
    };
    text.chars().all(|character| !character.is_ascii() || is_good(character))
        && has_good_escapes(text)
        && text.split('%').skip(1).all(is_escape)
}

/// Returns whether two hexadecimal digits follow each percent sign.
fn has_good_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|escape| escape.len() >= 2 && escape.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit))
}

//! A request to the server: the parts of its path, query and headers.

use super::resource_name;
use http::{Method, request::Parts};
use kube::Resource;
use std::collections::BTreeMap;

/// One request, as the server understood it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete` or `deletecollection`.
    pub verb: &'static str,
    /// The resource as `kubectl` writes it: `deployments.apps`, `pods`.
    pub resource: String,
    /// Its version with the group: `apps/v1`, `v1`.
    pub api_version: String,
    /// The subresource, such as `status`, or nothing.
    pub subresource: String,
    /// The namespace; empty for cluster-scoped objects, and for all namespaces.
    pub namespace: String,
    /// The object's name; empty for a list, a watch, and a create.
    pub name: String,
    /// The number of a write, counted from 1 since the log was cleared; `None` for a read.
    pub write_number: Option<usize>,
    /// True for a dry run: nothing of the request is stored.
    pub is_dry_run: bool,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) content_type: String,
    pub(super) agent: String,
    pub(super) metadata_only: bool,
}

impl Request {
    /// Reads a request. `None` where the path is none of an API server's resources.
    pub(super) fn from_parts(parts: &Parts) -> Option<Self> {
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let path = parts.uri.path();
        let words: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match words.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !["status", "finalize"].contains(&rest[0]) => {
                (*namespace, rest)
            }
            rest => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, sub @ ..] => (*plural, *name, sub[0]),
            [] => return None,
        };
        let mut it = Self {
            resource: if group.is_empty() { plural.into() } else { format!("{plural}.{group}") },
            api_version: if group.is_empty() { version.into() } else { format!("{group}/{version}") },
            subresource: subresource.into(),
            namespace: namespace.into(),
            name: name.into(),
            method: parts.method.clone(),
            path: path.into(),
            query: parse_query(parts.uri.query().unwrap_or_default()),
            content_type: header("content-type").into(),
            agent: header("user-agent").into(),
            metadata_only: header("accept").contains("as=PartialObjectMetadata"),
            ..Self::default()
        };
        it.verb = it.verb_of()?;
        Some(it)
    }

    fn verb_of(&self) -> Option<&'static str> {
        let one = !self.name.is_empty();
        Some(match self.method {
            Method::GET if !one && self.flag("watch") => "watch",
            Method::GET if one => "get",
            Method::GET => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH if self.content_type.starts_with("application/apply-patch") => "apply",
            Method::PATCH => "patch",
            Method::DELETE if one => "delete",
            Method::DELETE => "deletecollection",
            _ => return None,
        })
    }

    /// Returns true if the request may change something: for all verbs but `get`, `list` and `watch`.
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb)
    }

    /// Returns true if the request is for this kind, in any of its versions, or for one of its subresources.
    pub fn is_for<K: Resource<DynamicType = ()>>(&self) -> bool {
        self.resource == resource_name::<K>()
    }

    /// Returns method, resource and subresource, such as `PATCH deployments.apps/status`.
    pub fn summary(&self) -> String {
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        format!("{} {}{slash}{}", self.method, self.resource, self.subresource)
    }

    /// The verb as roles name it.
    pub(super) fn rbac_verb(&self) -> &'static str {
        if self.verb == "apply" { "patch" } else { self.verb }
    }

    pub(super) fn param(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        ["true", "1"].contains(&self.param(name))
    }
}

fn parse_query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode_percent(name), decode_percent(value)))
        .collect()
}

/// Undoes the percent-encoding of a query.
fn decode_percent(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = std::str::from_utf8(&digits).unwrap_or("3F");
                out.push(u8::from_str_radix(digits, 16).unwrap_or(b'?'));
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, uri: &str) -> Request {
        let (parts, ()) = http::Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        Request::from_parts(&parts).unwrap()
    }

    #[test]
    fn paths_of_all_shapes_are_read() {
        let it = read("PATCH", "/apis/apps/v1/namespaces/default/deployments/a/status");
        assert_eq!((it.verb, it.summary()), ("patch", "PATCH deployments.apps/status".to_owned()));
        assert_eq!((it.namespace.as_str(), it.name.as_str()), ("default", "a"));
        let it = read("GET", "/api/v1/namespaces/default");
        assert_eq!((it.verb, it.resource.as_str(), it.name.as_str()), ("get", "namespaces", "default"));
        let it = read("GET", "/api/v1/pods?watch=true&labelSelector=a%20in%20%28b%2Cc%29");
        assert_eq!((it.verb, it.param("labelSelector")), ("watch", "a in (b,c)"));
    }
}

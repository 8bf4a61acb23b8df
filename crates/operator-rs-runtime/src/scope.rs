//! Namespaced and cluster-scoped kinds, and the namespaces that this operator watches. kube has a constructor of `Api`
//! for each scope, but none that is generic over both.

use kube::{
    Api, Client, Resource,
    core::{ClusterResourceScope, NamespaceResourceScope},
};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// The scope of a kind: objects in namespaces, or in the cluster.
pub trait ResourceScope {
    /// Whether they are in namespaces.
    const NAMESPACED: bool;

    /// Returns the API for the objects in `namespace`, or for all objects. A cluster-scoped kind ignores `namespace`.
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, namespace: Option<&str>) -> Api<K>;
}

impl ResourceScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, namespace: Option<&str>) -> Api<K> {
        match namespace {
            None => Api::all(client.clone()),
            Some(namespace) => Api::namespaced(client.clone(), namespace),
        }
    }
}

impl ResourceScope for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, _: Option<&str>) -> Api<K> {
        Api::all(client.clone())
    }
}

/// One namespace to watch, or all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceScope {
    /// All namespaces of the cluster.
    All,
    /// Only this namespace.
    One(String),
}

impl NamespaceScope {
    /// Returns the name of the namespace, or `None` for all namespaces.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One(name) => Some(name),
        }
    }

    /// Returns the API for the objects of a kind in this scope, or for all objects of a cluster-scoped kind.
    pub fn api<K: Resource<DynamicType = (), Scope: ResourceScope>>(&self, client: &Client) -> Api<K> {
        match self {
            Self::All => K::Scope::api(client, None),
            Self::One(namespace) => K::Scope::api(client, Some(namespace)),
        }
    }
}

/// The namespaces to watch, parsed from `WATCH_NAMESPACE`. An empty list means all namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchNamespaces(BTreeSet<String>);

impl FromStr for WatchNamespaces {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names: BTreeSet<_> =
            s.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        match names.iter().find(|name| !is_namespace(name)) {
            Some(bad) => Err(format!(
                "`{bad}` is not the name of a namespace: use up to 63 lower-case letters, digits and `-`, with a letter or digit at both ends"
            )),
            None => Ok(Self(names)),
        }
    }
}

impl fmt::Display for WatchNamespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            0 => f.write_str("all namespaces"),
            _ => f.write_str(&self.0.iter().map(String::as_str).collect::<Vec<_>>().join(",")),
        }
    }
}

/// Returns true for a DNS label (RFC 1123), which the API server requires as the name of a namespace.
fn is_namespace(name: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [name.bytes().next(), name.bytes().last()];
    name.len() <= 63
        && ends.into_iter().flatten().all(is_alphanumeric)
        && name.bytes().all(|byte| is_alphanumeric(byte) || byte == b'-')
}

impl WatchNamespaces {
    /// Returns the scopes. A controller runs once for each: if several watches filled one store, each would remove the
    /// objects of the others when it restarts.
    pub fn namespaces(&self) -> Vec<NamespaceScope> {
        match self.0.len() {
            0 => vec![NamespaceScope::All],
            _ => self.0.iter().cloned().map(NamespaceScope::One).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_namespace_is_read_as_olm_sets_it() {
        let read = |s: &str| s.parse::<WatchNamespaces>().unwrap().namespaces();
        let one = |s: &str| NamespaceScope::One(s.into());
        assert_eq!(read(""), [NamespaceScope::All]);
        assert_eq!(read(" ,,"), [NamespaceScope::All]);
        assert_eq!(read("a"), [one("a")]);
        assert_eq!(read("a, b,"), [one("a"), one("b")]);
        assert_eq!(read("a,b,a,,a"), [one("a"), one("b")], "one controller each");
    }

    #[test]
    fn a_name_that_no_namespace_can_have_is_refused() {
        let long = "a".repeat(64);
        for bad in ["a,B", "a_b", "-a", "a-", "a.b", "a b", &long] {
            let error = bad.parse::<WatchNamespaces>().unwrap_err();
            assert!(error.contains("is not the name of a namespace"), "{error}");
        }
        assert!("a".repeat(63).parse::<WatchNamespaces>().is_ok());
    }
}

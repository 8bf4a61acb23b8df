//! Namespaced and cluster-scoped kinds, and the namespaces that this operator watches.

use super::cache::Watched;
use kube::{
    Api, Client, Resource,
    core::{ClusterResourceScope, NamespaceResourceScope},
};
use std::{convert::Infallible, str::FromStr};

/// Where objects of a kind live.
pub trait Scope {
    const NAMESPACED: bool;

    /// The objects of `namespace`, or all of them. A cluster-scoped kind knows no namespaces.
    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, namespace: Option<&str>) -> Api<K>;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, namespace: Option<&str>) -> Api<K> {
        match namespace {
            None => Api::all(client.clone()),
            Some(namespace) => Api::namespaced(client.clone(), namespace),
        }
    }
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api<K: Resource<DynamicType = (), Scope = Self>>(client: &Client, _: Option<&str>) -> Api<K> {
        Api::all(client.clone())
    }
}

/// One namespace to watch, or all of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Namespace {
    All,
    One(String),
}

impl Namespace {
    pub fn api<K: Watched>(&self, client: &Client) -> Api<K> {
        match self {
            Self::All => K::Scope::api(client, None),
            Self::One(namespace) => K::Scope::api(client, Some(namespace)),
        }
    }
}

/// The namespaces to watch, as `WATCH_NAMESPACE` has them: none means all.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchScope(Vec<String>);

impl FromStr for WatchScope {
    type Err = Infallible;

    fn from_str(s: &str) -> Result<Self, Infallible> {
        Ok(Self(s.split(',').map(str::trim).filter(|s| !s.is_empty()).map(Into::into).collect()))
    }
}

impl WatchScope {
    /// A controller runs for each: a store that is fed by several watches would drop the others'
    /// objects whenever one of them restarts.
    pub fn namespaces(&self) -> Vec<Namespace> {
        match self.0.as_slice() {
            [] => vec![Namespace::All],
            list => list.iter().cloned().map(Namespace::One).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_namespace_is_read_as_olm_sets_it() {
        let read = |s: &str| s.parse::<WatchScope>().unwrap().namespaces();
        let one = |s: &str| Namespace::One(s.into());
        assert_eq!(read(""), [Namespace::All]);
        assert_eq!(read("a"), [one("a")]);
        assert_eq!(read("a, b,"), [one("a"), one("b")]);
    }
}

//! What is not on the server yet, but will be: what depends on it cannot be tried before.

use std::collections::BTreeSet;

use super::Id;
use crate::yaml::Value;

#[derive(Clone, Debug, Default)]
pub struct Pending {
    /// Groups and kinds that CRDs declare.
    kinds: BTreeSet<(String, String)>,
    /// Kinds and names, as in `("Namespace", "a")`.
    names: BTreeSet<(String, String)>,
}

impl Pending {
    pub fn add(&mut self, object: &Value) {
        let id = Id::of(object);
        if id.is_crd() {
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            let spec = &object["spec"];
            self.kinds.insert((text(&spec["group"]), text(&spec["names"]["kind"])));
        }
        self.names.insert((id.kind, id.name));
    }

    /// Whether an object's CRD is still to come.
    pub fn has_crd_of(&self, id: &Id) -> bool {
        self.kinds.contains(&(id.group().to_owned(), id.kind.clone()))
    }

    /// The kind of what a server has not found, where that is to come. A server names it in plural.
    pub fn named_by(&self, status: &Value) -> Option<&str> {
        let details = &status["details"];
        let (plural, name) = (details["kind"].as_str()?, details["name"].as_str()?);
        let is = |kind: &str| {
            let kind = kind.to_lowercase();
            plural.strip_suffix('s') == Some(kind.as_str()) || plural == kind
        };
        self.names.iter().find(|it| is(&it.0) && it.1 == name).map(|it| match it.0.as_str() {
            "Namespace" => "namespace",
            kind => kind,
        })
    }
}

#[test]
fn what_is_to_come_is_known_by_what_a_server_misses() {
    use crate::yaml::json;
    let mut pending = Pending::default();
    for (kind, name) in [("Namespace", "a"), ("ClusterRole", "b")] {
        pending.add(&json!({"kind": kind, "metadata": {"name": name}}));
    }
    let check = |kind: &str, name: &str, expected: Option<&str>| {
        assert_eq!(pending.named_by(&json!({"details": {"kind": kind, "name": name}})), expected);
    };
    check("namespaces", "a", Some("namespace"));
    check("namespaces", "b", None);
    check("clusterroles", "b", Some("ClusterRole"));
    check("deployments", "a", None);
}

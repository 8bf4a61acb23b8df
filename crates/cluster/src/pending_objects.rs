//! Objects that do not exist on the server yet, but will: a dry run of what depends on them is not possible before.

use std::collections::BTreeSet;

use super::Id;
use go_data::yaml::Value;

#[derive(Clone, Debug, Default)]
pub struct PendingObjects {
    /// Groups and kinds that CRDs declare.
    kinds: BTreeSet<(String, String)>,
    /// Kinds and names, as in `("Namespace", "a")`.
    names: BTreeSet<(String, String)>,
}

impl PendingObjects {
    pub fn add_object(&mut self, object: &Value) {
        let id = Id::of(object);
        if id.is_crd() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let spec = &object["spec"];
            self.kinds.insert((text(&spec["group"]), text(&spec["names"]["kind"])));
        }
        self.names.insert((id.kind, id.name));
    }

    /// Returns whether an object's CRD is pending.
    pub fn has_crd_of(&self, id: &Id) -> bool {
        self.kinds.contains(&(id.group().to_owned(), id.kind.clone()))
    }

    /// Returns the kind of an object that the server has not found, if that object is pending. The server names its plural.
    pub fn kind_of_missing(&self, status: &Value) -> Option<&str> {
        let details = &status["details"];
        let (plural, name) = (details["kind"].as_str()?, details["name"].as_str()?);
        let is = |kind: &str| {
            let kind = kind.to_lowercase();
            plural.strip_suffix('s') == Some(kind.as_str()) || plural == kind
        };
        self.names.iter().find(|pending| is(&pending.0) && pending.1 == name).map(|pending| {
            match pending.0.as_str() {
                "Namespace" => "namespace",
                kind => kind,
            }
        })
    }
}

#[test]
fn pending_objects_are_recognized_in_a_status() {
    use go_data::yaml::json;
    let mut pending = PendingObjects::default();
    for (kind, name) in [("Namespace", "a"), ("ClusterRole", "b")] {
        pending.add_object(&json!({"kind": kind, "metadata": {"name": name}}));
    }
    let check = |kind: &str, name: &str, expected: Option<&str>| {
        assert_eq!(
            pending.kind_of_missing(&json!({"details": {"kind": kind, "name": name}})),
            expected
        );
    };
    check("namespaces", "a", Some("namespace"));
    check("namespaces", "b", None);
    check("clusterroles", "b", Some("ClusterRole"));
    check("deployments", "a", None);
}

//! The label of everything that an owner applies, by which a removal finds what config/ no longer has.
//!
//! A server selects objects by labels, and not by annotations or field managers. The key names the owner: an object that
//! two projects apply has two labels. The value is the namespace that the operator was deployed to; it is empty for CRDs,
//! which all deployments of a project share, and it distinguishes objects that existed before.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cluster, Id, Live, Owner, Removal,
    discovery::{Resource, supports_verb},
    managers::{manager_entries, manager_of},
    object::uid,
};
use go_data::yaml::Value;

const DOMAIN: &str = "applied-by.rust.operator-rs.io";

/// The longest name of a label.
const LONGEST: usize = 63;

/// The value for objects that existed before: not the name of a namespace.
const ADOPTED: &str = "Adopted";

/// The objects that carry the label.
pub struct LabelledObjects {
    pub found: Vec<Live>,
    /// The kinds and versions of groups that could not be listed, with the reasons.
    pub unknown: BTreeMap<String, String>,
}

impl Owner {
    /// The label's key for an owner.
    pub(super) fn label_key(owner: &str) -> String {
        format!("{DOMAIN}/{}", super::owner::shorten_name(owner.trim_end_matches('.'), LONGEST))
    }

    /// Sets the label on an object that this manager applies.
    pub(super) fn add_label(&self, object: &mut Value, manager: &str) {
        if self.key.is_empty() {
            return;
        }
        let value = match manager {
            it if it == self.adopter => ADOPTED,
            _ if Id::of(object).is_crd() => "",
            _ => &self.namespace,
        };
        object["metadata"]["labels"][&self.key] = value.into();
    }

    /// The value of the label, unless another program has set it: controllers copy the labels of objects to others.
    fn label_value<'a>(&self, live: &'a Value) -> Option<&'a str> {
        let value = live["metadata"]["labels"].get(&self.key)?.as_str()?;
        let field = format!("f:{}", self.key);
        let is_copy = manager_entries(live).any(|entry| {
            ![&self.creator, &self.adopter].iter().any(|own| *own == manager_of(entry))
                && !entry["fieldsV1"]["f:metadata"]["f:labels"][&field].is_null()
        });
        (!is_copy).then_some(value)
    }

    /// Returns whether the label says that the owner has created the object.
    pub(super) fn is_labelled_as_created(&self, live: &Value) -> bool {
        self.label_value(live).is_some_and(|value| value != ADOPTED)
    }

    /// The other namespace that the operator is deployed to with this object.
    pub fn other_namespace<'a>(&self, live: &'a Value) -> Option<&'a str> {
        let value =
            self.label_value(live).filter(|value| !value.is_empty() && *value != ADOPTED)?;
        (!self.namespace.is_empty() && value != self.namespace).then_some(value)
    }
}

impl Cluster {
    /// Everything that the owner has applied and not removed: of every kind and in every namespace, or only of the kinds
    /// of one group.
    pub fn list_labelled(&self, group: Option<&str>) -> anyhow::Result<LabelledObjects> {
        let mut unknown = BTreeMap::new();
        let mut ids = Vec::new();
        let mut seen = BTreeSet::new();
        // A kind whose CRD is being deleted can no longer be patched.
        let matters = |resource: &Resource| {
            supports_verb(resource, "list")
                && (supports_verb(resource, "patch") || supports_verb(resource, "delete"))
        };
        for resource in self.list_kinds(group, &mut unknown)?.into_iter().filter(matters) {
            let items = match self.list_discovered(&resource, "", &self.owner.key, false)? {
                Ok(items) => items,
                Err(why) => {
                    unknown.insert(resource.qualified_name(), why);
                    continue;
                }
            };
            // One object may exist in several groups.
            let new = items.iter().filter(|item| seen.insert(uid(item).to_owned()));
            ids.extend(new.map(|item| resource.id_of(item)));
        }
        Ok(LabelledObjects { found: self.find_existing(&ids)?, unknown })
    }

    /// The other namespace that the owner's operator is deployed to with this object.
    pub fn other_namespace<'a>(&self, live: &'a Live) -> Option<&'a str> {
        let is_created = matches!(live.removal, Removal::Ours | Removal::Unknown(_));
        self.owner.other_namespace(&live.object).filter(|_| is_created)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn owner(namespace: &str) -> Owner {
        Owner::for_project("a.example.com").deployed_to(namespace)
    }

    #[test]
    fn the_label_names_the_project_and_where_it_is_deployed_to() {
        let check = |kind: &str, api_version: &str, adopted: bool, expected: &str| {
            let a = owner("x");
            let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {}});
            a.add_label(&mut object, if adopted { &a.adopter } else { &a.creator });
            let labels = json!({"applied-by.rust.operator-rs.io/a.example.com": expected});
            assert_eq!(object["metadata"]["labels"], labels);
            assert_eq!(a.is_labelled_as_created(&object), !adopted);
            assert!(!Owner::for_project("b.example.com").is_labelled_as_created(&object));
            assert_eq!(a.other_namespace(&object), None);
            let is_elsewhere = expected == "x";
            assert_eq!(owner("y").other_namespace(&object), is_elsewhere.then_some("x"));
            assert_eq!(owner("").other_namespace(&object), None);
        };
        check("ClusterRole", "rbac.authorization.k8s.io/v1", false, "x");
        check("CustomResourceDefinition", "apiextensions.k8s.io/v1", false, "");
        check("ClusterRole", "rbac.authorization.k8s.io/v1", true, ADOPTED);
        let mut object = json!({"metadata": {"name": "x"}});
        Owner::default().add_label(&mut object, "operator-rs");
        assert_eq!(object, json!({"metadata": {"name": "x"}}));
    }

    #[test]
    fn a_key_is_a_valid_label() {
        let long = |end: &str| Owner::label_key(&format!("{}.{end}", "a".repeat(60)));
        assert_eq!(long("one").len(), DOMAIN.len() + 1 + LONGEST);
        assert_ne!(long("one"), long("two"));
        assert_eq!(Owner::label_key("a."), format!("{DOMAIN}/a"));
    }

    #[test]
    fn a_copied_label_is_not_the_projects() {
        let a = owner("x");
        let of = |manager: &str| {
            let fields = json!({"f:metadata": {"f:labels": {format!("f:{}", a.key): {}}}});
            let entry = json!({"manager": manager, "operation": "Update", "fieldsV1": fields});
            json!({"metadata": {"labels": {&a.key: "y"}, "managedFields": [entry]}})
        };
        assert!(a.is_labelled_as_created(&of(&a.creator)));
        assert_eq!(a.other_namespace(&of(&a.creator)), Some("y"));
        assert!(!a.is_labelled_as_created(&of("kube-controller-manager")));
        assert_eq!(a.other_namespace(&of("kube-controller-manager")), None);
    }
}

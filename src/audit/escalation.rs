//! Rights that an account hands on by writing roles and bindings. An API server lets it grant what it holds itself, and
//! whatever it likes if it has the verb `escalate` on the role, or `bind` on the role that a binding refers to.

use super::{
    Access,
    grant::{accesses, collect_rules},
};
use crate::project::Rule;
use go_data::yaml::{Value, pointer as of};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Part of the message of a refusal; the missing rules follow, one on each line.
const REFUSED: &str = "is attempting to grant RBAC permissions not currently held";

/// A role or binding that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The permission that makes holding the rights unnecessary.
    pub bypass: Access,
    /// The rules of a role; nothing for a binding, whose role has them.
    pub role: Option<Value>,
    /// The namespace in which the rights hold; empty for all.
    namespace: String,
}

impl Grant {
    /// The permissions that a write of this object grants.
    pub fn of(access: &Access, object: &Value) -> Option<Self> {
        let writes = ["create", "patch", "update"].contains(&access.verb.as_str());
        if access.group != GROUP || !writes {
            return None;
        }
        // A request that creates an object may have its name in the body only.
        let name = |pointer: &str| of::text(object, pointer).to_owned();
        let (verb, resource, name, role) = match access.resource.as_str() {
            "roles" | "clusterroles" => {
                ("escalate", access.resource.as_str(), name("/metadata/name"), Some(object.clone()))
            }
            "rolebindings" | "clusterrolebindings" => {
                let is_role = of::text(object, "/roleRef/kind") == "Role";
                let resource = if is_role { "roles" } else { "clusterroles" };
                ("bind", resource, name("/roleRef/name"), None)
            }
            _ => return None,
        };
        let bypass = Access {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            name: if name.is_empty() { access.name.clone() } else { name },
            ..access.clone()
        };
        Some(Self { bypass, role, namespace: access.namespace.clone() })
    }

    /// Returns whether this is the role that another grant binds.
    pub fn is_of(&self, role: &Access) -> bool {
        let is_in = role.resource == "clusterroles" || self.bypass.namespace == role.namespace;
        is_in && self.bypass.resource == role.resource && self.bypass.name == role.name
    }

    /// The rights that the rules of a role give where this grant applies.
    pub fn rights(&self, role: &Value) -> Vec<Access> {
        rights(collect_rules(std::slice::from_ref(role)), &self.namespace)
    }
}

pub fn is_refusal(message: &str) -> bool {
    message.contains(REFUSED)
}

/// The rights that a refusal says are missing.
pub fn missing(message: &str, namespace: &str) -> Vec<Access> {
    let rules = message.split_once(REFUSED).map_or("", |it| it.1).lines();
    let rules = rules.filter(|it| it.starts_with('{')).map(|line| {
        // `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`
        let list = |key: &str| {
            let rest = line.split_once(&format!("{key}:[")).map_or("", |it| it.1);
            let words = rest.split(']').next().unwrap_or_default().split('"');
            words.skip(1).step_by(2).map(str::to_owned).collect()
        };
        Rule {
            groups: list("APIGroups"),
            resources: list("Resources"),
            resource_names: list("ResourceNames"),
            urls: list("NonResourceURLs"),
            verbs: list("Verbs"),
            ..Rule::default()
        }
    });
    rights(rules.collect(), namespace)
}

fn rights(rules: Vec<Rule>, namespace: &str) -> Vec<Access> {
    let all = rules.iter().flat_map(accesses);
    all.map(|it| Access { namespace: namespace.to_owned(), ..it }).collect()
}

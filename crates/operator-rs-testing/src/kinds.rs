//! Facts about a resource: its kind, and its special fields. The in-memory server
//! accepts objects of any kind.

use super::built_in::{self, is_built_in};
use serde_json::Value;

/// The kind of a resource.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Such as `Deployment`.
    pub name: String,
    /// True if `name` is a guess.
    pub guessed: bool,
    /// True if it has a subresource `status`.
    pub status: bool,
    /// True if its status has conditions.
    pub conditions: bool,
    /// True if changes of its spec are counted in `metadata.generation`.
    pub generation: bool,
}

impl Kind {
    /// The kind of a resource such as `deployments.apps`, as far as its name shows it.
    pub fn of_resource(resource: &str) -> Self {
        let plural = resource.split('.').next().unwrap_or_default();
        let known = built_in::find(resource);
        // Custom resources with the plural of a built-in one usually have its kind.
        let similar = known.or_else(|| built_in::resources().find(|built_in| built_in.plural == plural));
        Self {
            guessed: known.is_none(),
            name: similar.map_or_else(|| singular(plural), |built_in| built_in.kind.to_owned()),
            status: known.is_none_or(|built_in| built_in.has_status),
            conditions: true,
            generation: !(is_built_in(resource) && NO_GENERATION.contains(&resource)),
        }
    }

    /// The kind that a CRD declares, and its resource.
    pub fn of_crd(crd: &Value) -> (String, Self) {
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let (spec, versions) = (&crd["spec"], crd["spec"]["versions"].as_array());
        let any = |is: fn(&Value) -> bool| versions.into_iter().flatten().any(is);
        let kind = Self {
            name: word(&spec["names"]["kind"]),
            guessed: false,
            status: any(|version| !version["subresources"]["status"].is_null()),
            conditions: any(|version| has_conditions(&version["schema"]["openAPIV3Schema"])),
            generation: true,
        };
        (format!("{}.{}", word(&spec["names"]["plural"]), word(&spec["group"])), kind)
    }
}

/// Returns true if a schema has a field for conditions. A schema without properties accepts all fields.
fn has_conditions(schema: &Value) -> bool {
    let mut place = schema;
    for name in ["status", "conditions"] {
        if place["x-kubernetes-preserve-unknown-fields"] == true || place["properties"].is_null() {
            return true;
        }
        place = &place["properties"][name];
    }
    !place.is_null()
}

fn singular(plural: &str) -> String {
    let stem = match plural {
        it if it.ends_with("ies") => format!("{}y", &it[..it.len() - 3]),
        it if it.ends_with("sses") || it.ends_with("xes") || it.ends_with("ches") => it[..it.len() - 2].into(),
        it => it.strip_suffix('s').unwrap_or(it).into(),
    };
    let mut letters = stem.chars();
    letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Kinds whose changes are not counted.
const NO_GENERATION: [&str; 20] = [
    "configmaps",
    "secrets",
    "serviceaccounts",
    "services",
    "endpoints",
    "events",
    "events.events.k8s.io",
    "namespaces",
    "nodes",
    "persistentvolumes",
    "persistentvolumeclaims",
    "resourcequotas",
    "limitranges",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
    "leases.coordination.k8s.io",
    "storageclasses.storage.k8s.io",
    "horizontalpodautoscalers.autoscaling",
];

/// Returns true if a name without a group is a resource of the core group.
pub fn is_in_core_group(resource: &str) -> bool {
    built_in::find(resource).is_some_and(|built_in| built_in.group().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_guessed_from_plurals() {
        for (plural, kind) in [("things.test.dev", "Thing"), ("policies.x.dev", "Policy"), ("roles", "Role")] {
            assert_eq!(Kind::of_resource(plural).name, kind);
        }
        assert_eq!(Kind::of_resource("networkpolicies.networking.k8s.io").name, "NetworkPolicy");
    }
}

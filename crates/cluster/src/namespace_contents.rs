//! The objects that would be deleted with a namespace, besides those that are known to be.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cluster, Id, Removal,
    discovery::{Resource, supports_verb},
    object::{is_being_deleted, uid},
};
use go_data::yaml::Value;

/// The other objects in a namespace.
#[derive(Default)]
pub struct NamespaceContents {
    pub others: Vec<OtherObject>,
    /// The kinds and versions of groups that could not be listed, with the reasons.
    pub unknown: BTreeMap<String, String>,
    /// All objects that were seen, including the known ones.
    seen: BTreeSet<String>,
}

/// An object that is not known to be deleted.
pub struct OtherObject {
    pub id: Id,
    pub removal: Removal,
    /// True if it is being deleted, or will be because its owner has been.
    pub is_going: bool,
    /// The other project that applies it.
    pub other_project: Option<String>,
}

impl Cluster {
    /// The objects of a namespace that are neither known to be deleted nor created by the cluster itself, in every version
    /// of every group, without those in an earlier result.
    pub fn list_namespace_contents(
        &self,
        namespace: &str,
        known: &[Id],
        before: &NamespaceContents,
    ) -> anyhow::Result<NamespaceContents> {
        let mut contents = NamespaceContents::default();
        let mut found = Vec::new();
        let kinds = self.list_kinds(None, &mut contents.unknown)?;
        for resource in kinds.into_iter().filter(is_deleted_with_namespace) {
            match self.list_discovered(&resource, namespace, "", !before.seen.is_empty())? {
                Ok(items) => found.extend(items.into_iter().map(|item| (resource.clone(), item))),
                Err(why) => drop(contents.unknown.insert(resource.qualified_name(), why)),
            }
        }
        contents.unknown.retain(|kind, _| !before.unknown.contains_key(kind));
        contents.seen = found.iter().map(|object| uid(&object.1).to_owned()).collect();
        let mut reported = before.seen.clone();
        for (resource, object) in &found {
            let id = resource.id_of(object);
            // An object that is owned by another one is covered by that one. One object may exist in several groups.
            let owners = object["metadata"]["ownerReferences"]
                .as_array()
                .map_or(&[][..], |references| references);
            let is_owned = owners.iter().any(|reference| {
                let owner = reference["uid"].as_str().unwrap_or_default();
                contents.seen.contains(owner) || before.seen.contains(owner)
            });
            let is_new = reported.insert(uid(object).to_owned());
            let is_late = is_being_deleted(object) && !before.seen.is_empty();
            if is_new && !is_owned && !is_late && is_other_object(&id, object, known) {
                let removal = self.owner.removal_of(object);
                let other_project = self.owner.other_project(object);
                // A controller removes the endpoints of a service.
                let is_going =
                    is_being_deleted(object) || !owners.is_empty() || id.kind == "Endpoints";
                contents.others.push(OtherObject { id, removal, is_going, other_project });
            }
        }
        Ok(contents)
    }
}

/// Returns whether objects of a kind are deleted with their namespace and matter: events do not.
fn is_deleted_with_namespace(resource: &Resource) -> bool {
    let is_deleted =
        ["delete", "deletecollection"].into_iter().any(|verb| supports_verb(resource, verb));
    resource.namespaced && resource.api.kind != "Event" && is_deleted
}

/// Returns whether an object is neither known to be deleted, nor created by the cluster in every namespace or for known
/// objects.
fn is_other_object(id: &Id, metadata: &Value, known: &[Id]) -> bool {
    let metadata = &metadata["metadata"];
    let same = |known: &Id| {
        known.group() == id.group()
            && known.kind == id.kind
            && known.namespace == id.namespace
            && known.name == id.name
    };
    let named = |kind: &str, name: &str| {
        known.iter().any(|known| {
            known.kind == kind && known.namespace == id.namespace && known.name == name
        })
    };
    if known.iter().any(same) {
        return false;
    }
    let annotation = |name: &str| metadata["annotations"][name].as_str();
    match (id.group(), id.kind.as_str(), id.name.as_str()) {
        // Kubernetes' own, and OpenShift's.
        ("", "ServiceAccount", "default" | "builder" | "deployer") => false,
        ("", "ConfigMap", "kube-root-ca.crt" | "openshift-service-ca.crt") => false,
        ("rbac.authorization.k8s.io", "RoleBinding", name) if name.starts_with("system:") => false,
        ("", "Secret", _) => {
            let account = annotation("kubernetes.io/service-account.name");
            !account.is_some_and(|account| {
                ["default", "builder", "deployer"].contains(&account)
                    || named("ServiceAccount", account)
            })
        }
        ("", "Endpoints", name) => !named("Service", name),
        ("discovery.k8s.io", "EndpointSlice", _) => {
            let service = metadata["labels"]["kubernetes.io/service-name"].as_str();
            !service.is_some_and(|service| named("Service", service))
        }
        // OLM copies the CSV of an operator for all namespaces into each of them.
        ("operators.coreos.com", "ClusterServiceVersion", _) => ["labels", "annotations"]
            .iter()
            .all(|field| metadata[*field]["olm.copiedFrom"].is_null()),
        _ => true,
    }
}

#[test]
fn objects_that_clusters_create_themselves_do_not_count() {
    use go_data::yaml::json;
    let id = |api_version: &str, kind: &str, name: &str| Id {
        api_version: api_version.into(),
        kind: kind.into(),
        namespace: "x".into(),
        name: name.into(),
    };
    let known = [
        id("apps/v1", "Deployment", "d"),
        id("v1", "Service", "s"),
        id("v1", "ServiceAccount", "a"),
    ];
    let check = |it: Id, metadata: Value, expected: bool| {
        assert_eq!(is_other_object(&it, &json!({"metadata": metadata}), &known), expected, "{it}");
    };
    check(id("v1", "ConfigMap", "mine"), json!({}), true);
    let csv = || id("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "a");
    check(csv(), json!({}), true);
    check(csv(), json!({"labels": {"olm.copiedFrom": "operators"}}), false);
    check(id("v1", "ConfigMap", "kube-root-ca.crt"), json!({}), false);
    check(id("v1", "ServiceAccount", "default"), json!({}), false);
    check(id("apps/v1", "Deployment", "d"), json!({}), false);
    check(id("apps/v1", "Deployment", "e"), json!({}), true);
    check(id("v1", "Endpoints", "s"), json!({}), false);
    check(id("v1", "Endpoints", "t"), json!({}), true);
    let slice = json!({"labels": {"kubernetes.io/service-name": "s"}});
    check(id("discovery.k8s.io/v1", "EndpointSlice", "s-1"), slice, false);
    let token = json!({"annotations": {"kubernetes.io/service-account.name": "a"}});
    check(id("v1", "Secret", "a-token"), token, false);
    check(id("v1", "Secret", "mine"), json!({}), true);
}

//! The objects that would be deleted with a namespace, besides those that are known to be.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cluster, Id, Removal,
    discovery::{Resource, can},
    object::{is_going, uid},
};
use go_data::yaml::Value;

/// What else is in a namespace.
#[derive(Default)]
pub struct NamespaceContents {
    pub others: Vec<Other>,
    /// What could not be listed, a kind or a version of a group, and why.
    pub unknown: BTreeMap<String, String>,
    /// All objects that were seen, including the known ones.
    seen: BTreeSet<String>,
}

/// An object that is not known to be deleted.
pub struct Other {
    pub id: Id,
    pub removal: Removal,
    /// Whether it is being deleted, or will be as its owner has been.
    pub is_going: bool,
    /// The other project that applies it.
    pub other_project: Option<String>,
}

impl Cluster {
    /// The objects of a namespace that are neither known to be deleted nor created by the cluster itself, in every version
    /// of every group, without those that an earlier look has seen.
    pub fn others_in(
        &self,
        namespace: &str,
        known: &[Id],
        before: &NamespaceContents,
    ) -> anyhow::Result<NamespaceContents> {
        let mut res = NamespaceContents::default();
        let mut found = Vec::new();
        let kinds = self.kinds(None, &mut res.unknown)?;
        for resource in kinds.into_iter().filter(goes_with_a_namespace) {
            match self.listed(&resource, namespace, "", !before.seen.is_empty())? {
                Ok(items) => found.extend(items.into_iter().map(|it| (resource.clone(), it))),
                Err(why) => drop(res.unknown.insert(resource.name(), why)),
            }
        }
        res.unknown.retain(|it, _| !before.unknown.contains_key(it));
        res.seen = found.iter().map(|it| uid(&it.1).to_owned()).collect();
        let mut reported = before.seen.clone();
        for (resource, it) in &found {
            let id = resource.id(it);
            // An object that is owned by another one is covered by that one. One object may exist in several groups.
            let owners = it["metadata"]["ownerReferences"].as_array().map_or(&[][..], |it| it);
            let is_owned = owners.iter().any(|it| {
                let owner = it["uid"].as_str().unwrap_or_default();
                res.seen.contains(owner) || before.seen.contains(owner)
            });
            let is_new = reported.insert(uid(it).to_owned());
            let is_late = is_going(it) && !before.seen.is_empty();
            if is_new && !is_owned && !is_late && is_another(&id, it, known) {
                let removal = self.owner.judge(it);
                let other_project = self.owner.other_project(it);
                // A controller removes the endpoints of a service.
                let is_going = is_going(it) || !owners.is_empty() || id.kind == "Endpoints";
                res.others.push(Other { id, removal, is_going, other_project });
            }
        }
        Ok(res)
    }
}

/// Whether objects of a kind are deleted with their namespace and matter: events do not.
fn goes_with_a_namespace(resource: &Resource) -> bool {
    let is_deleted = ["delete", "deletecollection"].into_iter().any(|it| can(resource, it));
    resource.namespaced && resource.api.kind != "Event" && is_deleted
}

/// Whether an object is neither known to be deleted, nor created by the cluster in every namespace or for known objects.
fn is_another(id: &Id, metadata: &Value, known: &[Id]) -> bool {
    let metadata = &metadata["metadata"];
    let same = |it: &Id| {
        it.group() == id.group()
            && it.kind == id.kind
            && it.namespace == id.namespace
            && it.name == id.name
    };
    let named = |kind: &str, name: &str| {
        known.iter().any(|it| it.kind == kind && it.namespace == id.namespace && it.name == name)
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
            !account.is_some_and(|it| {
                ["default", "builder", "deployer"].contains(&it) || named("ServiceAccount", it)
            })
        }
        ("", "Endpoints", name) => !named("Service", name),
        ("discovery.k8s.io", "EndpointSlice", _) => {
            let service = metadata["labels"]["kubernetes.io/service-name"].as_str();
            !service.is_some_and(|it| named("Service", it))
        }
        // OLM copies the CSV of an operator for all namespaces into each of them.
        ("operators.coreos.com", "ClusterServiceVersion", _) => {
            ["labels", "annotations"].iter().all(|it| metadata[*it]["olm.copiedFrom"].is_null())
        }
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
        assert_eq!(is_another(&it, &json!({"metadata": metadata}), &known), expected, "{it}");
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

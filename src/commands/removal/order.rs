//! The order of a removal.

use crate::cluster::Id;

/// CRDs are removed while the operator runs, then other objects in reverse order of creation, and namespaces last.
pub struct Parts<T> {
    pub crds: Vec<(Id, T)>,
    /// Up to the last workload.
    pub running: Vec<(Id, T)>,
    /// What pods need until they end: their account and its permissions.
    pub rest: Vec<(Id, T)>,
    pub namespaces: Vec<(Id, T)>,
}

impl<T> Parts<T> {
    pub fn of(all: impl Iterator<Item = (Id, T)>) -> Self {
        let (mut crds, mut running, mut namespaces) = (Vec::new(), Vec::new(), Vec::new());
        for it in all {
            if it.0.is_crd() {
                crds.push(it);
            } else if it.0.is_namespace() {
                namespaces.push(it);
            } else {
                running.push(it);
            }
        }
        running.reverse();
        let end = running.iter().rposition(|it| it.0.is_workload()).map_or(0, |it| it + 1);
        let rest = running.split_off(end);
        Self { crds, running, rest, namespaces }
    }

    pub fn in_order(&self) -> impl Iterator<Item = &(Id, T)> {
        self.crds.iter().chain(&self.running).chain(&self.rest).chain(&self.namespaces)
    }
}

#[test]
fn crds_are_removed_first_and_namespaces_last() {
    let id = |api_version: &str, kind: &str| Id {
        api_version: api_version.into(),
        kind: kind.into(),
        namespace: String::new(),
        name: "a".into(),
    };
    let all = [
        id("v1", "Namespace"),
        id("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        id("v1", "ServiceAccount"),
        id("apps/v1", "Deployment"),
    ];
    let parts = Parts::of(all.into_iter().map(|it| (it, ())));
    let kinds: Vec<&str> = parts.in_order().map(|it| it.0.kind.as_str()).collect();
    assert_eq!(kinds, ["CustomResourceDefinition", "Deployment", "ServiceAccount", "Namespace"]);
    assert_eq!((parts.running.len(), parts.rest.len()), (1, 1));
}

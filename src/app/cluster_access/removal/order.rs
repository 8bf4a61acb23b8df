//! The order of a removal.

use cluster::Id;

/// CRDs are removed while the operator runs, then its webhooks and workloads, then other objects in reverse order, and
/// namespaces last.
pub struct RemovalOrder<T> {
    pub crds: Vec<(Id, T)>,
    /// Webhooks, which are not called without their workload, and workloads.
    pub running: Vec<(Id, T)>,
    /// Needed by pods until they end: their account and its permissions.
    pub rest: Vec<(Id, T)>,
    pub namespaces: Vec<(Id, T)>,
}

impl<T> RemovalOrder<T> {
    pub fn of(all: impl Iterator<Item = (Id, T)>) -> Self {
        let mut order = Self { crds: vec![], running: vec![], rest: vec![], namespaces: vec![] };
        for it in all {
            if it.0.is_crd() {
                order.crds.push(it);
            } else if it.0.is_namespace() {
                order.namespaces.push(it);
            } else if it.0.is_workload() || is_webhook(&it.0) {
                order.running.push(it);
            } else {
                order.rest.push(it);
            }
        }
        order.running.sort_by_key(|pair| is_webhook(&pair.0));
        order.running.reverse();
        order.rest.reverse();
        order
    }

    pub fn in_order(&self) -> impl Iterator<Item = &(Id, T)> {
        self.crds.iter().chain(&self.running).chain(&self.rest).chain(&self.namespaces)
    }
}

fn is_webhook(id: &Id) -> bool {
    id.group() == "admissionregistration.k8s.io"
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
        id("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
        id("apps/v1", "Deployment"),
        id("v1", "Secret"),
    ];
    let parts = RemovalOrder::of(all.into_iter().map(|id| (id, ())));
    let kinds: Vec<&str> = parts.in_order().map(|pair| pair.0.kind.as_str()).collect();
    let webhooks = "ValidatingWebhookConfiguration";
    let crds = "CustomResourceDefinition";
    assert_eq!(kinds, [crds, webhooks, "Deployment", "Secret", "ServiceAccount", "Namespace"]);
    assert_eq!((parts.running.len(), parts.rest.len()), (2, 2));
}

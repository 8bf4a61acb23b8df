//! What would go with a namespace, besides what is known to go.

use std::collections::BTreeSet;

use super::{
    Cluster, Id, Told,
    discovery::Resource,
    object::uid,
    owned::{self, Standing},
    refusal::{self, Refusal},
};
use crate::yaml::Value;

/// An object that is not known to go.
pub struct Other {
    pub id: Id,
    /// We made it once, and do not know it any more.
    pub ours: bool,
}

impl Cluster {
    /// The objects of a namespace that are neither known to go nor there of themselves.
    pub fn others_in(
        &self,
        namespace: &str,
        known: &[Id],
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<Vec<Other>> {
        let mut seen = BTreeSet::new();
        let mut res = Vec::new();
        let unseen = |what: &str, refusal: &Refusal| {
            let Refusal { message, .. } = refusal;
            Told::Warning(format!(
                "what namespace {namespace} has of {what} is not known: {message}"
            ))
        };
        for api_version in self.api_versions()? {
            let resources = match self.resources(&api_version) {
                Ok(resources) => resources,
                Err(error) => {
                    tell(unseen(&api_version, &Refusal::new(error.to_string(), None)));
                    continue;
                }
            };
            for resource in resources.iter().filter(|it| holds_objects(it)) {
                match self.list_metadata(resource, namespace)? {
                    Err(refusal) => tell(unseen(&resource.plural, &refusal)),
                    Ok(items) => {
                        for it in items {
                            let id = Id {
                                api_version: resource.api_version.clone(),
                                kind: resource.kind.clone(),
                                ..Id::of(&it)
                            };
                            // One object may be there in several groups.
                            if !seen.contains(uid(&it)) && is_another(&id, &it, known) {
                                let ours = owned::standing(&it) == Standing::Ours;
                                res.push(Other { id, ours });
                            }
                            seen.insert(uid(&it).to_owned());
                        }
                    }
                }
            }
        }
        Ok(res)
    }

    /// The metadata of all objects of a kind, or why they may not be listed.
    pub(super) fn list_metadata(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> anyhow::Result<Result<Vec<Value>, Refusal>> {
        let mut res = Vec::new();
        let mut next = String::new();
        loop {
            let answer =
                self.get_metadata(&format!("{}?limit=500{next}", resource.all(namespace)))?;
            match answer.code {
                200 => {}
                // The kind is no longer served, or not yet: nothing of it could be seen.
                404 => return Ok(Ok(res)),
                _ => return Ok(Err(refusal::of(&answer))),
            }
            res.extend(answer.body["items"].as_array().cloned().unwrap_or_default());
            match answer.body["metadata"]["continue"].as_str() {
                Some(token) if !token.is_empty() => next = format!("&continue={token}"),
                _ => return Ok(Ok(res)),
            }
        }
    }
}

/// Whether a kind is of objects that stay, and not of measurements or what happened.
fn holds_objects(resource: &Resource) -> bool {
    let can = |verb: &str| resource.verbs.iter().any(|it| it == verb);
    resource.namespaced
        && resource.kind != "Event"
        && ["list", "create", "delete"].into_iter().all(can)
}

/// Whether an object is of somebody: not known to go, not owned by another that tells for it, and not
/// what clusters put into every namespace or make for objects that are known.
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
    if known.iter().any(same)
        || metadata["ownerReferences"].as_array().is_some_and(|it| !it.is_empty())
    {
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
        _ => true,
    }
}

#[test]
fn what_clusters_make_by_themselves_is_nobodys() {
    use crate::yaml::json;
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
    check(id("v1", "ConfigMap", "kube-root-ca.crt"), json!({}), false);
    check(id("v1", "ServiceAccount", "default"), json!({}), false);
    check(id("apps/v1", "Deployment", "d"), json!({}), false);
    check(id("apps/v1", "Deployment", "e"), json!({}), true);
    check(id("v1", "Pod", "p"), json!({"ownerReferences": [{"name": "d"}]}), false);
    check(id("v1", "Endpoints", "s"), json!({}), false);
    check(id("v1", "Endpoints", "t"), json!({}), true);
    let slice = json!({"labels": {"kubernetes.io/service-name": "s"}});
    check(id("discovery.k8s.io/v1", "EndpointSlice", "s-1"), slice, false);
    let token = json!({"annotations": {"kubernetes.io/service-account.name": "a"}});
    check(id("v1", "Secret", "a-token"), token, false);
    check(id("v1", "Secret", "mine"), json!({}), true);
}

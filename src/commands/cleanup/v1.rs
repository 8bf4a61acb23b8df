//! The removal of an operator that OLM v1 has installed.
//!
//! OLM v1 removes the CRDs with the rest, so the custom resources go first, while the operator runs.

use super::{
    find::{find_leases, find_namespace},
    removals::Removals,
};
use crate::app::olm_namespace::Place;
use cluster::{Id, Removal};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use olm::lifecycle::{
    self,
    v1::{self, API},
};

/// The kinds of which most operators have objects in their namespace.
const IN_NAMESPACES: [(&str, &str); 7] = [
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("apps/v1", "Deployment"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
];

/// None if the server has no OLM v1. The namespace is looked for only if there is something else.
pub fn find(place: &Place, package: &str) -> anyhow::Result<Option<Removals>> {
    if !place.cluster.serves(API, "ClusterExtension")? {
        return Ok(None);
    }
    let mut res = Removals { of_v1: true, ..Removals::default() };
    let mut extensions = place.extensions(package)?;
    extensions.retain(|it| it["spec"]["namespace"] == *place.namespace);
    let ids: Vec<Id> = extensions.iter().map(Id::of).collect();
    for it in place.cluster.find(&ids)? {
        match it.removal {
            Removal::Ours | Removal::Unknown(_) => res.subscriptions.push(it),
            Removal::Adopted => res.kept.push((it.id, "it already existed".to_owned())),
            Removal::Theirs(why) => res.kept.push((it.id, why)),
        }
    }
    let (name, [account, binding]) = v1::account(package, &place.namespace)?;
    let user = user(place, &res, |spec| spec["serviceAccount"]["name"] == *name)?;
    let catalog = v1::catalog(package, "")?;
    for it in place.cluster.find(&[&catalog, &binding, &account].map(Id::of))? {
        match &user {
            Some(user) if it.id.kind != "ClusterCatalog" && it.removal.is_created() => {
                res.kept.push((it.id, format!("{user} uses it")));
            }
            _ => res.sort(it),
        }
    }
    if res.is_empty() {
        return Ok(Some(res));
    }
    for extension in res.subscriptions.clone() {
        find_owned(place, &extension.object, &mut res)?;
    }
    find_namespace(place, package, &mut res)?;
    Ok(Some(res))
}

/// A ClusterExtension that is not removed, and whose specification names this namespace and is like this.
pub fn user(
    place: &Place,
    removed: &Removals,
    is_like: impl Fn(&Value) -> bool,
) -> anyhow::Result<Option<Id>> {
    if !place.cluster.serves(API, "ClusterExtension")? {
        return Ok(None);
    }
    let all = place.cluster.list(API, "ClusterExtension", "")?;
    let uses = |it: &Value| it["spec"]["namespace"] == *place.namespace && is_like(&it["spec"]);
    let mut users = all.iter().filter(|it| uses(it)).map(Id::of);
    Ok(users.find(|it| removed.subscriptions.iter().all(|own| own.id != *it)))
}

/// Fails if what OLM v1 removes with an operator is to be kept.
pub fn require_all(found: &Removals) -> anyhow::Result<()> {
    let Some((crd, _)) = found.crds.first() else { return Ok(()) };
    Err(anyhow::format_err!("OLM v1 removes {} with the operator", crd.id)).hint(
        "leave out `--delete-all=false`; to keep CRDs and custom resources, keep the ClusterExtension",
    )
}

/// The objects that OLM removes with a ClusterExtension: its CRDs with their objects, and the content of the namespace.
fn find_owned(place: &Place, extension: &Value, res: &mut Removals) -> anyhow::Result<()> {
    let uid = &extension["metadata"]["uid"];
    let is_owned = |it: &&Value| {
        let mut owners = it["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners.any(|it| it["uid"] == *uid)
    };
    for (api_version, kind) in IN_NAMESPACES {
        let all = place.cluster.list(api_version, kind, &place.namespace)?;
        res.owned.extend(all.iter().filter(is_owned).map(Id::of));
    }
    let deployments = res.owned.iter().filter(|it| it.kind == "Deployment");
    let deployments: Vec<String> = deployments.map(|it| it.name.clone()).collect();
    find_leases(place, &deployments, res);
    let crds = place.cluster.list("apiextensions.k8s.io/v1", "CustomResourceDefinition", "")?;
    let ids: Vec<Id> = crds.iter().filter(is_owned).map(Id::of).collect();
    for live in place.cluster.find(&ids)? {
        let held = place.cluster.held(&live.object)?;
        if let Ok(held) = &held {
            let ids: Vec<Id> = held.iter().map(|it| it.id.clone()).collect();
            res.manifests.extend(place.cluster.find(&ids)?);
        }
        res.crds.push((live, held));
    }
    Ok(())
}

/// The namespaces in which OLM v1 has installed a package.
pub fn namespaces(place: &Place, package: &str) -> Vec<String> {
    // Who may not list them gets the error without the way out.
    let all = place.extensions(package).unwrap_or_default();
    lifecycle::texts(&all.iter().map(|it| it["spec"]["namespace"].clone()).collect())
}

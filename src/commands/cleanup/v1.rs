//! The removal of an operator that OLM v1 has installed.
//!
//! OLM v1 removes the CRDs with the rest, so the custom resources go first, while the operator runs.

use super::{
    find::{find_leases, find_namespace},
    removals::Removals,
};
use crate::app::cluster_access::olm_namespace::InstallNamespace;
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
pub fn find(place: &InstallNamespace, package: &str) -> anyhow::Result<Option<Removals>> {
    if !place.cluster.serves(API, "ClusterExtension")? {
        return Ok(None);
    }
    let mut removals = Removals { of_v1: true, ..Removals::default() };
    let mut extensions = place.extensions(package)?;
    extensions.retain(|extension| extension["spec"]["namespace"] == *place.namespace);
    let ids: Vec<Id> = extensions.iter().map(Id::of).collect();
    for live in place.cluster.find_existing(&ids)? {
        match live.removal {
            Removal::Ours | Removal::Unknown(_) => removals.subscriptions.push(live),
            Removal::Adopted => removals.kept.push((live.id, "it already existed".to_owned())),
            Removal::Theirs(why) => removals.kept.push((live.id, why)),
        }
    }
    let (name, [account, binding]) = v1::installer_account(package, &place.namespace)?;
    let user = find_other_user(place, &removals, |spec| spec["serviceAccount"]["name"] == *name)?;
    let catalog = v1::cluster_catalog(package, "")?;
    for live in place.cluster.find_existing(&[&catalog, &binding, &account].map(Id::of))? {
        match &user {
            Some(user) if live.id.kind != "ClusterCatalog" && live.removal.is_created() => {
                removals.kept.push((live.id, format!("{user} uses it")));
            }
            _ => removals.add_catalog_object(live),
        }
    }
    if removals.is_empty() {
        return Ok(Some(removals));
    }
    for extension in removals.subscriptions.clone() {
        find_owned(place, &extension.object, &mut removals)?;
    }
    find_namespace(place, package, &mut removals)?;
    Ok(Some(removals))
}

/// A ClusterExtension that is not removed, and whose specification names this namespace and is like this.
pub fn find_other_user(
    place: &InstallNamespace,
    removed: &Removals,
    is_like: impl Fn(&Value) -> bool,
) -> anyhow::Result<Option<Id>> {
    if !place.cluster.serves(API, "ClusterExtension")? {
        return Ok(None);
    }
    let all = place.cluster.list(API, "ClusterExtension", "")?;
    let uses = |extension: &Value| {
        extension["spec"]["namespace"] == *place.namespace && is_like(&extension["spec"])
    };
    let mut users = all.iter().filter(|extension| uses(extension)).map(Id::of);
    Ok(users.find(|user| removed.subscriptions.iter().all(|own| own.id != *user)))
}

/// Fails if what OLM v1 removes with an operator is to be kept.
pub fn require_all(found: &Removals) -> anyhow::Result<()> {
    let Some((crd, _)) = found.crds.first() else { return Ok(()) };
    Err(anyhow::format_err!("OLM v1 removes {} with the operator", crd.id)).hint(
        "leave out `--delete-all=false`; to keep CRDs and custom resources, keep the ClusterExtension",
    )
}

/// The objects that OLM removes with a ClusterExtension: its CRDs with their objects, and the content of the namespace.
fn find_owned(
    place: &InstallNamespace,
    extension: &Value,
    removals: &mut Removals,
) -> anyhow::Result<()> {
    let uid = &extension["metadata"]["uid"];
    let is_owned = |object: &&Value| {
        let mut owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners.any(|owner| owner["uid"] == *uid)
    };
    for (api_version, kind) in IN_NAMESPACES {
        let all = place.cluster.list(api_version, kind, &place.namespace)?;
        removals.owned.extend(all.iter().filter(is_owned).map(Id::of));
    }
    let deployments = removals.owned.iter().filter(|id| id.kind == "Deployment");
    let deployments: Vec<String> = deployments.map(|id| id.name.clone()).collect();
    find_leases(place, &deployments, removals);
    let crds = place.cluster.list("apiextensions.k8s.io/v1", "CustomResourceDefinition", "")?;
    let ids: Vec<Id> = crds.iter().filter(is_owned).map(Id::of).collect();
    for live in place.cluster.find_existing(&ids)? {
        let held = place.cluster.list_custom_objects(&live.object)?;
        if let Ok(held) = &held {
            let ids: Vec<Id> = held.iter().map(|object| object.id.clone()).collect();
            removals.manifests.extend(place.cluster.find_existing(&ids)?);
        }
        removals.crds.push((live, held));
    }
    Ok(())
}

/// The namespaces in which OLM v1 has installed a package.
pub fn installed_namespaces(place: &InstallNamespace, package: &str) -> Vec<String> {
    // A user who may not list them gets the error without the hint.
    let all = place.extensions(package).unwrap_or_default();
    lifecycle::string_list(
        &all.iter().map(|extension| extension["spec"]["namespace"].clone()).collect(),
    )
}

//! Explains why an API server does not serve a kind in the version that a controller reads.

use crate::explain;
use kube::{Client, Resource};

/// Returns the reason, and what to do about it.
pub(super) async fn explain_absence<K: Resource<DynamicType = ()>>(client: &Client) -> String {
    let (group, plural, version) = (K::group(&()), K::plural(&()), K::version(&()));
    let resource = format!("{plural}.{group}");
    let resource = resource.trim_end_matches('.');
    let others = match served_versions(client, &group, &plural).await {
        Ok(others) => others,
        Err(error) => {
            return format!(
                "the API server does not serve {version} of `{resource}`, and the versions that it serves are unknown: {}",
                explain(&error)
            );
        }
    };
    if others.is_empty() {
        return format!(
            "the API server does not serve {version} of `{resource}`: install its CRD (`operator-rs install` installs those of this project)"
        );
    }
    format!(
        "the API server serves `{resource}` in {}, but not in {version}, which a controller reads: let the controller use a \
         served version, or remove `served = false` from `#[kube(…)]` of {version} and install the CRD",
        others.join(", ")
    )
}

/// Returns the versions in which the API server serves a resource of a group.
async fn served_versions(client: &Client, group: &str, plural: &str) -> kube::Result<Vec<String>> {
    let api_group = client.list_api_groups().await?.groups.into_iter().find(|api_group| api_group.name == group);
    let mut served = Vec::new();
    for version in api_group.map(|api_group| api_group.versions).unwrap_or_default() {
        let resources = client.list_api_group_resources(&version.group_version).await?.resources;
        if resources.iter().any(|resource| resource.name == plural) {
            served.push(version.version);
        }
    }
    Ok(served)
}

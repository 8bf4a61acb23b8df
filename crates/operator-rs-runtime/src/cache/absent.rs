//! Explains why an API server does not serve a kind in the version that a controller reads.

use kube::{Client, Resource};

/// Returns the reason, and what to do about it.
pub(super) async fn explain_absence<K: Resource<DynamicType = ()>>(client: &Client) -> String {
    let (group, plural, version) = (K::group(&()), K::plural(&()), K::version(&()));
    let resource = format!("{plural}.{group}");
    let resource = resource.trim_end_matches('.');
    let others = served_versions(client, &group, &plural).await;
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

/// Returns the versions in which the API server serves a resource of a group. If a request fails, its versions are
/// missing.
async fn served_versions(client: &Client, group: &str, plural: &str) -> Vec<String> {
    let groups = client.list_api_groups().await.map(|list| list.groups).unwrap_or_default();
    let api_group = groups.into_iter().find(|api_group| api_group.name == group);
    let mut served = Vec::new();
    for version in api_group.map(|api_group| api_group.versions).unwrap_or_default() {
        let resources = client.list_api_group_resources(&version.group_version).await;
        let resources = resources.map(|list| list.resources).unwrap_or_default();
        if resources.iter().any(|resource| resource.name == plural) {
            served.push(version.version);
        }
    }
    served
}

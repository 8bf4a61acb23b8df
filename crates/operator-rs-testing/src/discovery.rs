//! Discovery: the groups, versions and resources that the server knows. These are the stable versions of Kubernetes
//! itself and what the registered CRDs serve.

use super::{built_in, crd::CRDS, kinds::Kind, store::Store};
use kube::core::Version;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// One resource in one version.
struct ServedResource {
    group: String,
    version: String,
    plural: String,
    singular: String,
    kind: String,
    short_names: Value,
    is_namespaced: bool,
    has_status: bool,
}

/// The version of Kubernetes whose behaviour the server follows.
const MINOR: &str = "36";
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Answers a request for a path such as `/apis/apps/v1`. Returns `None` if there is no such group or version.
pub fn answer_discovery(store: &Store, path: &str, accept: &str) -> Option<Value> {
    let served = served_resources(store);
    let is_aggregated = accept.contains("as=APIGroupDiscoveryList");
    let words: Vec<&str> = path.trim_matches('/').split('/').collect();
    match words.as_slice() {
        ["version"] => Some(version_info()),
        ["api"] if is_aggregated => Some(aggregated_groups(&served, |group| group.is_empty())),
        ["apis"] if is_aggregated => Some(aggregated_groups(&served, |group| !group.is_empty())),
        ["api"] => Some(json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })),
        ["apis"] => {
            let names = group_names(&served).into_iter().filter(|group| !group.is_empty());
            let groups: Vec<_> = names.filter_map(|name| api_group(&served, name)).collect();
            Some(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
        }
        ["apis", name] => {
            let mut group = api_group(&served, name)?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            Some(group)
        }
        ["api", version] => resource_list(&served, "", version),
        ["apis", group, version] => resource_list(&served, group, version),
        _ => None,
    }
}

fn served_resources(store: &Store) -> Vec<ServedResource> {
    let built_in = built_in::resources().map(|built_in| ServedResource {
        group: built_in.group().to_owned(),
        version: built_in.api_version.rsplit('/').next().unwrap_or_default().to_owned(),
        plural: built_in.plural.to_owned(),
        singular: built_in.kind.to_lowercase(),
        kind: built_in.kind.to_owned(),
        short_names: Value::Null,
        is_namespaced: built_in.is_namespaced,
        has_status: built_in.has_status,
    });
    let crds = store.collections().find(|(resource, _)| *resource == CRDS).into_iter();
    let crds = crds.flat_map(|(_, crds)| crds.objects.values().map(|crd| crd.value()));
    built_in.chain(crds.flat_map(|crd| versions_of_crd(&crd))).collect()
}

fn versions_of_crd(crd: &Value) -> Vec<ServedResource> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (spec, names) = (&crd["spec"], &crd["spec"]["names"]);
    let versions = spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] == true);
    versions
        .map(|version| ServedResource {
            group: word(&spec["group"]),
            version: word(&version["name"]),
            plural: word(&names["plural"]),
            singular: names["singular"].as_str().map_or_else(|| word(&names["kind"]).to_lowercase(), str::to_owned),
            kind: Kind::of_crd(crd).1.name,
            short_names: names["shortNames"].clone(),
            is_namespaced: spec["scope"] != "Cluster",
            has_status: !version["subresources"]["status"].is_null(),
        })
        .collect()
}

/// Returns all groups, those of Kubernetes first.
fn group_names(served: &[ServedResource]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for resource in served {
        if !names.contains(&resource.group.as_str()) {
            names.push(&resource.group);
        }
    }
    names
}

/// Returns the versions of a group, the preferred one first.
fn version_names<'a>(served: &'a [ServedResource], group: &str) -> Vec<&'a str> {
    let of_group = served.iter().filter(|resource| resource.group == group);
    let mut names: Vec<&str> = of_group.map(|resource| resource.version.as_str()).collect();
    names.sort_by_cached_key(|name| Reverse(Version::parse(name).priority()));
    names.dedup();
    names
}

fn resources_of<'a>(
    served: &'a [ServedResource],
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'a ServedResource> {
    served.iter().filter(move |resource| resource.group == group && resource.version == version)
}

fn api_group(served: &[ServedResource], name: &str) -> Option<Value> {
    let versions: Vec<Value> = version_names(served, name)
        .into_iter()
        .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
        .collect();
    let preferred = versions.first()?.clone();
    Some(json!({ "name": name, "versions": versions, "preferredVersion": preferred }))
}

fn resource_list(served: &[ServedResource], group: &str, version: &str) -> Option<Value> {
    let mut resources = Vec::new();
    for resource in resources_of(served, group, version) {
        let ServedResource { plural, singular, kind, short_names, is_namespaced, .. } = resource;
        let mut item = json!({ "name": plural, "singularName": singular, "namespaced": is_namespaced, "kind": kind });
        item["verbs"] = json!(VERBS);
        if !short_names.is_null() {
            item["shortNames"] = short_names.clone();
        }
        resources.push(item);
        if resource.has_status {
            resources.push(json!({ "name": format!("{plural}/status"), "singularName": "", "kind": kind,
                "namespaced": is_namespaced, "verbs": STATUS_VERBS }));
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let list = json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version,
        "resources": resources });
    (!resources.is_empty()).then_some(list)
}

/// Returns the groups with all their resources, which clients request by a media type.
fn aggregated_groups(served: &[ServedResource], is_asked: fn(&str) -> bool) -> Value {
    let groups = group_names(served).into_iter().filter(|group| is_asked(group)).map(|group| {
        let versions = version_names(served, group).into_iter().map(|version| {
            let resources: Vec<_> = resources_of(served, group, version).map(aggregated_resource).collect();
            json!({ "version": version, "freshness": "Current", "resources": resources })
        });
        json!({ "metadata": { "name": group }, "versions": versions.collect::<Vec<_>>() })
    });
    json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
        "items": groups.collect::<Vec<_>>() })
}

fn aggregated_resource(resource: &ServedResource) -> Value {
    let kind = json!({ "group": resource.group, "version": resource.version, "kind": resource.kind });
    let scope = if resource.is_namespaced { "Namespaced" } else { "Cluster" };
    let mut item = json!({ "resource": resource.plural, "responseKind": kind, "scope": scope,
        "singularResource": resource.singular, "verbs": VERBS });
    if !resource.short_names.is_null() {
        item["shortNames"] = resource.short_names.clone();
    }
    if resource.has_status {
        item["subresources"] = json!([{ "subresource": "status", "responseKind": kind, "verbs": STATUS_VERBS }]);
    }
    item
}

fn version_info() -> Value {
    json!({ "major": "1", "minor": MINOR, "gitVersion": format!("v1.{MINOR}.0"), "gitCommit": "", "gitTreeState": "",
        "buildDate": "", "goVersion": "", "compiler": "", "platform": "" })
}

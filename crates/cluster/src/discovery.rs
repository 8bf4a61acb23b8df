//! The kinds that a server has, and the requests for their objects.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kube::{
    Resource as _,
    core::{ApiResource, DynamicObject, GroupVersion, Request},
};

use super::{
    Cluster, Id,
    path::{group_version_path, path_segment, plain_segment},
    refusal,
    request::{RemainingSize, SizeLimits},
    response::ApiResponse,
    unreachable::is_final,
};
use go_data::yaml::Value;

/// More groups, or kinds of a group, than any server has.
const MOST: usize = 2000;

/// The limits of all discovery documents together. On a cluster with 2000 kinds, they have about one MiB.
const DISCOVERY: SizeLimits =
    SizeLimits { what: "all discovery documents", text: 16 << 20, memory: 64 << 20 };

/// A kind as a server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub api: ApiResource,
    pub namespaced: bool,
    pub verbs: Vec<String>,
}

impl Resource {
    /// Fails if a name cannot be part of a path.
    pub fn new(
        api_version: &str,
        kind: &str,
        plural: &str,
        namespaced: bool,
    ) -> anyhow::Result<Self> {
        group_version_path(api_version)?;
        let kind = api_version.parse::<GroupVersion>()?.with_kind(kind);
        let api = ApiResource::from_gvk_with_plural(&kind, plain_segment(plural)?);
        Ok(Self { api, namespaced, verbs: Vec::new() })
    }

    /// Requests for its objects, in one namespace or (empty) everywhere.
    pub fn requests_in(&self, namespace: &str) -> anyhow::Result<Request> {
        let namespace = match namespace {
            it if self.namespaced && !it.is_empty() => Some(path_segment(it)?),
            _ => None,
        };
        Ok(Request::new(DynamicObject::url_path(&self.api, namespace.as_deref())))
    }

    /// Its plural and its group, as in `deployments.apps`.
    pub fn qualified_name(&self) -> String {
        let dot = if self.api.group.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.api.plural, self.api.group)
    }

    /// The identity of one of its objects in a list, which does not repeat the kind.
    pub fn id_of(&self, item: &Value) -> Id {
        let (api_version, kind) = (self.api.api_version.clone(), self.api.kind.clone());
        Id { api_version, kind, ..Id::of(item) }
    }

    /// Requests for an object, and its name as they need it.
    pub fn requests_for(&self, id: &Id) -> anyhow::Result<(Request, String)> {
        Ok((self.requests_in(&id.namespace)?, path_segment(&id.name)?))
    }
}

pub fn supports_verb(resource: &Resource, verb: &str) -> bool {
    resource.verbs.iter().any(|supported| supported == verb)
}

impl Cluster {
    /// The kind of an object; none if the server does not have it.
    pub fn find_resource(&self, id: &Id) -> anyhow::Result<Option<Resource>> {
        let is = |resource: &Resource| resource.api.kind == id.kind;
        let known = self
            .known_resources
            .borrow()
            .get(&id.api_version)
            .and_then(|resources| resources.iter().find(|resource| is(resource)).cloned());
        if known.is_some() {
            return Ok(known);
        }
        let resources = self.list_resources(&id.api_version)?;
        let found = resources.iter().find(|resource| is(resource)).cloned();
        self.known_resources.borrow_mut().insert(id.api_version.clone(), resources);
        Ok(found)
    }

    /// The resource of an object in any version of its group that is served: the object exists in all of them.
    pub fn find_resource_in_any_version(&self, id: &Id) -> anyhow::Result<Option<Resource>> {
        if let Some(found) = self.find_resource(id)? {
            return Ok(Some(found));
        }
        for api_version in self.list_api_versions()? {
            let candidate = Id { api_version, ..id.clone() };
            if candidate.group() == id.group()
                && let Some(found) = self.find_resource(&candidate)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Every kind once, in the first version of its group that has it; of all groups, or of one. A version that the server does
    /// not list is added to `unknown`, with the reason.
    pub(super) fn list_kinds(
        &self,
        group: Option<&str>,
        unknown: &mut BTreeMap<String, String>,
    ) -> anyhow::Result<Vec<Resource>> {
        let mut kinds: Vec<Resource> = Vec::new();
        let mut names = BTreeSet::new();
        for api_version in self.list_api_versions()? {
            if group.is_some_and(|group| group != Id::group_of(&api_version)) {
                continue;
            }
            match self.list_resources(&api_version) {
                Ok(resources) => kinds.extend(
                    resources
                        .into_iter()
                        .filter(|resource| names.insert(resource.qualified_name())),
                ),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => drop(unknown.insert(api_version, error.root_cause().to_string())),
            }
        }
        Ok(kinds)
    }

    /// Returns whether the server still serves a kind.
    pub(super) fn still_serves(&self, resource: &Resource) -> anyhow::Result<bool> {
        let resources = self.list_resources(&resource.api.api_version)?;
        Ok(resources.iter().any(|served| served.api.plural == resource.api.plural))
    }

    /// Every kind of a group's version; none if the server does not have it.
    pub fn list_resources(&self, api_version: &str) -> anyhow::Result<Vec<Resource>> {
        let response = self.fetch_discovery(&group_version_path(api_version)?)?;
        match response.code {
            404 => Ok(Vec::new()),
            200 => parse_resources(api_version, &response.body)
                .with_context(|| format!("{} returned an invalid list of resources", self.server)),
            _ => Err(refusal::from_response(&response)
                .into_error(&format!("{} does not list its resources", self.server))),
        }
    }

    /// Gets a discovery document. One that is read again does not count twice.
    fn fetch_discovery(&self, path: &str) -> anyhow::Result<ApiResponse> {
        let request = http::Request::get(path).body(Vec::new());
        let request = request.with_context(|| format!("cannot request `{path}`"))?;
        let mut sizes = self.discovery_sizes.borrow_mut();
        sizes.remove(path);
        let mut remaining = RemainingSize::from(&DISCOVERY);
        remaining.text -= sizes.values().sum::<usize>();
        let before = remaining.text;
        let response = self.send_within(&request, &mut remaining)?;
        sizes.insert(path.to_owned(), before - remaining.text);
        Ok(response)
    }

    /// Every version of every group that the server has, a group's preferred version first.
    pub fn list_api_versions(&self) -> anyhow::Result<Vec<String>> {
        let response = self.fetch_discovery("/apis")?;
        if !response.is_success() {
            return Err(refusal::from_response(&response)
                .into_error(&format!("{} does not list its resources", self.server)));
        }
        let mut api_versions = vec!["v1".to_owned()];
        let groups = response.body["groups"].as_array();
        for group in
            groups.with_context(|| format!("{} returned no list of API groups", self.server))?
        {
            let versions = group["versions"].as_array().into_iter().flatten();
            for version in [&group["preferredVersion"]].into_iter().chain(versions) {
                let version = version["groupVersion"].as_str();
                let version = version.with_context(|| {
                    format!("{} returned an API group without a version", self.server)
                })?;
                group_version_path(version)?;
                if api_versions.len() > MOST {
                    anyhow::bail!("{} returned more than {MOST} API groups", self.server);
                }
                if !api_versions.iter().any(|known| known == version) {
                    api_versions.push(version.to_owned());
                }
            }
        }
        Ok(api_versions)
    }
}

fn parse_resources(api_version: &str, list: &Value) -> anyhow::Result<Vec<Resource>> {
    let mut parsed = Vec::new();
    let resources = match &list["resources"] {
        // Go writes an empty list like this.
        Value::Null if list["kind"] == "APIResourceList" => return Ok(Vec::new()),
        it => it.as_array(),
    };
    if resources.is_some_and(|list| list.len() > MOST) {
        anyhow::bail!("{api_version} has more than {MOST} resources");
    }
    for item in resources.with_context(|| format!("{api_version} has no list of resources"))? {
        let names = (item["name"].as_str(), item["kind"].as_str());
        let (Some(plural), Some(kind)) = names else {
            anyhow::bail!("{api_version} has a resource without a name or a kind");
        };
        // A subresource follows a `/`.
        let (resource, is_part) =
            plural.split_once('/').map_or((plural, false), |name| (name.0, true));
        let verbs =
            super::object::string_items(&item["verbs"]).into_iter().map(str::to_owned).collect();
        let resource = Resource::new(api_version, kind, resource, item["namespaced"] == true)?;
        if !is_part {
            parsed.push(Resource { verbs, ..resource });
        }
    }
    Ok(parsed)
}

#[test]
fn subresources_are_no_kinds_and_paths_follow_from_discovery() {
    use go_data::yaml::json;
    let list = json!({"resources": [
        {"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["get"]},
        {"name": "deployments/scale", "kind": "Scale", "namespaced": true, "verbs": ["get"]},
    ]});
    let resources = parse_resources("apps/v1", &list).unwrap();
    assert_eq!(resources.len(), 1);
    let id = Id {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: "a".into(),
        name: "b".into(),
    };
    assert_eq!(
        resources[0].requests_in("a").unwrap().url_path,
        "/apis/apps/v1/namespaces/a/deployments"
    );
    assert_eq!(resources[0].requests_for(&id).unwrap().1, "b");
    assert_eq!(resources[0].requests_in("").unwrap().url_path, "/apis/apps/v1/deployments");
    let node = &parse_resources(
        "v1",
        &json!({"resources": [{"name": "nodes", "kind": "Node", "namespaced": false}]}),
    )
    .unwrap()[0];
    assert_eq!(node.requests_in("a").unwrap().url_path, "/api/v1/nodes");
}

#[test]
fn an_invalid_list_of_resources_is_refused() {
    use go_data::yaml::json;
    for names in [
        json!({"name": "..", "kind": "A"}),
        json!({"name": "../secrets", "kind": "A"}),
        json!({"name": "a%2Fb", "kind": "A"}),
        json!({"name": "a\n", "kind": "A"}),
        json!({"kind": "A"}),
        json!({"name": "as"}),
    ] {
        assert!(parse_resources("a/v1", &json!({"resources": [names]})).is_err(), "{names}");
    }
    assert!(parse_resources("a/v1", &json!("what")).is_err());
}

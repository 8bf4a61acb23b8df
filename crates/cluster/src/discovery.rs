//! The kinds that a server has, and the requests for their objects.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kube::{
    Resource as _,
    core::{ApiResource, DynamicObject, GroupVersion, Request},
};

use super::{
    Cluster, Id,
    connect::is_final,
    path::{group_version, plain, segment},
    refusal,
    request::{Answer, Room, SizeLimits},
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
        group_version(api_version)?;
        let kind = api_version.parse::<GroupVersion>()?.with_kind(kind);
        let api = ApiResource::from_gvk_with_plural(&kind, plain(plural)?);
        Ok(Self { api, namespaced, verbs: Vec::new() })
    }

    /// Requests for its objects, in one namespace or (empty) everywhere.
    pub fn all(&self, namespace: &str) -> anyhow::Result<Request> {
        let namespace = match namespace {
            it if self.namespaced && !it.is_empty() => Some(segment(it)?),
            _ => None,
        };
        Ok(Request::new(DynamicObject::url_path(&self.api, namespace.as_deref())))
    }

    /// Its plural and its group, as in `deployments.apps`.
    pub fn name(&self) -> String {
        let dot = if self.api.group.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.api.plural, self.api.group)
    }

    /// The identity of one of its objects in a list, which does not repeat the kind.
    pub fn id(&self, item: &Value) -> Id {
        let (api_version, kind) = (self.api.api_version.clone(), self.api.kind.clone());
        Id { api_version, kind, ..Id::of(item) }
    }

    /// Requests for an object, and its name as they need it.
    pub fn one(&self, id: &Id) -> anyhow::Result<(Request, String)> {
        Ok((self.all(&id.namespace)?, segment(&id.name)?))
    }
}

pub fn can(resource: &Resource, verb: &str) -> bool {
    resource.verbs.iter().any(|it| it == verb)
}

impl Cluster {
    /// The kind of an object; none if the server does not have it.
    pub fn resource(&self, id: &Id) -> anyhow::Result<Option<Resource>> {
        let is = |it: &Resource| it.api.kind == id.kind;
        let known = self
            .known
            .borrow()
            .get(&id.api_version)
            .and_then(|it| it.iter().find(|it| is(it)).cloned());
        if known.is_some() {
            return Ok(known);
        }
        let resources = self.resources(&id.api_version)?;
        let found = resources.iter().find(|it| is(it)).cloned();
        self.known.borrow_mut().insert(id.api_version.clone(), resources);
        Ok(found)
    }

    /// The resource of an object in any version of its group that is served: the object exists in all of them.
    pub fn resource_in_any_version(&self, id: &Id) -> anyhow::Result<Option<Resource>> {
        if let Some(found) = self.resource(id)? {
            return Ok(Some(found));
        }
        for api_version in
            self.api_versions()?.into_iter().map(|it| Id { api_version: it, ..id.clone() })
        {
            if api_version.group() == id.group()
                && let Some(found) = self.resource(&api_version)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Every kind once, in the first version of its group that has it; of all groups, or of one. What the server does not
    /// tell is added to `unknown`.
    pub(super) fn kinds(
        &self,
        group: Option<&str>,
        unknown: &mut BTreeMap<String, String>,
    ) -> anyhow::Result<Vec<Resource>> {
        let mut res: Vec<Resource> = Vec::new();
        let mut names = BTreeSet::new();
        for api_version in self.api_versions()? {
            if group.is_some_and(|it| it != Id::group_of(&api_version)) {
                continue;
            }
            match self.resources(&api_version) {
                Ok(all) => res.extend(all.into_iter().filter(|it| names.insert(it.name()))),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => drop(unknown.insert(api_version, error.root_cause().to_string())),
            }
        }
        Ok(res)
    }

    /// Whether the server still has a kind.
    pub(super) fn has(&self, resource: &Resource) -> anyhow::Result<bool> {
        let resources = self.resources(&resource.api.api_version)?;
        Ok(resources.iter().any(|it| it.api.plural == resource.api.plural))
    }

    /// Every kind of a group's version; none if the server does not have it.
    pub fn resources(&self, api_version: &str) -> anyhow::Result<Vec<Resource>> {
        let answer = self.discover(&group_version(api_version)?)?;
        match answer.code {
            404 => Ok(Vec::new()),
            200 => read(api_version, &answer.body)
                .with_context(|| format!("{} returned an invalid list of resources", self.server)),
            _ => Err(refusal::of(&answer)
                .into_error(&format!("{} does not list its resources", self.server))),
        }
    }

    /// Gets a discovery document. One that is read again does not count twice.
    fn discover(&self, path: &str) -> anyhow::Result<Answer> {
        let request = http::Request::get(path).body(Vec::new());
        let request = request.with_context(|| format!("cannot request `{path}`"))?;
        let mut sizes = self.discovered.borrow_mut();
        sizes.remove(path);
        let mut room = Room::from(&DISCOVERY);
        room.text -= sizes.values().sum::<usize>();
        let before = room.text;
        let answer = self.send_within(&request, &mut room)?;
        sizes.insert(path.to_owned(), before - room.text);
        Ok(answer)
    }

    /// Every version of every group that the server has, a group's preferred version first.
    pub fn api_versions(&self) -> anyhow::Result<Vec<String>> {
        let answer = self.discover("/apis")?;
        if !answer.is_success() {
            return Err(refusal::of(&answer)
                .into_error(&format!("{} does not list its resources", self.server)));
        }
        let mut res = vec!["v1".to_owned()];
        let groups = answer.body["groups"].as_array();
        for group in
            groups.with_context(|| format!("{} returned no list of API groups", self.server))?
        {
            let versions = group["versions"].as_array().into_iter().flatten();
            for version in [&group["preferredVersion"]].into_iter().chain(versions) {
                let version = version["groupVersion"].as_str();
                let version = version.with_context(|| {
                    format!("{} returned an API group without a version", self.server)
                })?;
                group_version(version)?;
                if res.len() > MOST {
                    anyhow::bail!("{} returned more than {MOST} API groups", self.server);
                }
                if !res.iter().any(|it| it == version) {
                    res.push(version.to_owned());
                }
            }
        }
        Ok(res)
    }
}

fn read(api_version: &str, list: &Value) -> anyhow::Result<Vec<Resource>> {
    let mut res = Vec::new();
    let resources = match &list["resources"] {
        // Go writes an empty list like this.
        Value::Null if list["kind"] == "APIResourceList" => return Ok(Vec::new()),
        it => it.as_array(),
    };
    if resources.is_some_and(|it| it.len() > MOST) {
        anyhow::bail!("{api_version} has more than {MOST} resources");
    }
    for it in resources.with_context(|| format!("{api_version} has no list of resources"))? {
        let names = (it["name"].as_str(), it["kind"].as_str());
        let (Some(plural), Some(kind)) = names else {
            anyhow::bail!("{api_version} has a resource without a name or a kind");
        };
        // A subresource follows a `/`.
        let (resource, is_part) = plural.split_once('/').map_or((plural, false), |it| (it.0, true));
        let verbs = super::object::texts(&it["verbs"]).into_iter().map(str::to_owned).collect();
        let resource = Resource::new(api_version, kind, resource, it["namespaced"] == true)?;
        if !is_part {
            res.push(Resource { verbs, ..resource });
        }
    }
    Ok(res)
}

#[test]
fn subresources_are_no_kinds_and_paths_follow_from_discovery() {
    use go_data::yaml::json;
    let list = json!({"resources": [
        {"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["get"]},
        {"name": "deployments/scale", "kind": "Scale", "namespaced": true, "verbs": ["get"]},
    ]});
    let resources = read("apps/v1", &list).unwrap();
    assert_eq!(resources.len(), 1);
    let id = Id {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: "a".into(),
        name: "b".into(),
    };
    assert_eq!(resources[0].all("a").unwrap().url_path, "/apis/apps/v1/namespaces/a/deployments");
    assert_eq!(resources[0].one(&id).unwrap().1, "b");
    assert_eq!(resources[0].all("").unwrap().url_path, "/apis/apps/v1/deployments");
    let node = &read(
        "v1",
        &json!({"resources": [{"name": "nodes", "kind": "Node", "namespaced": false}]}),
    )
    .unwrap()[0];
    assert_eq!(node.all("a").unwrap().url_path, "/api/v1/nodes");
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
        assert!(read("a/v1", &json!({"resources": [names]})).is_err(), "{names}");
    }
    assert!(read("a/v1", &json!("what")).is_err());
}

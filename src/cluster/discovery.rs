//! Which kinds a server has, and where.

use super::{Cluster, Id, refusal};
use crate::yaml::Value;

/// A kind as a server has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub api_version: String,
    pub kind: String,
    pub plural: String,
    pub namespaced: bool,
    pub verbs: Vec<String>,
}

impl Resource {
    /// The path of all its objects, in one namespace or (empty) everywhere.
    pub fn all(&self, namespace: &str) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        let place = if self.namespaced && !namespace.is_empty() {
            format!("/namespaces/{namespace}")
        } else {
            String::new()
        };
        format!("{root}/{}{place}/{}", self.api_version, self.plural)
    }

    pub fn one(&self, id: &Id) -> String {
        format!("{}/{}", self.all(&id.namespace), id.name)
    }
}

impl Cluster {
    /// The kind of an object; none where the server does not have it.
    pub fn resource(&self, id: &Id) -> anyhow::Result<Option<Resource>> {
        let is = |it: &Resource| it.kind == id.kind;
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

    /// Every kind of a group's version; none where the server does not have it.
    pub fn resources(&self, api_version: &str) -> anyhow::Result<Vec<Resource>> {
        let root = if api_version.contains('/') { "/apis" } else { "/api" };
        let answer = self.get(&format!("{root}/{api_version}"))?;
        match answer.code {
            404 => Ok(Vec::new()),
            200 => Ok(read(api_version, &answer.body)),
            _ => Err(refusal::of(&answer)
                .into_error(&format!("{} does not tell what it has", self.server))),
        }
    }

    /// The preferred version of every group that the server has.
    pub fn api_versions(&self) -> anyhow::Result<Vec<String>> {
        let answer = self.get("/apis")?;
        if !answer.is_success() {
            return Err(refusal::of(&answer)
                .into_error(&format!("{} does not tell what it has", self.server)));
        }
        let groups = answer.body["groups"].as_array().into_iter().flatten();
        let preferred = groups.filter_map(|it| it["preferredVersion"]["groupVersion"].as_str());
        Ok(["v1"].into_iter().chain(preferred).map(str::to_owned).collect())
    }
}

fn read(api_version: &str, list: &Value) -> Vec<Resource> {
    let resources = list["resources"].as_array().into_iter().flatten();
    let read = |it: &Value| {
        let plural = it["name"].as_str().filter(|it| !it.contains('/'))?;
        Some(Resource {
            api_version: api_version.to_owned(),
            kind: it["kind"].as_str()?.to_owned(),
            plural: plural.to_owned(),
            namespaced: it["namespaced"] == true,
            verbs: super::object::texts(&it["verbs"]).into_iter().map(str::to_owned).collect(),
        })
    };
    resources.filter_map(read).collect()
}

#[test]
fn subresources_are_no_kinds_and_paths_follow_from_what_is_said() {
    use crate::yaml::json;
    let list = json!({"resources": [
        {"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["get"]},
        {"name": "deployments/scale", "kind": "Scale", "namespaced": true, "verbs": ["get"]},
    ]});
    let resources = read("apps/v1", &list);
    assert_eq!(resources.len(), 1);
    let id = Id {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        namespace: "a".into(),
        name: "b".into(),
    };
    assert_eq!(resources[0].one(&id), "/apis/apps/v1/namespaces/a/deployments/b");
    assert_eq!(resources[0].all(""), "/apis/apps/v1/deployments");
    let node = &read(
        "v1",
        &json!({"resources": [{"name": "nodes", "kind": "Node", "namespaced": false}]}),
    )[0];
    assert_eq!(node.all("a"), "/api/v1/nodes");
}

//! Requests for single objects: reads one, and merges fields into it.

use kube::api::{GetParams, Patch, PatchParams};

use super::{
    Cluster, Id,
    discovery::Resource,
    object::{resource_version, uid},
    refusal::{self, Refusal},
};
use go_data::yaml::Value;

impl Cluster {
    /// An object of a kind that the server must serve; none if the object does not exist.
    pub fn read(&self, id: &Id) -> anyhow::Result<Option<Value>> {
        let Some(resource) = self.find_resource(id)? else { return Ok(None) };
        self.read_object(&resource, id)?
            .map_err(|refusal| refusal.into_error(&format!("{id} cannot be read")))
    }

    /// Returns whether the server has a kind.
    pub fn serves(&self, api_version: &str, kind: &str) -> anyhow::Result<bool> {
        Ok(self.list_resources(api_version)?.iter().any(|resource| resource.api.kind == kind))
    }

    /// Merges fields into an object; false if it has been changed since it was read.
    pub fn merge(&self, live: &Value, mut fields: Value) -> anyhow::Result<bool> {
        let id = Id::of(live);
        let Some(resource) = self.find_resource(&id)? else {
            anyhow::bail!("{} is no longer served", id.kind)
        };
        fields["metadata"]["uid"] = uid(live).into();
        fields["metadata"]["resourceVersion"] = resource_version(live).into();
        let (requests, name) = resource.requests_for(&id)?;
        let field_manager = Some(self.owner.creator.clone());
        let params = PatchParams { field_manager, ..PatchParams::default() };
        let answer = self.send(&requests.patch(&name, &params, &Patch::Merge(fields))?)?;
        match answer.code {
            409 => Ok(false),
            _ if answer.is_success() => Ok(true),
            _ => {
                Err(refusal::from_response(&answer).into_error(&format!("{id} cannot be changed")))
            }
        }
    }

    /// An object; none if it does not exist. Any other object in the response is refused.
    pub(super) fn read_object(
        &self,
        resource: &Resource,
        id: &Id,
    ) -> anyhow::Result<Result<Option<Value>, Refusal>> {
        let (requests, name) = resource.requests_for(id)?;
        let answer = self.send(&requests.get(&name, &GetParams::default())?)?;
        match answer.code {
            200 => {}
            404 => return Ok(Ok(None)),
            _ => return Ok(Err(refusal::from_response(&answer))),
        }
        let is = Id::of(&answer.body);
        let same_place = !resource.namespaced || is.namespace == id.namespace;
        if is.kind != id.kind || is.name != id.name || !same_place || uid(&answer.body).is_empty() {
            let message = "the server returned a different object";
            return Ok(Err(Refusal::new(message, None)));
        }
        Ok(Ok(Some(answer.body)))
    }
}

//! An object that another program creates between the dry run and the write does not become the project's.

use kube::api::{GetParams, Patch, PatchParams};

use super::{
    Cluster, Id, Owner,
    discovery::Resource,
    managers::{is_applied, manager_of},
    object::resource_version,
    refusal,
};
use go_data::yaml::{Value, json};

impl Owner {
    /// Returns the metadata with which the project has only adopted the object; none if no other client has set fields.
    pub fn released_metadata(&self, live: &Value) -> Option<Value> {
        let mut entries = live["metadata"]["managedFields"].as_array()?.clone();
        let is_ours = |entry: &Value| is_applied(entry) && manager_of(entry) == self.creator;
        if !entries.iter().any(|entry| entry["subresource"].is_null() && !is_ours(entry)) {
            return None;
        }
        let ours = entries.iter_mut().find(|entry| is_ours(entry))?;
        ours["manager"] = self.adopter.as_str().into();
        Some(json!({"managedFields": entries, "labels": {&self.key: null}}))
    }
}

impl Cluster {
    /// Records that the project has only adopted the object, if another client has set fields of it.
    pub(super) fn release_fields(
        &self,
        resource: &Resource,
        id: &Id,
        mut live: Value,
    ) -> anyhow::Result<()> {
        let (requests, name) = resource.requests_for(id)?;
        for _ in 0..20 {
            let Some(mut metadata) = self.owner.released_metadata(&live) else { return Ok(()) };
            // With the resource version, the server refuses the patch if another client has written in between.
            metadata["resourceVersion"] = resource_version(&live).into();
            let patch = Patch::Merge(json!({"metadata": metadata}));
            let request = requests.patch(&name, &PatchParams::default(), &patch)?;
            let response = self.send(&request)?;
            match response.code {
                409 => live = self.send(&requests.get(&name, &GetParams::default())?)?.body,
                _ if response.is_success() => return Ok(()),
                _ => {
                    let what = format!("the owner of {id} cannot be recorded");
                    return Err(refusal::from_response(&response).into_error(&what));
                }
            }
        }
        anyhow::bail!("{id} changes too often to record its owner")
    }
}

#[test]
fn an_object_that_is_created_concurrently_is_only_adopted() {
    use super::owner::live;
    let a = Owner::for_project("a.example.com");
    let after = a.released_metadata(&live(&[("argocd", "Update"), (&a.creator, "Apply")])).unwrap();
    let expected = live(&[("argocd", "Update"), (&a.adopter, "Apply")]);
    assert_eq!(after["managedFields"], expected["metadata"]["managedFields"]);
    assert_eq!(after["labels"], json!({&a.key: null}));
    // Another run of the same project.
    assert_eq!(a.released_metadata(&live(&[(&a.creator, "Apply")])), None);
    assert_eq!(a.released_metadata(&live(&[("argocd", "Update")])), None);
}

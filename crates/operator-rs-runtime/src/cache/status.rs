//! Writes the status of a primary, and respects the owners of its conditions: conditions that other clients set keep
//! their owner, and those that the runtime reports have a separate field manager, so that neither erases the other.

use super::{
    Observed, PrimaryCache, Watchable, conditions::exclude_cleared, fetch_object, key_of, lock,
    primary::numeric_version,
};
use crate::{error::Error, scope::ResourceScope};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
    core::object::HasStatus,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of attempts to apply a status while other clients write to the object.
const MAX_ATTEMPTS: u32 = 5;

impl<K: Watchable> PrimaryCache<K> {
    /// Writes the status if it differs: see [`Primary::update_status`](crate::Primary::update_status).
    pub(crate) async fn update_status(&self, object: &K, status: K::Status) -> Result<bool, Error>
    where
        K: Serialize + HasStatus<Status: Serialize + PartialEq + Sync>,
    {
        let key = key_of(object);
        let latest = self.get_current(object);
        let current = latest.as_deref().unwrap_or(object).status();
        if current == Some(&status) {
            return Ok(false);
        }
        let (mut desired, mut current) = (serde_json::to_value(&status)?, serde_json::to_value(current)?);
        let read = serde_json::to_value(object.status())?["conditions"].take();
        exclude_cleared(&mut desired["conditions"], &current["conditions"], &read);
        if let Some(conditions) = lock(&self.state).conditions.get(&key)
            && desired["conditions"].is_array()
            && current["conditions"].is_array()
        {
            conditions.retain_writable(&mut desired["conditions"], &mut current["conditions"], &read);
        }
        if desired == current {
            return Ok(false);
        }
        self.patch_status(object, self.field_manager, desired).await?;
        Ok(true)
    }

    /// Returns the latest known state of an object, unless another object has its name now.
    pub(crate) fn get_current(&self, object: &K) -> Option<Arc<K>> {
        self.get(&key_of(object)).filter(|current| current.meta().uid == object.meta().uid)
    }

    /// Fetches the latest state of an object from the API server, unless another object has its name now. If the object
    /// no longer exists, it is removed from the cache.
    pub(crate) async fn fetch_current(&self, object: &K) -> Result<Option<Observed<K>>, Error> {
        let known_version = self.get_current(object).map(|current| numeric_version(&*current));
        let api: Api<Observed<K>> = K::Scope::api(&self.client, object.namespace().as_deref());
        let latest = fetch_object(&api, &object.name_any()).await?;
        let latest = latest.filter(|latest| latest.metadata.uid == object.meta().uid);
        if let (None, Some(version)) = (&latest, known_version) {
            self.record_deletion(&key_of(object), version);
        }
        Ok(latest)
    }

    /// Applies a status to an object, and to no other object with the same name. The precondition is the resource
    /// version, because the server ignores the uid when a status is applied.
    pub(super) async fn patch_status(
        &self,
        object: &K,
        field_manager: &str,
        status: Value,
    ) -> Result<Observed<K>, Error>
    where
        K: Serialize,
    {
        let api: Api<Observed<K>> = K::Scope::api(&self.client, object.namespace().as_deref());
        let latest = self.get_current(object);
        let mut resource_version = latest.as_deref().unwrap_or(object).resource_version();
        let (name, params) = (object.name_any(), PatchParams::apply(field_manager).force());
        let mut attempts = 1;
        loop {
            let mut patch =
                json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": {}, "status": status });
            if let Some(version) = &resource_version {
                patch["metadata"]["resourceVersion"] = version.as_str().into();
            }
            match api.patch_status(&name, &params, &Patch::Apply(&patch)).await {
                Ok(after) => {
                    self.record_write(&after, &patch)?;
                    return Ok(after);
                }
                Err(kube::Error::Api(error)) if error.code == 409 && attempts < MAX_ATTEMPTS => {
                    match self.fetch_current(object).await? {
                        Some(latest) if !self.is_outdated(field_manager, &status, &latest) => {
                            resource_version = latest.metadata.resource_version;
                            attempts += 1;
                        }
                        _ => return Err(kube::Error::Api(error).into()),
                    }
                }
                // The response is the same for an object that no longer exists and for a kind without the subresource.
                Err(kube::Error::Api(error)) if error.code == 404 => match self.fetch_current(object).await? {
                    Some(_) => {
                        let resource = format!("{}.{}", K::plural(&()), K::group(&()));
                        return Err(Error::NoStatus { resource, name });
                    }
                    None => return Err(kube::Error::Api(error).into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}

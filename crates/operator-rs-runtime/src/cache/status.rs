//! The status of a primary, and whose its conditions are: what others set stays theirs, and what the
//! runtime reports about a failure is a manager's of its own, so that neither erases the other.

use super::{Observed, PrimaryCache, Watchable, conditions::exclude_cleared, fetch_object, key_of, lock, primary::numeric_version};
use crate::{error::Error, scope::ResourceScope};
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
    core::object::HasStatus,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// So often is a status applied while others write to the object.
const MAX_ATTEMPTS: u32 = 5;

impl<K: Watchable> PrimaryCache<K> {
    /// Writes the status if it differs: see [`Primary::update_status`](crate::Primary::update_status).
    pub(crate) async fn update_status(&self, object: &K, status: K::Status) -> Result<bool, Error>
    where
        K: Serialize + HasStatus<Status: Serialize + PartialEq + Sync>,
    {
        let key = key_of(object);
        let latest = self.get_current(object);
        let found = latest.as_deref().unwrap_or(object).status();
        if found == Some(&status) {
            return Ok(false);
        }
        let (mut desired, mut found) = (serde_json::to_value(&status)?, serde_json::to_value(found)?);
        let read = serde_json::to_value(object.status())?["conditions"].take();
        exclude_cleared(&mut desired["conditions"], &found["conditions"], &read);
        if let Some(it) = lock(&self.state).conditions.get(&key)
            && desired["conditions"].is_array()
            && found["conditions"].is_array()
        {
            it.retain_writable(&mut desired["conditions"], &mut found["conditions"], &read);
        }
        if desired == found {
            return Ok(false);
        }
        self.patch_status(object, self.field_manager, desired).await?;
        Ok(true)
    }

    /// An object as it is known now, and no other of its name.
    pub(crate) fn get_current(&self, object: &K) -> Option<Arc<K>> {
        self.get(&key_of(object)).filter(|it| it.meta().uid == object.meta().uid)
    }

    /// An object from the server, and no other of its name. Where it is gone, the cache knows it from now on.
    pub(crate) async fn fetch_current(&self, object: &K) -> Result<Option<Observed<K>>, Error> {
        let known = self.get_current(object).map(|it| numeric_version(&*it));
        let api: Api<Observed<K>> = K::Scope::api(&self.client, object.namespace().as_deref());
        let found = fetch_object(&api, &object.name_any()).await?.filter(|it| it.metadata.uid == object.meta().uid);
        if let (None, Some(known)) = (&found, known) {
            self.record_deletion(&key_of(object), known);
        }
        Ok(found)
    }

    /// Applies a status, to no other object of the same name. The server does not look at the uid when
    /// the status is applied, but at the version.
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
        let mut at = latest.as_deref().unwrap_or(object).resource_version();
        let (name, params) = (object.name_any(), PatchParams::apply(field_manager).force());
        let mut attempts = 1;
        loop {
            let mut patch =
                json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": {}, "status": status });
            if let Some(version) = &at {
                patch["metadata"]["resourceVersion"] = version.as_str().into();
            }
            match api.patch_status(&name, &params, &Patch::Apply(&patch)).await {
                Ok(after) => {
                    self.record_write(&after, &patch)?;
                    return Ok(after);
                }
                Err(kube::Error::Api(it)) if it.code == 409 && attempts < MAX_ATTEMPTS => match self.fetch_current(object).await? {
                    Some(found) if !self.is_outdated(field_manager, &status, &found) => {
                        at = found.metadata.resource_version;
                        attempts += 1;
                    }
                    _ => return Err(kube::Error::Api(it).into()),
                },
                // The server says the same of an object that is gone as of a kind that has no such subresource.
                Err(kube::Error::Api(it)) if it.code == 404 => match self.fetch_current(object).await? {
                    Some(_) => {
                        let resource = format!("{}.{}", K::plural(&()), K::group(&()));
                        return Err(Error::NoStatus { resource, name });
                    }
                    None => return Err(kube::Error::Api(it).into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}

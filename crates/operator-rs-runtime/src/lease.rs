//! The Lease itself, with client-go's algorithm: every write carries the resourceVersion that was
//! read, so that two candidates can never both win, and expiry is judged by how long *this* process
//! has seen the record unchanged, so that clocks need not agree. The crate for it lags behind kube.

use crate::leader::LeaderElection;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use std::time::Duration;
use tokio::time::{Instant, timeout};

#[derive(Debug)]
pub(crate) struct Elector {
    api: Api<Lease>,
    pub config: LeaderElection,
    /// The last record seen, and when it was first seen.
    seen: Option<(Lease, Instant)>,
}

impl Elector {
    pub fn new(client: Client, config: LeaderElection) -> Self {
        Self { api: Api::namespaced(client, &config.namespace), config, seen: None }
    }

    /// One attempt to acquire or renew.
    pub async fn try_hold(&mut self) -> kube::Result<bool> {
        // As the holder, write first: nobody else should have.
        if let Some((lease, _)) = self.seen.clone()
            && self.holder() == Some(&self.config.identity)
        {
            match self.write(lease).await {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // Somebody has deleted it: it is created again, as in client-go.
                Err(kube::Error::Api(e)) if e.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        let Some(lease) = self.in_time(self.api.get_opt(&self.config.name)).await? else {
            // It was deleted while somebody led, who may go on until it would have expired.
            if self.is_held_by_another() && self.expires_in().is_some_and(|left| !left.is_zero()) {
                return Ok(false);
            }
            let new = self.lease(None, 0);
            let written = self.in_time(self.api.create(&PostParams::default(), &new)).await;
            return self.written(written);
        };
        if self.seen.as_ref().is_none_or(|(l, _)| l.metadata.resource_version != lease.metadata.resource_version) {
            self.seen = Some((lease.clone(), Instant::now()));
        }
        let free = self.holder().is_none_or(|h| h.is_empty() || *h == self.config.identity);
        if !free && self.expires_in().is_none_or(|left| !left.is_zero()) {
            return Ok(false);
        }
        self.write(lease).await
    }

    fn holder(&self) -> Option<&String> {
        self.seen.as_ref()?.0.spec.as_ref()?.holder_identity.as_ref()
    }

    /// Whether the record seen says that somebody else leads.
    pub fn is_held_by_another(&self) -> bool {
        self.holder().is_some_and(|it| !it.is_empty() && *it != self.config.identity)
    }

    /// How long the record seen stays valid.
    pub fn expires_in(&self) -> Option<Duration> {
        let (lease, at) = self.seen.as_ref()?;
        let ttl = lease.spec.as_ref().and_then(|s| s.lease_duration_seconds).unwrap_or(0);
        Some(Duration::from_secs(ttl.max(0) as u64).saturating_sub(at.elapsed()))
    }

    async fn write(&mut self, old: Lease) -> kube::Result<bool> {
        let spec = old.spec.unwrap_or_default();
        let ours = spec.holder_identity.as_ref() == Some(&self.config.identity);
        let transitions = spec.lease_transitions.unwrap_or(0) + i32::from(!ours);
        let mut new = self.lease(old.metadata.resource_version, transitions);
        if ours && let Some(s) = &mut new.spec {
            s.acquire_time = spec.acquire_time;
        }
        self.replace(&new).await
    }

    async fn replace(&mut self, new: &Lease) -> kube::Result<bool> {
        let written = self.in_time(self.api.replace(&self.config.name, &PostParams::default(), new)).await;
        self.written(written)
    }

    /// Each request has a limit of its own, so that one that hangs leaves time for the next.
    async fn in_time<T>(&self, request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
        let limit = self.config.request_timeout();
        let late = |_| kube::Error::Service(format!("the API server did not answer within {limit:?}").into());
        timeout(limit, request).await.map_err(late)?
    }

    fn written(&mut self, result: kube::Result<Lease>) -> kube::Result<bool> {
        match result {
            Ok(lease) => {
                self.seen = Some((lease, Instant::now()));
                Ok(true)
            }
            Err(kube::Error::Api(e)) if e.is_conflict() || e.is_already_exists() => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Frees the Lease. Returns whether it was ours.
    pub async fn write_free(&mut self) -> kube::Result<bool> {
        let lease = self.in_time(self.api.get(&self.config.name)).await?;
        if lease.spec.as_ref().and_then(|s| s.holder_identity.as_deref()) != Some(&self.config.identity) {
            return Ok(false);
        }
        let mut new = self.lease(lease.metadata.resource_version, 0);
        if let Some(s) = &mut new.spec {
            s.lease_transitions = lease.spec.and_then(|s| s.lease_transitions);
            s.holder_identity = Some(String::new());
            s.lease_duration_seconds = Some(1);
        }
        self.replace(&new).await
    }

    fn lease(&self, resource_version: Option<String>, transitions: i32) -> Lease {
        let now = MicroTime(Timestamp::now());
        Lease {
            metadata: ObjectMeta { name: Some(self.config.name.clone()), resource_version, ..ObjectMeta::default() },
            spec: Some(LeaseSpec {
                holder_identity: Some(self.config.identity.clone()),
                lease_duration_seconds: Some(self.config.lease_duration.as_secs() as i32),
                acquire_time: Some(now.clone()),
                renew_time: Some(now),
                lease_transitions: Some(transitions),
                ..LeaseSpec::default()
            }),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;

//! Acquires and renews the Lease with client-go's algorithm. Every write carries the resource version that was read, so
//! that two candidates can never both win. A Lease expires when *this* process has seen it unchanged for its duration,
//! so that the clocks of the nodes need not agree. The crate for leader election lags behind kube.

use crate::leader_election::LeaderElection;
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
    /// The last observed version of the Lease, and when it was first observed.
    seen: Option<(Lease, Instant)>,
}

impl Elector {
    pub fn new(client: Client, config: LeaderElection) -> Self {
        Self { api: Api::namespaced(client, &config.namespace), config, seen: None }
    }

    /// Attempts once to acquire or renew the Lease. Returns true if this process holds it.
    pub async fn try_hold(&mut self) -> kube::Result<bool> {
        // The holder writes without reading: no other candidate should have changed the Lease.
        if let Some((lease, _)) = self.seen.clone()
            && self.current_holder() == Some(&self.config.identity)
        {
            match self.write_held(lease).await {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                // The Lease was deleted. It is created again, as in client-go.
                Err(kube::Error::Api(e)) if e.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        let Some(lease) = self.in_time(self.api.get_opt(&self.config.name)).await? else {
            // The Lease was deleted, but its holder may go on leading until the Lease would have expired.
            if self.is_held_by_another() && self.expires_in().is_some_and(|left| !left.is_zero()) {
                return Ok(false);
            }
            let new = self.new_lease(None, 0);
            let created = self.in_time(self.api.create(&PostParams::default(), &new)).await;
            return self.record_write(created);
        };
        if self.seen.as_ref().is_none_or(|(l, _)| l.metadata.resource_version != lease.metadata.resource_version) {
            self.seen = Some((lease.clone(), Instant::now()));
        }
        let is_free = self.current_holder().is_none_or(|holder| holder.is_empty() || *holder == self.config.identity);
        if !is_free && self.expires_in().is_none_or(|left| !left.is_zero()) {
            return Ok(false);
        }
        self.write_held(lease).await
    }

    fn current_holder(&self) -> Option<&String> {
        self.seen.as_ref()?.0.spec.as_ref()?.holder_identity.as_ref()
    }

    /// Returns true if another candidate holds the last observed version of the Lease.
    pub fn is_held_by_another(&self) -> bool {
        self.current_holder().is_some_and(|holder| !holder.is_empty() && *holder != self.config.identity)
    }

    /// Returns the time for which the last observed version of the Lease stays valid.
    pub fn expires_in(&self) -> Option<Duration> {
        let (lease, at) = self.seen.as_ref()?;
        let ttl = lease.spec.as_ref().and_then(|s| s.lease_duration_seconds).unwrap_or(0);
        Some(Duration::from_secs(ttl.max(0) as u64).saturating_sub(at.elapsed()))
    }

    /// Writes the Lease with this process as its holder. Returns false if the Lease has changed meanwhile.
    async fn write_held(&mut self, old: Lease) -> kube::Result<bool> {
        let spec = old.spec.unwrap_or_default();
        let ours = spec.holder_identity.as_ref() == Some(&self.config.identity);
        let transitions = spec.lease_transitions.unwrap_or(0) + i32::from(!ours);
        let mut new = self.new_lease(old.metadata.resource_version, transitions);
        if ours && let Some(s) = &mut new.spec {
            s.acquire_time = spec.acquire_time;
        }
        self.replace_lease(&new).await
    }

    async fn replace_lease(&mut self, new: &Lease) -> kube::Result<bool> {
        let replaced = self.in_time(self.api.replace(&self.config.name, &PostParams::default(), new)).await;
        self.record_write(replaced)
    }

    /// Limits the time of a request, so that a request that hangs leaves time for the next one.
    async fn in_time<T>(&self, request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
        let limit = self.config.request_timeout();
        let timed_out = |_| kube::Error::Service(format!("the API server did not answer within {limit:?}").into());
        timeout(limit, request).await.map_err(timed_out)?
    }

    /// Remembers the Lease that was written. Returns false if the write was a conflict.
    fn record_write(&mut self, result: kube::Result<Lease>) -> kube::Result<bool> {
        match result {
            Ok(lease) => {
                self.seen = Some((lease, Instant::now()));
                Ok(true)
            }
            Err(kube::Error::Api(e)) if e.is_conflict() || e.is_already_exists() => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Releases the Lease. Returns false if this process did not hold it.
    pub async fn release_lease(&mut self) -> kube::Result<bool> {
        let lease = self.in_time(self.api.get(&self.config.name)).await?;
        if lease.spec.as_ref().and_then(|s| s.holder_identity.as_deref()) != Some(&self.config.identity) {
            return Ok(false);
        }
        let mut new = self.new_lease(lease.metadata.resource_version, 0);
        if let Some(s) = &mut new.spec {
            s.lease_transitions = lease.spec.and_then(|s| s.lease_transitions);
            s.holder_identity = Some(String::new());
            s.lease_duration_seconds = Some(1);
        }
        self.replace_lease(&new).await
    }

    fn new_lease(&self, resource_version: Option<String>, transitions: i32) -> Lease {
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

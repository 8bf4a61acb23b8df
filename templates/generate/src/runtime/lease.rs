//! The Lease itself, with client-go's algorithm: every write carries the resourceVersion that was
//! read, so that two candidates can never both win, and expiry is judged by how long *this* process
//! has seen the record unchanged, so that clocks need not agree.

use super::leader::Config;
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
use tokio::time::Instant;

pub(super) struct Elector {
    api: Api<Lease>,
    pub config: Config,
    /// The last record seen, and when it was first seen.
    seen: Option<(Lease, Instant)>,
}

impl Elector {
    pub fn new(client: Client, config: Config) -> Self {
        Self { api: Api::namespaced(client, &config.namespace), config, seen: None }
    }

    /// One attempt to acquire or renew.
    pub async fn try_hold(&mut self) -> kube::Result<bool> {
        // As the holder, write first: nobody else should have.
        if let Some((lease, _)) = self.seen.clone()
            && self.holder() == Some(&self.config.identity)
            && self.write(lease).await?
        {
            return Ok(true);
        }
        let Some(lease) = self.api.get_opt(&self.config.name).await? else {
            let new = self.lease(None, 0);
            return self.written(self.api.create(&PostParams::default(), &new).await);
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
        self.written(self.api.replace(&self.config.name, &PostParams::default(), &new).await)
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

    pub async fn write_free(&mut self) -> kube::Result<bool> {
        let lease = self.api.get(&self.config.name).await?;
        if lease.spec.as_ref().and_then(|s| s.holder_identity.as_deref()) != Some(&self.config.identity) {
            return Ok(false);
        }
        let mut new = self.lease(lease.metadata.resource_version, 0);
        if let Some(s) = &mut new.spec {
            s.lease_transitions = lease.spec.and_then(|s| s.lease_transitions);
            s.holder_identity = Some(String::new());
            s.lease_duration_seconds = Some(1);
        }
        self.written(self.api.replace(&self.config.name, &PostParams::default(), &new).await)
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
mod tests {
    use super::*;
    use http::{Method, Request, Response};
    use kube::client::Body;
    use serde_json::{Value, json};
    use std::{
        convert::Infallible,
        sync::{Arc, Mutex},
    };

    /// An API server that has one Lease, and refuses a write that was not made from its last version.
    #[derive(Clone, Default)]
    struct Server(Arc<Mutex<Option<Value>>>);

    impl Server {
        fn elector(&self, identity: &str) -> Elector {
            let this = self.clone();
            let client = tower::service_fn(move |request: Request<Body>| {
                let this = this.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    let body = serde_json::from_slice(&body.collect_bytes().await.unwrap_or_default()).ok();
                    let (code, answer) = this.answer(&parts.method, body);
                    let body = Body::from(serde_json::to_vec(&answer).unwrap());
                    Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
                }
            });
            let client = Client::new(client, "default");
            let config = Config { identity: identity.into(), ..Config::new("operator", &client) };
            Elector::new(client, config)
        }

        fn answer(&self, method: &Method, body: Option<Value>) -> (u16, Value) {
            let mut lease = self.0.lock().unwrap();
            let status = |code: u16, reason| {
                let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                    "message": reason, "reason": reason, "code": code });
                (code, status)
            };
            let version = |lease: &Value| lease["metadata"]["resourceVersion"].as_str().map(str::to_owned);
            match (method.as_str(), lease.as_ref(), body) {
                ("GET", Some(lease), _) => return (200, lease.clone()),
                ("POST", None, Some(new)) => *lease = Some(new),
                ("PUT", Some(old), Some(new)) if version(old) == version(&new) => *lease = Some(new),
                ("GET" | "PUT", None, _) => return status(404, "NotFound"),
                _ => return status(409, "Conflict"),
            }
            let lease = lease.get_or_insert_default();
            let next = version(lease).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) + 1;
            lease["metadata"]["resourceVersion"] = next.to_string().into();
            (200, lease.clone())
        }
    }

    /// As if what this candidate has seen last were so much older.
    fn wait(elector: &mut Elector, seconds: u64) {
        let (_, seen) = elector.seen.as_mut().unwrap();
        *seen -= Duration::from_secs(seconds);
    }

    #[tokio::test]
    async fn one_holds_the_lease_until_it_has_not_renewed_it_for_its_duration() {
        let server = Server::default();
        let (mut a, mut b) = (server.elector("a"), server.elector("b"));
        assert!(a.try_hold().await.unwrap());
        assert!(!b.try_hold().await.unwrap());
        wait(&mut b, 14);
        assert!(a.try_hold().await.unwrap());
        wait(&mut b, 14);
        assert!(!b.try_hold().await.unwrap(), "a has renewed it since b looked last");
        wait(&mut b, 16);
        assert!(b.try_hold().await.unwrap());
        assert!(!a.try_hold().await.unwrap(), "what a knows is old");
    }

    #[tokio::test]
    async fn a_released_lease_is_taken_at_once() {
        let server = Server::default();
        let (mut a, mut b) = (server.elector("a"), server.elector("b"));
        assert!(a.try_hold().await.unwrap());
        assert!(!b.try_hold().await.unwrap());
        assert!(a.write_free().await.unwrap());
        assert!(b.try_hold().await.unwrap());
        assert!(!a.write_free().await.unwrap(), "it is not a's any more");
    }
}

use super::*;
use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

/// An API server that stores one Lease, and refuses a write that is not based on its last version.
#[derive(Clone, Default)]
pub(crate) struct Server {
    lease: Arc<Mutex<Option<Value>>>,
    /// The number of writes, from which each version is made.
    writes: Arc<AtomicU64>,
    /// The candidates whose requests are never answered.
    hangs: Arc<Mutex<String>>,
}

impl Server {
    pub fn elector(&self, identity: &str) -> Elector {
        let client = self.client_of(identity);
        let config = LeaderElection { identity: identity.into(), ..LeaderElection::new("operator", &client) };
        Elector::new(client, config)
    }

    pub fn client_of(&self, identity: &str) -> Client {
        let (this, identity) = (self.clone(), identity.to_owned());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (this, identity) = (this.clone(), identity.clone());
            async move {
                if *this.hangs.lock().unwrap() == identity {
                    std::future::pending::<()>().await;
                }
                let (parts, body) = request.into_parts();
                let body = serde_json::from_slice(&body.collect_bytes().await.unwrap_or_default()).ok();
                let (code, answer) = this.answer(&parts.method, body);
                let body = Body::from(serde_json::to_vec(&answer).unwrap());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        });
        Client::new(service, "default")
    }

    /// Leaves all later requests of this candidate unanswered.
    pub fn hang(&self, identity: &str) {
        identity.clone_into(&mut self.hangs.lock().unwrap());
    }

    /// Deletes the Lease, as `kubectl delete lease` does.
    pub fn delete_lease(&self) {
        self.lease.lock().unwrap().take();
    }

    fn answer(&self, method: &Method, body: Option<Value>) -> (u16, Value) {
        let mut lease = self.lease.lock().unwrap();
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
        lease["metadata"]["resourceVersion"] = self.writes.fetch_add(1, SeqCst).to_string().into();
        (200, lease.clone())
    }
}

/// Makes the last version that this candidate has observed older by this time.
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
    assert!(a.release_lease().await.unwrap());
    assert!(b.try_hold().await.unwrap());
    assert!(!a.release_lease().await.unwrap(), "it is not a's any more");
}

#[tokio::test]
async fn a_deleted_lease_is_created_again_by_its_holder_and_by_others_once_it_would_have_expired() {
    let server = Server::default();
    let (mut a, mut b) = (server.elector("a"), server.elector("b"));
    assert!(a.try_hold().await.unwrap());
    assert!(!b.try_hold().await.unwrap());
    server.delete_lease();
    assert!(!b.try_hold().await.unwrap(), "a may not know yet");
    assert!(a.try_hold().await.unwrap());
    assert!(!b.try_hold().await.unwrap());
    server.delete_lease();
    wait(&mut b, 16);
    assert!(b.try_hold().await.unwrap(), "a is gone");
    assert!(!a.try_hold().await.unwrap());
    assert!(a.is_held_by_another());
}

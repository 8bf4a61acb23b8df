//! Leader election: one of several replicas reconciles, and the others wait. The times and factors are client-go's.
//! kube-runtime has no leader election, and the crates for it lag behind kube.

use crate::{Error, backoff, explain, leader_election::LeaderElection, lease::Elector};
use kube::Client;
use std::{
    sync::{Arc, Mutex, Weak},
    thread,
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

/// client-go's `JitterFactor`.
const JITTER: f64 = 1.2;

/// The time limit for releasing the Lease.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

impl LeaderElection {
    /// Waits until this process leads. Returns `None` if `stop` is cancelled before.
    ///
    /// # Errors
    /// [`Error::Configuration`] if the times do not fit together, so that two processes could lead at once.
    /// [`Error::Kube`] if this account may not read or write the Lease, or if the API server calls it invalid. Other
    /// failures are logged and retried.
    pub async fn acquire(&self, client: &Client, stop: &CancellationToken) -> Result<Option<Leadership>, Error> {
        let (lease, deadline) = (("lease_duration", self.lease_duration), ("renew_deadline", self.renew_deadline));
        check_times(lease, deadline, ("retry_period", self.retry_period)).map_err(Error::Configuration)?;
        info!(lease = self.name, namespace = self.namespace, identity = self.identity, "waiting to lead");
        self.report_leading(false);
        let mut elector = Elector::new(client.clone(), self.clone());
        // An attempt is never dropped halfway: it might have acquired the Lease, which nothing would then release.
        while !stop.is_cancelled() {
            let start = Instant::now();
            match elector.try_hold().await {
                Ok(true) => return Ok(Some(start_leading(elector, start))),
                Ok(false) => {}
                Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_invalid() => {
                    return Err(kube::Error::Api(status).into());
                }
                Err(error) => warn!(error = explain(&error), "cannot acquire the Lease"),
            }
            let pause = add_jitter(self.retry_period);
            let expiry = elector.expires_in().filter(|left| !left.is_zero()).unwrap_or(pause);
            stop.run_until_cancelled(sleep(pause.min(expiry + Duration::from_millis(10)))).await;
        }
        Ok(None)
    }
}

/// Lengthens a period by up to `JITTER` times, as client-go's `wait.Jitter` does.
fn add_jitter(period: Duration) -> Duration {
    period.mul_f64(1.0 + JITTER * backoff::random_fraction())
}

/// The leadership of this process, which [`LeaderElection::acquire`] returns. The Lease is renewed until
/// [`release`](Self::release).
#[derive(Debug)]
pub struct Leadership {
    pub(crate) lost: CancellationToken,
    done: CancellationToken,
    renewal: JoinHandle<()>,
}

impl Leadership {
    /// Waits until the Lease is lost because it could not be renewed in time. Then stop at once, because another
    /// replica may lead from now on.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Releases the Lease, so that the next replica need not wait for it to expire.
    pub async fn release(self) {
        self.done.cancel();
        if timeout(RELEASE_TIMEOUT, self.renewal).await.is_err() {
            warn!("the Lease was not released in time");
        }
    }
}

/// Refuses times with which two processes could lead at once, or the leader could not renew in time, as client-go does.
/// Each time comes with its name for the message.
pub(crate) fn check_times(
    (lease_name, lease): (&str, Duration),
    (deadline_name, deadline): (&str, Duration),
    (retry_name, retry): (&str, Duration),
) -> Result<(), String> {
    if deadline >= lease {
        return Err(format!("{deadline_name} ({deadline:?}) has to be less than {lease_name} ({lease:?})"));
    }
    if retry.mul_f64(JITTER) >= deadline {
        return Err(format!(
            "{retry_name} ({retry:?}), times {JITTER}, has to be less than {deadline_name} ({deadline:?})"
        ));
    }
    Ok(())
}

fn start_leading(elector: Elector, since: Instant) -> Leadership {
    info!("leading");
    elector.config.report_leading(true);
    let (lost, done) = (CancellationToken::new(), CancellationToken::new());
    let renewal = tokio::spawn({
        let (lost, done) = (lost.clone(), done.clone());
        async move { keep_renewing(elector, since, lost, done).await }
    });
    Leadership { lost, done, renewal }
}

/// Renews the Lease until that has failed for too long. If `done` is cancelled, the Lease is released.
async fn keep_renewing(mut elector: Elector, mut renewed: Instant, lost: CancellationToken, done: CancellationToken) {
    let config = elector.config.clone();
    let latest = Arc::new(Mutex::new(renewed.into_std()));
    let (watched, limit) = (Arc::downgrade(&latest), (config.renew_deadline + config.lease_duration) / 2);
    thread::spawn(move || end_if_stuck(&watched, limit));
    while renewed.elapsed() < config.renew_deadline {
        let left = config.renew_deadline.saturating_sub(renewed.elapsed());
        if done.run_until_cancelled(sleep(config.retry_period.min(left))).await.is_none() {
            config.report_leading(false);
            let freed = elector.release_lease().await.map_err(|error| explain(&error));
            return debug!(?freed, "released the Lease");
        }
        // Other candidates count from when they see the write, which is after its start.
        let start = Instant::now();
        let left = config.renew_deadline.saturating_sub(renewed.elapsed());
        match timeout(left, elector.try_hold()).await {
            Ok(Ok(true)) => {
                renewed = start;
                *crate::lock(&latest) = start.into_std();
            }
            Ok(Ok(false)) if elector.is_held_by_another() => break,
            Ok(Ok(false)) => warn!("cannot renew the Lease: it has changed"),
            Ok(Err(error)) => warn!(error = explain(&error), "cannot renew the Lease"),
            Err(_) => warn!("cannot renew the Lease in time"),
        }
    }
    config.report_leading(false);
    lost.cancel();
}

/// Ends the process if the Lease is not renewed because reconciles block all of tokio's threads. Nothing else can end
/// the process then, and another replica will lead soon.
fn end_if_stuck(renewed: &Weak<Mutex<std::time::Instant>>, limit: Duration) {
    while let Some(renewed) = renewed.upgrade() {
        let left = limit.saturating_sub(crate::lock(&renewed).elapsed());
        if left.is_zero() {
            error!("lost the Lease: it was not renewed, because reconciles block all threads");
            std::process::exit(1);
        }
        drop(renewed);
        thread::sleep(left.min(Duration::from_secs(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::tests::Server;

    async fn candidate(server: &Server, identity: &str, stop: &CancellationToken) -> Option<Leadership> {
        let client = server.client_of(identity);
        let election = LeaderElection { identity: identity.into(), ..LeaderElection::new("operator", &client) };
        election.acquire(&client, stop).await.unwrap()
    }

    #[tokio::test]
    async fn no_two_identities_are_the_same() {
        let client = Server::default().client_of("a");
        let identity = || LeaderElection::new("operator", &client).identity;
        assert_ne!(identity(), identity());
    }

    #[tokio::test]
    async fn times_with_which_two_could_lead_are_refused() {
        let client = Server::default().client_of("a");
        let refusal = async |election: LeaderElection| {
            election.acquire(&client, &CancellationToken::new()).await.unwrap_err().to_string()
        };
        let new = || LeaderElection::new("operator", &client);
        let late = LeaderElection { renew_deadline: Duration::from_secs(15), ..new() };
        assert_eq!(refusal(late).await, "renew_deadline (15s) has to be less than lease_duration (15s)");
        let slow = LeaderElection { retry_period: Duration::from_secs(9), ..new() };
        assert_eq!(refusal(slow).await, "retry_period (9s), times 1.2, has to be less than renew_deadline (10s)");
    }

    #[tokio::test(start_paused = true)]
    async fn one_leads_renews_and_hands_over_when_it_ends() {
        let (server, stop) = (Server::default(), CancellationToken::new());
        let a = candidate(&server, "a", &stop).await.unwrap();
        let b = tokio::spawn({
            let (server, stop) = (server.clone(), stop.clone());
            async move { candidate(&server, "b", &stop).await }
        });
        sleep(Duration::from_secs(120)).await;
        assert!(!a.lost.is_cancelled() && !b.is_finished(), "a renews");
        let start = Instant::now();
        a.release().await;
        let b = b.await.unwrap().unwrap();
        assert!(start.elapsed() < Duration::from_secs(5), "it looks every retry period: {:?}", start.elapsed());
        stop.cancel();
        assert!(candidate(&server, "c", &stop).await.is_none());
        b.release().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_whose_requests_hang_gives_up_before_another_leads() {
        let (server, stop) = (Server::default(), CancellationToken::new());
        let a = candidate(&server, "a", &stop).await.unwrap();
        sleep(Duration::from_secs(60)).await;
        let start = Instant::now();
        server.hang("a");
        let other = server.clone();
        let b = tokio::spawn(async move { candidate(&other, "b", &CancellationToken::new()).await });
        a.lost.cancelled().await;
        assert!(start.elapsed() <= Duration::from_secs(10), "{:?}", start.elapsed());
        assert!(!b.is_finished(), "never two");
        b.await.unwrap().unwrap();
        assert!(start.elapsed() <= Duration::from_secs(20), "{:?}", start.elapsed());
        a.release().await; // does nothing, and does not hang
    }

    #[tokio::test(start_paused = true)]
    async fn a_leader_goes_on_when_its_lease_is_deleted() {
        let (server, stop) = (Server::default(), CancellationToken::new());
        let a = candidate(&server, "a", &stop).await.unwrap();
        let b = tokio::spawn({
            let (server, stop) = (server.clone(), stop.clone());
            async move { candidate(&server, "b", &stop).await }
        });
        sleep(Duration::from_secs(30)).await;
        for _ in 0..10 {
            server.delete_lease();
            sleep(Duration::from_millis(20_700)).await;
            assert!(!a.lost.is_cancelled() && !b.is_finished(), "never another");
        }
        a.release().await;
        b.await.unwrap().unwrap().release().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_candidate_whose_requests_hang_does_not_stop_the_others() {
        let (server, stop) = (Server::default(), CancellationToken::new());
        server.hang("a");
        let other = server.clone();
        let waiting = stop.clone();
        let a = tokio::spawn(async move { candidate(&other, "a", &waiting).await });
        sleep(Duration::from_secs(1)).await;
        let start = Instant::now();
        candidate(&server, "b", &stop).await.unwrap();
        assert!(start.elapsed() < Duration::from_millis(100));
        stop.cancel();
        assert!(a.await.unwrap().is_none());
    }
}

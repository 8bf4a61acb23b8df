//! Runs a controller on the server.

use super::{
    Cluster,
    stillness::{Stillness, TICK},
};
use kube::Client;
use std::{fmt::Display, time::Duration};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The time without a write after which a controller counts as settled: longer than it needs to start.
const QUIET: Duration = Duration::from_millis(500);
/// The time within which a run has to end, unless the test sets another one.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time within which a controller has to end once its token is cancelled.
pub const END_TIMEOUT: Duration = Duration::from_secs(10);
/// What a message says of a controller that does not end.
pub const IGNORED_TOKEN: &str = "the controller does not end within 10 s after its token was cancelled. Pass the token \
    to the controller, as in `graceful_shutdown_on(stop.cancelled_owned())`, or end a function that takes no token \
    with `tokio::select!` and `stop.cancelled()`";

impl Cluster {
    /// Runs a controller until it has settled: until it has asked something, and then neither it nor anything else
    /// has written for half a second. Then `stop`, the token that it is given, is cancelled. Returns the
    /// [summaries](super::Write::summary) of the writes of this run, such as `PATCH deployments.apps`;
    /// [`writes`](Self::writes) has the content of all writes.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::{Api, Client, runtime::{Controller, controller::Action, watcher}};
    /// use operator_rs_testing::{CancellationToken, Cluster};
    /// use std::sync::Arc;
    ///
    /// async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    ///     let reconcile = |_, _| async { Ok::<_, kube::Error>(Action::await_change()) };
    ///     let retry = |_, _: &kube::Error, _| Action::await_change();
    ///     let controller = Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default());
    ///     let running = controller.graceful_shutdown_on(stop.cancelled_owned()).run(reconcile, retry, Arc::new(()));
    ///     running.for_each(|_| async {}).await;
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cluster = Cluster::default();
    /// assert!(cluster.run(run).await.is_empty());
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the controller fails, or still writes after 30 s ([`with_run_timeout`](Self::with_run_timeout)), or does not
    /// end within 10 s after `stop` was cancelled. One that retries forever never settles: use
    /// [`run_until`](Self::run_until).
    pub async fn run<F, E>(&self, controller: impl FnOnce(Client, CancellationToken) -> F) -> Vec<String>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let before = self.request_count();
        let mut stillness = Stillness::start(self);
        self.run_while(controller, async || {
            stillness.wait_for_tick(self).await;
            !stillness.has_lasted(QUIET) || self.request_count() == before
        })
        .await
    }

    /// Runs a controller until something is true of the cluster, and returns its writes. A controller that retries
    /// forever can be stopped so.
    ///
    /// ```
    /// # use kube::Client;
    /// # use operator_rs_testing::{CancellationToken, Cluster, Fault};
    /// # async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> { Ok(()) }
    /// # async fn test() {
    /// let cluster = Cluster::default().with_fault(Fault::Refuse { code: 500 }.on_writes());
    /// cluster.run_until(run, |cluster| cluster.count_writes("PATCH secrets") >= 3).await;
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the controller fails, or it is not true after 30 s ([`with_run_timeout`](Self::with_run_timeout)), or the
    /// controller does not end within 10 s after its token was cancelled.
    pub async fn run_until<F, E>(
        &self,
        controller: impl FnOnce(Client, CancellationToken) -> F,
        is_true: impl Fn(&Self) -> bool,
    ) -> Vec<String>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        self.run_while(controller, async || {
            sleep(TICK).await;
            !is_true(self)
        })
        .await
    }

    /// Sets the time within which [`run`](Self::run) and [`run_until`](Self::run_until) have to end (default: 30 s). A
    /// controller that retries after minutes needs more; with tokio's paused clock, the test does not wait for it:
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::{Api, Client, api::{Patch, PatchParams}};
    /// use operator_rs_testing::{CancellationToken, Cluster, Fault};
    /// use std::time::Duration;
    ///
    /// async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    ///     let configs: Api<ConfigMap> = Api::default_namespaced(client);
    ///     let config = serde_json::json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
    ///     while configs.patch("a", &PatchParams::apply("example"), &Patch::Apply(&config)).await.is_err() {
    ///         tokio::time::sleep(Duration::from_secs(300)).await;
    ///     }
    ///     stop.cancelled().await;
    ///     Ok(())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() { // in a test: #[tokio::test(start_paused = true)], with tokio's feature `test-util`
    /// let cluster = Cluster::default().with_run_timeout(Duration::from_secs(600));
    /// cluster.inject(Fault::Refuse { code: 500 }.on_write(1));
    /// cluster.run_until(run, |cluster| cluster.get::<ConfigMap>("default", "a").is_some()).await;
    /// # }
    /// ```
    pub fn with_run_timeout(self, timeout: Duration) -> Self {
        self.state().run_timeout = Some(timeout);
        self
    }

    async fn run_while<F, E>(
        &self,
        controller: impl FnOnce(Client, CancellationToken) -> F,
        mut goes_on: impl AsyncFnMut() -> bool,
    ) -> Vec<String>
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let (stop, earlier) = (CancellationToken::new(), self.writes().len());
        self.forget_last_error();
        let mut task = tokio::spawn(controller(self.client(), stop.clone()));
        let limit = self.state().run_timeout.unwrap_or(TIMEOUT);
        let end = Instant::now() + limit;
        while !task.is_finished() && Instant::now() < end && goes_on().await {}
        let in_time = Instant::now() < end;
        stop.cancel();
        let ended = timeout(END_TIMEOUT, &mut task).await;
        if let Ok(ended) = &ended
            && let Err(error) = ended.as_ref().expect("the controller panicked")
        {
            panic!("the controller failed: {error:#}");
        }
        let hint = if ended.is_err() { format!("; {IGNORED_TOKEN}") } else { String::new() };
        assert!(in_time, "not done after {} s: {}{hint}", limit.as_secs(), self.describe_requests(earlier));
        if ended.is_err() {
            task.abort();
            panic!("{IGNORED_TOKEN}");
        }
        self.writes().into_iter().skip(earlier).map(|write| write.summary).collect()
    }
}

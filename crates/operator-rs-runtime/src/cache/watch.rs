//! One watch: the objects that it selects, the retries after an error, and whether it has listed everything once.
//! kube's watcher retries forever, and only logs errors.

use super::{
    Observed, Watchable,
    absent::explain_absence,
    filter::{BoxPredicate, Filter},
    lock,
};
use crate::{
    backoff::{WatchBackoff, add_jitter},
    error::status_retry_after,
    explain,
    labels::{Labels, label_selector},
    permissions::Permissions,
};
use futures::StreamExt;
use kube::{
    Api,
    core::Status,
    runtime::{
        Predicate, WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use std::{
    future::pending,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::watch::{Receiver, Sender},
    time::{Instant, sleep},
};
use tracing::{debug, warn};

/// Selects objects to watch, and the changes that trigger a reconcile.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use kube::runtime::predicates;
/// use operator_rs_runtime::{Labels, WatchOptions};
///
/// let all = WatchOptions::<Secret>::default();
/// let labelled = WatchOptions::<Secret>::from(&Labels::from([("app".into(), "a".into())]));
/// let typed = WatchOptions::<Secret>::default().fields("type=kubernetes.io/tls").predicate(predicates::labels);
/// ```
pub struct WatchOptions<C> {
    pub(crate) labels: Labels,
    pub(crate) fields: Option<String>,
    predicate: Option<BoxPredicate<C>>,
}

impl<C> Default for WatchOptions<C> {
    fn default() -> Self {
        Self { labels: Labels::new(), fields: None, predicate: None }
    }
}

impl<C> From<&Labels> for WatchOptions<C> {
    fn from(labels: &Labels) -> Self {
        Self { labels: labels.clone(), ..Self::default() }
    }
}

impl<C> WatchOptions<C> {
    /// Selects objects by a field selector, such as `spec.nodeName=a`.
    pub fn fields(self, selector: &str) -> Self {
        Self { fields: Some(selector.into()), ..self }
    }

    /// Triggers a reconcile only if the value of the predicate has changed, as with
    /// `kube::runtime::predicates::generation`. The cache follows every change.
    ///
    /// With a finalizer, combine `generation` with `finalizers`, because adding a finalizer does not
    /// change the generation.
    pub fn predicate(self, predicate: impl Predicate<C> + Send + Sync + 'static) -> Self {
        Self { predicate: Some(Arc::new(predicate)), ..self }
    }

    pub(crate) fn filter(&self) -> Filter<C> {
        Filter::new(self.predicate.clone())
    }
}

impl<C: Watchable> WatchOptions<C> {
    pub(crate) fn config(&self) -> watcher::Config {
        // A page is in memory as a whole: metadata is small, and a ConfigMap may have a megabyte.
        let page = match (C::metadata_api(), &*C::kind(&())) {
            (true, _) => 500,
            (false, "ConfigMap" | "Secret") => 20,
            _ => 250,
        };
        let mut config = watcher::Config::default().page_size(page);
        config.field_selector = self.fields.clone();
        config.label_selector = (!self.labels.is_empty()).then(|| label_selector(&self.labels));
        config
    }
}

/// Tells a controller when a watch has listed everything once.
#[derive(Clone)]
pub(crate) struct Synced(Receiver<bool>);

impl Synced {
    pub fn channel() -> (Sender<bool>, Self) {
        let (sender, receiver) = tokio::sync::watch::channel(false);
        (sender, Self(receiver))
    }

    /// Waits for the first list; the error says in one sentence why there is none.
    pub async fn wait(mut self, resource: &str, limit: Duration) -> Result<(), String> {
        let listed = async {
            if self.0.wait_for(|is_synced| *is_synced).await.is_err() {
                pending::<()>().await; // the watch has ended, and says why itself
            }
        };
        let late = |_| format!("cannot list `{resource}` within {limit:?}: see the warnings above");
        tokio::time::timeout(limit, listed).await.map_err(late)
    }
}

/// The time for which a watch may be refused before the controller ends. A CRD may be installed again meanwhile, and an
/// API server that has just started may not know all roles yet.
const PATIENCE: Duration = Duration::from_secs(100);

/// A watch that is refused is tried again after a few seconds. If the last refusal is older, it has been open since.
const GAP: Duration = Duration::from_secs(60);

/// The times of the first and the last refusal in a row.
#[derive(Default)]
struct Refusals(Option<(Instant, Instant)>);

impl Refusals {
    /// One more. Returns whether there is no hope that this passes.
    fn add(&mut self, now: Instant) -> bool {
        let first = self.0.filter(|(_, last)| now - *last < GAP).map_or(now, |(first, _)| first);
        self.0 = Some((first, now));
        PATIENCE <= now - first
    }
}

/// Hands every event to `observe`, until it is dropped. It ends, with the reason, if this account may not list or
/// watch the kind, or the API server does not serve it: at once where that is so from the start, else after a while.
pub(super) async fn watch<C: Watchable>(
    api: Api<Observed<C>>,
    config: watcher::Config,
    permissions: Permissions,
    mut observe: impl FnMut(Event<Observed<C>>),
) -> Result<(), String> {
    let client = api.clone().into_client();
    let mut events = pin!(watcher(api, config).backoff(WatchBackoff::default()));
    let (mut failures, mut refusals) = (0_u32, Refusals::default());
    // When everything was listed; until an event shows that the watch is open, too.
    let mut listed = None;
    let mut is_open = false;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                // kube sends `Init` before it asks the API server for a list.
                if !matches!(event, Event::Init) {
                    failures = 0;
                }
                if matches!(event, Event::Apply(_) | Event::Delete(_)) {
                    (is_open, refusals) = (true, Refusals::default());
                }
                let is_listed = matches!(event, Event::InitDone);
                observe(event);
                if is_listed {
                    listed = listed.or(Some(Instant::now()));
                }
            }
            Err(error) => {
                if let Some(why) = hopeless_reason(&error) {
                    let now = Instant::now();
                    let is_from_the_start = !is_open && listed.is_none_or(|at| now - at < GAP);
                    if refusals.add(now) || is_from_the_start {
                        return Err(match why {
                            Hopeless::Forbidden => permissions.explain_refusal::<C>(&client).await,
                            Hopeless::Absent => explain_absence::<C>(&client).await,
                        });
                    }
                }
                let pause =
                    add_jitter(response_status(&error).map_or(Duration::ZERO, status_retry_after).min(PATIENCE));
                let error = error_message(&error);
                failures = failures.saturating_add(1);
                // A single failure is no reason to worry.
                if failures > 1 && is_due(&mut lock(&WARNINGS), &error, Instant::now()) {
                    warn!(kind = %C::kind(&()), error, "watch interrupted, retrying");
                } else {
                    debug!(kind = %C::kind(&()), error, "watch interrupted, retrying");
                }
                sleep(pause).await;
            }
        }
    }
    Ok(())
}

/// The warnings of the last seconds. All watches share them, because what interrupts one often interrupts all.
static WARNINGS: Mutex<Vec<(String, Instant)>> = Mutex::new(vec![]);

/// Returns whether to log a warning: not if the same one was logged in the last 30 seconds.
fn is_due(warnings: &mut Vec<(String, Instant)>, error: &str, now: Instant) -> bool {
    warnings.retain(|(_, at)| now.duration_since(*at) < Duration::from_secs(30));
    let is_due = !warnings.iter().any(|(text, _)| text == error);
    if is_due {
        warnings.push((error.into(), now));
    }
    is_due
}

/// The message of a watcher's error, once.
fn error_message(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(it)
        | watcher::Error::WatchStartFailed(it)
        | watcher::Error::WatchFailed(it) => explain(it),
        watcher::Error::WatchError(status) => status.message.clone(),
        other => other.to_string(),
    }
}

/// The answer of the API server to a list, or to the begin of a watch.
fn response_status(error: &watcher::Error) -> Option<&Status> {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(it))
        | watcher::Error::WatchStartFailed(kube::Error::Api(it)) => Some(it),
        _ => None,
    }
}

/// The reason that waiting for a list is useless.
enum Hopeless {
    /// This account may not list or watch the kind.
    Forbidden,
    /// The API server does not serve it.
    Absent,
}

fn hopeless_reason(error: &watcher::Error) -> Option<Hopeless> {
    match response_status(error)?.code {
        404 => Some(Hopeless::Absent),
        403 => Some(Hopeless::Forbidden),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_repeated_after_a_while_whichever_watch_it_is_about() {
        let (mut warnings, start) = (vec![], Instant::now());
        let mut due = |error: &str, after: u64| is_due(&mut warnings, error, start + Duration::from_secs(after));
        assert_eq!([due("refused", 0), due("refused", 1), due("forbidden", 1)], [true, false, true]);
        assert_eq!([due("refused", 29), due("refused", 30), due("forbidden", 30)], [false, true, false]);
    }
}

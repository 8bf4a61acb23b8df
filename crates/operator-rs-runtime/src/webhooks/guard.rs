//! Runs code of the operator so that its panic or its slowness is answered, too.

use super::metrics::panics;
use crate::{Manager, worker::panic_message};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// The output of the code. It is stopped shortly before the time is over, so that the answer arrives.
///
/// # Errors
/// If it panics or takes too long.
pub(crate) async fn guard<T: Send + 'static>(
    manager: &Manager,
    until: Instant,
    code: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let limit = until.saturating_duration_since(Instant::now());
    let limit = limit - (limit / 10).min(Duration::from_millis(500));
    let task = AbortOnDropHandle::new(tokio::spawn(code));
    let joined = match timeout_at(Instant::now() + limit, task).await {
        Ok(it) => it,
        Err(_) => return Err(format!("the webhook took longer than {limit:.1?}")),
    };
    joined.map_err(|join| {
        panics(&manager.metrics).inc();
        let message = match join.try_into_panic() {
            Ok(panic) => panic_message(&*panic),
            Err(join) => join.to_string(),
        };
        tracing::error!("a webhook panicked: {message}");
        format!("the webhook panicked: {message}")
    })
}

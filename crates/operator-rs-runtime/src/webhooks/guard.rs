//! Runs code of the operator so that the request is answered even if the code panics or takes too long.

use super::metrics::panic_counter;
use crate::{Manager, panics::panic_message};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// Returns the output of the code. The code is stopped shortly before the deadline, so that the answer arrives in time.
///
/// # Errors
/// If the code panics or takes too long.
pub(crate) async fn run_guarded<T: Send + 'static>(
    manager: &Manager,
    until: Instant,
    code: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let limit = until.saturating_duration_since(Instant::now());
    let limit = limit - (limit / 10).min(Duration::from_millis(500));
    let task = AbortOnDropHandle::new(tokio::spawn(code));
    let joined = match timeout_at(Instant::now() + limit, task).await {
        Ok(joined) => joined,
        Err(_) => return Err(format!("the webhook took longer than {limit:.1?}")),
    };
    joined.map_err(|join| {
        panic_counter(&manager.metrics).inc();
        let message = match join.try_into_panic() {
            Ok(panic) => panic_message(&*panic),
            Err(join) => join.to_string(),
        };
        tracing::error!("a webhook panicked: {message}");
        format!("the webhook panicked: {message}")
    })
}

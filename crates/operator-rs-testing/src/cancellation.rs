//! Futures that end with the process of a controller.

use tokio_util::sync::CancellationToken;

/// The output of the future; it never ends once `dead` is cancelled.
pub async fn unless_cancelled<T>(dead: &CancellationToken, future: impl Future<Output = T>) -> T {
    tokio::select! {
        biased;
        () = dead.cancelled() => std::future::pending().await,
        out = future => out,
    }
}

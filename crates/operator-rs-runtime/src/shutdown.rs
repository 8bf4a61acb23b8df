//! Handles SIGTERM and SIGINT: the first signal begins an orderly shutdown, and the second one ends the process at
//! once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Returns a token that the first signal cancels. The second signal ends the process at once.
///
/// # Errors
/// If no handler can be installed for the signals.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let signalled = token.clone();
    tokio::spawn(async move {
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        tracing::info!("shutting down");
        signalled.cancel();
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        std::process::exit(130);
    });
    Ok(token)
}

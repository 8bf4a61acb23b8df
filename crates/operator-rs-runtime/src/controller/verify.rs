//! Checks of own writes that a list does not show. kube's stores know no own writes.

use crate::{
    backoff::WatchBackoff,
    cache::{Children, Watchable},
};
use std::sync::Weak;
use tracing::debug;

/// Looks for an object until the server answers: if it is not there, no event will say so.
pub(super) async fn verify_until_answered<C: Watchable>(cache: Weak<Children<C>>, key: Box<str>) {
    let mut pauses = WatchBackoff::default();
    while let Some(cache) = cache.upgrade() {
        let Err(error) = cache.verify_exists(&key).await else { return };
        debug!(%key, %error, "cannot check whether an object exists");
        drop(cache);
        tokio::time::sleep(pauses.next().unwrap_or_default()).await;
    }
}

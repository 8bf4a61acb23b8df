//! Checks own writes that a list does not show. kube's stores contain no own writes.

use crate::{
    backoff::WatchBackoff,
    cache::{Children, Watchable},
};
use std::sync::Weak;
use tracing::debug;

/// Checks whether an object exists, and retries until the API server answers. If it does not exist, the watch will show
/// no event for it, because it was deleted before the list.
pub(super) async fn verify_until_answered<C: Watchable>(cache: Weak<Children<C>>, key: Box<str>) {
    let mut pauses = WatchBackoff::default();
    while let Some(cache) = cache.upgrade() {
        let Err(error) = cache.verify_exists(&key).await else { return };
        debug!(%key, %error, "cannot check whether an object exists");
        drop(cache);
        tokio::time::sleep(pauses.next().unwrap_or_default()).await;
    }
}

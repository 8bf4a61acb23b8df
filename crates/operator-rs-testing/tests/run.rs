//! Controllers that are run on the server: until nothing changes, or until something is true.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{WatchStreamExt, watcher},
};
use operator_rs_testing::{CancellationToken, Cluster, Fault};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// Counts the ConfigMap `count` up to this number, a write at a time, with a pause before each.
async fn count(client: Client, stop: CancellationToken, to: u64) -> Result<(), watcher::Error> {
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let mut events = watcher(api.clone(), watcher::Config::default()).default_backoff().touched_objects().boxed();
    loop {
        let config = tokio::select! { () = stop.cancelled() => return Ok(()), it = events.try_next() => it? };
        let n = config.and_then(|it| it.data?.get("n")?.parse::<u64>().ok()).unwrap_or_default();
        if n < to {
            sleep(Duration::from_millis(200)).await;
            let next = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "n": (n + 1).to_string() } });
            let _ = api.patch("count", &PatchParams::apply("count").force(), &Patch::Apply(next)).await;
        }
    }
}

fn cluster() -> Cluster {
    let metadata =
        ObjectMeta { name: Some("count".into()), namespace: Some("default".into()), ..ObjectMeta::default() };
    let data = Some([("n".into(), "0".into())].into());
    Cluster::default().with_object(&ConfigMap { metadata, data, ..ConfigMap::default() })
}

fn counted(cluster: &Cluster) -> String {
    cluster.get::<ConfigMap>("default", "count").unwrap().data.unwrap()["n"].clone()
}

#[tokio::test]
async fn a_run_ends_when_nothing_changes_any_more() {
    let cluster = cluster();
    let writes = cluster.run(|client, stop| count(client, stop, 5)).await;
    assert_eq!((writes, counted(&cluster)), (vec!["PATCH configmaps".to_owned(); 5], "5".to_owned()));
    assert_eq!(cluster.run(|client, stop| count(client, stop, 5)).await, [""; 0], "started again");
    assert_eq!(cluster.writes().len(), 5);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "not done after 30 s: ")]
async fn a_run_of_a_controller_that_never_settles_fails() {
    cluster().run(|client, stop| count(client, stop, u64::MAX)).await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_retries_after_minutes_runs_until_something_is_true() {
    let retry = |client: Client, stop: CancellationToken| async move {
        let api: Api<ConfigMap> = Api::default_namespaced(client);
        let config = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
        while api.patch("a", &PatchParams::apply("a"), &Patch::Apply(&config)).await.is_err() {
            sleep(Duration::from_secs(300)).await;
        }
        stop.cancelled().await;
        Ok::<_, kube::Error>(())
    };
    let cluster = Cluster::default().with_run_timeout(Duration::from_secs(600));
    cluster.inject(Fault::Refuse { code: 500 }.on_write(1));
    let writes = cluster.run_until(retry, |cluster| cluster.get::<ConfigMap>("default", "a").is_some()).await;
    assert_eq!(writes, ["PATCH configmaps"; 2]);
}

#[tokio::test]
#[should_panic(expected = "the controller failed: no luck")]
async fn a_run_of_a_controller_that_fails_fails() {
    cluster().run(|_, _| async { Err::<(), _>("no luck") }).await;
}

#[tokio::test]
async fn a_controller_that_never_settles_runs_until_something_is_true() {
    let cluster = cluster().with_fault(Fault::Refuse { code: 500 }.on_writes());
    let retry = |client: Client, stop: CancellationToken| async move {
        let api: Api<ConfigMap> = Api::default_namespaced(client);
        while !stop.is_cancelled() {
            let _ = api.patch("count", &PatchParams::apply("a").force(), &Patch::Apply(json!({}))).await;
            sleep(Duration::from_millis(5)).await;
        }
        Ok::<_, kube::Error>(())
    };
    let writes = cluster.run_until(retry, |cluster| cluster.count_writes("PATCH configmaps") >= 3).await;
    assert!(writes.len() >= 3);
}

/// Ignores the token, as a function of an operator that waits for a signal does.
async fn ignore_token(_client: Client, _stop: CancellationToken) -> Result<(), kube::Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the controller does not end within 10 s after its token was cancelled. Pass the token")]
async fn a_controller_that_ignores_its_token_fails() {
    Cluster::default().run_until(ignore_token, |_| true).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "not done after 30 s: no writes; the controller does not end within 10 s")]
async fn a_run_that_neither_settles_nor_ends_fails_with_both() {
    Cluster::default().run(ignore_token).await;
}

/// Applies the ConfigMap `count` again and again, and asks for one that does not exist.
async fn apply_forever(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    while !stop.is_cancelled() {
        let _ = api.patch("count", &PatchParams::apply("a").force(), &Patch::Apply(json!({}))).await;
        api.get_opt("absent").await?;
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the last ones are PATCH configmaps, PATCH configmaps, PATCH configmaps; the last error \
                           response was to PATCH /api/v1/namespaces/default/configmaps/count: 422 Invalid, refused")]
async fn a_run_that_never_settles_names_the_last_refused_request() {
    cluster().with_fault(Fault::Refuse { code: 422 }.on_writes()).run(apply_forever).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "not done after 1 s: 1 write, PATCH configmaps")]
async fn errors_of_an_earlier_run_are_not_named() {
    let cluster = cluster().with_run_timeout(Duration::from_secs(1));
    cluster.inject(Fault::Refuse { code: 422 }.on_write(1));
    cluster.run_until(apply_forever, |cluster| cluster.count_writes("PATCH configmaps") > 0).await;
    cluster.remove_faults();
    let once = |client: Client, stop: CancellationToken| async move {
        let api: Api<ConfigMap> = Api::default_namespaced(client);
        api.patch("count", &PatchParams::apply("a").force(), &Patch::Apply(json!({}))).await?;
        stop.cancelled().await;
        Ok::<_, kube::Error>(())
    };
    cluster.run_until(once, |_| false).await;
}

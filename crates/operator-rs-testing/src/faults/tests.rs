use super::*;
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace};
use kube::{
    Api, ResourceExt,
    api::{ListParams, Patch, PatchParams},
    runtime::{WatchStreamExt, watcher},
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// For each ConfigMap `<name>` writes `<name>-copy`, and then how long it is: a reconciler in two steps.
async fn copy(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let work = async {
        let events = watcher(api.clone(), watcher::Config::default()).default_backoff();
        let mut events = Box::pin(events.touched_objects());
        loop {
            let Ok(Some(it)) = events.try_next().await else { continue };
            while let Err(error) = reconcile(&api, &it).await {
                assert_ne!(error.to_string(), "");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    };
    tokio::select! { () = stop.cancelled() => Ok(()), out = work => out }
}

async fn reconcile(api: &Api<ConfigMap>, it: &ConfigMap) -> Result<(), kube::Error> {
    if it.name_any().ends_with("-copy") {
        return Ok(());
    }
    let name = format!("{}-copy", it.name_any());
    let there = api.get_opt(&name).await?;
    if it.metadata.deletion_timestamp.is_some() || api.get_opt(&it.name_any()).await?.is_none() {
        return Ok(());
    }
    let apply = PatchParams::apply("copy").force();
    let mut desired = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name,
        "ownerReferences": [{ "apiVersion": "v1", "kind": "ConfigMap", "name": it.name_any(), "uid": it.uid() }] },
        "data": it.data });
    let size = it.data.iter().flatten().count().to_string();
    let has = |key: &str, value: Option<&String>| {
        there.as_ref().and_then(|it| it.data.as_ref()).and_then(|it| it.get(key)) == value
    };
    let copied = it.data.iter().flatten().all(|(key, value)| has(key, Some(value)));
    if copied && has("size", Some(&size)) {
        return Ok(());
    }
    desired["data"]["size"] = json!("unknown");
    api.patch(&name, &apply, &Patch::Apply(&desired)).await?;
    desired["data"]["size"] = json!(size);
    api.patch(&name, &apply, &Patch::Apply(&desired)).await?;
    Ok(())
}

fn setup() -> Cluster {
    let original = json!({ "metadata": { "name": "a", "namespace": "default" }, "data": { "x": "1" } });
    Cluster::default().with_json("configmaps", &[original])
}

#[tokio::test]
async fn a_good_operator_settles_whatever_goes_wrong() {
    check(setup, copy).await;
}

#[tokio::test]
async fn tasks_of_a_crashed_operator_do_nothing_more() {
    let run = |client: Client, stop: CancellationToken| async move {
        tokio::spawn(copy(client, stop.clone()));
        stop.cancelled().await;
        Ok::<_, kube::Error>(())
    };
    check(setup, run).await;
}

#[tokio::test]
async fn steps_are_taken_once_it_has_settled() {
    let check = FaultCheck::new(setup, copy)
        .then(|it| it.edit_json("configmaps", "default", "a", |it| it["data"] = json!({ "x": "2", "y": "3" })))
        .then(|it| it.delete_json("configmaps", "default", "a"));
    check.run().await;
}

#[tokio::test]
async fn an_operator_that_forgets_the_second_step_is_found() {
    let careless = async |client: Client| -> Result<(), kube::Error> {
        let api: Api<ConfigMap> = Api::namespaced(client, "default");
        let events = watcher(api.clone(), watcher::Config::default()).default_backoff();
        let mut events = Box::pin(events.touched_objects());
        let apply = PatchParams::apply("op").force();
        let it = |n: &str| {
            Patch::Apply(
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": { "n": n } }),
            )
        };
        loop {
            let Ok(Some(_)) = events.try_next().await else { continue };
            if api.get_opt("b").await?.is_none() {
                api.patch("b", &apply, &it("1")).await?;
                api.patch("b", &apply, &it("2")).await?;
            }
        }
    };
    let run = |client: Client, stop: CancellationToken| async move {
        tokio::select! { () = stop.cancelled() => Ok(()), out = careless(client) => out }
    };
    let problems = FaultCheck::new(setup, run).timeout(Duration::from_secs(1)).try_run().await.unwrap_err();
    let crash = problems.iter().find(|it| it.starts_with("after a crash at write 1")).unwrap();
    let expected = "after a crash at write 1 (PATCH /api/v1/namespaces/default/configmaps/b): the state is not the one \
        of the undisturbed run:\n  configmaps default/b: .data.n is \"1\" instead of \"2\"";
    assert_eq!(crash, expected);
    assert!(problems.iter().any(|it| it.contains("was refused with 500: the controller ended")), "{problems:#?}");
    assert!(!problems.iter().any(|it| it.starts_with("undisturbed")), "{problems:#?}");
}

#[tokio::test]
async fn an_operator_that_writes_at_every_start_is_found() {
    static STARTS: AtomicUsize = AtomicUsize::new(0);
    let run = |client: Client, stop: CancellationToken| async move {
        let api: Api<ConfigMap> = Api::namespaced(client, "default");
        let n = STARTS.fetch_add(1, Ordering::SeqCst).to_string();
        let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": { "n": n } });
        api.patch("b", &PatchParams::apply("op").force(), &Patch::Apply(body)).await?;
        let events = watcher(api.clone(), watcher::Config::default());
        let mut events = Box::pin(events.touched_objects());
        while !stop.is_cancelled() {
            tokio::select! { () = stop.cancelled() => {}, _ = events.try_next() => {} }
        }
        Ok::<_, kube::Error>(())
    };
    let problems = FaultCheck::new(setup, run).try_run().await.unwrap_err();
    let expected = "started again when all was settled, the controller writes PATCH configmaps \
        /api/v1/namespaces/default/configmaps/b";
    assert_eq!(problems, [expected]);
}

/// Applies the ConfigMap `b` with this data at each start.
async fn apply_at_start(client: Client, stop: CancellationToken, data: Value) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": data });
    while api.patch("b", &PatchParams::apply("op").force(), &Patch::Apply(&body)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut events = Box::pin(watcher(api, watcher::Config::default()).touched_objects());
    while !stop.is_cancelled() {
        tokio::select! { () = stop.cancelled() => {}, _ = events.try_next() => {} }
    }
    Ok(())
}

#[tokio::test]
async fn repeated_writes_are_accepted_if_they_change_nothing() {
    let repeated = |client, stop| apply_at_start(client, stop, json!({ "x": "1" }));
    let problems = FaultCheck::new(setup, repeated).try_run().await.unwrap_err();
    let expected = "started again when all was settled, the controller writes PATCH configmaps \
        /api/v1/namespaces/default/configmaps/b, which changes nothing. If the controller may repeat its writes, use \
        `FaultCheck::accept_writes_without_effect`";
    assert_eq!(problems, [expected]);
    FaultCheck::new(setup, repeated).accept_writes_without_effect().run().await;

    let starts = AtomicUsize::new(0);
    let changed = |client, stop| {
        let start = starts.fetch_add(1, Ordering::SeqCst).to_string();
        apply_at_start(client, stop, json!({ "start": start }))
    };
    let problems = FaultCheck::new(setup, changed).accept_writes_without_effect().try_run().await.unwrap_err();
    let expected = "started again when all was settled, the controller writes PATCH configmaps \
        /api/v1/namespaces/default/configmaps/b";
    assert_eq!(problems, [expected]);
}

#[tokio::test]
async fn random_values_are_ignored_on_request() {
    let starts = AtomicUsize::new(0);
    let random = |client: Client, stop: CancellationToken| {
        let start = starts.fetch_add(1, Ordering::SeqCst).to_string();
        async move {
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
            let data = api.get_opt("b").await?.and_then(|config| config.data);
            apply_at_start(client, stop, data.map_or_else(|| json!({ "random.key": start }), |data| json!(data)))
                .await?;
            Ok::<_, kube::Error>(())
        }
    };
    let check = || FaultCheck::new(setup, random).accept_writes_without_effect();
    let problems = check().timeout(Duration::from_secs(2)).try_run().await.unwrap_err();
    let [undisturbed] = problems.as_slice() else { panic!("{problems:#?}") };
    assert!(undisturbed.starts_with("undisturbed a second time"), "{undisturbed}");
    assert!(undisturbed.contains("configmaps default/b: .data.random.key is \""), "{undisturbed}");
    assert!(undisturbed.ends_with("If a value is random, use `FaultCheck::ignore_value_of`"), "{undisturbed}");
    check().ignore_value_of::<ConfigMap>("data.random.key").run().await;
}

/// Copies `a` once, and remembers that in the object.
async fn copy_once(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let work = async {
        let events = watcher(api.clone(), watcher::Config::default()).default_backoff();
        let mut events = Box::pin(events.touched_objects());
        loop {
            let Ok(Some(_)) = events.try_next().await else { continue };
            let original = loop {
                match api.get_opt("a").await {
                    Ok(original) => break original,
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            };
            let Some(original) = original else { continue };
            if original.labels().contains_key("copied") {
                continue;
            }
            let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" } });
            let label = json!({ "metadata": { "labels": { "copied": "true" } } });
            let apply = PatchParams::apply("copy").force();
            while api.patch("b", &apply, &Patch::Apply(&object)).await.is_err()
                || api.patch("a", &PatchParams::default(), &Patch::Merge(&label)).await.is_err()
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    };
    tokio::select! { () = stop.cancelled() => Ok(()), out = work => out }
}

/// The result of a check with one step, with a controller that does not react to it.
async fn ignored<R: StepOutcome>(step: impl Fn(&Cluster) -> R, is_tolerated: bool) -> Result<(), Vec<String>> {
    let check = FaultCheck::new(setup, copy_once);
    let check = if is_tolerated { check.tolerates(step) } else { check.then(step) };
    check.try_run().await
}

#[tokio::test]
async fn a_step_from_which_nothing_follows_proves_nothing() {
    let hint = "a controller that does nothing would pass. If that is right, use `tolerates` in place of `then`";
    let deleted = ignored(|it| it.delete_json("configmaps", "default", "b"), false).await.unwrap_err();
    let stays = "configmaps default/b, which the controller has created, stays";
    assert_eq!(deleted, [format!("{stays} deleted after step 1: {hint}")]);
    let edit = |it: &Cluster| it.edit_json("configmaps", "default", "b", |it| it["data"] = json!({ "x": "theirs" }));
    let edited = ignored(edit, false).await.unwrap_err();
    assert_eq!(edited, [format!("{stays} as the step has changed it after step 1: {hint}")]);
    let put = |it: &Cluster| it.put_json("configmaps", json!({ "metadata": { "name": "c", "namespace": "default" } }));
    assert_eq!(ignored(put, false).await.unwrap_err(), [format!("nothing follows from step 1: {hint}")]);

    ignored(|it| it.delete_json("configmaps", "default", "b"), true).await.unwrap();
    ignored(|it| assert_eq!(it.list_json("configmaps").len(), 2), false).await.unwrap();
}

#[tokio::test]
async fn a_reaction_to_a_tolerated_change_is_found() {
    let edit = |it: &Cluster| it.edit_json("configmaps", "default", "a", |it| it["data"] = json!({ "x": "2" }));
    let changed = FaultCheck::new(setup, copy).tolerates(edit).try_run().await.unwrap_err();
    assert_eq!(changed, ["configmaps default/a-copy changes after step 1, which `tolerates` forbids"]);
}

#[tokio::test]
#[should_panic(expected = "a step must succeed")]
async fn a_step_that_is_refused_fails() {
    FaultCheck::new(setup, copy).then(|it| it.put_json("configmaps", json!({ "metadata": {} }))).run().await;
}

/// For each ConfigMap, writes the Event `b` and then the ConfigMap `b`, with a name that need not be right. It ignores
/// errors.
async fn write_and_ignore_errors(
    client: Client,
    stop: CancellationToken,
    name: &'static str,
) -> Result<(), kube::Error> {
    let configs: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let events: Api<Event> = Api::namespaced(client, "default");
    let mut changes = Box::pin(watcher(configs.clone(), watcher::Config::default()).touched_objects());
    let work = async {
        while let Some(_change) = changes.next().await {
            let event = json!({ "apiVersion": "v1", "kind": "Event", "metadata": { "name": "b" } });
            let apply = PatchParams::apply("op").force();
            let _ = events.patch("b", &apply, &Patch::Apply(event)).await;
            let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
            let _ = configs.patch("b", &apply, &Patch::Apply(body)).await;
        }
    };
    tokio::select! { () = stop.cancelled() => {}, () = work => {} }
    Ok(())
}

#[tokio::test]
async fn a_controller_whose_writes_all_fail_is_found() {
    let fails = |client, stop| write_and_ignore_errors(client, stop, "another");
    let problems = FaultCheck::new(setup, fails).try_run().await.unwrap_err();
    let path = "/api/v1/namespaces/default/configmaps/b";
    let expected = format!(
        "undisturbed, all writes of the controller fail, apart from those of events and leases (2 writes, the last \
         ones are PATCH events, PATCH configmaps; the last error response was to PATCH {path}: 400 BadRequest, the \
         name of the object (another) does not match the name on the URL (b))"
    );
    assert_eq!(problems, [expected]);
}

#[tokio::test]
async fn a_controller_that_only_watches_passes() {
    let watch = |client: Client, stop: CancellationToken| async move {
        let configs: Api<ConfigMap> = Api::namespaced(client, "default");
        let mut changes = Box::pin(watcher(configs, watcher::Config::default()).touched_objects());
        while !stop.is_cancelled() {
            tokio::select! { () = stop.cancelled() => {}, _ = changes.try_next() => {} }
        }
        Ok::<_, kube::Error>(())
    };
    FaultCheck::new(setup, watch).run().await;
}

/// For each ConfigMap, writes `b` with the number of ConfigMaps that it finds. `count` is given the result of the list.
async fn count_configs<C>(client: Client, stop: CancellationToken, count: C) -> Result<(), kube::Error>
where
    C: Fn(Result<usize, kube::Error>) -> Result<usize, kube::Error>,
{
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let namespaces: Api<Namespace> = Api::all(api.clone().into_client());
    namespaces.get_opt("settings").await?;
    let work = async {
        let mut changes = Box::pin(watcher(api.clone(), watcher::Config::default()).touched_objects());
        while let Some(_change) = changes.next().await {
            let list = api.list(&ListParams::default()).await;
            let Ok(found) = count(list.map(|list| list.items.len())) else { continue };
            let data = json!({ "count": found.max(2).to_string() });
            let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "b" }, "data": data });
            let is_written = api.get_opt("b").await.is_ok_and(|config| config.is_some_and(|it| json!(it.data) == data));
            while !is_written && api.patch("b", &PatchParams::apply("op").force(), &Patch::Apply(&body)).await.is_err()
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    };
    tokio::select! { () = stop.cancelled() => {}, () = work => {} }
    Ok(())
}

#[tokio::test]
async fn a_controller_that_drops_the_error_of_a_read_is_found() {
    let drops = |client, stop| count_configs(client, stop, |found| found);
    let check = FaultCheck::new(setup, drops).timeout(Duration::from_secs(1)).accept_writes_without_effect();
    let problems = check.try_run().await.unwrap_err();
    let missing = "the state is not the one of the undisturbed run:\n  configmaps default/b is missing";
    assert_eq!(problems, [format!("after the first list configmaps was refused with 500: {missing}")]);

    let guesses = |client, stop| count_configs(client, stop, |found| Ok(found.unwrap_or_default()));
    FaultCheck::new(setup, guesses).accept_writes_without_effect().run().await;
}

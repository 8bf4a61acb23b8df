//! What others, the network and chance can do to a controller, and what it promises all the same.

mod kinds;

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Pod, Secret},
};
use kinds::{Thing, ThingStatus, condition, config, data, labels, quiet, thing, until};
use kube::{
    ResourceExt,
    runtime::{Predicate, predicates},
};
use runtime::{
    Action, Children, Controller, Error, Operator, Primary, Watch, conditions,
    testing::{Cluster, Reaction, Refusal},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

const THINGS: &str = "things.test.dev";

/// A controller that runs until the test ends it.
struct Running(Operator, JoinHandle<anyhow::Result<()>>);

impl Running {
    fn start<F>(operator: &Operator, controller: F) -> Self
    where
        F: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        Self(operator.clone(), tokio::spawn(controller))
    }

    async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }
}

async fn nothing(_: Arc<Thing>, _: Arc<()>) -> Result<Action, Error> {
    Ok(Action::await_change())
}

/// Counts reconciles, and does nothing else.
async fn count(_: Arc<Thing>, count: Arc<AtomicUsize>) -> Result<Action, Error> {
    count.fetch_add(1, SeqCst);
    Ok(Action::await_change())
}

fn parsed(value: Value) -> Thing {
    serde_json::from_value(value).unwrap()
}

/// A cache of ConfigMaps that is filled, and nobody else writes to.
async fn configs_of(cluster: &Cluster) -> (Running, Arc<Children<ConfigMap>>) {
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&operator, controller.run(nothing, Arc::new(())));
    sleep(Duration::from_millis(10)).await; // it begins
    until("filled", || operator.readiness.pending().is_empty()).await;
    (running, configs)
}

/// All watches list anew, and see at once what has happened meanwhile.
async fn relist_after(cluster: &Cluster, change: impl FnOnce()) {
    cluster.hold_watches();
    change();
    cluster.forget_history();
    cluster.break_watches();
    cluster.release_watches();
    sleep(Duration::from_secs(2)).await;
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_no_proof_of_the_one_before() {
    let lossy = Arc::new(AtomicBool::new(false));
    let is_lossy = lossy.clone();
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[("x", &["k"])])]).on_write(move |_| {
        if is_lossy.load(SeqCst) { Reaction::Lose(Refusal::with_code(504)) } else { Reaction::Pass }
    });
    let (running, configs) = configs_of(&cluster).await;
    let one = config(&parsed(thing("a", &[("x", &["k"])])), "x");
    let mut two = one.clone();
    two.data.as_mut().unwrap().insert("k".into(), "2".into());
    configs.apply(&one).await.unwrap();
    lossy.store(true, SeqCst);
    configs.apply(&two).await.unwrap_err();
    lossy.store(false, SeqCst);
    until("seen", || configs.get(Some("n"), "x").is_some_and(|it| it.data == two.data)).await;
    configs.apply(&one).await.unwrap();
    assert_eq!(data(&cluster, "x"), Some(json!({ "k": "1" })));
    running.stop().await;
}

#[tokio::test]
async fn a_predicate_that_panics_stops_nobody() {
    struct Panics;
    impl<K: ResourceExt> Predicate<K> for Panics {
        fn hash_property(&self, obj: &K) -> Option<u64> {
            assert_ne!(obj.name_any(), "boom", "as intended");
            obj.meta().generation.map(|it| it as u64)
        }
    }
    let cluster = Cluster::default().with(THINGS, &[thing("boom", &[]), thing("good", &[])]);
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::with(&operator, Watch::default().predicate(Panics));
    let _secrets = controller.watches(Watch::default().predicate(Panics), |it: &Secret| [it.name_any()]);
    let seen = Arc::new(Mutex::new(vec![]));
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<Vec<String>>>| async move {
        seen.lock().unwrap().push(thing.name_any());
        Ok::<_, Error>(Action::await_change())
    };
    let running = Running::start(&operator, controller.run(reconcile, seen.clone()));
    until("reconciled", || seen.lock().unwrap().len() == 2).await;
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "boom", "namespace": "n" } });
    cluster.put("secrets", secret).unwrap();
    cluster.edit(THINGS, "n", "boom", |it| it["spec"]["secret"] = json!("s"));
    quiet().await;
    seen.lock().unwrap().clear();
    cluster.edit(THINGS, "n", "good", |it| it["spec"]["secret"] = json!("s"));
    until("reconciled again", || *seen.lock().unwrap() == ["good"]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_reconciler_that_panics_before_it_awaits_stops_nobody() {
    let cluster = Cluster::default().with(THINGS, &[thing("boom", &[]), thing("good", &[])]);
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<BTreeSet<String>>>| {
        assert_ne!(thing.name_any(), "boom", "as intended");
        async move {
            seen.lock().unwrap().insert(thing.name_any());
            Ok::<_, Error>(Action::await_change())
        }
    };
    let running = Running::start(&operator, controller.run(reconcile, seen.clone()));
    until("seen", || seen.lock().unwrap().contains("good")).await;
    until("told", || condition(&cluster, "boom", "Degraded").is_some_and(|it| it["reason"] == "Panic")).await;
    running.stop().await;
}

/// One that others have set.
fn theirs(status: &str) -> Value {
    json!({ "type": "Theirs", "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

#[tokio::test]
async fn a_status_of_others_that_an_own_write_shows_first_is_reconciled() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    struct Ctx(Cluster, Arc<Primary<Thing>>, AtomicBool, AtomicBool);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let status = thing.status.clone().unwrap_or_default();
        if conditions::is_true(&status.conditions, "Theirs") {
            ctx.3.store(true, SeqCst);
        }
        if !ctx.2.swap(true, SeqCst) {
            ctx.0.delay_watches(Duration::from_secs(3));
            ctx.0.edit(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("True")] }));
        }
        ctx.1.set_status(&thing, ThingStatus { external_id: Some("e".into()), ..status }).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let ctx = Arc::new(Ctx(cluster.clone(), controller.primary(), false.into(), false.into()));
    let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
    sleep(Duration::from_secs(5)).await;
    assert!(ctx.3.load(SeqCst), "no reconcile has seen what they set");
    assert_eq!(condition(&cluster, "a", "Theirs"), Some(theirs("True")));
    running.stop().await;
}

#[tokio::test]
async fn a_change_of_a_child_that_an_own_write_shows_first_is_reconciled() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let pods = controller.owns::<Pod>(&labels());
    struct Ctx(Cluster, Arc<Children<Pod>>, Mutex<Vec<String>>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let phase = ctx.1.get(Some("n"), "p").and_then(|it| it.status?.phase).unwrap_or_default();
        ctx.2.lock().unwrap().push(phase.clone());
        let mut meta = config(&thing, "p").metadata;
        if thing.spec.secret.is_some() && phase.is_empty() {
            ctx.0.delay_watches(Duration::from_secs(3));
            ctx.0.edit("pods", "n", "p", |it| it["status"] = json!({ "phase": "Running" }));
            meta.labels.as_mut().unwrap().insert("b".into(), "c".into());
        }
        ctx.1.apply(&Pod { metadata: meta, ..Pod::default() }).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let ctx = Arc::new(Ctx(cluster.clone(), pods, Mutex::default()));
    let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
    until("made", || cluster.get("pods", "n", "p").is_some()).await;
    quiet().await;
    cluster.edit(THINGS, "n", "a", |it| it["spec"]["secret"] = json!("s"));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(ctx.2.lock().unwrap().last().map(String::as_str), Some("Running"));
    running.stop().await;
}

#[tokio::test]
async fn a_failure_is_taken_back_also_where_the_operator_sets_that_condition_itself() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    struct Ctx(Arc<Primary<Thing>>, AtomicBool);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let mut status = thing.status.clone().unwrap_or_default();
        conditions::set(&mut status.conditions, Some(1), "Degraded", false, ("AsExpected", ""));
        ctx.0.set_status(&thing, status).await?;
        if ctx.1.load(SeqCst) { Err(Error::Missing("luck")) } else { Ok(Action::await_change()) }
    };
    let ctx = Arc::new(Ctx(controller.primary(), true.into()));
    let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
    until("told", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == "True")).await;
    ctx.1.store(false, SeqCst);
    until("taken back", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["reason"] == "AsExpected")).await;
    quiet().await;
    assert_eq!(condition(&cluster, "a", "Degraded").unwrap()["status"], "False");
    running.stop().await;
}

#[tokio::test]
async fn a_failure_that_cannot_be_taken_back_is_not_tried_without_pause() {
    let stuck = Arc::new(AtomicBool::new(false));
    let is_stuck = stuck.clone();
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]).on_write(move |it| {
        if it.subresource == "status" && is_stuck.load(SeqCst) { Reaction::code(500) } else { Reaction::Pass }
    });
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    struct Ctx(AtomicBool, AtomicUsize);
    let reconcile = |_: Arc<Thing>, ctx: Arc<Ctx>| async move {
        ctx.1.fetch_add(1, SeqCst);
        if ctx.0.load(SeqCst) { Err(Error::Missing("luck")) } else { Ok(Action::await_change()) }
    };
    let ctx = Arc::new(Ctx(true.into(), 0.into()));
    let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
    until("told", || condition(&cluster, "a", "Degraded").is_some()).await;
    stuck.store(true, SeqCst);
    ctx.0.store(false, SeqCst);
    ctx.1.store(0, SeqCst);
    sleep(Duration::from_secs(4)).await;
    let tries = ctx.1.load(SeqCst);
    assert!(tries <= 8, "{tries} reconciles in 4 s");
    stuck.store(false, SeqCst);
    until("taken back", || condition(&cluster, "a", "Degraded").is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_predicate_compares_with_what_a_list_has_shown() {
    let secret = |name: &str, label: &str| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name, "namespace": "n", "labels": { "l": label } } });
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    cluster.put("secrets", secret("a", "1")).unwrap();
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let watch = Watch::default().predicate(predicates::labels);
    let _secrets = controller.watches(watch, |it: &Secret| [it.name_any()]);
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&operator, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    cluster.put("secrets", secret("a", "2")).unwrap();
    until("seen", || reconciles.load(SeqCst) == 2).await;
    relist_after(&cluster, || drop(cluster.put("secrets", secret("a", "3")).unwrap())).await;
    until("listed", || reconciles.load(SeqCst) == 3).await;
    cluster.put("secrets", secret("a", "2")).unwrap();
    until("changed back", || reconciles.load(SeqCst) == 4).await;
    relist_after(&cluster, || cluster.delete("secrets", "n", "a")).await;
    until("gone", || reconciles.load(SeqCst) == 5).await;
    cluster.put("secrets", secret("a", "2")).unwrap();
    until("made again", || reconciles.load(SeqCst) == 6).await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_is_made_again_while_the_watch_is_away_is_reconciled() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::<Thing>::with(&operator, Watch::default().predicate(predicates::generation));
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&operator, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    let again = || {
        cluster.delete(THINGS, "n", "a");
        cluster.put(THINGS, thing("a", &[])).unwrap();
    };
    // The second time there is one of generation 1 in the cache.
    relist_after(&cluster, again).await;
    relist_after(&cluster, again).await;
    assert_eq!(reconciles.load(SeqCst), 3);
    running.stop().await;
}

#[tokio::test]
async fn an_empty_list_that_others_fill_is_not_applied_again_and_again() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[("x", &["k"])])]);
    let (running, configs) = configs_of(&cluster).await;
    let mut desired = config(&parsed(thing("a", &[("x", &["k"])])), "x");
    desired.metadata.finalizers = Some(vec![]);
    configs.apply(&desired).await.unwrap();
    cluster.edit("configmaps", "n", "x", |it| it["metadata"]["finalizers"] = json!(["others.dev/theirs"]));
    until("seen", || configs.get(Some("n"), "x").is_some_and(|it| it.metadata.finalizers.is_some())).await;
    cluster.clear_log();
    configs.apply(&desired).await.unwrap();
    configs.apply(&desired).await.unwrap();
    running.stop().await;
    let (running, configs) = configs_of(&cluster).await;
    configs.apply(&desired).await.unwrap();
    assert_eq!(cluster.writes(), []);
    assert_eq!(cluster.get("configmaps", "n", "x").unwrap()["metadata"]["finalizers"], json!(["others.dev/theirs"]));
    running.stop().await;
}

#[tokio::test]
async fn an_old_state_of_a_condition_of_others_is_not_written() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    cluster.edit(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("False")] }));
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    let things = controller.primary();
    let running = Running::start(&operator, controller.run(nothing, Arc::new(())));
    until("filled", || things.store().len() == 1).await;
    let read = things.store().state().pop().unwrap();
    let is_true = |it: &Thing| it.status.as_ref().is_some_and(|it| conditions::is_true(&it.conditions, "Theirs"));
    cluster.edit(THINGS, "n", "a", |it| it["status"]["conditions"][0] = theirs("True"));
    until("seen", || things.store().state().iter().all(|it| is_true(it))).await;
    let status = ThingStatus { external_id: Some("e".into()), ..read.status.clone().unwrap() };
    things.set_status(&read, status).await.unwrap();
    assert_eq!(condition(&cluster, "a", "Theirs"), Some(theirs("True")));
    assert_eq!(cluster.get(THINGS, "n", "a").unwrap()["status"]["externalId"], "e");
    running.stop().await;
}

#[tokio::test]
async fn an_event_says_no_more_than_the_server_takes() {
    let cluster = Cluster::default();
    let about = parsed(thing("a", &[]));
    cluster.operator().warning(&about, "R", &"ä".repeat(2000)).await;
    let events = cluster.list("events.events.k8s.io");
    let note = events[0]["note"].as_str().unwrap();
    assert!((1000..=1024).contains(&note.len()), "{}", note.len());
}

#[tokio::test]
async fn a_secret_as_text_is_applied_as_data() {
    let cluster = Cluster::default();
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let secrets = controller.owns::<Secret>(&labels());
    let running = Running::start(&operator, controller.run(nothing, Arc::new(())));
    until("filled", || operator.readiness.pending().is_empty()).await;
    let text = |keys: &[&str]| Secret {
        metadata: config(&parsed(thing("a", &[])), "s").metadata,
        string_data: Some(keys.iter().map(|it| (it.to_string(), "v".into())).collect()),
        data: Some([("bytes".into(), ByteString(vec![0]))].into()),
        ..Secret::default()
    };
    secrets.apply(&text(&["a", "b"])).await.unwrap();
    secrets.apply(&text(&["a"])).await.unwrap();
    let secret = cluster.get("secrets", "n", "s").unwrap();
    assert_eq!((&secret["data"], &secret["stringData"]), (&json!({ "a": "dg==", "bytes": "AA==" }), &Value::Null));
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_somebody_else_has_made_again_is_left_alone() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[("x", &["k"])])]);
    let (running, configs) = configs_of(&cluster).await;
    let one = config(&parsed(thing("a", &[("x", &["k"])])), "x");
    let mut two = one.clone();
    two.data.as_mut().unwrap().insert("k".into(), "2".into());
    configs.apply(&one).await.unwrap();
    cluster.hold_watches();
    cluster.delete("configmaps", "n", "x");
    let foreign = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x", "namespace": "n" }, "data": { "k": "theirs" } });
    cluster.put("configmaps", foreign).unwrap();
    let error = configs.apply(&two).await.unwrap_err();
    assert!(matches!(error, Error::NotOwned { .. }), "{error}");
    cluster.delete("configmaps", "n", "x");
    configs.apply(&two).await.unwrap();
    assert_eq!(data(&cluster, "x"), Some(json!({ "k": "2" })));
    cluster.release_watches();
    running.stop().await;
}

#[tokio::test]
async fn the_status_of_an_object_is_not_written_to_another_of_its_name() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    let things = controller.primary();
    let running = Running::start(&operator, controller.run(nothing, Arc::new(())));
    until("filled", || things.store().len() == 1).await;
    let read = things.store().state().pop().unwrap();
    cluster.hold_watches();
    cluster.edit(THINGS, "n", "a", |it| it["metadata"]["labels"] = json!({ "a": "b" }));
    let status = |id: &str| ThingStatus { external_id: Some(id.into()), conditions: vec![] };
    things.set_status(&read, status("1")).await.unwrap();
    assert_eq!(cluster.get(THINGS, "n", "a").unwrap()["status"]["externalId"], "1", "an edit is no reason to fail");
    cluster.delete(THINGS, "n", "a");
    cluster.put(THINGS, thing("a", &[])).unwrap();
    let error = things.set_status(&read, status("2")).await.unwrap_err();
    assert_eq!(runtime::Failure::reason(&error), "Conflict");
    assert_eq!(cluster.get(THINGS, "n", "a").unwrap()["status"], Value::Null);
    cluster.release_watches();
    running.stop().await;
}

/// What a controller ends with, and the time since something was taken from it.
async fn end_of(
    controller: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    change: impl AsyncFnOnce(),
) -> (String, Duration) {
    let task = tokio::spawn(controller);
    sleep(Duration::from_secs(1)).await;
    change().await;
    let start = Instant::now();
    let end = timeout(Duration::from_secs(600), task).await.expect("it does not end").unwrap().unwrap_err();
    (end.to_string(), start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_right_to_watch_that_was_never_there_ends_the_controller_with_the_reason() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]).on(|it| match (&*it.resource, it.verb) {
        ("secrets", "watch") => Reaction::code(403),
        _ => Reaction::Pass,
    });
    let mut controller = Controller::<Thing>::new(&cluster.operator());
    let _secrets = controller.watches(Watch::default(), |it: &Secret| [it.name_any()]);
    let (end, after) = end_of(controller.run(nothing, Arc::new(())), async || {}).await;
    assert!(end.starts_with("this account may not watch `secrets`: add `// +kubebuilder:rbac:"), "{end}");
    assert!(after < Duration::from_secs(10), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_for_good_ends_the_controller_with_the_reason() {
    for (code, reason) in
        [(403, "this account may not list or watch"), (404, "the API server does not serve v1 of `secrets`")]
    {
        let lost = Arc::new(AtomicBool::new(false));
        let is_lost = lost.clone();
        let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]).on(move |it| {
            let is_refused = it.resource == "secrets" && is_lost.load(SeqCst);
            if is_refused { Reaction::code(code) } else { Reaction::Pass }
        });
        let mut controller = Controller::<Thing>::new(&cluster.operator());
        let _secrets = controller.watches(Watch::default(), |it: &Secret| [it.name_any()]);
        let lose = async || {
            sleep(Duration::from_secs(300)).await;
            // While a CRD is installed again, or roles are replaced.
            for _ in 0..5 {
                lost.store(true, SeqCst);
                cluster.break_watches();
                sleep(Duration::from_secs(60)).await;
                lost.store(false, SeqCst);
                sleep(Duration::from_secs(90)).await;
            }
            lost.store(true, SeqCst);
            cluster.break_watches();
        };
        let (end, after) = end_of(controller.run(nothing, Arc::new(())), lose).await;
        assert!(end.starts_with(reason), "{end}");
        assert!(Duration::from_secs(90) < after && after < Duration::from_secs(120), "{after:?}");
    }
}

/// The CRD of Things, with this type of its list of conditions.
fn crd(list: Value) -> Value {
    let mut conditions =
        json!({ "type": "array", "items": { "type": "object", "properties": { "type": { "type": "string" } } } });
    conditions.as_object_mut().unwrap().extend(list.as_object().unwrap().clone());
    let status = json!({ "type": "object", "properties": { "conditions": conditions } });
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "status": status } } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": THINGS },
        "spec": { "group": "test.dev", "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "schema": schema, "subresources": { "status": {} } }] },
    })
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_by_an_event_only_where_the_list_of_conditions_is_atomic() {
    struct Ctx(Arc<Primary<Thing>>, AtomicUsize, AtomicBool);
    async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
        let count = ctx.1.fetch_add(1, SeqCst);
        if ctx.2.load(SeqCst) {
            let mut status = thing.status.clone().unwrap_or_default();
            conditions::set(&mut status.conditions, Some(1), "Available", true, ("AsExpected", ""));
            ctx.0.set_status(&thing, ThingStatus { external_id: Some(count.to_string()), ..status }).await?;
        }
        Err(Error::Missing("luck"))
    }
    let keyed = json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
    for (list, told) in [(keyed, 1), (json!({}), 0)] {
        for writes_status in [true, false] {
            let cluster = Cluster::default().with_crds(&[crd(list.clone())]).with(THINGS, &[thing("a", &[])]);
            let operator = cluster.operator();
            let controller = Controller::<Thing>::new(&operator);
            let ctx = Arc::new(Ctx(controller.primary(), 0.into(), writes_status.into()));
            let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
            sleep(Duration::from_secs(10)).await;
            let tries = ctx.1.load(SeqCst);
            assert!((3..=9).contains(&tries), "{tries} reconciles in 10 s of back-off");
            assert_eq!(condition(&cluster, "a", "Degraded").iter().count(), told, "{list}");
            assert_eq!(condition(&cluster, "a", "Available").is_some(), writes_status, "{list}");
            assert_eq!(cluster.list("events.events.k8s.io").len(), 1);
            running.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_of_an_earlier_owner_is_waited_for() {
    let mut child = serde_json::to_value(config(&parsed(thing("a", &[("x", &["k"])])), "x")).unwrap();
    child["metadata"]["ownerReferences"][0]["uid"] = json!("earlier");
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[("x", &["k"])])]).with("configmaps", &[child]);
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&operator, controller.run(make, configs));
    sleep(Duration::from_secs(20)).await;
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.list("events.events.k8s.io").len()), (None, 0));
    cluster.delete("configmaps", "n", "x");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(data(&cluster, "x"), Some(json!({ "k": "1" })));
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.list("events.events.k8s.io").len()), (None, 0));
    running.stop().await;
}

/// Makes the ConfigMap `x`.
async fn make(thing: Arc<Thing>, configs: Arc<Children<ConfigMap>>) -> Result<Action, Error> {
    configs.apply(&config(&thing, "x")).await?;
    Ok(Action::await_change())
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_being_deleted_is_no_failure() {
    let why =
        "configmaps \"x\" is forbidden: unable to create new content in namespace n because it is being terminated";
    let causes = json!([{ "reason": "NamespaceTerminating", "message": "namespace n is being terminated", "field": "metadata.namespace" }]);
    let refusal = Refusal { details: json!({ "causes": causes }), ..Refusal::new(403, "Forbidden", why) };
    let cluster = Cluster::default()
        .with(THINGS, &[thing("a", &[("x", &["k"])])])
        .on_write(move |it| if it.resource == THINGS { Reaction::Pass } else { Reaction::Refuse(refusal.clone()) });
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&operator, controller.run(make, configs));
    sleep(Duration::from_secs(600)).await;
    assert!(1 < cluster.count("PATCH configmaps"));
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.count("POST events.events.k8s.io")), (None, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_busy_is_left_alone_for_as_long_as_it_asks() {
    let refusal = Refusal { details: json!({ "retryAfterSeconds": 5 }), ..Refusal::with_code(429) };
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[("x", &["k"])])]).on_write(move |it| {
        if it.resource == "configmaps" { Reaction::Refuse(refusal.clone()) } else { Reaction::Pass }
    });
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&operator, controller.run(make, configs));
    sleep(Duration::from_secs(12)).await;
    assert_eq!(cluster.count("PATCH configmaps"), 3);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_standby_leaves_events_about_undecodable_objects_to_the_leader() {
    let mut bad = thing("bad", &[]);
    bad["spec"]["secret"] = json!(7);
    let cluster = Cluster::default().with(THINGS, &[bad]);
    let mut operator = cluster.operator();
    operator.leading = Default::default();
    let running = Running::start(&operator, Controller::<Thing>::new(&operator).run(nothing, Arc::new(())));
    sleep(Duration::from_secs(10)).await;
    assert_eq!(cluster.list("events.events.k8s.io").len(), 0);
    operator.leading.cancel();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(cluster.list("events.events.k8s.io").len(), 1);
    let counted = "controller_runtime_terminal_reconcile_errors_total{controller=\"thing\"} 1";
    assert!(operator.metrics.encode().contains(counted), "{}", operator.metrics.encode());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn two_reconciles_of_an_object_never_overlap_also_where_one_blocks() {
    #[derive(Default)]
    struct Ctx(AtomicUsize, AtomicUsize, AtomicBool);
    async fn reconcile(_: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
        ctx.2.fetch_or(0 < ctx.0.fetch_add(1, SeqCst), SeqCst);
        std::thread::sleep(Duration::from_millis(800));
        ctx.0.fetch_sub(1, SeqCst);
        ctx.1.fetch_add(1, SeqCst);
        Ok(Action::await_change())
    }
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let mut operator = cluster.operator();
    operator.settings.reconcile_timeout = Duration::from_millis(50);
    let (ctx, controller) = (Arc::<Ctx>::default(), Controller::<Thing>::new(&operator));
    let running = Running::start(&operator, controller.run(reconcile, ctx.clone()));
    until("reconciled", || 3 <= ctx.1.load(SeqCst)).await;
    assert!(!ctx.2.load(SeqCst), "two at once");
    running.stop().await;
}

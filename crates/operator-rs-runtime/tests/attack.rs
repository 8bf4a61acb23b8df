//! The promises of a controller, whatever others, the network and chance do to it.

mod kinds;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kinds::{
    Operates as _, Running, Thing, ThingStatus, condition, config, configs_of, count, data, labels, parsed, quiet,
    theirs, thing, until,
};
use kube::{
    ResourceExt,
    runtime::{Predicate, predicates},
};
use operator_rs_runtime::{Action, Controller, Error, Owned, Primary, WatchOptions, conditions};
use operator_rs_testing::{Cluster, Fault, FaultRule};
use serde_json::json;
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::sleep;

const THINGS: &str = "things.test.dev";

/// All watches list anew, and see at once what has happened meanwhile.
async fn relist_after(cluster: &Cluster, change: impl FnOnce()) {
    cluster.inject(Fault::HoldEvents);
    change();
    cluster.inject(Fault::ForgetHistory);
    cluster.inject(Fault::EndWatches);
    cluster.release_events();
    sleep(Duration::from_secs(2)).await;
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_no_proof_of_the_one_before() {
    let lossy = Arc::new(AtomicBool::new(false));
    let is_lossy = lossy.clone();
    let cluster =
        Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]).with_fault(FaultRule::for_writes(
            move |_| {
                if is_lossy.load(SeqCst) { Some(Fault::ReplaceResponse { code: 504 }) } else { None }
            },
        ));
    let (running, configs) = configs_of(&cluster).await;
    let owner = parsed(thing("a", &[("x", &["k"])]));
    let one = config(&owner, "x");
    let mut two = one.clone();
    two.data.as_mut().unwrap().insert("k".into(), "2".into());
    configs.apply(&owner, &one).await.unwrap();
    lossy.store(true, SeqCst);
    configs.apply(&owner, &two).await.unwrap_err();
    lossy.store(false, SeqCst);
    until("seen", || configs.get(Some("n"), "x").is_some_and(|it| it.data == two.data)).await;
    configs.apply(&owner, &one).await.unwrap();
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
    let cluster = Cluster::default().with_json(THINGS, &[thing("boom", &[]), thing("good", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::with_watch_options(&manager, WatchOptions::default().predicate(Panics));
    let _secrets = controller.watches(WatchOptions::default().predicate(Panics), |it: &Secret| [it.name_any()]);
    let seen = Arc::new(Mutex::new(vec![]));
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<Vec<String>>>| async move {
        seen.lock().unwrap().push(thing.name_any());
        Ok::<_, Error>(Action::await_change())
    };
    let running = Running::start(&manager, controller.run(reconcile, seen.clone()));
    until("reconciled", || seen.lock().unwrap().len() == 2).await;
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "boom", "namespace": "n" } });
    cluster.put_json("secrets", secret).unwrap();
    cluster.edit_json(THINGS, "n", "boom", |it| it["spec"]["secret"] = json!("s"));
    quiet().await;
    seen.lock().unwrap().clear();
    cluster.edit_json(THINGS, "n", "good", |it| it["spec"]["secret"] = json!("s"));
    until("reconciled again", || *seen.lock().unwrap() == ["good"]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_reconciler_that_panics_before_it_awaits_stops_nobody() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("boom", &[]), thing("good", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<BTreeSet<String>>>| {
        assert_ne!(thing.name_any(), "boom", "as intended");
        async move {
            seen.lock().unwrap().insert(thing.name_any());
            Ok::<_, Error>(Action::await_change())
        }
    };
    let running = Running::start(&manager, controller.run(reconcile, seen.clone()));
    until("seen", || seen.lock().unwrap().contains("good")).await;
    until("told", || condition(&cluster, "boom", "Degraded").is_some_and(|it| it["reason"] == "Panic")).await;
    running.stop().await;
}

#[tokio::test]
async fn a_status_of_others_that_an_own_write_shows_first_is_reconciled() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    struct Ctx(Cluster, Primary<Thing>, AtomicBool, AtomicBool);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let status = thing.status.clone().unwrap_or_default();
        if conditions::is_true(&status.conditions, "Theirs") {
            ctx.3.store(true, SeqCst);
        }
        if !ctx.2.swap(true, SeqCst) {
            ctx.0.inject(Fault::DelayEvents { delay: Duration::from_secs(3) });
            ctx.0.edit_json(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("True")] }));
        }
        ctx.1.update_status(&thing, ThingStatus { external_id: Some("e".into()), ..status }).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let ctx = Arc::new(Ctx(cluster.clone(), controller.primary(), false.into(), false.into()));
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
    sleep(Duration::from_secs(5)).await;
    assert!(ctx.3.load(SeqCst), "no reconcile has seen what they set");
    assert_eq!(condition(&cluster, "a", "Theirs"), Some(theirs("True")));
    running.stop().await;
}

#[tokio::test]
async fn a_change_of_a_dependent_that_an_own_write_shows_first_is_reconciled() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let pods = controller.owns::<Pod>(&labels());
    struct Ctx(Cluster, Owned<Pod, Thing>, Mutex<Vec<String>>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let phase = ctx.1.get(Some("n"), "p").and_then(|it| it.status?.phase).unwrap_or_default();
        ctx.2.lock().unwrap().push(phase.clone());
        let mut meta = config(&thing, "p").metadata;
        if thing.spec.secret.is_some() && phase.is_empty() {
            ctx.0.inject(Fault::DelayEvents { delay: Duration::from_secs(3) });
            ctx.0.edit_json("pods", "n", "p", |it| it["status"] = json!({ "phase": "Running" }));
            meta.labels.as_mut().unwrap().insert("b".into(), "c".into());
        }
        ctx.1.apply(&thing, &Pod { metadata: meta, ..Pod::default() }).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let ctx = Arc::new(Ctx(cluster.clone(), pods, Mutex::default()));
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
    until("made", || cluster.get_json("pods", "n", "p").is_some()).await;
    quiet().await;
    cluster.edit_json(THINGS, "n", "a", |it| it["spec"]["secret"] = json!("s"));
    sleep(Duration::from_secs(5)).await;
    assert_eq!(ctx.2.lock().unwrap().last().map(String::as_str), Some("Running"));
    running.stop().await;
}

#[tokio::test]
async fn a_failure_is_taken_back_also_where_the_operator_sets_that_condition_itself() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    struct Ctx(Primary<Thing>, AtomicBool);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let mut status = thing.status.clone().unwrap_or_default();
        conditions::set(&mut status.conditions, Some(1), conditions::new("Degraded", false, "AsExpected", ""));
        ctx.0.update_status(&thing, status).await?;
        if ctx.1.load(SeqCst) { Err(Error::MissingField("luck")) } else { Ok(Action::await_change()) }
    };
    let ctx = Arc::new(Ctx(controller.primary(), true.into()));
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
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
    let cluster =
        Cluster::default().with_json(THINGS, &[thing("a", &[])]).with_fault(FaultRule::for_writes(move |it| {
            if it.subresource == "status" && is_stuck.load(SeqCst) { Some(Fault::Refuse { code: 500 }) } else { None }
        }));
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    struct Ctx(AtomicBool, AtomicUsize);
    let reconcile = |_: Arc<Thing>, ctx: Arc<Ctx>| async move {
        ctx.1.fetch_add(1, SeqCst);
        if ctx.0.load(SeqCst) { Err(Error::MissingField("luck")) } else { Ok(Action::await_change()) }
    };
    let ctx = Arc::new(Ctx(true.into(), 0.into()));
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
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
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    cluster.put_json("secrets", secret("a", "1")).unwrap();
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let watch = WatchOptions::default().predicate(predicates::labels);
    let _secrets = controller.watches(watch, |it: &Secret| [it.name_any()]);
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    cluster.put_json("secrets", secret("a", "2")).unwrap();
    until("seen", || reconciles.load(SeqCst) == 2).await;
    relist_after(&cluster, || drop(cluster.put_json("secrets", secret("a", "3")).unwrap())).await;
    until("listed", || reconciles.load(SeqCst) == 3).await;
    cluster.put_json("secrets", secret("a", "2")).unwrap();
    until("changed back", || reconciles.load(SeqCst) == 4).await;
    relist_after(&cluster, || cluster.delete_json("secrets", "n", "a")).await;
    until("gone", || reconciles.load(SeqCst) == 5).await;
    cluster.put_json("secrets", secret("a", "2")).unwrap();
    until("made again", || reconciles.load(SeqCst) == 6).await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_is_made_again_while_the_watch_is_away_is_reconciled() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller =
        Controller::<Thing>::with_watch_options(&manager, WatchOptions::default().predicate(predicates::generation));
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    let again = || {
        cluster.delete_json(THINGS, "n", "a");
        cluster.put_json(THINGS, thing("a", &[])).unwrap();
    };
    // The second time there is one of generation 1 in the cache.
    relist_after(&cluster, again).await;
    relist_after(&cluster, again).await;
    assert_eq!(reconciles.load(SeqCst), 3);
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
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let mut manager = cluster.manager();
    manager.settings.reconcile_timeout = Duration::from_millis(50);
    let (ctx, controller) = (Arc::<Ctx>::default(), Controller::<Thing>::new(&manager));
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
    until("reconciled", || 3 <= ctx.1.load(SeqCst)).await;
    assert!(!ctx.2.load(SeqCst), "two at once");
    running.stop().await;
}

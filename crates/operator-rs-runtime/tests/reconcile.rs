//! The times at which a controller reconciles, and the state that it sees.

mod kinds;

use futures::channel::mpsc;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kinds::{Operates as _, Running, Thing, ThingStatus, condition, config, count, labels, quiet, thing, until};
use kube::{
    ResourceExt,
    api::PartialObjectMeta,
    runtime::{predicates, reflector::ObjectRef},
};
use operator_rs_runtime::{Action, Controller, Error, Owned, Primary, WatchOptions};
use operator_rs_testing::{Cluster, Fault};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::sleep;

const THINGS: &str = "things.test.dev";

#[tokio::test]
async fn a_reconcile_sees_its_own_writes_however_late_the_watch_is() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    cluster.inject(Fault::DelayEvents { delay: Duration::from_secs(1) });
    let seen = Arc::new(Mutex::new(vec![]));
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let things = controller.primary();
    type Seen = Mutex<Vec<(usize, bool)>>;
    struct Ctx(Owned<ConfigMap, Thing>, Primary<Thing>, Arc<Seen>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        let status = thing.status.clone().unwrap_or_default();
        ctx.2.lock().unwrap().push((ctx.0.owned_by(&thing).len(), status.external_id.is_some()));
        ctx.0.apply(&thing, &config(&thing, "x")).await?;
        ctx.1.update_status(&thing, ThingStatus { external_id: Some("e".into()), ..status }).await?;
        Ok::<_, Error>(Action::requeue(Duration::from_millis(100)))
    };
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(Ctx(configs, things, seen.clone()))));
    until("reconciled", || 8 <= seen.lock().unwrap().len()).await;
    running.stop().await;
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen[0], (0, false));
    assert!(seen[1..].iter().all(|it| *it == (1, true)), "{seen:?}");
    assert_eq!(cluster.writes().len(), 2);
}

#[tokio::test]
async fn an_edit_that_an_own_write_shows_first_is_reconciled() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let seen = Arc::new(Mutex::new(vec![]));
    struct Ctx(Cluster, Primary<Thing>, Arc<Mutex<Vec<Option<String>>>>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        ctx.2.lock().unwrap().push(thing.spec.secret.clone());
        if thing.spec.secret.is_none() {
            // The user edits it between what was read and what is written, and the watch is late.
            ctx.0.inject(Fault::DelayEvents { delay: Duration::from_secs(5) });
            ctx.0.edit_json(THINGS, "n", "a", |it| it["spec"]["secret"] = json!("s"));
        }
        ctx.1.update_status(&thing, ThingStatus { external_id: Some("e".into()), conditions: vec![] }).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let ctx = Ctx(cluster.clone(), controller.primary(), seen.clone());
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(ctx)));
    until("reconciled", || seen.lock().unwrap().len() == 2).await;
    assert_eq!(*seen.lock().unwrap(), [None, Some("s".to_owned())]);
    running.stop().await;
}

#[tokio::test]
async fn those_who_refer_to_an_object_are_reconciled_when_it_changes() {
    let refers = |name: &str, secret: &str| {
        let mut it = thing(name, &[]);
        it["spec"]["secret"] = json!(secret);
        it
    };
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s", "namespace": "n" } });
    let cluster = Cluster::default().with_json(THINGS, &[refers("a", "s"), refers("b", "s"), refers("c", "t")]);
    cluster.put_json("secrets", &secret).unwrap();
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let secrets = controller
        .references::<PartialObjectMeta<Secret>, _>(WatchOptions::default(), |it: &Thing| it.spec.secret.clone());
    let seen = Arc::new(Mutex::new(vec![]));
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<Vec<String>>>| async move {
        seen.lock().unwrap().push(thing.name_any());
        Ok::<_, Error>(Action::await_change())
    };
    let running = Running::start(&manager, controller.run(reconcile, seen.clone()));
    let expect = async |names: &[&str]| {
        until(&format!("{names:?}"), || names.len() <= seen.lock().unwrap().len()).await;
        quiet().await;
        let mut all = std::mem::take(&mut *seen.lock().unwrap());
        all.sort();
        assert_eq!(all, names);
    };
    expect(&["a", "b", "c"]).await;
    cluster.edit_json("secrets", "n", "s", |it| it["data"] = json!({ "k": "dg==" }));
    expect(&["a", "b"]).await;
    cluster.edit_json(THINGS, "n", "b", |it| it["spec"]["secret"] = json!("t"));
    expect(&["b"]).await;
    cluster.delete_json("secrets", "n", "s");
    expect(&["a"]).await;
    assert!(secrets.get(Some("n"), "s").is_none());
    running.stop().await;
}

#[tokio::test]
async fn a_mapper_that_panics_or_names_nobody_stops_nothing() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let _secrets = controller.watches(WatchOptions::default(), |it: &PartialObjectMeta<Secret>| {
        assert_ne!(it.name_any(), "panics");
        [it.name_any()]
    });
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    for name in ["panics", "nobody", "a"] {
        let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name, "namespace": "n" } });
        cluster.put_json("secrets", secret).unwrap();
    }
    until("mapped", || reconciles.load(SeqCst) == 2).await;
    running.stop().await;
}

#[tokio::test]
async fn triggers_come_from_outside_too() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let (sender, receiver) = mpsc::unbounded();
    controller.reconcile_on(receiver);
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    sender.unbounded_send(ObjectRef::new("a").within("n")).unwrap();
    sender.unbounded_send(ObjectRef::new("nobody").within("n")).unwrap();
    until("triggered", || reconciles.load(SeqCst) == 2).await;
    drop(sender);
    quiet().await;
    running.stop().await;
}

#[tokio::test]
async fn a_predicate_lets_pass_what_it_looks_at() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller =
        Controller::<Thing>::with_watch_options(&manager, WatchOptions::default().predicate(predicates::generation));
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    cluster.edit_json(THINGS, "n", "a", |it| it["metadata"]["labels"] = json!({ "a": "b" }));
    quiet().await;
    assert_eq!(reconciles.load(SeqCst), 1);
    cluster.edit_json(THINGS, "n", "a", |it| it["spec"]["secret"] = json!("s"));
    until("reconciled", || reconciles.load(SeqCst) == 2).await;
    running.stop().await;
}

#[tokio::test]
async fn steady_events_do_not_starve_an_object() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    for i in 0..40 {
        cluster.edit_json(THINGS, "n", "a", |it| it["metadata"]["labels"] = json!({ "a": i.to_string() }));
        sleep(Duration::from_millis(30)).await;
    }
    let during = reconciles.load(SeqCst);
    assert!((4..=14).contains(&during), "{during} reconciles in 1.2 s of events every 30 ms");
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_listed_ends_the_controller_with_the_reason() {
    let cluster = Cluster::default()
        .with_json(THINGS, &[thing("a", &[])])
        .with_fault(Fault::Forbid.on_list_and_watch_of::<k8s_openapi::api::core::v1::ConfigMap>());
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let _configs = controller.owns::<ConfigMap>(&labels());
    let end = controller.run(count, Arc::new(AtomicUsize::new(0))).await.unwrap_err().to_string();
    assert!(end.starts_with("this account may not list or watch `configmaps`: add `// +kubebuilder:rbac:"), "{end}");
    assert_eq!(manager.readiness.pending(), ["thing"]);

    let cluster = Cluster::default()
        .with_json(THINGS, &[thing("a", &[])])
        .with_fault(Fault::LoseRequest.on_requests_for::<k8s_openapi::api::core::v1::ConfigMap>());
    let mut manager = cluster.manager();
    manager.settings.cache_sync_timeout = Duration::from_millis(300);
    let mut controller = Controller::<Thing>::new(&manager);
    let _configs = controller.owns::<ConfigMap>(&labels());
    let end = controller.run(count, Arc::new(AtomicUsize::new(0))).await.unwrap_err().to_string();
    assert!(end.starts_with("cannot list `configmaps` within 300ms"), "{end}");
}

#[tokio::test]
async fn a_standby_fills_its_caches_and_reconciles_nothing() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let mut manager = cluster.manager();
    manager.elected = Default::default();
    let controller = Controller::<Thing>::new(&manager);
    let store = controller.primary().store();
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("filled", || store.len() == 1 && manager.readiness.pending().is_empty()).await;
    quiet().await;
    assert_eq!(reconciles.load(SeqCst), 0);
    manager.elected.cancel();
    until("reconciled", || reconciles.load(SeqCst) == 1).await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_cannot_be_decoded_or_panics_stops_no_other() {
    let mut bad = thing("bad", &[]);
    bad["spec"]["secret"] = json!(7);
    let cluster = Cluster::default().with_json(THINGS, &[bad, thing("boom", &[]), thing("good", &[])]);
    let seen = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let reconcile = |thing: Arc<Thing>, seen: Arc<Mutex<std::collections::BTreeSet<String>>>| async move {
        seen.lock().unwrap().insert(thing.name_any());
        assert_ne!(thing.name_any(), "boom", "as intended");
        Ok::<_, Error>(Action::await_change())
    };
    let running = Running::start(&manager, controller.run(reconcile, seen.clone()));
    until("told", || cluster.list_json("events.events.k8s.io").len() == 2).await;
    until("seen", || seen.lock().unwrap().len() == 2).await;
    let told = condition(&cluster, "boom", "Degraded").unwrap();
    assert_eq!(told["reason"], "Panic");
    cluster.edit_json(THINGS, "n", "bad", |it| it["spec"]["secret"] = json!("s"));
    until("corrected", || seen.lock().unwrap().contains("bad")).await;
    running.stop().await;
}

#[tokio::test]
async fn everything_is_reconciled_again_after_the_sync_period() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let mut manager = cluster.manager();
    manager.settings.sync_period = Duration::from_millis(300);
    let controller = Controller::<Thing>::new(&manager);
    let reconciles = Arc::new(AtomicUsize::new(0));
    let running = Running::start(&manager, controller.run(count, reconciles.clone()));
    until("reconciled", || 3 <= reconciles.load(SeqCst)).await;
    running.stop().await;
}

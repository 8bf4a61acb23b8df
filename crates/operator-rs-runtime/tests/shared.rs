//! Controllers that share a kind share its watch.

mod kinds;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kinds::{Operates as _, Thing, condition, config, labels, quiet, thing, until};
use kube::{ResourceExt, runtime::reflector::ObjectRef};
use operator_rs_runtime::{Action, Controller, Error, Labels, Manager, Owned, WatchOptions};
use operator_rs_testing::{Cluster, Fault};
use serde_json::json;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{task::JoinHandle, time::sleep};

/// A controller of Things whose ConfigMaps have these labels.
fn start(manager: &Manager, labels: &Labels) -> (Owned<ConfigMap, Thing>, JoinHandle<operator_rs_runtime::Result<()>>) {
    let mut controller = Controller::<Thing>::new(manager);
    let configs = controller.owns::<ConfigMap>(labels);
    let nothing = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    (configs, tokio::spawn(controller.run(nothing, Arc::new(()))))
}

fn owner() -> Thing {
    serde_json::from_value(thing("a", &[("x", &["k"])])).unwrap()
}

fn count(cluster: &Cluster, verb: &str, resource: &str) -> usize {
    cluster.requests().iter().filter(|it| it.verb == verb && it.resource == resource).count()
}

fn put(cluster: &Cluster, name: &str) {
    cluster.put_json("configmaps", serde_json::to_value(config(&owner(), name)).unwrap()).unwrap();
}

#[tokio::test]
async fn ten_controllers_of_a_kind_have_one_watch_of_it() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    let manager = cluster.manager();
    let all: Vec<_> = (0..10).map(|_| start(&manager, &labels())).collect();
    put(&cluster, "x");
    until("seen by all", || all.iter().all(|(configs, _)| configs.owned_by(&owner()).len() == 1)).await;
    for resource in ["things.test.dev", "configmaps"] {
        let requests = ["list", "watch"].map(|verb| count(&cluster, verb, resource));
        assert_eq!((requests, cluster.open_watches(resource)), ([1, 1], 1), "{resource}");
    }
    until("reconciled by all", || kinds::reconciled(&manager) >= 10).await;
    manager.stop.cancel();
    for (_, task) in all {
        task.await.unwrap().unwrap();
    }
    quiet().await;
    assert_eq!(
        (cluster.open_watches("things.test.dev"), cluster.open_watches("configmaps")),
        (0, 0),
        "it ends with the last"
    );
}

#[tokio::test]
async fn another_selection_has_a_watch_of_its_own() {
    let cluster = Cluster::default();
    let manager = cluster.manager();
    let other = Labels::from([("app".into(), "other".into())]);
    let _all = [start(&manager, &labels()), start(&manager, &other)];
    let mut controller = Controller::<Thing>::new(&manager);
    let by_field =
        controller.watches(WatchOptions::default().fields("metadata.name=y"), |_: &ConfigMap| None::<String>);
    let nothing = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    let task = tokio::spawn(controller.run(nothing, Arc::new(())));
    until("watching", || cluster.open_watches("configmaps") == 3).await;
    put(&cluster, "x");
    put(&cluster, "y");
    until("seen", || by_field.get(Some("n"), "y").is_some()).await;
    assert!(by_field.get(Some("n"), "x").is_none());
    assert_eq!(cluster.open_watches("things.test.dev"), 1);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_controller_that_comes_late_sees_everything_and_one_that_ends_takes_nothing_away() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    put(&cluster, "x");
    let manager = cluster.manager();
    let mut first = manager.clone();
    first.stop = manager.stop.child_token();
    let (early, task) = start(&first, &labels());
    until("seen", || early.owned_by(&owner()).len() == 1).await;
    until("watching", || cluster.open_watches("configmaps") == 1).await;
    let (late, last) = start(&manager, &labels());
    until("seen by the late one", || late.owned_by(&owner()).len() == 1).await;
    put(&cluster, "y");
    until("seen by both", || early.owned_by(&owner()).len() == 2 && late.owned_by(&owner()).len() == 2).await;
    first.stop.cancel();
    task.await.unwrap().unwrap();
    put(&cluster, "z");
    until("seen by the other", || late.owned_by(&owner()).len() == 3).await;
    quiet().await;
    assert_eq!((early.owned_by(&owner()).len(), cluster.open_watches("configmaps")), (2, 1));
    manager.stop.cancel();
    last.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_watch_that_is_refused_ends_all_of_its_controllers() {
    let cluster =
        Cluster::default().with_fault(Fault::Forbid.on_list_and_watch_of::<k8s_openapi::api::core::v1::ConfigMap>());
    let manager = cluster.manager();
    for (_, task) in [start(&manager, &labels()), start(&manager, &labels())] {
        let end = task.await.unwrap().unwrap_err().to_string();
        assert!(end.starts_with("this account may not list or watch `configmaps`: "), "{end}");
    }
}

/// A controller that refers to Secrets in the namespace `far`, on a watch with these labels, and the names of what it
/// has reconciled.
fn refer(manager: &Manager, labels: Labels) -> (Arc<Mutex<Vec<String>>>, JoinHandle<operator_rs_runtime::Result<()>>) {
    let mut controller = Controller::<Thing>::new(manager);
    let far = |it: &Thing| it.spec.secret.as_ref().map(|name| ObjectRef::<Secret>::new(name).within("far"));
    let _secrets = controller.references::<Secret, _>(&labels, far);
    let names = Arc::new(Mutex::new(vec![]));
    let reconcile = |it: Arc<Thing>, names: Arc<Mutex<Vec<String>>>| async move {
        names.lock().unwrap().push(it.name_any());
        Ok::<_, Error>(Action::await_change())
    };
    (names.clone(), tokio::spawn(controller.run(reconcile, names)))
}

fn referring(name: &str, secret: &str) -> serde_json::Value {
    let mut it = thing(name, &[]);
    it["spec"]["secret"] = secret.into();
    it
}

#[tokio::test]
async fn what_is_referred_to_reconciles_who_refers_to_it_whoever_shares_the_watch() {
    let things = [referring("a", "s"), referring("b", "s"), referring("c", "t"), thing("d", &[])];
    let cluster = Cluster::default().with_json("things.test.dev", &things);
    let manager = cluster.manager();
    let (one, first) = refer(&manager, Labels::new());
    let (two, second) = refer(&manager, Labels::new());
    let (other, third) = refer(&manager, labels());
    until("reconciled", || [&one, &two, &other].iter().all(|it| it.lock().unwrap().len() == 4)).await;
    assert_eq!(cluster.open_watches("secrets"), 2);
    let secret = |labels: Labels, value: &str| {
        json!({ "apiVersion": "v1", "kind": "Secret", "data": { "k": value },
        "metadata": { "name": "s", "namespace": "far", "labels": labels } })
    };
    let check = async |expected: &[&str], of_other: &[&str], what: &str| {
        quiet().await;
        let found = [&one, &two, &other].map(|it| {
            let mut it = std::mem::take(&mut *it.lock().unwrap());
            it.sort();
            it
        });
        assert_eq!(found.each_ref().map(Vec::as_slice), [expected, expected, of_other], "{what}");
    };
    let nothing: [&str; 0] = [];
    check(&["a", "b", "c", "d"], &["a", "b", "c", "d"], "the start").await;
    cluster.put_json("secrets", secret(Labels::new(), "YQ==")).unwrap();
    check(&["a", "b"], &nothing, "created").await;
    cluster.put_json("secrets", secret(labels(), "Yg==")).unwrap();
    check(&["a", "b"], &["a", "b"], "changed, and selected by the other").await;
    cluster.edit_json("things.test.dev", "n", "b", |it| it["spec"]["secret"] = "t".into());
    check(&["b"], &["b"], "the reference").await;
    cluster.inject(Fault::HoldEvents);
    cluster.edit_json("secrets", "far", "s", |it| it["data"]["k"] = "Yw==".into());
    cluster.inject(Fault::ForgetHistory);
    cluster.inject(Fault::EndWatches);
    cluster.release_events();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    check(&["a"], &["a"], "changed while the watch was interrupted").await;
    cluster.delete_json("secrets", "far", "s");
    check(&["a"], &["a"], "deleted").await;
    manager.stop.cancel();
    for task in [first, second, third] {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_one_controller_reports_is_not_taken_back_by_another_one_of_the_kind() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    let manager = cluster.manager();
    let fails: [Arc<AtomicBool>; 3] = [true, false, true].map(|it| Arc::new(it.into()));
    let names = ["first", "second", "third"];
    let tasks = names.into_iter().zip(&fails).map(|(name, fails)| {
        let reconcile = move |_: Arc<Thing>, fails: Arc<AtomicBool>| async move {
            if fails.load(SeqCst) { Err(Error::permanent("Broken", name)) } else { Ok(Action::await_change()) }
        };
        tokio::spawn(Controller::<Thing>::new(&manager).run(reconcile, fails.clone()))
    });
    let tasks: Vec<_> = tasks.collect();
    let told = || condition(&cluster, "a", "Degraded").map(|it| it["message"].as_str().unwrap().to_owned());
    sleep(Duration::from_secs(100)).await;
    assert!(["first", "third"].contains(&told().unwrap().as_str()));
    let writes = cluster.count_writes("PATCH things.test.dev/status");
    assert!(writes <= 4, "{writes} of a status");
    assert!(kinds::reconciled(&manager) < 60, "{} reconciles", kinds::reconciled(&manager));
    for (well, expected) in [(0, Some("third")), (2, None)] {
        fails[well].store(false, SeqCst);
        cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"]["secret"] = json!(well.to_string()));
        sleep(Duration::from_secs(2)).await;
        assert_eq!(told().as_deref(), expected);
    }
    manager.stop.cancel();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn controllers_that_would_prune_the_dependents_of_each_other_are_refused() {
    async fn nothing<C>(_: Arc<Thing>, _: Arc<C>) -> Result<Action, Error> {
        Ok(Action::await_change())
    }
    let more = Labels::from([("app".into(), "thing".into()), ("part".into(), "b".into())]);
    let other = Labels::from([("app".into(), "other".into())]);
    for (second, prunes, is_refused) in [
        (labels(), [true, false], true),
        (more.clone(), [true, false], true),
        (more, [false, true], false),
        (other, [true, true], false),
    ] {
        let manager = Cluster::default().manager();
        let tasks = [labels(), second].into_iter().zip(prunes).map(|(labels, prunes)| {
            let mut controller = Controller::<Thing>::new(&manager);
            let _configs = controller.owns::<ConfigMap>(&labels);
            let owned = prunes.then(|| controller.dependents());
            tokio::spawn(controller.run(nothing, Arc::new(owned)))
        });
        let tasks: Vec<_> = tasks.collect();
        quiet().await;
        manager.stop.cancel();
        let mut ends = vec![];
        for task in tasks {
            ends.push(task.await.unwrap().map_err(|it| it.to_string()));
        }
        let refusal = "`owns` was called twice for `configmaps` of `things.test.dev` with the same labels, so that what \
                       one applies is pruned by the other: give each a label of its own";
        let last = if is_refused { Err(refusal.to_owned()) } else { Ok(()) };
        assert_eq!(ends, [Ok(()), last]);
    }
}

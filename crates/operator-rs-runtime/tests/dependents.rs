//! Applies from tasks that a reconcile has spawned, and the reconciles in which dependents can be pruned.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Running, Thing, config, labels, parsed, quiet, thing, until};
use operator_rs_runtime::{Action, Controller, Dependents, Error, Owned, Result};
use operator_rs_testing::{Cluster, Fault};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{task::JoinSet, time::sleep};

const THINGS: &str = "things.test.dev";

#[derive(Clone)]
struct Handles {
    configs: Owned<ConfigMap, Thing>,
    dependents: Dependents<Thing>,
    /// The errors of `prune`.
    errors: Arc<Mutex<Vec<Error>>>,
}

impl Handles {
    fn of(controller: &mut Controller<Thing>) -> Self {
        let configs = controller.owns(&labels());
        Self { configs, dependents: controller.dependents(), errors: Arc::default() }
    }

    fn refusals(&self) -> Vec<String> {
        self.errors.lock().unwrap().iter().map(ToString::to_string).collect()
    }

    async fn prune(&self, owner: &Thing) {
        if let Err(error) = self.dependents.prune(owner).await {
            self.errors.lock().unwrap().push(error);
        }
    }
}

fn names(cluster: &Cluster) -> Vec<String> {
    let all = cluster.list_json("configmaps");
    all.iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

const NOT_RECONCILED: &str = "Thing `a` is not being reconciled, so it is not known which of its dependents are desired: \
                              call `prune` in its reconcile";

#[tokio::test]
async fn what_a_spawned_task_applies_is_owned_and_not_pruned() {
    async fn reconcile(thing: Arc<Thing>, handles: Handles) -> Result<Action> {
        let mut tasks = JoinSet::new();
        for name in thing.spec.configs.keys() {
            let (desired, thing, configs) = (config(&thing, name), thing.clone(), handles.configs.clone());
            tasks.spawn(async move {
                sleep(Duration::from_millis(20)).await;
                configs.apply(&thing, &desired).await
            });
        }
        for applied in tasks.join_all().await {
            applied?;
        }
        handles.dependents.prune(&thing).await?;
        Ok(Action::await_change())
    }
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"]), ("y", &["k"]), ("z", &["k"])])]);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let handles = Handles::of(&mut controller);
    let running = Running::start(&manager, controller.run(reconcile, handles.clone()));
    until("made", || names(&cluster) == ["x", "y", "z"]).await;
    quiet().await;
    assert_eq!(cluster.writes().len(), 3, "{:?}", cluster.writes());
    let owner = &cluster.get_json("configmaps", "n", "x").unwrap()["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["uid"], &owner["controller"]), (&json!("Thing"), &json!("uid-a"), &json!(true)));

    cluster.edit_json(THINGS, "n", "a", |object| {
        object["spec"] = thing("a", &[("x", &["k"]), ("y", &["l"])])["spec"].take()
    });
    until("pruned", || names(&cluster) == ["x", "y"]).await;
    until("changed", || kinds::data(&cluster, "y") == Some(json!({ "l": "1" }))).await;
    quiet().await;
    assert_eq!(names(&cluster), ["x", "y"]);
    assert_eq!(cluster.writes().len(), 5, "{:?}", cluster.writes());
    running.stop().await;
}

#[tokio::test]
async fn outside_of_a_reconcile_of_the_owner_nothing_is_pruned() {
    /// Prunes the dependents of `a` in the reconcile of `b`, and in a task that outlives the reconcile of `a`.
    async fn reconcile(thing: Arc<Thing>, handles: Handles) -> Result<Action> {
        for name in thing.spec.configs.keys() {
            handles.configs.apply(&thing, &config(&thing, name)).await?;
        }
        if thing.spec.configs.is_empty() {
            handles.prune(&parsed(crate::thing("a", &[]))).await;
        } else {
            tokio::spawn(async move {
                sleep(Duration::from_millis(200)).await;
                handles.prune(&thing).await;
            });
        }
        Ok(Action::await_change())
    }
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let handles = Handles::of(&mut controller);
    let running = Running::start(&manager, controller.run(reconcile, handles.clone()));
    until("refused in a task that is late", || handles.refusals() == [NOT_RECONCILED]).await;
    cluster.put_json(THINGS, thing("b", &[])).unwrap();
    until("refused in the reconcile of another object", || handles.refusals() == [NOT_RECONCILED; 2]).await;
    handles.prune(&parsed(thing("a", &[]))).await;
    let mut earlier = thing("a", &[]);
    earlier["metadata"]["uid"] = json!("of an earlier object");
    handles.prune(&parsed(earlier)).await;
    assert_eq!(handles.refusals(), [NOT_RECONCILED; 4]);
    assert!(handles.errors.lock().unwrap().iter().all(|error| matches!(error, Error::NotReconciled { .. })));
    quiet().await;
    assert_eq!((names(&cluster), cluster.writes().len()), (vec!["x".to_owned()], 1));
    running.stop().await;
}

/// The watch can show an object before the API server has responded to the task that applies it.
#[tokio::test]
async fn what_a_task_is_applying_is_not_pruned() {
    async fn reconcile(thing: Arc<Thing>, handles: Handles) -> Result<Action> {
        let (desired, owner, configs) = (config(&thing, "x"), thing.clone(), handles.configs.clone());
        let task = tokio::spawn(async move { configs.apply(&owner, &desired).await });
        until("shown", || handles.configs.get(Some("n"), "x").is_some()).await;
        sleep(Duration::from_millis(20)).await; // by now, the task has begun
        handles.prune(&thing).await;
        task.abort();
        Ok(Action::await_change())
    }
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    cluster.inject(Fault::LoseResponse.on_write(1));
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let handles = Handles::of(&mut controller);
    let running = Running::start(&manager, controller.run(reconcile, handles.clone()));
    until("made", || names(&cluster) == ["x"]).await;
    quiet().await;
    assert_eq!(names(&cluster), ["x"], "{:?}", cluster.writes());
    assert!(cluster.writes().iter().all(|write| write.summary != "DELETE configmaps"), "{:?}", cluster.writes());
    running.stop().await;
}

/// Otherwise nothing would ever delete it: the owner that wants it cannot have it, and the other one is not reconciled
/// again.
#[tokio::test]
async fn what_another_owner_fails_to_apply_is_pruned() {
    async fn reconcile(thing: Arc<Thing>, handles: Handles) -> Result<Action> {
        // In the reconcile of `b`, too, as a reconcile of `a` may do this at any time.
        let a = parsed(crate::thing("a", &[("x", &["k"])]));
        let applied = handles.configs.apply(&a, &config(&a, "x")).await;
        if !thing.spec.configs.is_empty() {
            applied?;
        }
        handles.dependents.prune(&thing).await?;
        Ok(Action::await_change())
    }
    let things = [thing("a", &[("x", &["k"])]), thing("b", &[])];
    let cluster = Cluster::default().with_json(THINGS, &things);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let handles = Handles::of(&mut controller);
    let running = Running::start(&manager, controller.run(reconcile, handles.clone()));
    until("made", || names(&cluster) == ["x"]).await;
    quiet().await;
    cluster.edit_json("configmaps", "n", "x", |object| {
        let owner = &mut object["metadata"]["ownerReferences"][0];
        (owner["name"], owner["uid"]) = (json!("b"), json!("uid-b"));
    });
    let deletions = || cluster.writes().iter().filter(|write| write.summary == "DELETE configmaps").count();
    until("deleted", || deletions() == 1).await;
    let owner = || {
        cluster.get_json("configmaps", "n", "x").map(|object| object["metadata"]["ownerReferences"][0]["uid"].clone())
    };
    until("made again", || owner() == Some(json!("uid-a"))).await;
    quiet().await;
    assert_eq!((deletions(), owner()), (1, Some(json!("uid-a"))));
    running.stop().await;
}

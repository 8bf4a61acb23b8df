//! The promises of a controller about the objects that it creates.

mod kinds;

use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRole};
use kinds::{Operates as _, Thing, condition, config, data, labels, quiet, thing, until};
use operator_rs_runtime::{Action, Controller, Dependents, Error, FieldManager, Manager, Owned, WatchOptions, Watched};
use operator_rs_testing::Cluster;
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinHandle;

struct Ctx {
    dependents: Dependents<Thing>,
    configs: Owned<ConfigMap, Thing>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    for name in thing.spec.configs.keys() {
        ctx.configs.apply(&thing, &config(&thing, name)).await?;
    }
    ctx.dependents.prune(&thing).await?;
    Ok(Action::await_change())
}

async fn run(manager: Manager) -> operator_rs_runtime::Result<()> {
    let mut controller = Controller::new(&manager);
    let configs = controller.owns(&labels());
    let ctx = Ctx { dependents: controller.dependents(), configs };
    controller.run(reconcile, Arc::new(ctx)).await
}

struct Running(Manager, JoinHandle<operator_rs_runtime::Result<()>>);

impl Running {
    fn start(cluster: &Cluster) -> Self {
        let manager = cluster.manager();
        Self(manager.clone(), tokio::spawn(run(manager)))
    }

    async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }
}

/// Nothing that is asked of a new process is a write.
async fn a_restart_writes_nothing(cluster: &Cluster) {
    cluster.clear_request_log();
    let again = Running::start(cluster);
    quiet().await;
    again.stop().await;
    assert_eq!(cluster.writes(), []);
}

#[tokio::test]
async fn what_is_not_desired_any_more_goes() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[("x", &["k", "l"]), ("y", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || cluster.list_json("configmaps").len() == 2).await;

    cluster.edit_json("things.test.dev", "n", "a", |it| {
        it["spec"] = thing("a", &[("x", &["k"]), ("y", &["k"])])["spec"].take()
    });
    until("without the key", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;

    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("x", &[])])["spec"].take());
    until("gone", || data(&cluster, "y").is_none()).await;
    until("empty", || {
        cluster.get_json("configmaps", "n", "x").is_some_and(|it| it["data"].as_object().is_none_or(|it| it.is_empty()))
    })
    .await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn what_is_removed_while_nobody_looks_goes_after_the_start() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[("x", &["k", "l"]), ("y", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || cluster.list_json("configmaps").len() == 2).await;
    quiet().await;
    running.stop().await;
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("x", &["k"])])["spec"].take());
    let running = Running::start(&cluster);
    until("without the key", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    until("gone", || data(&cluster, "y").is_none()).await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn what_others_add_stays_and_what_they_change_is_put_back() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[("x", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || data(&cluster, "x").is_some()).await;
    cluster.edit_json("configmaps", "n", "x", |it| it["data"] = json!({ "k": "2", "theirs": "3" }));
    until("put back", || data(&cluster, "x") == Some(json!({ "k": "1", "theirs": "3" }))).await;
    cluster.edit_json("configmaps", "n", "x", |it| it["metadata"]["ownerReferences"] = json!([]));
    until("owned again", || {
        cluster.get_json("configmaps", "n", "x").is_some_and(|it| it["metadata"]["ownerReferences"][0]["name"] == "a")
    })
    .await;
    cluster.edit_json("configmaps", "n", "x", |it| it["metadata"]["labels"] = json!({ "app": "other" }));
    until("labelled again", || {
        cluster.get_json("configmaps", "n", "x").is_some_and(|it| it["metadata"]["labels"]["app"] == "thing")
    })
    .await;
    cluster.delete_json("configmaps", "n", "x");
    until("made again", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn an_object_of_somebody_else_is_left_alone_and_that_is_told() {
    let theirs = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x", "namespace": "n" }, "data": { "k": "theirs" } });
    let controlled = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "y", "namespace": "n", "labels": { "app": "thing" }, "ownerReferences": [
            { "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true }] },
        "data": { "k": "theirs" },
    });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n", "uid": "u" } });
    let cluster = Cluster::default()
        .with_json("pods", &[pod])
        .with_json("configmaps", &[theirs.clone(), controlled.clone()])
        .with_json("things.test.dev", &[thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])]);
    let running = Running::start(&cluster);
    for (name, message) in [
        (
            "a",
            "ConfigMap `x` already exists and was not created by this operator: rename the desired object, or delete the existing one if nothing needs it",
        ),
        ("b", "ConfigMap `y` already exists and is controlled by Pod `p`"),
    ] {
        until("told", || condition(&cluster, name, "Degraded").is_some()).await;
        let told = condition(&cluster, name, "Degraded").unwrap();
        assert_eq!((&told["reason"], &told["message"]), (&json!("NotOwned"), &json!(message)));
    }
    until("told by an event", || cluster.list_json("events.events.k8s.io").len() == 2).await;
    for (name, before) in [("x", &theirs), ("y", &controlled)] {
        let after = cluster.get_json("configmaps", "n", name).unwrap();
        assert_eq!(
            (&after["data"], &after["metadata"]["labels"], &after["metadata"]["ownerReferences"]),
            (&before["data"], &before["metadata"]["labels"], &before["metadata"]["ownerReferences"])
        );
    }
    cluster.delete_json("configmaps", "n", "x");
    until("made", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    until("told no more", || condition(&cluster, "a", "Degraded").is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_dependent_that_changes_its_owner_counts_for_the_new_one_only() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[]), thing("b", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let reconcile = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(())));
    let owner = |name: &str| serde_json::from_value::<Thing>(thing(name, &[])).unwrap();
    let mut dependent = serde_json::to_value(config(&owner("a"), "x")).unwrap();
    cluster.put_json("configmaps", &dependent).unwrap();
    until("seen", || configs.owned_by(&owner("a")).len() == 1).await;
    dependent["metadata"]["ownerReferences"] =
        serde_json::to_value(&config(&owner("b"), "x").metadata.owner_references).unwrap();
    cluster.put_json("configmaps", &dependent).unwrap();
    until("moved", || configs.owned_by(&owner("b")).len() == 1).await;
    assert_eq!(configs.owned_by(&owner("a")).len(), 0);
    dependent["metadata"]["ownerReferences"] = json!([]);
    cluster.put_json("configmaps", &dependent).unwrap();
    until("without an owner", || configs.owned_by(&owner("b")).is_empty()).await;
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

/// A controller of Things that does nothing.
struct Idle {
    manager: Manager,
    configs: Owned<ConfigMap, Thing>,
    roles: Owned<ClusterRole, Thing>,
}

/// Starts it, and waits until its caches are filled.
async fn idle(cluster: &Cluster) -> Idle {
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let (configs, roles) = (controller.owns::<ConfigMap>(&labels()), controller.owns::<ClusterRole>(&labels()));
    let things = controller.primary();
    let reconcile = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    tokio::spawn(controller.run(reconcile, Arc::new(())));
    until("filled", || things.store().len() == cluster.list_json("things.test.dev").len()).await;
    quiet().await;
    Idle { manager, configs, roles }
}

fn parsed(name: &str) -> Thing {
    serde_json::from_value(thing(name, &[("x", &["k"])])).unwrap()
}

#[tokio::test]
async fn what_cannot_be_owned_is_refused_before_anything_is_written() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    let Idle { manager, configs, roles } = idle(&cluster).await;
    let a = parsed("a");
    cluster.clear_request_log();
    let mut refused = vec![];
    let mut far = config(&a, "x");
    far.metadata.namespace = Some("far".into());
    refused.push(configs.apply(&a, &far).await.unwrap_err());
    let mut other = config(&a, "x");
    other.metadata.owner_references.as_mut().unwrap()[0].kind = "Pod".into();
    refused.push(configs.apply(&a, &other).await.unwrap_err());
    let mut of_another = config(&a, "x");
    of_another.metadata.owner_references = config(&parsed("b"), "x").metadata.owner_references;
    refused.push(configs.apply(&a, &of_another).await.unwrap_err());
    let mut role = ClusterRole::default();
    role.metadata.name = Some("x".into());
    refused.push(roles.apply(&a, &role).await.unwrap_err());
    let text: Vec<_> = refused.iter().map(ToString::to_string).collect();
    let elsewhere = "ConfigMap `x` cannot be owned: its namespace is `far`, and that of its Thing `a` is `n`: leave the \
                     namespace out, or use `Controller::owns_by_annotation`";
    assert_eq!(
        text,
        [
            elsewhere,
            "ConfigMap `x` cannot be owned: it names Pod `a` as its controller: leave that owner reference out",
            "ConfigMap `x` cannot be owned: it names Thing `b` as its controller: leave that owner reference out",
            "ClusterRole `x` cannot be owned: it is cluster-scoped, and Thing is not: use \
             `Controller::owns_by_annotation`",
        ]
    );
    assert_eq!(cluster.writes(), []);
    manager.stop.cancel();
}

#[tokio::test]
async fn what_is_applied_belongs_to_its_owner_whatever_it_says_of_it() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    let Idle { manager, configs, .. } = idle(&cluster).await;
    let a = parsed("a");
    let bare: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "x" }, "data": { "k": "1" } })).unwrap();
    let made = configs.apply(&a, &bare).await.unwrap();
    assert_eq!(
        (&made.metadata.namespace, &made.metadata.labels, &made.metadata.owner_references),
        (&a.metadata.namespace, &Some(labels()), &config(&a, "x").metadata.owner_references)
    );
    cluster.clear_request_log();
    configs.apply(&a, &bare).await.unwrap();
    let mut written_out = config(&a, "x");
    configs.apply(&a, &written_out).await.unwrap();
    written_out.metadata.owner_references.as_mut().unwrap()[0].controller = None;
    configs.apply(&a, &written_out).await.unwrap();
    assert_eq!(cluster.writes(), [], "the same as what is written out");
    cluster.delete_json("things.test.dev", "n", "a");
    until("deleted with its owner", || cluster.list_json("configmaps").is_empty()).await;
    manager.stop.cancel();
}

#[tokio::test]
async fn what_the_reconcile_applied_at_any_time_and_what_others_made_is_not_pruned() {
    async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
        ctx.configs.apply(&thing, &config(&thing, "before")).await?;
        for name in thing.spec.configs.keys() {
            ctx.configs.apply(&thing, &config(&thing, name)).await?;
        }
        ctx.configs.apply(&thing, &config(&thing, "beside")).await?;
        ctx.dependents.prune(&thing).await?;
        Ok(Action::await_change())
    }
    let theirs = serde_json::to_value(config(&parsed("a"), "theirs")).unwrap();
    let things = [thing("a", &[("x", &["k"]), ("y", &["k"])])];
    let cluster = Cluster::default().with_json("things.test.dev", &things).with_json("configmaps", &[theirs]);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let configs = controller.owns(&labels());
    let ctx = Ctx { dependents: controller.dependents(), configs };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(ctx)));
    let names = || {
        let all = cluster.list_json("configmaps");
        all.iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    until("made", || names() == ["before", "beside", "theirs", "x", "y"]).await;
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("x", &["k"])])["spec"].take());
    until("pruned", || names() == ["before", "beside", "theirs", "x"]).await;
    quiet().await;
    assert_eq!(cluster.writes().len(), 5, "{:?}", cluster.writes());
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_edit_to_what_a_predicate_has_seen_before_an_own_write_is_news() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[("x", &["k"])])]);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let key = |it: &ConfigMap| it.data.as_ref()?.get("k")?.parse().ok();
    let configs = controller.owns(WatchOptions::from(&labels()).predicate(key));
    let ctx = Ctx { dependents: controller.dependents(), configs };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(ctx)));
    let is_ours = || data(&cluster, "x") == Some(json!({ "k": "1" }));
    until("made", is_ours).await;
    for _ in 0..3 {
        quiet().await;
        cluster.edit_json("configmaps", "n", "x", |it| it["data"]["k"] = json!("2"));
        until("put back", is_ours).await;
    }
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn two_owners_share_an_object_as_two_field_managers() {
    async fn reconcile(thing: Arc<Thing>, configs: Watched<ConfigMap, Thing>) -> Result<Action, Error> {
        let name = thing.metadata.name.clone().unwrap_or_default();
        let ours = json!({
            "metadata": { "name": "shared", "namespace": "n", "labels": labels() },
            "data": thing.spec.configs[&name],
        });
        FieldManager::new(format!("operator/{name}")).apply(&configs, &ours).await?;
        Ok(Action::await_change())
    }
    let cluster = Cluster::default()
        .with_json("things.test.dev", &[thing("a", &[("a", &["a", "both"])]), thing("b", &[("b", &["b", "both"])])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.watches(&labels(), |_: &ConfigMap| ["a".to_owned(), "b".to_owned()]);
    let task = tokio::spawn(controller.run(reconcile, configs));
    until("shared", || data(&cluster, "shared") == Some(json!({ "a": "1", "b": "1", "both": "1" }))).await;
    quiet().await;
    let calls = cluster.writes().len();
    assert!(calls <= 6, "{:?}", cluster.writes());
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("a", &["both"])])["spec"].take());
    until("without the key of one", || data(&cluster, "shared") == Some(json!({ "b": "1", "both": "1" }))).await;
    quiet().await;
    assert!(cluster.writes().len() <= calls + 4, "{:?}", cluster.writes());
    cluster.edit_json("things.test.dev", "n", "b", |it| it["spec"]["configs"]["b"]["both"] = json!("2"));
    until("told", || condition(&cluster, "b", "Degraded").is_some()).await;
    assert_eq!(condition(&cluster, "b", "Degraded").unwrap()["reason"], "Conflict");
    assert_eq!(data(&cluster, "shared").unwrap()["both"], "1");
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

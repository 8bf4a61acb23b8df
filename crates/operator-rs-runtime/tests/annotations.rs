//! Dependents in other namespaces and cluster-scoped ones, whose owner is named in annotations.

mod kinds;

use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    rbac::v1::ClusterRole,
};
use kinds::{Operates as _, Running, Thing, condition, labels, quiet, thing, until};
use operator_rs_runtime::{
    Action, Controller, Dependents, Error, FinalizerEvent, Manager, Owned, Primary, Result, finalizer,
};
use operator_rs_testing::Cluster;
use serde_json::{Value, from_value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

const THINGS: &str = "things.test.dev";
const ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

#[derive(Clone)]
struct Handles {
    configs: Owned<ConfigMap, Thing>,
    roles: Owned<ClusterRole, Thing>,
    dependents: Dependents<Thing>,
}

/// Applies a ConfigMap in the namespace `far` and a ClusterRole for each name.
async fn reconcile(thing: Arc<Thing>, handles: Handles) -> Result<Action> {
    for (name, data) in &thing.spec.configs {
        handles.configs.apply(&thing, &config(name, &json!(data))).await?;
        handles.roles.apply(&thing, &role(name)).await?;
    }
    handles.dependents.prune(&thing).await?;
    Ok(Action::await_change())
}

fn config(name: &str, data: &Value) -> ConfigMap {
    from_value(json!({ "metadata": { "name": name, "namespace": "far" }, "data": data })).unwrap()
}

fn role(name: &str) -> ClusterRole {
    from_value(json!({ "metadata": { "name": name }, "rules": [{ "verbs": ["get"] }] })).unwrap()
}

fn start(manager: &Manager) -> Running {
    let mut controller = Controller::new(manager);
    let handles = Handles {
        configs: controller.owns_by_annotation(&labels()),
        roles: controller.owns_by_annotation(&labels()),
        dependents: controller.dependents(),
    };
    Running::start(manager, controller.run(reconcile, handles))
}

/// The names of the ConfigMaps and of the ClusterRoles.
fn names(cluster: &Cluster) -> [Vec<String>; 2] {
    ["configmaps", ROLES].map(|resource| {
        let all = cluster.list_json(resource);
        all.iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    })
}

/// The names, if there is one of each kind.
fn both(names: &[&str]) -> [Vec<String>; 2] {
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    [names.clone(), names]
}

fn data(cluster: &Cluster, name: &str) -> Value {
    cluster.get_json("configmaps", "far", name).map(|mut object| object["data"].take()).unwrap_or_default()
}

fn set_configs(cluster: &Cluster, configs: &[(&str, &[&str])]) {
    cluster.edit_json(THINGS, "n", "a", |object| object["spec"] = thing("a", configs)["spec"].take());
}

/// What the condition `Degraded` of a Thing says.
async fn refusal(cluster: &Cluster, name: &str) -> (String, String) {
    until("refused", || condition(cluster, name, "Degraded").is_some()).await;
    let told = condition(cluster, name, "Degraded").unwrap();
    let text = |field: &str| told[field].as_str().unwrap().to_owned();
    (text("reason"), text("message"))
}

#[tokio::test]
async fn a_change_by_others_is_undone() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let running = start(&cluster.manager());
    until("made", || names(&cluster) == both(&["x"])).await;
    let annotations = || cluster.get_json("configmaps", "far", "x").unwrap()["metadata"]["annotations"].take();
    let named = |annotations: Value| {
        annotations["operator-sdk/primary-resource"] == "n/a"
            && annotations["operator-sdk/primary-resource-type"] == "Thing.test.dev"
    };
    assert!(named(annotations()), "{}", annotations());
    assert_eq!(cluster.get_json("configmaps", "far", "x").unwrap()["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(cluster.get_json(ROLES, "", "x").unwrap()["metadata"]["ownerReferences"], Value::Null);

    cluster.edit_json("configmaps", "far", "x", |object| object["data"] = json!({ "k": "2", "theirs": "3" }));
    until("put back", || data(&cluster, "x") == json!({ "k": "1", "theirs": "3" })).await;
    cluster.edit_json(ROLES, "", "x", |object| object["rules"] = json!([]));
    until("put back", || cluster.get_json(ROLES, "", "x").unwrap()["rules"] == json!([{ "verbs": ["get"] }])).await;
    cluster.delete_json(ROLES, "", "x");
    until("made again", || cluster.get_json(ROLES, "", "x").is_some()).await;
    cluster.edit_json("configmaps", "far", "x", |object| object["metadata"]["annotations"] = json!({}));
    until("owned again", || named(annotations())).await;
    quiet().await;
    running.stop().await;

    cluster.clear_request_log();
    let running = start(&cluster.manager());
    quiet().await;
    running.stop().await;
    assert_eq!(cluster.writes(), [], "of a new process");
}

#[tokio::test]
async fn what_is_not_desired_any_more_is_deleted() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"]), ("y", &[]), ("z", &[])])]);
    let running = start(&cluster.manager());
    until("made", || names(&cluster) == both(&["x", "y", "z"])).await;
    set_configs(&cluster, &[("x", &["k"]), ("y", &[])]);
    until("deleted", || names(&cluster) == both(&["x", "y"])).await;
    quiet().await;
    running.stop().await;
    set_configs(&cluster, &[("x", &["k"])]);
    let running = start(&cluster.manager());
    until("deleted after the start", || names(&cluster) == both(&["x"])).await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_of_another_owner_is_refused_and_not_changed() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let running = start(&cluster.manager());
    until("made", || names(&cluster) == both(&["x"])).await;
    quiet().await;
    let before = cluster.get_json("configmaps", "far", "x");
    cluster.put_json(THINGS, thing("b", &[("x", &["other"])])).unwrap();
    let message = "ConfigMap `x` already exists and is controlled by Thing.test.dev `n/a`";
    assert_eq!(refusal(&cluster, "b").await, ("NotOwned".into(), message.into()));
    cluster.delete_json(THINGS, "n", "b");
    quiet().await;
    assert_eq!(cluster.get_json("configmaps", "far", "x"), before);
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_this_operator_has_not_applied_is_refused_and_not_changed() {
    let annotated =
        json!({ "operator-sdk/primary-resource": "n/a", "operator-sdk/primary-resource-type": "Thing.test.dev" });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "far", "uid": "u" } });
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true });
    let unknown =
        "was not created by this operator: rename the desired object, or delete the existing one if nothing needs it";
    for (annotations, owners, why) in [
        (json!({}), json!([]), unknown),
        (annotated.clone(), json!([]), unknown),
        (annotated, json!([owner]), "is controlled by Pod `p`"),
    ] {
        let metadata = json!({
            "name": "x", "namespace": "far", "labels": labels(), "annotations": annotations, "ownerReferences": owners,
        });
        let theirs = json!({ "metadata": metadata, "data": { "k": "theirs" } });
        let cluster = Cluster::default()
            .with_json("pods", std::slice::from_ref(&pod))
            .with_json("configmaps", &[theirs])
            .with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
        let before = cluster.get_json("configmaps", "far", "x");
        let running = start(&cluster.manager());
        let message = format!("ConfigMap `x` already exists and {why}");
        assert_eq!(refusal(&cluster, "a").await, ("NotOwned".into(), message));
        set_configs(&cluster, &[]);
        until("reconciled", || condition(&cluster, "a", "Degraded").is_none()).await;
        quiet().await;
        assert_eq!(cluster.get_json("configmaps", "far", "x"), before, "neither changed nor pruned");
        running.stop().await;
    }
}

#[tokio::test]
async fn an_object_that_has_got_a_controller_is_not_pruned() {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "far", "uid": "u" } });
    let cluster =
        Cluster::default().with_json("pods", &[pod]).with_json(THINGS, &[thing("a", &[("x", &["k"]), ("y", &["k"])])]);
    let running = start(&cluster.manager());
    until("made", || names(&cluster) == both(&["x", "y"])).await;
    quiet().await;
    running.stop().await;
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true });
    cluster.edit_json("configmaps", "far", "x", |object| object["metadata"]["ownerReferences"] = json!([owner]));
    set_configs(&cluster, &[]);
    let running = start(&cluster.manager());
    until("pruned", || cluster.list_json(ROLES).is_empty()).await;
    quiet().await;
    assert_eq!(names(&cluster), [vec!["x".to_owned()], vec![]]);
    running.stop().await;
}

#[tokio::test]
async fn an_owner_of_another_kind_with_the_same_name_is_another_owner() {
    async fn reconcile(secret: Arc<Secret>, roles: Owned<ClusterRole, Secret>) -> Result<Action> {
        roles.apply(&secret, &role("x")).await?;
        Ok(Action::await_change())
    }
    let secret = json!({ "metadata": { "name": "a", "namespace": "n", "uid": "uid-secret" } });
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &[])])]);
    let manager = cluster.manager();
    let running = start(&manager);
    until("made", || names(&cluster) == both(&["x"])).await;
    let before = cluster.get_json(ROLES, "", "x");
    cluster.put_json("secrets", secret).unwrap();
    let mut controller = Controller::<Secret>::new(&manager);
    let roles = controller.owns_by_annotation(&labels());
    let other = Running::start(&manager, controller.run(reconcile, roles));
    until("refused", || !cluster.list_json("events.events.k8s.io").is_empty()).await;
    let event = &cluster.list_json("events.events.k8s.io")[0];
    let note = "ClusterRole `x` already exists and is controlled by Thing.test.dev `n/a`";
    assert_eq!((&event["reason"], &event["note"]), (&json!("NotOwned"), &json!(note)));
    assert_eq!(cluster.get_json(ROLES, "", "x"), before);
    running.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn an_object_with_annotations_of_an_owner_gets_no_owner_reference_to_another() {
    async fn reconcile(secret: Arc<Secret>, configs: Owned<ConfigMap, Secret>) -> Result<Action> {
        configs.apply(&secret, &config("x", &json!({}))).await?;
        Ok(Action::await_change())
    }
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let manager = cluster.manager();
    let running = start(&manager);
    until("made", || names(&cluster) == both(&["x"])).await;
    let before = cluster.get_json("configmaps", "far", "x");
    cluster
        .put_json("secrets", json!({ "metadata": { "name": "s", "namespace": "far", "uid": "uid-secret" } }))
        .unwrap();
    let mut controller = Controller::<Secret>::new(&manager);
    let configs = controller.owns(&labels());
    let other = Running::start(&manager, controller.run(reconcile, configs));
    until("refused", || !cluster.list_json("events.events.k8s.io").is_empty()).await;
    assert_eq!(cluster.list_json("events.events.k8s.io")[0]["reason"], "NotOwned");
    assert_eq!(cluster.get_json("configmaps", "far", "x"), before);
    running.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn an_owner_that_is_created_again_owns_what_is_left_of_the_earlier_one() {
    for is_running in [true, false] {
        let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"]), ("y", &["k"])])]);
        let mut running = Some(start(&cluster.manager()));
        until("made", || names(&cluster) == both(&["x", "y"])).await;
        quiet().await;
        if !is_running {
            running.take().unwrap().stop().await;
        }
        cluster.delete_json(THINGS, "n", "a");
        quiet().await;
        assert_eq!(names(&cluster), both(&["x", "y"]), "nothing deletes them with their owner");
        let mut again = thing("a", &[("x", &["k", "l"])]);
        again["metadata"]["uid"] = json!("another");
        cluster.put_json(THINGS, again).unwrap();
        let running = running.unwrap_or_else(|| start(&cluster.manager()));
        until("updated", || data(&cluster, "x") == json!({ "k": "1", "l": "1" })).await;
        until("pruned", || names(&cluster) == both(&["x"])).await;
        assert_eq!(condition(&cluster, "a", "Degraded"), None);
        running.stop().await;
    }
}

#[tokio::test]
async fn the_clean_up_of_a_finalizer_prunes_everything() {
    async fn guarded(thing: Arc<Thing>, context: (Primary<Thing>, Handles)) -> Result<Action> {
        let (things, handles) = context;
        finalizer(&things, "test.dev/far", thing, async |event| match event {
            FinalizerEvent::Apply(thing) => reconcile(thing, handles.clone()).await,
            FinalizerEvent::Cleanup(thing) => {
                handles.dependents.prune(&thing).await?;
                Ok(Action::await_change())
            }
        })
        .await
    }
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])]);
    let manager = cluster.manager();
    let mut controller = Controller::new(&manager);
    let handles = Handles {
        configs: controller.owns_by_annotation(&labels()),
        roles: controller.owns_by_annotation(&labels()),
        dependents: controller.dependents(),
    };
    let things = controller.primary();
    let running = Running::start(&manager, controller.run(guarded, (things, handles)));
    until("made", || names(&cluster) == both(&["x", "y"])).await;
    cluster.delete_json(THINGS, "n", "a");
    until("gone", || cluster.get_json(THINGS, "n", "a").is_none()).await;
    assert_eq!(names(&cluster), both(&["y"]));
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_owned_is_refused_before_anything_is_written() {
    let cluster = Cluster::default();
    let manager = cluster.manager().in_namespace("n");
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns_by_annotation::<ConfigMap>(&labels());
    let running = Running::start(&manager, controller.run(kinds::nothing, Arc::new(())));
    until("filled", || manager.readiness.pending().is_empty()).await;
    let owner = kinds::parsed(thing("a", &[]));
    let mut refused = vec![configs.apply(&owner, &config("x", &json!({}))).await.unwrap_err()];
    let mut controlled = kinds::config(&owner, "x");
    controlled.metadata.owner_references.as_mut().unwrap()[0].kind = "Pod".into();
    refused.push(configs.apply(&owner, &controlled).await.unwrap_err());
    let mut nowhere = config("x", &json!({}));
    nowhere.metadata.namespace = None;
    refused.push(configs.apply(&owner, &nowhere).await.unwrap_err());
    let text: Vec<_> = refused.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "ConfigMap `x` cannot be owned: its namespace is `far`, and this controller watches the namespace `n` only: \
             let it watch all namespaces",
            "ConfigMap `x` cannot be owned: it names Pod `a` as its controller: leave that owner reference out",
            "the object has no namespace",
        ]
    );
    assert_eq!(cluster.writes(), []);
    running.stop().await;
}

#[tokio::test]
async fn controllers_that_would_prune_the_dependents_of_each_other_are_refused() {
    let cluster = Cluster::default();
    let manager = cluster.manager();
    let is_pruning = AtomicBool::new(true);
    let run = || {
        let mut controller = Controller::<Thing>::new(&manager);
        let _configs = controller.owns_by_annotation::<ConfigMap>(&labels());
        let dependents = is_pruning.swap(false, SeqCst).then(|| controller.dependents());
        // Owner references are another relation.
        let _owned = dependents.as_ref().map(|_| controller.owns::<ConfigMap>(&labels()));
        controller.run(|_, _| async { Ok::<_, Error>(Action::await_change()) }, dependents)
    };
    let first = Running::start(&manager, run());
    until("filled", || manager.readiness.pending().is_empty()).await;
    quiet().await;
    let message = "`owns_by_annotation` was called twice for `configmaps` of `things.test.dev` with the same labels, so \
                   that what one applies is pruned by the other: give each a label of its own";
    assert_eq!(run().await.unwrap_err().to_string(), message);
    first.stop().await;
}

//! Changes by others to the objects of a controller, and objects of others, which are left alone.

mod kinds;

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use kinds::{
    Operates as _, Running, Thing, ThingStatus, condition, config, configs_of, data, labels, make, nothing, parsed,
    theirs, thing, until,
};
use operator_rs_runtime::{Action, Controller, Error, FieldManager, Manager, Primary, WatchOptions, conditions};
use operator_rs_testing::{Cluster, Fault};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::sleep;

const THINGS: &str = "things.test.dev";

#[tokio::test]
async fn an_empty_list_that_others_fill_is_not_applied_again_and_again() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let (running, configs) = configs_of(&cluster).await;
    let owner = parsed(thing("a", &[("x", &["k"])]));
    let mut desired = config(&owner, "x");
    desired.metadata.finalizers = Some(vec![]);
    configs.apply(&owner, &desired).await.unwrap();
    cluster.edit_json("configmaps", "n", "x", |it| it["metadata"]["finalizers"] = json!(["others.dev/theirs"]));
    until("seen", || configs.get(Some("n"), "x").is_some_and(|it| it.metadata.finalizers.is_some())).await;
    cluster.clear_request_log();
    configs.apply(&owner, &desired).await.unwrap();
    configs.apply(&owner, &desired).await.unwrap();
    running.stop().await;
    let (running, configs) = configs_of(&cluster).await;
    configs.apply(&owner, &desired).await.unwrap();
    assert_eq!(cluster.writes(), []);
    assert_eq!(
        cluster.get_json("configmaps", "n", "x").unwrap()["metadata"]["finalizers"],
        json!(["others.dev/theirs"])
    );
    running.stop().await;
}

#[tokio::test]
async fn an_old_state_of_a_condition_of_others_is_not_written() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    cluster.edit_json(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("False")] }));
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let things = controller.primary();
    let running = Running::start(&manager, controller.run(nothing, Arc::new(())));
    until("filled", || things.store().len() == 1).await;
    let read = things.store().state().pop().unwrap();
    let is_true = |it: &Thing| it.status.as_ref().is_some_and(|it| conditions::is_true(&it.conditions, "Theirs"));
    cluster.edit_json(THINGS, "n", "a", |it| it["status"]["conditions"][0] = theirs("True"));
    until("seen", || things.store().state().iter().all(|it| is_true(it))).await;
    let status = ThingStatus { external_id: Some("e".into()), ..read.status.clone().unwrap() };
    things.update_status(&read, status).await.unwrap();
    assert_eq!(condition(&cluster, "a", "Theirs"), Some(theirs("True")));
    assert_eq!(cluster.get_json(THINGS, "n", "a").unwrap()["status"]["externalId"], "e");
    running.stop().await;
}

#[tokio::test]
async fn an_event_says_no_more_than_the_server_takes() {
    let cluster = Cluster::default();
    let about = parsed(thing("a", &[]));
    cluster.manager().event(&about).warning("R", &"ä".repeat(2000)).await;
    let events = cluster.list_json("events.events.k8s.io");
    let note = events[0]["note"].as_str().unwrap();
    assert!((1000..=1024).contains(&note.len()), "{}", note.len());
}

#[tokio::test]
async fn a_secret_as_text_is_applied_as_data() {
    let cluster = Cluster::default();
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let secrets = controller.owns::<Secret>(&labels());
    let running = Running::start(&manager, controller.run(nothing, Arc::new(())));
    until("filled", || manager.readiness.pending().is_empty()).await;
    let owner = parsed(thing("a", &[]));
    let text = |keys: &[&str]| Secret {
        metadata: config(&owner, "s").metadata,
        string_data: Some(keys.iter().map(|it| (it.to_string(), "v".into())).collect()),
        data: Some([("bytes".into(), ByteString(vec![0]))].into()),
        ..Secret::default()
    };
    secrets.apply(&owner, &text(&["a", "b"])).await.unwrap();
    secrets.apply(&owner, &text(&["a"])).await.unwrap();
    let secret = cluster.get_json("secrets", "n", "s").unwrap();
    assert_eq!((&secret["data"], &secret["stringData"]), (&json!({ "a": "dg==", "bytes": "AA==" }), &Value::Null));
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_somebody_else_has_made_again_is_left_alone() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]);
    let (running, configs) = configs_of(&cluster).await;
    let owner = parsed(thing("a", &[("x", &["k"])]));
    let one = config(&owner, "x");
    let mut two = one.clone();
    two.data.as_mut().unwrap().insert("k".into(), "2".into());
    configs.apply(&owner, &one).await.unwrap();
    cluster.inject(Fault::HoldEvents);
    cluster.delete_json("configmaps", "n", "x");
    let foreign = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x", "namespace": "n" }, "data": { "k": "theirs" } });
    cluster.put_json("configmaps", foreign).unwrap();
    let error = configs.apply(&owner, &two).await.unwrap_err();
    assert!(matches!(error, Error::NotOwned { .. }), "{error}");
    cluster.delete_json("configmaps", "n", "x");
    configs.apply(&owner, &two).await.unwrap();
    assert_eq!(data(&cluster, "x"), Some(json!({ "k": "2" })));
    cluster.release_events();
    running.stop().await;
}

#[tokio::test]
async fn the_status_of_an_object_is_not_written_to_another_of_its_name() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let things = controller.primary();
    let running = Running::start(&manager, controller.run(nothing, Arc::new(())));
    until("filled", || things.store().len() == 1).await;
    let read = things.store().state().pop().unwrap();
    cluster.inject(Fault::HoldEvents);
    cluster.edit_json(THINGS, "n", "a", |it| it["metadata"]["labels"] = json!({ "a": "b" }));
    let status = |id: &str| ThingStatus { external_id: Some(id.into()), conditions: vec![] };
    things.update_status(&read, status("1")).await.unwrap();
    assert_eq!(
        cluster.get_json(THINGS, "n", "a").unwrap()["status"]["externalId"],
        "1",
        "an edit is no reason to fail"
    );
    cluster.delete_json(THINGS, "n", "a");
    cluster.put_json(THINGS, thing("a", &[])).unwrap();
    let error = things.update_status(&read, status("2")).await.unwrap_err();
    assert_eq!(operator_rs_runtime::ReconcileError::reason(&error), "Conflict");
    assert_eq!(cluster.get_json(THINGS, "n", "a").unwrap()["status"], Value::Null);
    cluster.release_events();
    running.stop().await;
}

/// The CRD of Things, with this type of its list of conditions.
fn crd(list: Value) -> Value {
    let keep = "x-kubernetes-preserve-unknown-fields";
    let condition = json!({ "type": "object", keep: true, "properties": { "type": { "type": "string" } } });
    let mut conditions = json!({ "type": "array", "items": condition });
    conditions.as_object_mut().unwrap().extend(list.as_object().unwrap().clone());
    let status = json!({ "type": "object", keep: true, "properties": { "conditions": conditions } });
    let schema = json!({ "openAPIV3Schema": { "type": "object", keep: true, "properties": { "status": status } } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": THINGS },
        "spec": { "group": "test.dev", "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "schema": schema, "subresources": { "status": {} } }] },
    })
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_by_an_event_only_where_the_list_of_conditions_is_atomic() {
    struct Ctx(Primary<Thing>, AtomicUsize, AtomicBool);
    async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
        let count = ctx.1.fetch_add(1, SeqCst);
        if ctx.2.load(SeqCst) {
            let mut status = thing.status.clone().unwrap_or_default();
            conditions::set(&mut status.conditions, Some(1), conditions::new("Available", true, "AsExpected", ""));
            ctx.0.update_status(&thing, ThingStatus { external_id: Some(count.to_string()), ..status }).await?;
        }
        Err(Error::MissingField("luck"))
    }
    let keyed = json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
    for (list, told) in [(keyed, 1), (json!({}), 0)] {
        for writes_status in [true, false] {
            let cluster = Cluster::default().with_crds(&[crd(list.clone())]).with_json(THINGS, &[thing("a", &[])]);
            let manager = cluster.manager();
            let controller = Controller::<Thing>::new(&manager);
            let ctx = Arc::new(Ctx(controller.primary(), 0.into(), writes_status.into()));
            let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
            sleep(Duration::from_secs(10)).await;
            let tries = ctx.1.load(SeqCst);
            assert!((3..=9).contains(&tries), "{tries} reconciles in 10 s of back-off");
            assert_eq!(condition(&cluster, "a", "Degraded").iter().count(), told, "{list}");
            assert_eq!(condition(&cluster, "a", "Available").is_some(), writes_status, "{list}");
            assert_eq!(cluster.list_json("events.events.k8s.io").len(), 1);
            running.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dependent_of_an_earlier_owner_is_waited_for() {
    let mut dependent = serde_json::to_value(config(&parsed(thing("a", &[("x", &["k"])])), "x")).unwrap();
    dependent["metadata"]["ownerReferences"][0]["uid"] = json!("earlier");
    let cluster =
        Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]).with_json("configmaps", &[dependent]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&manager, controller.run(make, configs));
    sleep(Duration::from_secs(20)).await;
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.list_json("events.events.k8s.io").len()), (None, 0));
    cluster.delete_json("configmaps", "n", "x");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(data(&cluster, "x"), Some(json!({ "k": "1" })));
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.list_json("events.events.k8s.io").len()), (None, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_gains_a_status_has_conditions() {
    let cluster = Cluster::default().without_status_subresource(THINGS).with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let reconcile = |_, _| async { Err::<Action, _>(Error::MissingField("luck")) };
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(())));
    sleep(Duration::from_secs(600)).await;
    let tries = cluster.count_writes(&format!("PATCH {THINGS}/status"));
    assert!((2..=11).contains(&tries), "{tries} in ten minutes");
    assert_eq!(cluster.list_json("events.events.k8s.io").len(), 1);
    let keyed = json!({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });
    let _ = cluster.clone().with_crds(&[crd(keyed)]);
    sleep(Duration::from_secs(400)).await;
    assert!(condition(&cluster, "a", "Degraded").is_some());
    running.stop().await;
}

/// The kind of the fields has to be that of the handle: it is not replaced by it.
#[tokio::test]
async fn fields_of_another_kind_are_refused() {
    let cluster = Cluster::default();
    let manager = Manager::new(operator_rs_runtime::identity!(), cluster.client());
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.watches(WatchOptions::default(), |_: &ConfigMap| None::<String>);
    let secret = json!({ "kind": "Secret", "metadata": { "name": "a", "namespace": "n" } });
    let error = FieldManager::new("a").apply(&configs, &secret).await.unwrap_err();
    assert_eq!(error.to_string(), "Secret `a` cannot be applied through a handle of ConfigMap: use a handle of Secret");
    assert!(cluster.writes().is_empty());
}

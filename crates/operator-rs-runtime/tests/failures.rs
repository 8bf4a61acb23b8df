//! Reports of failures, and the status and the conditions after one.

mod kinds;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kinds::{Operates as _, Running, Thing, ThingStatus, condition, quiet, thing, until};
use kube::ResourceExt;
use operator_rs_runtime::{Action, Controller, Error, Primary, conditions};
use operator_rs_testing::{Cluster, Fault, FaultRule};
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

fn status_of(cluster: &Cluster, name: &str) -> Value {
    cluster.get_json(THINGS, "n", name).unwrap()["status"].take()
}

/// The first step writes the status, the second fails as long as it is told to.
struct Steps {
    things: Primary<Thing>,
    fails: AtomicBool,
    made: AtomicUsize,
}

async fn two_steps(thing: Arc<Thing>, ctx: Arc<Steps>) -> Result<Action, Error> {
    let mut status = thing.status.clone().unwrap_or_default();
    if status.external_id.is_none() {
        ctx.made.fetch_add(1, SeqCst);
        status.external_id = Some("e-1".into());
    }
    conditions::set(&mut status.conditions, Some(1), conditions::new("Degraded", false, "AsExpected", ""));
    ctx.things.update_status(&thing, status).await?;
    if ctx.fails.load(SeqCst) {
        return Err(Error::MissingField("luck"));
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_failure_keeps_the_status_that_an_earlier_step_wrote() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::new(&manager);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: true.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&manager, controller.run(two_steps, ctx.clone()));
    until("degraded", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == "True")).await;
    assert_eq!(status_of(&cluster, "a")["externalId"], "e-1");
    sleep(Duration::from_secs(2)).await; // it is tried again some times
    assert_eq!(ctx.made.load(SeqCst), 1, "the external resource is made once");
    let degraded = condition(&cluster, "a", "Degraded").unwrap();
    assert_eq!((&degraded["status"], &degraded["message"]), (&json!("True"), &json!("the object has no luck")));
    assert_eq!(
        cluster.count_writes(&format!("PATCH {THINGS}/status")),
        2,
        "one for each of the two, however often it fails"
    );
    assert_eq!(cluster.list_json("events.events.k8s.io").len(), 1);
    ctx.fails.store(false, SeqCst);
    until("well", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == "False")).await;
    assert_eq!(status_of(&cluster, "a")["externalId"], "e-1");
    quiet().await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_was_well_before_is_well_again_after_a_failure() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::new(&manager);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: false.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&manager, controller.run(two_steps, ctx.clone()));
    let degraded = |status: &str| condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == *status);
    until("well", || degraded("False")).await;
    // The manager of the operator owns parts of the condition still, those that a failure does not change.
    ctx.fails.store(true, SeqCst);
    cluster.edit_json(THINGS, "n", "a", |it| it["metadata"]["annotations"] = json!({ "touched": "yes" }));
    until("degraded", || degraded("True")).await;
    ctx.fails.store(false, SeqCst);
    until("well again", || degraded("False")).await;
    let condition = condition(&cluster, "a", "Degraded").unwrap();
    assert_eq!((&condition["reason"], condition.as_object().unwrap().len()), (&json!("AsExpected"), 6), "{condition}");
    assert_eq!(cluster.count_writes(&format!("PATCH {THINGS}/status")), 4);
    quiet().await;
    running.stop().await;
}

#[tokio::test]
async fn conditions_of_others_stay_theirs() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let theirs = |status: &str| json!({ "type": "Theirs", "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    cluster.edit_json(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("False")] }));
    let manager = cluster.manager();
    let controller = Controller::new(&manager);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: false.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&manager, controller.run(two_steps, ctx.clone()));
    until("written", || condition(&cluster, "a", "Degraded").is_some()).await;
    let sent = cluster.writes().into_iter().find(|it| it.summary == format!("PATCH {THINGS}/status")).unwrap();
    assert!(!sent.body.to_string().contains("Theirs"), "{}", sent.body);
    cluster.edit_json(THINGS, "n", "a", |it| it["status"]["conditions"][0] = theirs("True"));
    quiet().await;
    assert_eq!(condition(&cluster, "a", "Theirs").unwrap()["status"], "True");
    running.stop().await;
}

#[tokio::test]
async fn an_error_that_could_pass_is_told_when_it_does_not() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let fails = Arc::new(AtomicBool::new(true));
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let reconcile = |_, fails: Arc<AtomicBool>| async move {
        match fails.load(SeqCst) {
            true => Err(Error::Timeout(Duration::from_secs(1))),
            false => Ok(Action::await_change()),
        }
    };
    let running = Running::start(&manager, controller.run(reconcile, fails.clone()));
    until("told", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["reason"] == "Timeout")).await;
    fails.store(false, SeqCst);
    until("taken back", || condition(&cluster, "a", "Degraded").is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_kind_without_conditions_has_events() {
    for cluster in
        [Cluster::default().without_status_conditions(THINGS), Cluster::default().without_status_subresource(THINGS)]
    {
        let cluster = cluster.with_json(THINGS, &[thing("a", &[])]);
        let manager = cluster.manager();
        let controller = Controller::<Thing>::new(&manager);
        let reconcile = |_, _| async { Err::<Action, _>(Error::MissingField("luck")) };
        let running = Running::start(&manager, controller.run(reconcile, Arc::new(())));
        until("told", || cluster.list_json("events.events.k8s.io").len() == 1).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(cluster.list_json("events.events.k8s.io").len(), 1);
        assert_eq!(cluster.count_writes(&format!("PATCH {THINGS}/status")), 1, "it is not tried again");
        running.stop().await;
    }
}

#[test]
fn a_condition_that_becomes_true_is_seen_once() {
    let mut after: Vec<Condition> = vec![];
    conditions::set(&mut after, None, conditions::new("Available", true, "R", ""));
    assert!(conditions::became_true(&[], &after, "Available"));
    assert!(!conditions::became_true(&after, &after, "Available"));
}

#[tokio::test]
async fn a_finalizer_that_somebody_adds_meanwhile_is_no_fault_of_the_object() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    // The watch has not shown it when the operator's own finalizer is added.
    cluster.inject(Fault::DelayEvents { delay: Duration::from_secs(1) });
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    struct Ctx(Cluster, Primary<Thing>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        if thing.finalizers().is_empty() {
            ctx.0.edit_json(THINGS, "n", "a", |it| it["metadata"]["finalizers"] = json!(["others.dev/theirs"]));
        }
        let done = |_| async { Ok::<_, Error>(Action::await_change()) };
        operator_rs_runtime::finalizer(&ctx.1, "test.dev/ours", thing, done).await
    };
    let ctx = Ctx(cluster.clone(), controller.primary());
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(ctx)));
    let finalizers = || cluster.get_json(THINGS, "n", "a").unwrap()["metadata"]["finalizers"].take();
    until("both there", || finalizers() == json!(["others.dev/theirs", "test.dev/ours"])).await;
    running.stop().await;
    assert_eq!(cluster.list_json("events.events.k8s.io"), [json!(null); 0]);
    assert_eq!(condition(&cluster, "a", "Degraded"), None);
}

#[tokio::test]
async fn the_status_of_another_controller_is_left_alone() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    controller.without_conditions();
    let reconcile = |_, _| async { Err::<Action, _>(Error::MissingField("luck")) };
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(())));
    until("told", || cluster.list_json("events.events.k8s.io").len() == 1).await;
    running.stop().await;
    assert_eq!(cluster.count_writes(&format!("PATCH {THINGS}/status")), 0);
}

#[tokio::test]
async fn a_status_that_cannot_be_written_is_reported() {
    let cluster = Cluster::default().without_status_subresource(THINGS).with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::new(&manager);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: false.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&manager, controller.run(two_steps, ctx));
    until("told", || cluster.list_json("events.events.k8s.io").len() == 1).await;
    running.stop().await;
    let event = &cluster.list_json("events.events.k8s.io")[0];
    let expected = "the status of `a` cannot be written, because `things.test.dev` has no subresource `status`: declare \
                    it in the CRD, as by `#[kube(status = …)]`, and install the CRD again";
    assert_eq!((&event["reason"], &event["note"]), (&json!("NoStatus"), &json!(expected)));
}

/// Writes to an object that is gone, but that the watch still shows.
struct Gone {
    cluster: Cluster,
    things: Primary<Thing>,
    again: Option<Value>,
    reconciled: AtomicUsize,
}

async fn write_to_what_is_gone(thing: Arc<Thing>, ctx: Arc<Gone>) -> Result<Action, Error> {
    if ctx.reconciled.fetch_add(1, SeqCst) == 0 {
        ctx.cluster.inject(Fault::HoldEvents);
        ctx.cluster.delete_json(THINGS, "n", "a");
        ctx.again.iter().for_each(|it| drop(ctx.cluster.put_json(THINGS, it).unwrap()));
    }
    let status = ThingStatus { external_id: Some("e-1".into()), ..ThingStatus::default() };
    ctx.things.update_status(&thing, status).await?;
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_status_of_an_object_that_is_gone_is_no_failure() {
    for (is_told_by_events, again) in
        [(true, None), (false, None), (true, Some(thing("a", &[]))), (false, Some(thing("a", &[])))]
    {
        let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
        let manager = cluster.manager();
        let mut controller = Controller::<Thing>::new(&manager);
        if is_told_by_events {
            controller.without_conditions();
        }
        let count = if again.is_some() { 2 } else { 1 };
        let (cluster_of, things) = (cluster.clone(), controller.primary());
        let ctx = Arc::new(Gone { cluster: cluster_of, things, again, reconciled: AtomicUsize::new(0) });
        let running = Running::start(&manager, controller.run(write_to_what_is_gone, ctx.clone()));
        until("reconciled", || ctx.reconciled.load(SeqCst) == 1).await;
        sleep(Duration::from_millis(1500)).await; // a retry would be in a second
        assert_eq!(ctx.reconciled.load(SeqCst), 1);
        cluster.release_events();
        quiet().await;
        running.stop().await;
        assert_eq!(ctx.reconciled.load(SeqCst), count);
        assert_eq!(cluster.list_json("events.events.k8s.io"), [json!(null); 0]);
        let left = cluster.get_json(THINGS, "n", "a").map(|it| it["status"].clone());
        assert_eq!(left, (count == 2).then(|| json!({ "externalId": "e-1", "conditions": [] })));
    }
}

#[tokio::test]
async fn a_failure_is_not_taken_back_on_an_object_that_is_gone() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let ctx = Arc::new((cluster.clone(), AtomicBool::new(true), AtomicUsize::new(0)));
    let reconcile = |_, ctx: Arc<(Cluster, AtomicBool, AtomicUsize)>| async move {
        if ctx.1.load(SeqCst) {
            return Err(Error::MissingField("luck"));
        }
        ctx.2.fetch_add(1, SeqCst);
        ctx.0.inject(Fault::HoldEvents);
        ctx.0.delete_json(THINGS, "n", "a");
        Ok(Action::await_change())
    };
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
    until("degraded", || condition(&cluster, "a", "Degraded").is_some()).await;
    ctx.1.store(false, SeqCst);
    until("well", || ctx.2.load(SeqCst) == 1).await;
    sleep(Duration::from_millis(1500)).await; // a retry would be in a second
    assert_eq!(ctx.2.load(SeqCst), 1);
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_is_created_again_has_not_failed_before() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    controller.without_conditions();
    let reconcile = |_, _| async { Err::<Action, _>(Error::MissingField("luck")) };
    let running = Running::start(&manager, controller.run(reconcile, Arc::new(())));
    let events = || cluster.list_json("events.events.k8s.io");
    until("told", || events().len() == 1).await;
    cluster.inject(Fault::HoldEvents);
    cluster.delete_json(THINGS, "n", "a");
    cluster.put_json(THINGS, thing("a", &[])).unwrap();
    cluster.release_events();
    until("told of the other one", || events().len() == 2).await;
    let uids: Vec<_> = events().iter().map(|it| it["regarding"]["uid"].clone()).collect();
    assert_ne!(uids[0], uids[1]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_that_cannot_be_written_does_not_wait_as_long_as_an_object_that_fails_often() {
    let refused = Arc::new(AtomicBool::new(false));
    let refuse = refused.clone();
    let cluster =
        Cluster::default().with_json(THINGS, &[thing("a", &[])]).with_fault(FaultRule::for_writes(move |it| {
            let is_refused = it.subresource == "status" && refuse.swap(false, SeqCst);
            if is_refused { Some(Fault::Refuse { code: 500 }) } else { None }
        }));
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let reconcile = |_, fails: Arc<AtomicBool>| async move {
        if fails.load(SeqCst) { Err(Error::MissingField("luck")) } else { Ok(Action::await_change()) }
    };
    let fails = Arc::new(AtomicBool::new(true));
    let running = Running::start(&manager, controller.run(reconcile, fails.clone()));
    let paused = |it: &str| {
        let annotations = json!({ "test.dev/paused": it });
        cluster.edit_json(THINGS, "n", "a", |it| it["metadata"]["annotations"] = annotations);
    };
    sleep(Duration::from_secs(600)).await;
    assert!(condition(&cluster, "a", "Degraded").is_some());
    for (value, condition_type) in [("true", "Paused"), ("false", "Degraded")] {
        refused.store(true, SeqCst);
        fails.store(value == "true", SeqCst);
        paused(value);
        sleep(Duration::from_secs(2)).await;
        let is_there = condition(&cluster, "a", condition_type).is_some();
        assert_eq!((is_there, refused.load(SeqCst)), (value == "true", false), "{condition_type}");
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_taken_back_during_a_reconcile_is_not_written_again_with_the_status() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]);
    let manager = cluster.manager();
    let controller = Controller::<Thing>::new(&manager);
    let ctx = Arc::new((controller.primary(), AtomicBool::new(true)));
    let reconcile = |thing: Arc<Thing>, ctx: Arc<(Primary<Thing>, AtomicBool)>| async move {
        if ctx.1.load(SeqCst) {
            return Err(Error::MissingField("luck"));
        }
        // Meanwhile the cache sees that the condition is gone: its removal has succeeded, and the answer was lost.
        sleep(Duration::from_secs(1)).await;
        let status = ThingStatus { external_id: Some("e-1".into()), ..thing.status.clone().unwrap_or_default() };
        ctx.0.update_status(&thing, status).await?;
        Ok(Action::await_change())
    };
    let running = Running::start(&manager, controller.run(reconcile, ctx.clone()));
    until("told", || condition(&cluster, "a", "Degraded").is_some()).await;
    ctx.1.store(false, SeqCst);
    cluster.edit_json(THINGS, "n", "a", |it| it["spec"]["secret"] = json!("s"));
    sleep(Duration::from_millis(500)).await;
    cluster.edit_json(THINGS, "n", "a", |it| it["status"]["conditions"] = json!([]));
    sleep(Duration::from_secs(10)).await;
    assert_eq!(status_of(&cluster, "a"), json!({ "externalId": "e-1", "conditions": [] }));
    running.stop().await;
}

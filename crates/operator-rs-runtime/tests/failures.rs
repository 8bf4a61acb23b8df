//! How a failure is told, and what becomes of the status and the conditions.

mod kinds;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kinds::{Operates as _, Running, Thing, condition, quiet, thing, until};
use kube::ResourceExt;
use operator_rs_testing::Cluster;
use runtime::{Action, Controller, Error, Primary, conditions};
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
    cluster.get(THINGS, "n", name).unwrap()["status"].take()
}

/// The first step writes the status, the second fails as long as it is told to.
struct Steps {
    things: Arc<Primary<Thing>>,
    fails: AtomicBool,
    made: AtomicUsize,
}

async fn two_steps(thing: Arc<Thing>, ctx: Arc<Steps>) -> Result<Action, Error> {
    let mut status = thing.status.clone().unwrap_or_default();
    if status.external_id.is_none() {
        ctx.made.fetch_add(1, SeqCst);
        status.external_id = Some("e-1".into());
    }
    conditions::set(&mut status.conditions, Some(1), "Degraded", false, ("AsExpected", ""));
    ctx.things.set_status(&thing, status).await?;
    if ctx.fails.load(SeqCst) {
        return Err(Error::Missing("luck"));
    }
    Ok(Action::await_change())
}

#[tokio::test]
async fn a_failure_keeps_the_status_that_an_earlier_step_wrote() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::new(&operator);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: true.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&operator, controller.run(two_steps, ctx.clone()));
    until("degraded", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == "True")).await;
    assert_eq!(status_of(&cluster, "a")["externalId"], "e-1");
    sleep(Duration::from_secs(2)).await; // it is tried again some times
    assert_eq!(ctx.made.load(SeqCst), 1, "the external resource is made once");
    let degraded = condition(&cluster, "a", "Degraded").unwrap();
    assert_eq!((&degraded["status"], &degraded["message"]), (&json!("True"), &json!("the object has no luck")));
    assert_eq!(cluster.count(&format!("PATCH {THINGS}/status")), 2, "one for each of the two, however often it fails");
    assert_eq!(cluster.list("events.events.k8s.io").len(), 1);
    ctx.fails.store(false, SeqCst);
    until("well", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == "False")).await;
    assert_eq!(status_of(&cluster, "a")["externalId"], "e-1");
    quiet().await;
    running.stop().await;
}

#[tokio::test]
async fn an_object_that_was_well_before_is_well_again_after_a_failure() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let controller = Controller::new(&operator);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: false.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&operator, controller.run(two_steps, ctx.clone()));
    let degraded = |status: &str| condition(&cluster, "a", "Degraded").is_some_and(|it| it["status"] == *status);
    until("well", || degraded("False")).await;
    // The manager of the operator owns parts of the condition still, those that a failure does not change.
    ctx.fails.store(true, SeqCst);
    cluster.edit(THINGS, "n", "a", |it| it["metadata"]["annotations"] = json!({ "touched": "yes" }));
    until("degraded", || degraded("True")).await;
    ctx.fails.store(false, SeqCst);
    until("well again", || degraded("False")).await;
    let condition = condition(&cluster, "a", "Degraded").unwrap();
    assert_eq!((&condition["reason"], condition.as_object().unwrap().len()), (&json!("AsExpected"), 6), "{condition}");
    assert_eq!(cluster.count(&format!("PATCH {THINGS}/status")), 4);
    quiet().await;
    running.stop().await;
}

#[tokio::test]
async fn conditions_of_others_stay_theirs() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let theirs = |status: &str| json!({ "type": "Theirs", "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    cluster.edit(THINGS, "n", "a", |it| it["status"] = json!({ "conditions": [theirs("False")] }));
    let operator = cluster.operator();
    let controller = Controller::new(&operator);
    let ctx = Arc::new(Steps { things: controller.primary(), fails: false.into(), made: AtomicUsize::new(0) });
    let running = Running::start(&operator, controller.run(two_steps, ctx.clone()));
    until("written", || condition(&cluster, "a", "Degraded").is_some()).await;
    let sent = cluster.writes().into_iter().find(|it| it.what == format!("PATCH {THINGS}/status")).unwrap();
    assert!(!sent.body.to_string().contains("Theirs"), "{}", sent.body);
    cluster.edit(THINGS, "n", "a", |it| it["status"]["conditions"][0] = theirs("True"));
    quiet().await;
    assert_eq!(condition(&cluster, "a", "Theirs").unwrap()["status"], "True");
    running.stop().await;
}

#[tokio::test]
async fn an_error_that_could_pass_is_told_when_it_does_not() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let fails = Arc::new(AtomicBool::new(true));
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    let reconcile = |_, fails: Arc<AtomicBool>| async move {
        match fails.load(SeqCst) {
            true => Err(Error::Timeout(Duration::from_secs(1))),
            false => Ok(Action::await_change()),
        }
    };
    let running = Running::start(&operator, controller.run(reconcile, fails.clone()));
    until("told", || condition(&cluster, "a", "Degraded").is_some_and(|it| it["reason"] == "Timeout")).await;
    fails.store(false, SeqCst);
    until("taken back", || condition(&cluster, "a", "Degraded").is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_kind_without_conditions_has_events() {
    for cluster in [Cluster::default().without_conditions(THINGS), Cluster::default().without_status(THINGS)] {
        let cluster = cluster.with(THINGS, &[thing("a", &[])]);
        let operator = cluster.operator();
        let controller = Controller::<Thing>::new(&operator);
        let reconcile = |_, _| async { Err::<Action, _>(Error::Missing("luck")) };
        let running = Running::start(&operator, controller.run(reconcile, Arc::new(())));
        until("told", || cluster.list("events.events.k8s.io").len() == 1).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(cluster.list("events.events.k8s.io").len(), 1);
        assert_eq!(cluster.count(&format!("PATCH {THINGS}/status")), 1, "it is not tried again");
        running.stop().await;
    }
}

#[test]
fn a_condition_that_becomes_true_is_seen_once() {
    let mut after: Vec<Condition> = vec![];
    conditions::set(&mut after, None, "Available", true, ("R", ""));
    assert!(conditions::became_true(&[], &after, "Available"));
    assert!(!conditions::became_true(&after, &after, "Available"));
}

#[tokio::test]
async fn a_finalizer_that_somebody_adds_meanwhile_is_no_fault_of_the_object() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    // The watch has not shown it when the operator's own finalizer is added.
    cluster.delay_watches(Duration::from_secs(1));
    let operator = cluster.operator();
    let controller = Controller::<Thing>::new(&operator);
    struct Ctx(Cluster, Arc<Primary<Thing>>);
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        if thing.finalizers().is_empty() {
            ctx.0.edit(THINGS, "n", "a", |it| it["metadata"]["finalizers"] = json!(["others.dev/theirs"]));
        }
        let done = |_| async { Ok::<_, Error>(Action::await_change()) };
        runtime::finalizer(&ctx.1, "test.dev/ours", thing, done).await
    };
    let ctx = Ctx(cluster.clone(), controller.primary());
    let running = Running::start(&operator, controller.run(reconcile, Arc::new(ctx)));
    let finalizers = || cluster.get(THINGS, "n", "a").unwrap()["metadata"]["finalizers"].take();
    until("both there", || finalizers() == json!(["others.dev/theirs", "test.dev/ours"])).await;
    running.stop().await;
    assert_eq!(cluster.list("events.events.k8s.io"), [json!(null); 0]);
    assert_eq!(condition(&cluster, "a", "Degraded"), None);
}

#[tokio::test]
async fn the_status_of_another_controller_is_left_alone() {
    let cluster = Cluster::default().with(THINGS, &[thing("a", &[])]);
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    controller.without_conditions();
    let reconcile = |_, _| async { Err::<Action, _>(Error::Missing("luck")) };
    let running = Running::start(&operator, controller.run(reconcile, Arc::new(())));
    until("told", || cluster.list("events.events.k8s.io").len() == 1).await;
    running.stop().await;
    assert_eq!(cluster.count(&format!("PATCH {THINGS}/status")), 0);
}

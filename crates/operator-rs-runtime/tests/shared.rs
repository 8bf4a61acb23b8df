//! Controllers that share a kind share its watch.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Thing, config, labels, quiet, thing, until};
use operator_rs_testing::Cluster;
use runtime::{Action, Children, Controller, Error, Labels, Operator, Watch};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A controller of Things whose ConfigMaps have these labels.
fn start(operator: &Operator, labels: &Labels) -> (Arc<Children<ConfigMap>>, JoinHandle<anyhow::Result<()>>) {
    let mut controller = Controller::<Thing>::new(operator);
    let configs = controller.owns::<ConfigMap>(labels);
    let nothing = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    (configs, tokio::spawn(controller.run(nothing, Arc::new(()))))
}

fn parent() -> Thing {
    serde_json::from_value(thing("a", &[("x", &["k"])])).unwrap()
}

fn count(cluster: &Cluster, verb: &str, resource: &str) -> usize {
    cluster.requests().iter().filter(|it| it.verb == verb && it.resource == resource).count()
}

fn put(cluster: &Cluster, name: &str) {
    cluster.put("configmaps", serde_json::to_value(config(&parent(), name)).unwrap()).unwrap();
}

#[tokio::test]
async fn ten_controllers_of_a_kind_have_one_watch_of_it() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[])]);
    let operator = cluster.operator();
    let all: Vec<_> = (0..10).map(|_| start(&operator, &labels())).collect();
    put(&cluster, "x");
    until("seen by all", || all.iter().all(|(configs, _)| configs.of(&parent()).len() == 1)).await;
    for resource in ["things.test.dev", "configmaps"] {
        let requests = ["list", "watch"].map(|verb| count(&cluster, verb, resource));
        assert_eq!((requests, cluster.watches(resource)), ([1, 1], 1), "{resource}");
    }
    until("reconciled by all", || kinds::reconciled(&operator) >= 10).await;
    operator.stop.cancel();
    for (_, task) in all {
        task.await.unwrap().unwrap();
    }
    quiet().await;
    assert_eq!((cluster.watches("things.test.dev"), cluster.watches("configmaps")), (0, 0), "it ends with the last");
}

#[tokio::test]
async fn another_selection_has_a_watch_of_its_own() {
    let cluster = Cluster::default();
    let operator = cluster.operator();
    let other = Labels::from([("app".into(), "other".into())]);
    let _all = [start(&operator, &labels()), start(&operator, &other)];
    let mut controller = Controller::<Thing>::new(&operator);
    let by_field = controller.watches(Watch::default().fields("metadata.name=y"), |_: &ConfigMap| None::<String>);
    let nothing = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    let task = tokio::spawn(controller.run(nothing, Arc::new(())));
    until("watching", || cluster.watches("configmaps") == 3).await;
    put(&cluster, "x");
    put(&cluster, "y");
    until("seen", || by_field.get(Some("n"), "y").is_some()).await;
    assert!(by_field.get(Some("n"), "x").is_none());
    assert_eq!(cluster.watches("things.test.dev"), 1);
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_controller_that_comes_late_sees_everything_and_one_that_ends_takes_nothing_away() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[])]);
    put(&cluster, "x");
    let operator = cluster.operator();
    let first = Operator { stop: operator.stop.child_token(), ..operator.clone() };
    let (early, task) = start(&first, &labels());
    until("seen", || early.of(&parent()).len() == 1).await;
    until("watching", || cluster.watches("configmaps") == 1).await;
    let (late, last) = start(&operator, &labels());
    until("seen by the late one", || late.of(&parent()).len() == 1).await;
    put(&cluster, "y");
    until("seen by both", || early.of(&parent()).len() == 2 && late.of(&parent()).len() == 2).await;
    first.stop.cancel();
    task.await.unwrap().unwrap();
    put(&cluster, "z");
    until("seen by the other", || late.of(&parent()).len() == 3).await;
    quiet().await;
    assert_eq!((early.of(&parent()).len(), cluster.watches("configmaps")), (2, 1));
    operator.stop.cancel();
    last.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_watch_that_is_refused_ends_all_of_its_controllers() {
    let cluster = Cluster::default().forbidding("configmaps");
    let operator = cluster.operator();
    for (_, task) in [start(&operator, &labels()), start(&operator, &labels())] {
        let end = task.await.unwrap().unwrap_err().to_string();
        assert!(end.starts_with("this account may not list or watch `configmaps`: "), "{end}");
    }
}

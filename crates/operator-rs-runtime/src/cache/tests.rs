//! Tests the caches with orders of events, responses and lists that do not occur with the in-memory API server.

use super::*;
use crate::labels::Labels;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::runtime::watcher::Event;
use operator_rs_testing::Cluster;
use serde_json::{Value, json};
use std::sync::Arc;

fn observed<K: Watchable>(object: &Value) -> Observed<K> {
    serde_json::from_str(&object.to_string()).unwrap()
}

fn configs(cluster: &Cluster) -> Arc<Children<ConfigMap>> {
    let link = Link::Owner(by_owner::<Deployment, ConfigMap>(), Owners::new(deployments()));
    Children::new(cluster.client(), "operator", Labels::new(), WatchOptions::default().filter(), link, |_| {})
}

fn deployments() -> Arc<PrimaryCache<Deployment>> {
    PrimaryCache::new(
        Cluster::default().client(),
        "operator",
        &Claims::default(),
        WatchOptions::default().filter(),
        |_| {},
    )
}

fn owner() -> Deployment {
    serde_json::from_value(json!({ "metadata": { "name": "p", "namespace": "n", "uid": "u" } })).unwrap()
}

fn dependent(version: &str) -> Value {
    let owner = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "p", "uid": "u", "controller": true });
    json!({ "metadata": {
        "name": "c", "namespace": "n", "uid": "c", "resourceVersion": version, "ownerReferences": [owner],
        "managedFields": [{ "manager": "operator", "operation": "Apply", "fieldsV1": { "f:data": {} } }] } })
}

#[tokio::test]
async fn what_was_pruned_stays_gone_when_an_older_event_comes_late() {
    let cluster = Cluster::default().with_json("configmaps", &[dependent("5")]);
    let configs = configs(&cluster);
    configs.handle_event(Event::Apply(observed(&dependent("5"))));
    configs.prune(&owner(), prune::now()).await.unwrap();
    assert!(configs.objects_of_parent(&owner()).is_empty());
    configs.handle_event(Event::Apply(observed(&dependent("6"))));
    assert!(configs.objects_of_parent(&owner()).is_empty(), "an edit of before the deletion");
    for event in [Event::Init, Event::InitApply(observed(&dependent("6"))), Event::InitDone] {
        configs.handle_event(event);
    }
    assert!(configs.objects_of_parent(&owner()).is_empty(), "a list of before the deletion");
}

#[tokio::test]
async fn an_answer_that_comes_after_a_list_without_the_object_is_verified() {
    let cluster = Cluster::default();
    let configs = configs(&cluster);
    let lists = lock(&configs.state).recent.list_count();
    for event in [Event::Init, Event::InitDone] {
        configs.handle_event(event);
    }
    assert!(!configs.record_write(&observed(&dependent("5")), Some(1), &json!({}), lists));
    configs.verify_exists("n/c").await.unwrap();
    assert!(configs.objects_of_parent(&owner()).is_empty());
}

#[tokio::test]
async fn a_new_owner_that_an_own_write_shows_first_is_told() {
    let told = Arc::new(std::sync::Mutex::new(vec![]));
    let (cluster, tell) = (Cluster::default(), told.clone());
    let link = Link::Owner(by_owner::<Deployment, ConfigMap>(), Owners::new(deployments()));
    let trigger = move |key: &str| tell.lock().unwrap().push(key.to_owned());
    let filter = WatchOptions::default().filter();
    let configs = Children::<ConfigMap>::new(cluster.client(), "operator", Labels::new(), filter, link, trigger);
    configs.handle_event(Event::Apply(observed(&dependent("5"))));
    told.lock().unwrap().clear();
    let mut moved = dependent("7");
    moved["metadata"]["ownerReferences"][0]["name"] = json!("q");
    configs.record_write(
        &observed(&moved),
        Some(1),
        &json!({ "metadata": { "ownerReferences": [{ "uid": "u" }] } }),
        0,
    );
    assert_eq!(*told.lock().unwrap(), ["n/q", "n/p"]);
}

fn deployment(version: &str, conditions: Value) -> Value {
    let fields = json!({ "f:status": { "f:conditions": { "k:{\"type\":\"Degraded\"}": { ".": {} } } } });
    json!({
        "metadata": { "name": "p", "namespace": "n", "uid": "u", "resourceVersion": version, "managedFields": [
            { "manager": "operator/failure", "operation": "Apply", "subresource": "status", "fieldsV1": fields }] },
        "status": { "conditions": conditions },
    })
}

#[tokio::test]
async fn a_failure_that_was_told_during_a_list_is_known_after_it() {
    let deployments = deployments();
    let listed = || observed::<Deployment>(&deployment("5", json!([])));
    for event in [Event::Init, Event::InitApply(listed()), Event::InitDone, Event::Init] {
        deployments.handle_event(event);
    }
    let told = json!([{ "type": "Degraded", "status": "True" }]);
    deployments.record_write(&observed(&deployment("7", told)), &json!({})).unwrap();
    for event in [Event::InitApply(listed()), Event::InitDone] {
        deployments.handle_event(event);
    }
    assert_eq!(deployments.get("n/p").unwrap().metadata.resource_version.as_deref(), Some("7"));
    assert!(deployments.has_reported("n/p", "Degraded"));
}

#[tokio::test]
async fn an_answer_about_an_object_that_is_gone_brings_no_ghost() {
    let deployments = deployments();
    for event in [Event::Init, Event::InitDone] {
        deployments.handle_event(event);
    }
    deployments.record_write(&observed(&deployment("5", json!([]))), &json!({})).unwrap();
    assert!(deployments.get("n/p").is_none());
    deployments.handle_event(Event::Apply(observed(&deployment("4", json!([])))));
    assert!(deployments.get("n/p").is_none(), "older than an own write");
    deployments.handle_event(Event::Apply(observed(&deployment("5", json!([])))));
    assert!(deployments.get("n/p").is_some());
}

#[tokio::test]
async fn an_object_that_cannot_be_decoded_is_told_once_and_forgotten_when_it_is_gone() {
    let deployments = deployments();
    let bad = || observed::<Deployment>(&json!({ "metadata": { "name": "p", "resourceVersion": "1" }, "spec": 7 }));
    let mut told = vec![];
    for event in [
        vec![Event::Init, Event::InitApply(bad()), Event::InitDone],
        vec![Event::Init, Event::InitApply(bad()), Event::InitDone],
        vec![Event::Init, Event::InitDone],
        vec![Event::Init, Event::InitApply(bad()), Event::InitDone],
    ] {
        told.push(event.into_iter().filter_map(|event| deployments.handle_event(event).undecodable).count());
    }
    assert_eq!(told, [1, 0, 0, 1]);
}

/// Returns a cache with a predicate for the generation, and a function that returns the number of new triggers.
fn triggered() -> (Arc<PrimaryCache<Deployment>>, impl Fn() -> usize) {
    let told = Arc::new(std::sync::Mutex::new(0));
    let tell = told.clone();
    let selected = WatchOptions::<Deployment>::default().predicate(kube::runtime::predicates::generation::<Deployment>);
    let primary = PrimaryCache::new(
        Cluster::default().client(),
        "operator",
        &Claims::default(),
        selected.filter(),
        move |_: &str| *tell.lock().unwrap() += 1,
    );
    (primary, move || std::mem::take(&mut *told.lock().unwrap()))
}

fn generation(number: i64) -> Value {
    json!({ "metadata":
        { "name": "p", "namespace": "n", "uid": "u", "resourceVersion": number.to_string(), "generation": number } })
}

#[tokio::test]
async fn a_change_that_an_interrupted_list_has_shown_is_news_after_the_next_one() {
    let (deployments, triggers) = triggered();
    let listed = |number| Event::InitApply(observed::<Deployment>(&generation(number)));
    for event in [Event::Init, listed(1), Event::InitDone] {
        deployments.handle_event(event);
    }
    assert_eq!(triggers(), 1);
    for event in [Event::Init, listed(2), Event::Init, listed(2), Event::InitDone] {
        deployments.handle_event(event);
    }
    assert_eq!(triggers(), 1);
    for event in [Event::Init, listed(2), Event::InitDone] {
        deployments.handle_event(event);
    }
    assert_eq!(triggers(), 0, "the same again");
}

#[tokio::test]
async fn an_object_that_can_be_decoded_again_is_news() {
    let (deployments, triggers) = triggered();
    deployments.handle_event(Event::Apply(observed(&generation(1))));
    let mut bad = generation(2);
    bad["spec"] = json!(7);
    deployments.handle_event(Event::Apply(observed(&bad)));
    triggers();
    let mut repaired = generation(3);
    repaired["metadata"]["generation"] = json!(1);
    deployments.handle_event(Event::Apply(observed(&repaired)));
    assert_eq!(triggers(), 1);
}

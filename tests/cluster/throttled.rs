//! The API server has no room for the operator's calls, and answers 429.

use std::{net::TcpListener, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::Ground,
    lab::Lab,
    operator::Operator,
    server::{JSON, Server},
};

pub async fn calls_that_are_turned_away_are_made_again(lab: Arc<Lab>) {
    let ground = lab.ground("throttled").await;
    let server = ground.server.clone();
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("m0", 1).await;
    ground.until_available("m0", 60).await;

    // The operator's account has one place at a time, and who finds it taken is turned away.
    let group = "flowcontrol.apiserver.k8s.io/v1";
    let limit = json!({ "apiVersion": group, "kind": "PriorityLevelConfiguration", "metadata": { "name": "throttled" },
        "spec": { "type": "Limited", "limited": { "nominalConcurrencyShares": 0, "lendablePercent": 0,
            "borrowingLimitPercent": 0, "limitResponse": { "type": "Reject" } } } });
    server.apply(&limit).await;
    let account = json!({ "name": ground.account(), "namespace": ground.system() });
    let groups = ["cache.example.com", "apps", "events.k8s.io"];
    let schema = json!({ "apiVersion": group, "kind": "FlowSchema", "metadata": { "name": "throttled" },
        "spec": { "matchingPrecedence": 50, "priorityLevelConfiguration": { "name": "throttled" }, "rules": [{
            "subjects": [{ "kind": "ServiceAccount", "serviceAccount": account }],
            "resourceRules": [{ "verbs": ["*"], "apiGroups": groups, "resources": ["*"], "namespaces": ["*"], "clusterScope": true }] }] } });
    server.apply(&schema).await;
    let stalled = stall(&ground, 20).await;
    let before = turned_away(&ground);
    for it in 1..=10 {
        ground.memcached(&format!("m{it}"), 1).await;
    }
    stalled.await.expect("it ends");
    let during = turned_away(&ground) - before;
    server.delete("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/throttled").await;
    assert!(during >= 20, "{during} calls have been answered 429: too few to say anything");

    for it in 0..=10 {
        ground.until_available(&format!("m{it}"), 240).await;
        let events = ground.events(&format!("m{it}")).await;
        // One that was turned away four times in a row may have been told so when there was room again.
        let is_fine = |it: &&(String, String)| it.0 == "Normal" || it.1 == "TooManyRequests";
        assert_eq!(events.iter().find(|it| !is_fine(it)), None, "{events:?}");
    }
    println!("turned away {during} times in 20 s");
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
}

fn turned_away(ground: &Ground) -> usize {
    ground.calls().iter().filter(|it| it["responseStatus"]["code"] == 429).count()
}

/// Takes that one place for so long: a call of the same account, that waits for a webhook that says nothing.
async fn stall(ground: &Ground, seconds: u64) -> tokio::task::JoinHandle<()> {
    let silent = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let url = format!("https://{}/", silent.local_addr().expect("it is bound"));
    let namespace = format!("{}-stalled", ground.namespace);
    ground.server.namespace(&namespace).await;
    let webhook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "throttled" },
        "webhooks": [{
            "name": "silent.example.com",
            "clientConfig": { "url": url },
            "rules": [{ "operations": ["CREATE"], "apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"] }],
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Ignore",
            "timeoutSeconds": seconds,
        }],
    });
    ground.server.apply(&webhook).await;
    let (kubeconfig, _) = ground.kubeconfig("stalled", &ground.token().await);
    let account = Server::connect(&kubeconfig).await;
    let path = format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events");
    // Until the new rules are in force everywhere, the call is answered at once.
    let mut answered = String::new();
    for _ in 0..40 {
        let (account, path, event) = (account.clone(), path.clone(), event(&namespace));
        let mut call = tokio::spawn(async move { account.ask("POST", &path, JSON, event).await });
        tokio::select! {
            it = &mut call => answered = format!("{it:?}"),
            () = sleep(Duration::from_secs(1)) => {
                // The silent listener lives as long as the call.
                return tokio::spawn(async move {
                    let _ = call.await;
                    drop(silent);
                });
            }
        }
        sleep(Duration::from_millis(250)).await;
    }
    panic!("the webhook is not asked: {answered}");
}

fn event(namespace: &str) -> Value {
    json!({
        "metadata": { "generateName": "it-" },
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "action": "Wait",
        "reason": "Trial",
        "type": "Normal",
        "reportingController": "trial",
        "reportingInstance": "trial",
        "regarding": { "kind": "Memcached", "namespace": namespace, "name": "it" },
    })
}

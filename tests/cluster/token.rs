//! The token of the operator's account is replaced on disk, and the old one is no more.

use std::{fs, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    lab::Lab,
    operator::Operator,
    server::{JSON, Server},
};

pub async fn a_token_that_is_rotated_on_disk_is_taken_up(lab: Arc<Lab>) {
    let ground = lab.ground("token").await;
    let system = ground.system();
    // A token lives for 10 minutes at least; one that is bound to a Secret ends with it.
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "bound", "namespace": system } });
    let secret = ground.server.apply(&secret).await.body;
    let bound = json!({ "apiVersion": "v1", "kind": "Secret", "name": "bound", "uid": secret["metadata"]["uid"] });
    let first = ground.token_of(&system, &ground.account(), bound).await;
    let mut operator = Operator::start_with(&ground, "manager", &first, |it| {
        // Who leads has to stop when it may not say so for 10 seconds.
        it.retain(|it| it != "--leader-elect");
    })
    .await;
    ground.memcached("before", 1).await;
    ground.until_available("before", 60).await;

    fs::write(&operator.token, ground.token().await).expect("the folder is ours");
    ground.server.delete(&format!("/api/v1/namespaces/{system}/secrets/bound")).await;
    // The API server remembers for some seconds that the token was good.
    let (kubeconfig, _) = ground.kubeconfig("revoked", &first);
    let old = Server::connect(&kubeconfig).await;
    let limit = Instant::now() + Duration::from_secs(60);
    let mut code = 0;
    while code != 401 {
        assert!(Instant::now() < limit, "the old token is good still: {code}");
        sleep(Duration::from_millis(200)).await;
        let answer = old.ask("GET", &ground.at("before"), JSON, Value::Null).await;
        code = answer.expect("the API server answers").code;
    }
    let revoked = Instant::now();
    ground.memcached("after", 1).await;
    ground.until_available("after", 120).await;
    println!(
        "a new token was in use {} s after the old one was revoked",
        revoked.elapsed().as_secs()
    );
    assert!(operator.runs(), "{}", operator.log());
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    let events = ground.events("after").await;
    assert!(events.iter().all(|it| it.0 == "Normal"), "{events:?}");
    operator.stop().await;
}

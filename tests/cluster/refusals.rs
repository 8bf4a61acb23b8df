//! What the operator cannot do, and says: a right that is missing, a server that is silent, a name that is too long.

use std::{process::Command, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    control_plane::signal,
    ground::{found, is},
    lab::Lab,
    operator::Operator,
    security::{probe, reader, scrape},
    server::path,
    support,
    wishes::config_map,
};

pub async fn a_right_that_is_missing_ends_the_operator_and_deploy_shows_it(lab: Arc<Lab>) {
    let ground = lab.own_wishful_ground("lacking", false).await;
    ground.install().await;
    let role = path(ground.object("ClusterRole"));
    let role = role
        .replace(role.rsplit('/').next().expect("it has a name"), &ground.named("manager-role"));
    let before = ground.server.get(&role).await.expect("it is installed");
    let mut rules = before["rules"].clone();
    let rules = rules.as_array_mut().expect("it has rules");
    rules.retain(|it| it["resources"] != json!(["networkpolicies"]));
    assert_eq!(rules.len() + 1, before["rules"].as_array().map_or(0, Vec::len));
    ground.server.merge(&role, json!({ "rules": rules })).await;

    let start = Instant::now();
    let mut operator = Operator::start(&ground, "manager").await;
    let end = operator.ended(20).await;
    println!("without a right, it has ended after {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(end.code(), Some(1), "{}", operator.log());
    let said = operator.said(" ERROR ");
    assert_eq!(said.len(), 1, "{}", operator.log());
    let why = "this account may not list or watch `networkpolicies.networking.k8s.io`: add `// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=list;watch`";
    assert!(said[0].contains(why), "{}", said[0]);
    assert_eq!(operator.log().lines().last(), Some(&*said[0]), "it is the last line");

    // No pod runs here, so that it is this trial that tells what became of it, as a kubelet does.
    let dir = ground.project.manager.parent().expect("it is in the project's folder").to_owned();
    let kubeconfig = ground.plane.dir.join("kubeconfig");
    let deploy = async |words: &'static str| {
        let mut command: Command = support::command(support::BINARY, &dir);
        command.arg("deploy").args(words.split(' ')).arg("--kubeconfig").arg(&kubeconfig);
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("it ends").expect("the binary starts");
        (output.status.code(), support::said(&output))
    };
    let (code, said) = deploy("--timeout 5s --force-conflicts").await;
    assert_eq!(code, Some(1), "{said}");
    let pods = format!("/api/v1/namespaces/{}/pods", ground.system());
    let pod = ground.server.list(&pods).await.remove(0);
    let ended = json!({
        "name": "manager", "image": "x", "imageID": "", "ready": false, "restartCount": 3,
        "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container" } },
        "lastState": { "terminated": {
            "exitCode": end.code(), "reason": "Error", "containerID": "containerd://a",
            "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z", "message": operator.log(),
        } },
    });
    let at = format!("{pods}/{}/status", pod["metadata"]["name"].as_str().expect("it has a name"));
    ground.server.merge(&at, json!({ "status": { "containerStatuses": [ended] } })).await;
    let (code, said) = deploy("--timeout 5s").await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(why), "{said}");
}

pub async fn a_server_that_is_silent_is_reported_and_waited_for(lab: Arc<Lab>) {
    let ground = lab.own_wishful_ground("silent", false).await;
    ground.install().await;
    let token = ground.token().await;
    let mut single = Operator::start_with(&ground, "single", &token, |it| {
        it.retain(|it| it != "--leader-elect");
        it.push("--kube-api-timeout=4s".into());
    })
    .await;
    let elsewhere = |it: &mut Vec<String>| it.push("--watch-namespace=elsewhere".into());
    ground.server.namespace("elsewhere").await;
    let mut leader = Operator::start_with(&ground, "leader", &token, elsewhere).await;
    leader.until_said("leading", 30).await;
    let map = |name: &str| config_map(name, json!({ "a": "1" }));
    ground.wish("before", &[map("before")]).await;

    // It is seen, and waits for 3 seconds before it writes.
    ground.ask("during", &[map("one"), map("two")], json!({ "trial": "wait" })).await;
    sleep(Duration::from_secs(1)).await;
    let pids = [ground.plane.server_id()];
    // Connections are taken by the system, for which nothing has changed.
    signal("STOP", &pids[0]);
    let start = Instant::now();
    let end = leader.ended(20).await;
    let ended = start.elapsed();
    assert_eq!(end.code(), Some(1), "{}", leader.log());
    assert_eq!(leader.said(" ERROR ").len(), 1, "{}", leader.log());
    assert_eq!(leader.said("lost the Lease").len(), 1, "{}", leader.log());
    assert!(ended < Duration::from_secs(13), "the leader has ended after {ended:?}");
    single.until_said("within 4s", 20).await;
    let why = "did not answer PATCH /api/v1/namespaces/default/configmaps/one within 4s";
    assert!(single.said("within 4s")[0].contains(why), "{}", single.log());
    let said = start.elapsed();
    assert!(said < Duration::from_secs(12), "said after {said:?}");
    println!("silence: the leader ended after {ended:.1?}, the time-out was said after {said:.1?}");
    sleep(Duration::from_secs(10)).await;
    assert!(single.runs(), "{}", single.log());
    assert_eq!(single.said(" ERROR "), [""; 0]);
    assert_eq!(probe(&single, "/healthz").await, 200);

    signal("CONT", &pids[0]);
    for name in ["one", "two"] {
        ground.server.until(&ground.child(&map(name)), 60, "made", |it| !it.is_null()).await;
    }
    let well = |it: &Value| is(it, "Available", "True") && !is(it, "Degraded", "True");
    ground.server.until(&ground.at("during"), 60, "well", well).await;
    ground.server.merge(&ground.child(&map("before")), json!({ "data": { "a": "2" } })).await;
    // Metadata does not show what is in it; but who owns which field.
    let back = |it: &Value| it["data"]["a"] == "1";
    ground.server.until(&ground.child(&map("before")), 60, "put back", back).await;
    ground.wish("after", &[map("after")]).await;
    assert!(single.runs(), "{}", single.log());
    single.stop().await;
}

pub async fn names_of_any_length_are_reconciled_or_reported(lab: Arc<Lab>) {
    let ground = lab.ground("names").await;
    let operator = Operator::start(&ground, "manager").await;
    for length in [63, 64, 200, 253] {
        let name = "n".repeat(length);
        ground.memcached(&name, 1).await;
        let told = |it: &Value| is(it, "Available", "True") || is(it, "Degraded", "True");
        let object =
            ground.server.until(&ground.at(&name), 60, "available or degraded", told).await;
        if is(&object, "Available", "True") {
            println!("a name of {length} characters is available");
            assert_eq!(object["status"]["nodes"].as_array().map(Vec::len), Some(1), "{object:#}");
        } else {
            let condition = found(&object, "Degraded").expect("it is");
            println!(
                "a name of {length} characters: {}: {}",
                condition["reason"], condition["message"]
            );
            assert!(length > 200, "{condition:#}");
            assert!(
                condition["message"].as_str().is_some_and(|it| it.contains("must be no more than")),
                "{condition:#}"
            );
            assert!(ground.events(&name).await.iter().any(|it| it.0 == "Warning"));
        }
    }
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
}

pub async fn probes_and_metrics_answer_on_ipv6_too(lab: Arc<Lab>) {
    let ground = lab.ground("ipv6").await;
    let port = |it: &str| it.rsplit(':').next().expect("it has one").to_owned();
    // As the manifests have it: a port, and nothing else.
    let mut operator = Operator::start_with(&ground, "manager", &ground.token().await, |it| {
        it.iter_mut().for_each(|it| *it = it.replace("=127.0.0.1:", "=:"));
        assert_eq!(it.iter().filter(|it| it.contains("=:")).count(), 2, "{it:?}");
    })
    .await;
    operator.until_said("leading", 30).await;
    let token = reader(&ground).await;
    for address in ["[::1]", "127.0.0.1"] {
        operator.probes = format!("{address}:{}", port(&operator.probes));
        operator.metrics = format!("{address}:{}", port(&operator.metrics));
        for page in ["/healthz", "/readyz"] {
            assert_eq!(probe(&operator, page).await, 200, "{address}{page}");
        }
        assert_eq!(scrape(&operator, None, Some(&token)).await.0, 200, "{address}");
    }
    operator.stop().await;
}

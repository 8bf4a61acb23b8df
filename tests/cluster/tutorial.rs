//! The tutorial, from the first object to the last, by the operator's own account on a cluster of its own.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{ground::is, lab::Lab, operator::Operator, security::probe};

pub async fn the_tutorial_holds_from_install_to_delete(lab: Arc<Lab>) {
    let ground = lab.own_ground("tutorial", true).await;
    let server = &ground.server;
    // The manager's pods of the Deployment are simulated: the process below stands for them.
    let said = ground.operator_rs(&["deploy"]).await;
    assert!(said.contains("create     Deployment "), "{said}");
    let operator = Operator::start(&ground, "manager").await;

    let mut sample = ground.project.sample.clone();
    sample["metadata"]["namespace"] = json!("default");
    sample["spec"]["size"] = json!(3);
    server.apply(&sample).await;
    let name = sample["metadata"]["name"].as_str().expect("it has a name");
    let three = nodes_are(3);
    let object = server.until(&ground.at(name), 60, "running 3 pods", three).await;
    assert!(is(&object, "Available", "True") && is(&object, "Progressing", "False"), "{object:#}");
    assert!(is(&object, "Degraded", "False"), "{object:#}");
    assert_eq!((probe(&operator, "/healthz").await, probe(&operator, "/readyz").await), (200, 200));
    let selector = object["status"]["selector"].as_str().expect("autoscalers need it").to_owned();
    let selector = selector.replace('=', "%3D").replace(',', "%2C");
    let pods_at = format!("/api/v1/namespaces/default/pods?labelSelector={selector}");
    assert_eq!(json!(names(&server.list(&pods_at).await)), object["status"]["nodes"]);
    let deployment = server.get(&ground.deployment_at(name)).await.expect("it has a Deployment");
    let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(image, "memcached:1.6.39-alpine");

    // As `kubectl scale` does.
    let scale = format!("{}/scale", ground.at(name));
    server.merge(&scale, json!({ "spec": { "replicas": 5 } })).await;
    let object = server.until(&ground.at(name), 60, "running 5 pods", nodes_are(5)).await;
    assert_eq!(json!(names(&server.list(&pods_at).await)), object["status"]["nodes"]);
    let scale = server.get(&scale).await.expect("it has a scale");
    assert_eq!(scale["status"]["replicas"], 5);
    let told = ground.events(name).await;
    assert!(told.contains(&("Normal".into(), "Available".into())), "{told:?}");
    assert!(told.iter().all(|it| it.0 == "Normal"), "{told:?}");

    server.delete(&ground.at(name)).await;
    server.until_gone(&ground.at(name), 30).await;
    server.until_gone(&ground.deployment_at(name), 90).await;
    let no_pods = |it: &Value| it["items"].as_array().is_some_and(Vec::is_empty);
    server.until(&pods_at, 60, "empty", no_pods).await;
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    server.until(sets, 60, "empty", no_pods).await;

    assert_eq!(operator.said(" WARN "), [""; 0]);
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
    let calls = ground.calls();
    let refused: Vec<&Value> =
        calls.iter().filter(|it| it["responseStatus"]["code"] == 403).collect();
    assert!(calls.len() > 10 && refused.is_empty(), "{} calls, refused: {refused:#?}", calls.len());

    ground.operator_rs(&["undeploy", "--yes"]).await;
    for kind in ["CustomResourceDefinition", "Namespace", "ClusterRole"] {
        server.until_gone(&crate::server::path(ground.object(kind)), 60).await;
    }
}

/// So many are ready, and named.
fn nodes_are(size: usize) -> impl Fn(&Value) -> bool {
    move |it| {
        it["status"]["readyReplicas"] == size
            && it["status"]["nodes"].as_array().is_some_and(|it| it.len() == size)
    }
}

fn names(objects: &[Value]) -> Vec<&str> {
    let mut names: Vec<_> =
        objects.iter().filter_map(|it| it["metadata"]["name"].as_str()).collect();
    names.sort();
    names
}

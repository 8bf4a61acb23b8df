//! `Memcached` reconciled against an API server in memory: no cluster, no network.

mod support;

use api::cache::v1alpha1::Memcached;
use operator::controller::memcached as reconciler;
use serde_json::json;

const IMAGE: &str = "registry.example.com/image:v1";

/// As the API server in memory knows the kind.
fn resource() -> String {
    support::resource::<Memcached>()
}

async fn run(env: operator::runtime::Env) -> anyhow::Result<()> {
    reconciler::run_with(env, Some(IMAGE.into())).await
}

fn sample(size: i32) -> Memcached {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": "a", "namespace": "default", "uid": "1", "generation": 1, "resourceVersion": "10" },
        "spec": { "size": size },
    });
    serde_json::from_value(object).unwrap()
}

/// The Deployment of `obj` as the API server would return it.
fn running(obj: &Memcached, ready: i32) -> serde_json::Value {
    let mut deployment = serde_json::to_value(reconciler::deployment_for(obj, IMAGE).unwrap()).unwrap();
    deployment["metadata"]["resourceVersion"] = json!("20");
    deployment["metadata"]["generation"] = json!(1);
    deployment["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = json!("IfNotPresent");
    deployment["status"] =
        json!({ "observedGeneration": 1, "replicas": ready, "updatedReplicas": ready, "readyReplicas": ready });
    deployment
}

fn settled(mut obj: Memcached) -> Memcached {
    let deployment = serde_json::from_value(running(&obj, obj.spec.size)).unwrap();
    obj.status = Some(reconciler::status_for(&obj, &deployment, vec![]));
    obj
}

fn patch_status() -> String {
    format!("PATCH {}/status", resource())
}

#[tokio::test]
async fn a_new_object_gets_a_deployment_and_a_status() {
    let cluster = support::Cluster::default().with(&resource(), &[sample(2)]);
    assert_eq!(cluster.run(1, run).await, ["PATCH deployments.apps", &patch_status()]);
    let writes = cluster.writes();
    assert_eq!(writes[0].body["metadata"]["ownerReferences"][0]["controller"], true);
    assert_eq!(writes[1].body["status"]["conditions"][1]["type"], "Progressing");
    assert_eq!(writes[1].body["status"]["conditions"][1]["status"], "True");
}

/// A pod of `deployment` as the API server would return it.
fn pod(deployment: &serde_json::Value, name: &str) -> serde_json::Value {
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    json!({ "metadata": { "name": name, "namespace": "default", "labels": labels, "resourceVersion": "30" } })
}

#[tokio::test]
async fn a_settled_object_costs_no_request() {
    let mut obj = settled(sample(2));
    let deployment = running(&obj, 2);
    // They are listed in another order than they were seen in before the restart.
    let pods = ["p-2", "p-1"].map(|name| pod(&deployment, name));
    obj.status.as_mut().unwrap().nodes = vec!["p-1".into(), "p-2".into()];
    let cluster = support::Cluster::default().with("pods", &pods).with("deployments.apps", &[deployment]);
    assert_eq!(cluster.with(&resource(), &[obj]).run(1, run).await, [""; 0]);
}

#[tokio::test]
async fn availability_is_reported_once() {
    let obj = sample(2);
    let cluster = support::Cluster::default().with("deployments.apps", &[running(&obj, 2)]).with(&resource(), &[obj]);
    assert_eq!(cluster.run(1, run).await, [&patch_status(), "POST events.events.k8s.io"]);
}

#[tokio::test]
async fn hand_edits_are_put_back() {
    let obj = settled(sample(2));
    let mut edited = running(&obj, 2);
    edited["spec"]["replicas"] = json!(5);
    let cluster = support::Cluster::default().with("deployments.apps", &[edited]).with(&resource(), &[obj]);
    assert_eq!(cluster.run(1, run).await[0], "PATCH deployments.apps");
    assert_eq!(cluster.writes()[0].body["spec"]["replicas"], 2);
}

#[tokio::test]
async fn a_failure_is_reported_once_and_retried() {
    let cluster = support::Cluster::default().with(&resource(), &[sample(2)]).refusing("deployments.apps");
    cluster.run(3, run).await;
    assert!(3 <= cluster.count("PATCH deployments.apps"));
    assert_eq!((cluster.count(&patch_status()), cluster.count("POST events.events.k8s.io")), (1, 1));
    let condition = &cluster.writes()[1].body["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Degraded"), &json!("True")));
}

#[tokio::test]
async fn without_an_image_the_object_is_degraded() {
    let cluster = support::Cluster::default().with(&resource(), &[sample(2)]);
    let writes = cluster.run(1, |env| reconciler::run_with(env, None)).await;
    assert_eq!(writes, [&patch_status(), "POST events.events.k8s.io"]);
    let condition = &cluster.writes()[0].body["status"]["conditions"][0];
    assert_eq!(condition["reason"], "NotConfigured");
    assert!(condition["message"].as_str().unwrap().contains("RELATED_IMAGE_"));
}

#[test]
fn the_status_is_a_function_of_what_runs() {
    for size in 0..5 {
        for ready in 0..=size {
            let obj = sample(size);
            let deployment = serde_json::from_value(running(&obj, ready)).unwrap();
            let status = reconciler::status_for(&obj, &deployment, vec!["pod".into()]);
            let get = |it| status.conditions.iter().find(|c| c.type_ == it).unwrap().status == "True";
            assert_eq!((get("Available"), get("Progressing")), (ready == size, ready != size), "{ready} of {size}");
            assert_eq!(status.nodes.len(), usize::from(ready == size), "listed when settled");
        }
    }
}

#[test]
fn pods_pass_pod_security_restricted() {
    let deployment = running(&sample(1), 1);
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    for container in pod["containers"].as_array().unwrap() {
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    }
}

//! Tests of the `Memcached` controller against an in-memory API server, without a cluster.

use api::cache::v1alpha1::Memcached;
use kube::CustomResourceExt as _;
use operator::controller::memcached as reconciler;
use operator_rs_testing::{self as testing, faults};
use serde_json::json;

const IMAGE: &str = "registry.example.com/image:v1";

/// The resource of the kind, as in `kubectl get`.
fn resource() -> String {
    testing::resource::<Memcached>()
}

fn operator(client: kube::Client, stop: testing::CancellationToken) -> runtime::Operator {
    runtime::Operator { stop, ..runtime::Operator::new(runtime::identity!(), client) }
}

async fn run(client: kube::Client, stop: testing::CancellationToken) -> anyhow::Result<()> {
    reconciler::run_with(operator(client, stop), Some(IMAGE.into())).await
}

/// A cluster that knows the kind, with one object of this size.
fn cluster(size: i32) -> testing::Cluster {
    let cluster = testing::Cluster::default().with_crds(&[Memcached::crd()]);
    cluster.with(&resource(), &[sample(size)])
}

fn sample(size: i32) -> Memcached {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": { "name": "a", "namespace": "default", "uid": "1", "generation": 1 },
        "spec": { "size": size },
    });
    serde_json::from_value(object).unwrap()
}

/// The Deployment of `obj`, with this number of ready pods.
fn running(obj: &Memcached, ready: i32) -> serde_json::Value {
    let mut deployment = serde_json::to_value(reconciler::deployment_for(obj, IMAGE)).unwrap();
    deployment["metadata"]["generation"] = json!(1);
    deployment["status"] = status(ready);
    deployment
}

/// The status that kube-controller-manager writes to a Deployment.
fn status(ready: i32) -> serde_json::Value {
    json!({ "observedGeneration": 1, "replicas": ready, "updatedReplicas": ready, "readyReplicas": ready })
}

/// Creates ready pods of the Deployment, with these names.
fn start_pods(cluster: &testing::Cluster, names: &[&str]) {
    let deployment = cluster.edit("deployments.apps", "default", "a", |it| it["status"] = status(names.len() as i32));
    for name in names {
        let mut pod =
            json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "default" } });
        for it in ["labels", "annotations"] {
            pod["metadata"][it] = deployment["spec"]["template"]["metadata"][it].clone();
        }
        cluster.put("pods", pod).unwrap();
    }
}

fn patch_status() -> String {
    format!("PATCH {}/status", resource())
}

/// Tries random values of the type: an API server must accept and keep what is written.
#[test]
fn an_api_server_keeps_what_is_written() {
    testing::serialization::check::<Memcached>();
}

#[tokio::test]
async fn a_new_object_gets_a_deployment_and_a_status() {
    let cluster = cluster(2);
    assert_eq!(cluster.run(run).await, ["PATCH deployments.apps", &patch_status()]);
    let writes = cluster.writes();
    assert_eq!(writes[0].body["metadata"]["ownerReferences"][0]["controller"], true);
    assert_eq!(writes[1].body["status"]["conditions"][1]["type"], "Progressing");
    assert_eq!(writes[1].body["status"]["conditions"][1]["status"], "True");
}

#[tokio::test]
async fn a_settled_object_costs_no_write() {
    let cluster = cluster(2);
    cluster.run(run).await;
    start_pods(&cluster, &["p-1", "p-2"]);
    cluster.run(run).await;
    let settled = cluster.get(&resource(), "default", "a").unwrap();
    assert_eq!(settled["status"]["nodes"], json!(["p-1", "p-2"]));
    cluster.clear_log();
    assert_eq!(cluster.run(run).await, [""; 0], "after a restart");
}

#[tokio::test]
async fn availability_is_reported_once() {
    let cluster = cluster(1);
    cluster.run(run).await;
    start_pods(&cluster, &["p-1"]);
    cluster.clear_log();
    assert_eq!(cluster.run(run).await, [&patch_status(), "POST events.events.k8s.io"]);
}

#[tokio::test]
async fn hand_edits_are_put_back() {
    let cluster = cluster(2);
    cluster.run(run).await;
    cluster.edit("deployments.apps", "default", "a", |it| it["spec"]["replicas"] = json!(5));
    cluster.clear_log();
    assert_eq!(cluster.run(run).await[0], "PATCH deployments.apps");
    assert_eq!(cluster.get("deployments.apps", "default", "a").unwrap()["spec"]["replicas"], 2);
}

#[tokio::test]
async fn a_failure_is_reported_once_and_retried() {
    let cluster = cluster(2).refusing("deployments.apps");
    cluster.run_until(run, |it| 3 <= it.count("PATCH deployments.apps")).await;
    assert_eq!((cluster.count(&patch_status()), cluster.count("POST events.events.k8s.io")), (1, 1));
    let condition = &cluster.writes()[1].body["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Degraded"), &json!("True")));
}

#[tokio::test]
async fn without_an_image_the_object_is_degraded() {
    let cluster = cluster(2);
    let writes = cluster.run(|client, stop| reconciler::run_with(operator(client, stop), None)).await;
    assert_eq!(writes, [&patch_status(), "POST events.events.k8s.io"]);
    let condition = &cluster.writes()[0].body["status"]["conditions"][0];
    assert_eq!(condition["reason"], "NotConfigured");
    assert!(condition["message"].as_str().unwrap().contains("RELATED_IMAGE_"));
}

/// Tries a crash after each write, late, repeated and lost events, conflicts and failing requests.
#[tokio::test]
async fn the_outcome_is_the_same_whatever_goes_wrong() {
    faults::check(|| cluster(2), run).await;
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

#[test]
fn long_names_make_valid_labels() {
    let mut obj = sample(1);
    obj.metadata.name = Some("n".repeat(253));
    let deployment = running(&obj, 1);
    for (key, value) in deployment["spec"]["template"]["metadata"]["labels"].as_object().unwrap() {
        assert!(value.as_str().unwrap().len() <= 63, "{key}");
    }
}

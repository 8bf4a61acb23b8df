//! Tests of the `Memcached` controller against an in-memory API server, without a cluster.

use api::cache::v1alpha1::Memcached;
use k8s_openapi::api::{apps::v1 as appsv1, core::v1 as corev1};
use kube::CustomResourceExt as _;
use operator::controller::memcached as reconciler;
use operator_rs_runtime::conditions;
use operator_rs_testing::{self as testing, faults};
use serde_json::json;

const IMAGE: &str = "registry.example.com/image:v1";

fn manager(client: kube::Client, stop: testing::CancellationToken) -> operator_rs_runtime::Manager {
    operator_rs_runtime::Manager::new(operator_rs_runtime::identity!(), client).with_stop(stop)
}

async fn run(client: kube::Client, stop: testing::CancellationToken) -> operator::Result<()> {
    reconciler::run_with(manager(client, stop), Some(IMAGE.into())).await
}

/// A cluster that knows the kind, with one object of this size.
fn cluster(size: i32) -> testing::Cluster {
    let cluster = testing::Cluster::default().with_crds(&[Memcached::crd()]);
    cluster.with_object(&sample(size))
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
fn running(obj: &Memcached, ready: i32) -> appsv1::Deployment {
    let mut deployment = reconciler::deployment_for(obj, IMAGE);
    deployment.metadata.generation = Some(1);
    deployment.status = Some(status(ready));
    deployment
}

/// The status that kube-controller-manager writes to a Deployment.
fn status(ready: i32) -> appsv1::DeploymentStatus {
    appsv1::DeploymentStatus {
        observed_generation: Some(1),
        replicas: Some(ready),
        updated_replicas: Some(ready),
        ready_replicas: Some(ready),
        ..Default::default()
    }
}

/// Creates ready pods of the Deployment, with these names.
fn start_pods(cluster: &testing::Cluster, names: &[&str]) {
    let status = status(names.len() as i32);
    cluster.edit::<appsv1::Deployment>("default", "a", |deployment| deployment.status = Some(status));
    let deployment = cluster.get::<appsv1::Deployment>("default", "a").unwrap();
    let template = deployment.spec.unwrap().template.metadata.unwrap();
    for name in names {
        let mut pod = corev1::Pod { metadata: template.clone(), ..Default::default() };
        pod.metadata.name = Some(name.to_string());
        pod.metadata.namespace = Some("default".into());
        cluster.put(&pod).unwrap();
    }
}

fn patch_status() -> String {
    format!("PATCH {}/status", testing::resource_name::<Memcached>())
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
    let settled = cluster.get::<Memcached>("default", "a").unwrap();
    assert_eq!(settled.status.unwrap().nodes, ["p-1", "p-2"]);
    cluster.clear_request_log();
    assert_eq!(cluster.run(run).await, [""; 0], "after a restart");
}

#[tokio::test]
async fn availability_is_reported_once() {
    let cluster = cluster(1);
    cluster.run(run).await;
    start_pods(&cluster, &["p-1"]);
    cluster.clear_request_log();
    assert_eq!(cluster.run(run).await, [&patch_status(), "POST events.events.k8s.io"]);
}

#[tokio::test]
async fn hand_edits_are_put_back() {
    let cluster = cluster(2);
    cluster.run(run).await;
    cluster.edit::<appsv1::Deployment>("default", "a", |deployment| {
        deployment.spec.as_mut().unwrap().replicas = Some(5);
    });
    cluster.clear_request_log();
    assert_eq!(cluster.run(run).await[0], "PATCH deployments.apps");
    assert_eq!(cluster.get::<appsv1::Deployment>("default", "a").unwrap().spec.unwrap().replicas, Some(2));
}

#[tokio::test]
async fn a_failure_is_reported_once_and_retried() {
    let cluster = cluster(2).with_fault(testing::Fault::Refuse { code: 422 }.on_writes_of::<appsv1::Deployment>());
    cluster.run_until(run, |cluster| cluster.count_writes("PATCH deployments.apps") >= 3).await;
    assert_eq!((cluster.count_writes(&patch_status()), cluster.count_writes("POST events.events.k8s.io")), (1, 1));
    let condition = &cluster.writes()[1].body["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Degraded"), &json!("True")));
}

#[tokio::test]
async fn without_an_image_the_object_is_degraded() {
    let cluster = cluster(2);
    let writes = cluster.run(|client, stop| reconciler::run_with(manager(client, stop), None)).await;
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
            let status = reconciler::status_for(&obj, &running(&obj, ready), vec!["pod".into()]);
            let holds = |condition| conditions::is_true(&status.conditions, condition);
            assert_eq!((holds("Available"), holds("Progressing")), (ready == size, ready != size), "{ready} of {size}");
            assert_eq!(status.nodes.len(), usize::from(ready == size), "listed when settled");
        }
    }
}

#[test]
fn pods_pass_pod_security_restricted() {
    let deployment = serde_json::to_value(running(&sample(1), 1)).unwrap();
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
    let template = running(&obj, 1).spec.unwrap().template;
    for (key, value) in template.metadata.unwrap().labels.unwrap() {
        assert!(value.len() <= 63, "{key}");
    }
}

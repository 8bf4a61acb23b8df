//! Tests of the `Website` controller against an in-memory API server, without a cluster.

use api::web::v1alpha1::Website;
use futures::future::BoxFuture;
use kube::{Client, CustomResourceExt};
use operator::{Result, controller::website, dns::Dns};
use operator_rs_runtime::{Manager, identity};
use operator_rs_testing::{CancellationToken, Cluster, faults};
use serde_json::{Value, json};
use std::{fs, path::Path};

const WEBSITES: &str = "websites.web.example.com";

fn cluster() -> Cluster {
    let shop = json!({
        "apiVersion": "web.example.com/v1alpha1",
        "kind": "Website",
        "metadata": { "name": "shop", "namespace": "default", "uid": "1", "generation": 1 },
        "spec": { "domains": ["a.com", "b.com"], "certificate": "tls", "replicas": 1 },
    });
    let secret = json!({ "metadata": { "name": "tls", "namespace": "default" } });
    Cluster::default().with_crds(&[Website::crd()]).with_json(WEBSITES, &[shop]).with_json("secrets", &[secret])
}

/// A zone of its own for each test.
fn dns(test: &str) -> Dns {
    let zone = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&zone);
    fs::create_dir_all(&zone).unwrap();
    Dns::new(zone)
}

fn controller(dns: &Dns) -> impl Fn(Client, CancellationToken) -> BoxFuture<'static, Result<()>> {
    let dns = dns.clone();
    move |client, stop| {
        let manager = Manager::new(identity!(), client).with_stop(stop);
        Box::pin(website::run_with(manager, Some("nginx:1".into()), dns.clone()))
    }
}

fn get(cluster: &Cluster, resource: &str) -> Value {
    cluster.get_json(resource, "default", "shop").unwrap()
}

/// The keys of the ConfigMap, the ports of the Service, and the volumes of the Deployment.
fn dependents(cluster: &Cluster) -> [Vec<String>; 3] {
    let names = |list: &Value| list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().into()).collect();
    [
        get(cluster, "configmaps")["data"].as_object().unwrap().keys().cloned().collect(),
        names(&get(cluster, "services")["spec"]["ports"]),
        names(&get(cluster, "deployments.apps")["spec"]["template"]["spec"]["volumes"]),
    ]
}

fn degraded(cluster: &Cluster) -> Value {
    let website = get(cluster, WEBSITES);
    let conditions = website["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|it| it["type"] == "Degraded").unwrap().clone()
}

#[tokio::test]
async fn what_the_spec_no_longer_names_is_removed() {
    let (cluster, dns) = (cluster(), dns("removed"));
    cluster.run(controller(&dns)).await;
    let (https, http) = (["http", "https"], ["http"]);
    assert_eq!(dependents(&cluster), [vec!["a.com.conf", "b.com.conf"], https.to_vec(), vec!["config", "tmp", "tls"]]);
    assert_eq!(dns.records("1"), ["a.com", "b.com"]);
    cluster.edit_json(WEBSITES, "default", "shop", |it| it["spec"] = json!({ "domains": ["b.com"] }));
    cluster.run(controller(&dns)).await;
    assert_eq!(dependents(&cluster), [vec!["b.com.conf"], http.to_vec(), vec!["config", "tmp"]]);
    assert_eq!(dns.records("1"), ["b.com"]);
}

#[tokio::test]
async fn a_website_waits_for_its_certificate() {
    let (cluster, dns) = (cluster(), dns("certificate"));
    cluster.delete_json("secrets", "default", "tls");
    cluster.run(controller(&dns)).await;
    assert_eq!(degraded(&cluster)["reason"], "SecretMissing");
    cluster.put_json("secrets", json!({ "metadata": { "name": "tls", "namespace": "default" } })).unwrap();
    cluster.run(controller(&dns)).await;
    assert_eq!(degraded(&cluster)["status"], "False");
}

#[tokio::test]
async fn a_failure_of_the_dns_provider_is_retried_and_reported() {
    let (cluster, dns) = (cluster(), Dns::new("/nowhere"));
    let is_reported = |it: &Cluster| get(it, WEBSITES)["status"]["conditions"].to_string().contains("DnsUnavailable");
    cluster.run_until(controller(&dns), is_reported).await;
    assert_eq!(degraded(&cluster)["status"], "True");
}

/// Tries a crash after each write, late, repeated and lost events, conflicts and failing requests.
#[tokio::test]
async fn the_outcome_is_the_same_whatever_goes_wrong() {
    let dns = dns("faults");
    let check = faults::FaultCheck::new(cluster, controller(&dns));
    let check = check.then(|it| {
        it.edit_json(WEBSITES, "default", "shop", |it| it["spec"]["domains"] = json!(["b.com"]));
    });
    check.then(|it| it.delete_json(WEBSITES, "default", "shop")).run().await;
    assert_eq!(dns.records("1"), [""; 0], "the records are removed before the Website");
}

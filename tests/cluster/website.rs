//! The Website operator of `examples/`: its children, the Secret that it names, and a DNS provider that fails.

use std::{fs, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{found, is},
    lab::Lab,
    operator::Operator,
    paused::pause,
    server::path,
};

pub async fn a_website_follows_its_spec_and_leaves_no_record(lab: Arc<Lab>) {
    let mut ground = lab.website_ground("website").await;
    let zone = ground.plane.dir.join("dns-zone");
    let away = zone.with_extension("away");
    fs::create_dir_all(&zone).expect("the folder is ours");
    let deployment = ground.objects.iter_mut().find(|it| it["kind"] == "Deployment");
    let variables = deployment.expect("the installer has one")["spec"]["template"]["spec"]["containers"]
        [0]["env"]
        .as_array_mut();
    let variable = json!({ "name": "DNS_ZONE", "value": zone });
    variables.expect("it has an environment").push(variable);
    let operator = Operator::start(&ground, "manager").await;
    let server = &ground.server;

    // Created. It waits for the Secret, and goes on once that is there.
    let meta = |name: &str| json!({ "name": name, "namespace": ground.namespace });
    let website = json!({
        "apiVersion": "web.example.com/v1alpha1", "kind": "Website", "metadata": meta("shop"),
        "spec": { "domains": ["a.com", "b.com"], "certificate": "tls" },
    });
    let at = path(&website);
    server.apply(&website).await;
    server.until(&at, 60, "without its Secret", |it| degraded(it, "SecretMissing")).await;
    server.apply(&json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta("tls") })).await;
    let well = |it: &Value| is(it, "Available", "True") && is(it, "Degraded", "False");
    let object = server.until(&at, 60, "available", well).await;
    let child = |version: &str, kind: &str| {
        path(&json!({ "apiVersion": version, "kind": kind, "metadata": meta("shop") }))
    };
    let children =
        [child("v1", "ConfigMap"), child("v1", "Service"), child("apps/v1", "Deployment")];
    let config = |keys: &'static [&str]| {
        move |it: &Value| it["data"].as_object().is_some_and(|it| it.keys().eq(keys))
    };
    let [configs, service, deployment] = &children;
    server.until(configs, 1, "for both domains", config(&["a.com.conf", "b.com.conf"])).await;
    let uid = object["metadata"]["uid"].as_str().expect("it has one");
    let records = async || {
        let read = || fs::read_to_string(zone.join(uid)).ok();
        // Each reconcile writes the file again, which is empty for a moment.
        while read().is_some_and(|it| it.is_empty()) {
            sleep(Duration::from_millis(10)).await;
        }
        read()
    };
    assert_eq!(records().await.as_deref(), Some("a.com\nb.com"));

    // Changed. What the spec no longer names is gone from all three, and from the zone.
    let spec = |spec: Value| server.merge(&at, json!({ "spec": spec }));
    spec(json!({ "domains": ["b.com"], "certificate": null })).await;
    server.until(configs, 30, "for one domain", config(&["b.com.conf"])).await;
    let names = |list: &Value, names: &[&str]| {
        list.as_array().is_some_and(|it| it.iter().map(|it| &it["name"]).eq(names))
    };
    let ports = |it: &Value| names(&it["spec"]["ports"], &["http"]);
    server.until(service, 10, "without HTTPS", ports).await;
    let volumes =
        |it: &Value| names(&it["spec"]["template"]["spec"]["volumes"], &["config", "tmp"]);
    server.until(deployment, 10, "without a certificate", volumes).await;
    let current = |it: &Value| it["status"]["observedGeneration"] == it["metadata"]["generation"];
    server.until(&at, 30, "up to date", |it| well(it) && current(it)).await;
    assert_eq!(records().await.as_deref(), Some("b.com"));

    // The provider fails, and comes back.
    fs::rename(&zone, &away).expect("the folder is ours");
    spec(json!({ "domains": ["c.com"] })).await;
    server.until(&at, 60, "reporting the provider", |it| degraded(it, "DnsUnavailable")).await;
    fs::rename(&away, &zone).expect("the folder is ours");
    server.until(&at, 60, "well again", |it| well(it) && current(it)).await;
    assert_eq!(records().await.as_deref(), Some("c.com"));

    // Deleted while it is paused: its finalizers wait, and it says so.
    pause(&ground, &at, true).await;
    server.until(&at, 10, "paused", |it| is(it, "Paused", "True")).await;
    server.delete(&at).await;
    let waits = |it: &Value| {
        let message = found(it, "Paused").and_then(|it| it["message"].as_str());
        message.is_some_and(|it| it.contains(", and its finalizers wait: "))
    };
    server.until(&at, 10, "waiting", waits).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(records().await.as_deref(), Some("c.com"));
    assert!(server.get(&children[0]).await.is_some());

    // Resumed while the provider fails: it stays until its records are gone.
    fs::rename(&zone, &away).expect("the folder is ours");
    pause(&ground, &at, false).await;
    server.until(&at, 60, "reporting the provider", |it| degraded(it, "DnsUnavailable")).await;
    fs::rename(&away, &zone).expect("the folder is ours");
    server.until_gone(&at, 60).await;
    assert_eq!(records().await, None);
    for child in &children {
        server.until_gone(child, 90).await;
    }

    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
    let mut refused = ground.calls();
    refused.retain(|it| it["responseStatus"]["code"] == 403);
    assert!(refused.is_empty(), "{refused:#?}");
}

fn degraded(object: &Value, reason: &str) -> bool {
    found(object, "Degraded").is_some_and(|it| it["status"] == "True" && it["reason"] == reason)
}

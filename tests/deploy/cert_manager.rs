//! An operator with webhooks and a second version, deployed with what config/certmanager asks of cert-manager.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    control_plane::{self, ControlPlane},
    installed::{self, Installed, at},
    issuer::CertManager,
    project::Project,
    server::{APPLY, JSON, Server},
    support,
};

pub const SYSTEM: &str = "webhook-operator-system";

/// What an annotation asks to be given the authority of a certificate.
pub const INJECT: &str = "cert-manager.io/inject-ca-from";

#[tokio::test]
async fn webhooks_are_called_with_the_certificate_of_cert_manager() {
    let Some(address) = installed::address() else { return };
    if !control_plane::is_there() {
        return;
    }
    let project = tokio::task::spawn_blocking(project).await.expect("it is built");
    let plane = ControlPlane::start_with("cert-manager", &["--nodes", "--pods-at", &address]).await;
    let (server, kubeconfig) = (plane.server.clone(), plane.dir.join("kubeconfig"));
    let mut manager = CertManager::install(&server, &kubeconfig).await;

    let dir = project.manager.parent().expect("it is in the project's folder");
    let run = async |words: &str| {
        let mut command = support::command(support::BINARY, dir);
        command.args(words.split(' ')).env("KUBECONFIG", &kubeconfig);
        let output = tokio::task::spawn_blocking(move || command.output()).await;
        let output = output.expect("it ends").expect("the binary starts");
        assert!(output.status.success(), "operator-rs {words}\n{}", support::said(&output));
        String::from_utf8(output.stdout).expect("stdout is UTF-8")
    };
    let deploy = "deploy --image example.com/webhook-operator:v0.0.1";
    let done = run(deploy).await;
    let certificate = format!("Certificate {SYSTEM}/webhook-operator-serving-cert\n");
    assert!(done.contains(&certificate), "{done}");
    manager.fulfil(&server).await;
    every_call_trusts_the_certificate_in("webhook-server-cert", &server).await;

    let path = format!(
        "/apis/apps/v1/namespaces/{SYSTEM}/deployments/webhook-operator-controller-manager"
    );
    let installed = Installed::start(&server, &kubeconfig, &project.manager, &path).await;
    installed::webhooks_are_called(&server, &installed).await;
    calls_go_on_during_renewals(&server, &installed, &mut manager).await;

    // What cert-manager has written into these objects stays.
    let done = run(deploy).await;
    let changed = done.lines().find(|it| !it.starts_with("unchanged  "));
    assert_eq!(changed, None, "{done}");
    every_call_trusts_the_certificate_in("webhook-server-cert", &server).await;
    assert!(!installed.log().contains(" ERROR "), "{}", installed.log());

    // The operator converts its objects until they are gone.
    run("undeploy --yes").await;
    for gone in [&at("v1beta1", "in-v1alpha1"), &format!("/api/v1/namespaces/{SYSTEM}")] {
        server.until_gone(gone, 30).await;
    }
    let left = called(&server).await;
    assert!(left.is_empty(), "{left:#?}");
}

/// cert-manager renews the certificate, and then its authority. What clients trust at any time vouches for what is served,
/// by the names of both Services, and no call fails.
async fn calls_go_on_during_renewals(
    server: &Server,
    installed: &Installed,
    manager: &mut CertManager,
) {
    let end = Arc::new(AtomicBool::new(false));
    let calls = tokio::spawn(call(server.clone(), end.clone()));
    let first = secret(server, CERTIFICATE).await;
    are_served(installed, &first).await;

    manager.renew(server, "serving-cert").await;
    let second = secret(server, CERTIFICATE).await;
    assert_ne!(second["tls.key"], first["tls.key"]);
    assert_eq!(second["ca.crt"], first["ca.crt"]);
    every_call_trusts_the_certificate_in(CERTIFICATE, server).await;
    installed.remount(server).await;
    are_served(installed, &second).await;

    let authority = secret(server, "webhook-server-ca").await;
    assert_eq!(authority["tls.crt"], first["ca.crt"]);
    manager.renew(server, "webhook-ca").await;
    let renewed = secret(server, "webhook-server-ca").await;
    assert_eq!(renewed["tls.key"], authority["tls.key"]);
    manager.renew(server, "serving-cert").await;
    let third = secret(server, CERTIFICATE).await;
    assert_eq!(third["ca.crt"], renewed["tls.crt"]);
    every_call_trusts_the_certificate_in(CERTIFICATE, server).await;
    // The new authority with the old certificate, and the old one with the new certificate.
    are_served(installed, &third).await;
    installed.remount(server).await;
    are_served(installed, &first).await;
    are_served(installed, &third).await;

    sleep(Duration::from_secs(1)).await;
    end.store(true, Ordering::Relaxed);
    let (count, failures) = calls.await.expect("it ends");
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(50 < count, "{count} are some calls");
}

const CERTIFICATE: &str = "webhook-server-cert";

/// Webhooks and metrics, by the names of their Services and no other, to those who trust this authority.
async fn are_served(installed: &Installed, secret: &Value) {
    for (address, service) in
        [(installed::WEBHOOKS, "webhook-service"), (&installed.metrics, "metrics-service")]
    {
        let answer = async |service: &str| {
            let name = format!("webhook-operator-{service}.{SYSTEM}.svc");
            installed::answer(address, &name, &secret["ca.crt"]).await
        };
        let code = answer(service).await;
        assert!([401, 404].contains(&code), "{service} answers {code}\n{}", installed.log());
        assert_eq!(answer("other-service").await, 0);
    }
}

/// The data of a Secret.
async fn secret(server: &Server, name: &str) -> Value {
    let path = format!("/api/v1/namespaces/{SYSTEM}/secrets/{name}");
    server.get(&path).await.expect("cert-manager has made it")["data"].take()
}

/// Has the webhooks called all the time: to default, to refuse and to convert. Returns how often, and what went wrong.
async fn call(server: Server, end: Arc<AtomicBool>) -> (usize, Vec<String>) {
    let (mut count, mut failures) = (0, Vec::new());
    let refused = json!({
        "apiVersion": "cache.example.com/v1beta1", "kind": "Memcached",
        "metadata": { "name": "refused", "namespace": "default" },
        "spec": { "title": "it", "size": 4 },
    });
    let write = format!("{}?fieldManager=trial&dryRun=All", at("v1beta1", "refused"));
    let read = at("v1beta1", "in-v1alpha1");
    while !end.load(Ordering::Relaxed) {
        for (method, path, content, body, expected) in
            [("PATCH", &write, APPLY, refused.clone(), 422), ("GET", &read, JSON, Value::Null, 200)]
        {
            let answer = server.ask(method, path, content, body).await;
            if !answer.as_ref().is_ok_and(|it| it.code == expected) {
                failures.push(format!("{method}: {answer:?}"));
            }
            count += 1;
        }
        sleep(Duration::from_millis(100)).await;
    }
    (count, failures)
}

/// The project of the tests here, which is built once.
pub fn project() -> &'static Project {
    static PROJECT: OnceLock<Project> = OnceLock::new();
    PROJECT.get_or_init(Project::webhooks)
}

/// The objects on the server with an annotation for cert-manager.
pub async fn called(server: &Server) -> Vec<Value> {
    let mut res = Vec::new();
    for (group, kind) in [
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ] {
        let all = server.list(&format!("/apis/{group}/v1/{}s", kind.to_lowercase())).await;
        let mut called: Vec<Value> = all
            .into_iter()
            .filter(|it| it["metadata"]["annotations"][INJECT].is_string())
            .collect();
        for it in &mut called {
            it["apiVersion"] = json!(format!("{group}/v1"));
            it["kind"] = json!(kind);
        }
        res.extend(called);
    }
    res
}

/// Where an object says how the operator is called.
pub fn clients(object: &mut Value) -> Vec<&mut Value> {
    if object["kind"] == "CustomResourceDefinition" {
        return object.pointer_mut("/spec/conversion/webhook/clientConfig").into_iter().collect();
    }
    let webhooks = object["webhooks"].as_array_mut().expect("it has webhooks").iter_mut();
    webhooks.map(|it| &mut it["clientConfig"]).collect()
}

pub async fn every_call_trusts_the_certificate_in(secret: &str, server: &Server) {
    let secret = format!("/api/v1/namespaces/{SYSTEM}/secrets/{secret}");
    let secret = server.until(&secret, 30, "there", |it| it["data"]["ca.crt"].is_string()).await;
    let text = |it: &Value| {
        String::from_utf8(BASE64_STANDARD.decode(it.as_str().unwrap_or_default()).unwrap()).unwrap()
    };
    let authority = text(&secret["data"]["ca.crt"]);
    // cert-manager may have left earlier ones there.
    let trusted = async || -> Vec<bool> {
        let mut objects = called(server).await;
        let clients = objects.iter_mut().flat_map(clients);
        clients.map(|it| text(&it["caBundle"]).contains(&authority)).collect()
    };
    for _ in 0..100 {
        if trusted().await == [true; 3] {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(trusted().await, [true; 3], "{:#?}", called(server).await);
}

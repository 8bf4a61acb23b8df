//! Who may read the metrics, by what certificate, and what a namespace that enforces Pod Security "restricted" says.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command, sync::Arc, time::Duration};

use http::{HeaderValue, Request, header::AUTHORIZATION};
use kube::{Client, Config, client::Body};
use serde_json::{Value, json};

use crate::{
    ground::{Ground, is},
    lab::Lab,
    operator::Operator,
    server::{APPLY, JSON, path},
};

/// Where everything is served here.
const HOST: &str = "127.0.0.1";

pub async fn metrics_are_read_over_tls_by_those_who_may(lab: Arc<Lab>) {
    let ground = lab.ground("metrics").await;
    let dir = ground.plane.dir.join("serving");
    let first = certificate(&dir, "first");
    let operator = Operator::start_with(&ground, "manager", &ground.token().await, |it| {
        it.push(format!("--metrics-cert-path={}", dir.display()));
    })
    .await;
    operator.until_said("leading", 30).await;
    ground.memcached("a", 1).await;
    ground.until_available("a", 60).await;

    let code =
        async |token: Option<&str>| scrape(&operator, Some((HOST, &first[..])), token).await.0;
    assert_eq!(code(None).await, 401);
    assert_eq!(code(Some("rubbish")).await, 401);
    let nobody = ground.token_of(&ground.namespace, "default", Value::Null).await;
    assert_eq!(code(Some(&nobody)).await, 403);
    let reader = reader(&ground).await;
    let (code, text) = scrape(&operator, Some((HOST, &first[..])), Some(&reader)).await;
    assert_eq!(code, 200);
    assert!(
        text.contains(
            "controller_runtime_reconcile_total{controller=\"memcached\",result=\"success\"}"
        ),
        "{text}"
    );

    // As the kubelet changes a Secret's volume. Who trusts the new one only is answered soon.
    let second = certificate(&dir, "second");
    let mut tries = 0;
    while scrape(&operator, Some((HOST, &second[..])), Some(&reader)).await.0 != 200 {
        tries += 1;
        assert!(tries < 100, "the certificate is reloaded\n{}", operator.log());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(
        scrape(&operator, Some((HOST, &first[..])), Some(&reader)).await.0,
        0,
        "the old one is gone"
    );
    operator.stop().await;
}

pub async fn all_that_is_installed_is_admitted_where_pods_are_restricted(lab: Arc<Lab>) {
    let mut ground = lab.ground("restricted").await;
    let (server, system) = (ground.server.clone(), ground.system());
    server.usable(&system).await;
    // The manager's Deployment, and the pod that follows from it.
    let deployment = ground.object("Deployment").clone();
    let answer = server.apply(&deployment).await;
    assert_eq!(answer.warnings, [""; 0]);
    server.until(&path(&deployment), 60, "available", |it| is(it, "Available", "True")).await;

    // A pod that says nothing is refused there, and a Deployment of such pods is warned of.
    let pods = format!("/api/v1/namespaces/{system}/pods");
    let plain = json!({
        "metadata": { "name": "plain" },
        "spec": { "containers": [{ "name": "it", "image": "memcached:1.6.39-alpine" }] },
    });
    let answer = server.ask("POST", &pods, JSON, plain).await.expect("the API server answers");
    let why = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 403 && why.contains("violates PodSecurity \"restricted"), "{answer:?}");
    // That an object is accepted without a warning says something: this one is not.
    let mut crd = ground.object("CustomResourceDefinition").clone();
    let size = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size";
    crd.pointer_mut(size).expect("it has a size")["format"] = json!("int128");
    let at = format!("{}?fieldManager=other&force=true&dryRun=All", path(&crd));
    let answer = server.ask("PATCH", &at, APPLY, crd).await.expect("the API server answers");
    assert!(answer.code == 200 && !answer.warnings.is_empty(), "{answer:?}");

    // What the operator makes runs there too.
    ground.namespace = system.clone();
    ground.watched = Some(system);
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("a", 1).await;
    ground.until_available("a", 60).await;
    operator.stop().await;
}

/// A token of an account that may read the metrics.
pub async fn reader(ground: &Ground) -> String {
    let namespace = &ground.namespace;
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": "prometheus", "namespace": namespace },
    });
    ground.server.apply(&account).await;
    let role = ground.named("metrics-reader");
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": { "name": format!("{role}-prometheus") },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [{ "kind": "ServiceAccount", "name": "prometheus", "namespace": namespace }],
    });
    ground.server.apply(&binding).await;
    ground.token_of(namespace, "prometheus", Value::Null).await
}

/// What `/metrics` answers: 0 where there is no connection, as when the certificate is not for the name that is asked for, or
/// not vouched for by the one that is trusted. Without these two, any will do.
pub async fn scrape(
    operator: &Operator,
    trusted: Option<(&str, &[u8])>,
    token: Option<&str>,
) -> (u16, String) {
    let url = format!("https://{}", operator.metrics);
    let mut config = Config::new(url.parse().expect("it is a URL"));
    config.tls_server_name = trusted.map(|it| it.0.to_owned());
    config.root_cert = trusted.map(|it| vec![it.1.to_vec()]);
    config.accept_invalid_certs = trusted.is_none();
    config.default_retry = false;
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("it is plain");
        config.headers.push((AUTHORIZATION, value));
    }
    fetch(config, "/metrics").await
}

/// What a probe of the kubelet is answered.
pub async fn probe(operator: &Operator, path: &str) -> u16 {
    let url = format!("http://{}", operator.probes);
    fetch(Config::new(url.parse().expect("it is a URL")), path).await.0
}

pub async fn fetch(config: Config, path: &str) -> (u16, String) {
    let client = Client::try_from(config).expect("there is nothing to read");
    let request = Request::get(path).body(Body::empty()).expect("it is plain");
    let Ok(answer) = client.send(request).await else { return (0, String::new()) };
    let code = answer.status().as_u16();
    let text = answer.into_body().collect_bytes().await.unwrap_or_default();
    (code, String::from_utf8_lossy(&text).into_owned())
}

/// Puts a new certificate in this folder, as a Secret's volume has it; returns it.
pub fn certificate(dir: &Path, name: &str) -> Vec<u8> {
    let new = dir.join(format!("..{name}"));
    fs::create_dir_all(&new).expect("the folder is ours");
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", &format!("/CN={name}"), "-keyout", "tls.key", "-out", "tls.crt"])
        .args([
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .current_dir(&new)
        .output();
    let made = made.expect("`up` has needed openssl, too");
    assert!(made.status.success(), "{}", crate::support::said(&made));
    let link = dir.join("..data.new");
    symlink(&new, &link).expect("the folder is ours");
    fs::rename(&link, dir.join("..data")).expect("the folder is ours");
    for file in ["tls.crt", "tls.key"] {
        let _ = symlink(format!("..data/{file}"), dir.join(file)); // there from the second on
    }
    let text = fs::read_to_string(new.join("tls.crt")).expect("it is made");
    der(&text)
}

/// The first certificate of a PEM text.
pub fn der(text: &str) -> Vec<u8> {
    let body: String = text.lines().skip(1).take_while(|it| !it.starts_with('-')).collect();
    let value = |it: u8| match it {
        b'A'..=b'Z' => it - b'A',
        b'a'..=b'z' => it - b'a' + 26,
        b'0'..=b'9' => it - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = body.bytes().filter(|it| *it != b'=').map(value).collect();
    let mut res = Vec::new();
    for four in letters.chunks(4) {
        let bits = four.iter().fold(0u32, |bits, it| bits << 6 | u32::from(*it));
        let bits = bits << (6 * (4 - four.len()));
        res.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    res
}

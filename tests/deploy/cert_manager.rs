//! An operator with webhooks and a second version, deployed with what config/certmanager asks of cert-manager.
//!
//! With `CERT_MANAGER=DIR`, cert-manager's own programs in that folder (`controller`, `cainjector`, and its CRDs in `crds`)
//! do what they are asked. Without, this test does, as they would.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    control_plane::{self, ControlPlane},
    installed::{self, Installed, at},
    project::Project,
    server::Server,
    support,
};

pub const SYSTEM: &str = "webhook-operator-system";

/// What an annotation asks to be given the authority of a certificate.
const INJECT: &str = "cert-manager.io/inject-ca-from";

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

/// The project of the tests here, which is built once.
pub fn project() -> &'static Project {
    static PROJECT: OnceLock<Project> = OnceLock::new();
    PROJECT.get_or_init(Project::webhooks)
}

/// The objects on the server with an annotation for cert-manager.
async fn called(server: &Server) -> Vec<Value> {
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
    let trusted = async || {
        let mut objects = called(server).await;
        let clients: Vec<&mut Value> = objects.iter_mut().flat_map(clients).collect();
        (clients.len(), clients.iter().all(|it| it["caBundle"] == secret["data"]["ca.crt"]))
    };
    for _ in 0..100 {
        if trusted().await.1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(trusted().await, (3, true), "{:#?}", called(server).await);
}

/// cert-manager, or none.
pub struct CertManager(Vec<Child>);

impl CertManager {
    pub async fn install(server: &Server, kubeconfig: &Path) -> Self {
        let given = env::var_os("CERT_MANAGER").map(PathBuf::from);
        let crds: Vec<Value> = match &given {
            Some(dir) => {
                let files = fs::read_dir(dir.join("crds")).expect("its CRDs are there");
                let files = files.map(|it| it.expect("the folder can be listed").path());
                let files = files.filter(|it| it.extension().is_some_and(|it| it == "yaml"));
                let read = |it: PathBuf| fs::read_to_string(it).expect("it can be read");
                files.map(|it| serde_yaml::from_str(&read(it)).expect("it is YAML")).collect()
            }
            None => vec![crd("certificate"), crd("issuer")],
        };
        for crd in &crds {
            server.apply(crd).await;
        }
        for kind in ["certificates", "issuers"] {
            let path = format!("/apis/cert-manager.io/v1/{kind}");
            server.until(&path, 20, "served", |it| it["items"].is_array()).await;
        }
        let start = |name: &str, dir: &Path| {
            let log = kubeconfig.with_file_name(format!("{name}.log"));
            let log = fs::File::create(log).expect("the folder is ours");
            let mut command = Command::new(dir.join(name));
            // One reads the variable, the other one the flag.
            command.env("KUBECONFIG", kubeconfig).arg("--kubeconfig").arg(kubeconfig);
            command.arg("--leader-elect=false");
            command.arg("--metrics-listen-address=127.0.0.1:0").stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts")
        };
        let programs = ["controller", "cainjector"];
        Self(given.iter().flat_map(|dir| programs.map(|it| start(it, dir))).collect())
    }

    /// Until the certificate is there. Without cert-manager: makes it, and has it trusted by whoever asks for that.
    pub async fn fulfil(&mut self, server: &Server) {
        let path = format!(
            "/apis/cert-manager.io/v1/namespaces/{SYSTEM}/certificates/webhook-operator-serving-cert"
        );
        if !self.0.is_empty() {
            let is_ready = |it: &Value| {
                let mut conditions = it["status"]["conditions"].as_array().into_iter().flatten();
                conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
            };
            server.until(&path, 60, "ready", is_ready).await;
            return;
        }
        let certificate = server.get(&path).await.expect("`deploy` has made it");
        let spec = &certificate["spec"];
        let issuer = spec["issuerRef"]["name"].as_str().expect("it has one");
        let issuer = format!("/apis/cert-manager.io/v1/namespaces/{SYSTEM}/issuers/{issuer}");
        assert!(server.get(&issuer).await.is_some(), "{issuer}");
        let (key, signed) = self_signed(spec["dnsNames"].as_array().expect("it has names"));
        let data = json!({ "tls.key": key, "tls.crt": signed, "ca.crt": signed });
        server
            .apply(&json!({
                "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": data,
                "metadata": { "name": spec["secretName"], "namespace": SYSTEM },
            }))
            .await;
        let from = format!("{SYSTEM}/{}", certificate["metadata"]["name"].as_str().unwrap());
        for object in called(server).await {
            assert_eq!(object["metadata"]["annotations"][INJECT], *from);
            let trust = |it: &mut Value| {
                clients(it).into_iter().for_each(|it| it["caBundle"] = signed.clone().into());
            };
            server.edit(&crate::server::path(&object), trust).await;
        }
    }
}

impl Drop for CertManager {
    fn drop(&mut self) {
        for it in &mut self.0 {
            let _ = it.kill();
            let _ = it.wait();
        }
    }
}

/// A CRD for any objects of this kind of cert-manager's.
fn crd(kind: &str) -> Value {
    let names =
        json!({ "kind": kind[..1].to_uppercase() + &kind[1..], "plural": format!("{kind}s") });
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let version = json!({ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{kind}s.cert-manager.io") },
        "spec": { "group": "cert-manager.io", "names": names, "scope": "Namespaced", "versions": [version] },
    })
}

/// A key and a certificate for these names, as the data of a Secret.
fn self_signed(names: &[Value]) -> (String, String) {
    let names: Vec<_> = names.iter().map(|it| format!("DNS:{}", it.as_str().unwrap())).collect();
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    command.args(["-nodes", "-days", "1", "-subj", "/", "-keyout", "-", "-addext"]);
    let output = command.arg(format!("subjectAltName={}", names.join(","))).output();
    let output = output.expect("`up` has run openssl as well");
    assert!(output.status.success(), "{}", support::said(&output));
    let text = String::from_utf8(output.stdout).expect("PEM is text");
    let (key, certificate) =
        text.split_at(text.find("-----BEGIN CERTIFICATE").expect("it is there"));
    (BASE64_STANDARD.encode(key), BASE64_STANDARD.encode(certificate))
}

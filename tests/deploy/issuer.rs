//! cert-manager. With `CERT_MANAGER=DIR`, its own programs in that folder (`controller`, `cainjector`, and its CRDs in `crds`)
//! do what they are asked. Without, this test does, as they would.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    cert_manager::{INJECT, SYSTEM, called, clients},
    server::Server,
    support,
};

pub struct CertManager {
    /// None without `CERT_MANAGER`.
    programs: Vec<Child>,
    /// For keys and certificates.
    dir: PathBuf,
}

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
            if name == "controller" {
                command.arg("--internal-healthz-listen-address=127.0.0.1:0");
            }
            command.arg("--metrics-listen-address=127.0.0.1:0").stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(log).spawn().expect("it starts")
        };
        let programs = ["controller", "cainjector"];
        let programs = given.iter().flat_map(|dir| programs.map(|it| start(it, dir))).collect();
        let dir = kubeconfig.with_file_name("issued");
        fs::create_dir_all(&dir).expect("the folder is ours");
        Self { programs, dir }
    }

    /// Until the certificate is there. Without cert-manager: makes it, and has it trusted by whoever asks for that.
    pub async fn fulfil(&mut self, server: &Server) {
        for name in ["webhook-ca", "serving-cert"] {
            match self.programs.is_empty() {
                true => self.issue(server, name).await,
                false => drop(server.until(&certificate(name), 60, "ready", is_ready).await),
            }
        }
    }

    /// As `cmctl renew` does.
    pub async fn renew(&mut self, server: &Server, name: &str) {
        let path = certificate(name);
        let mut object = server.until(&path, 60, "ready", is_ready).await;
        let secret = object["spec"]["secretName"].as_str().expect("it has one");
        let secret = format!("/api/v1/namespaces/{SYSTEM}/secrets/{secret}");
        let before = server.get(&secret).await.expect("it is there")["data"]["tls.crt"].take();
        if self.programs.is_empty() {
            self.issue(server, name).await;
        } else {
            let mut conditions = object["status"]["conditions"].take();
            let issuing = json!({ "type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "by hand" });
            conditions.as_array_mut().expect("it is ready").push(issuing);
            let patch = json!({ "status": { "conditions": conditions } });
            server.merge(&format!("{path}/status"), patch).await;
        }
        let is_new =
            |it: &Value| it["data"]["tls.crt"].is_string() && it["data"]["tls.crt"] != before;
        server.until(&secret, 60, "renewed", is_new).await;
        server.until(&path, 60, "ready", is_ready).await;
    }

    async fn issue(&self, server: &Server, name: &str) {
        let mut object = server.get(&certificate(name)).await.expect("it has been made");
        let spec = object["spec"].take();
        let issuer = spec["issuerRef"]["name"].as_str().expect("it has one");
        let issuer = format!("/apis/cert-manager.io/v1/namespaces/{SYSTEM}/issuers/{issuer}");
        let issuer = server.get(&issuer).await.expect("it has been made")["spec"].take();
        let data = async |secret: &Value| {
            let secret = secret.as_str().expect("it is a name");
            let path = format!("/api/v1/namespaces/{SYSTEM}/secrets/{secret}");
            server.get(&path).await.map(|mut it| it["data"].take())
        };
        let mut words = format!("-days 1 -subj /CN={name} -new -x509 -key own.key");
        if issuer["selfSigned"].is_null() {
            let authority = data(&issuer["ca"]["secretName"]).await.expect("it has been issued");
            self.write("ca.crt", &authority["tls.crt"]);
            self.write("ca.key", &authority["tls.key"]);
            words += " -CA ca.crt -CAkey ca.key";
        }
        let is_authority = spec["isCA"] == true;
        let is_authority = if is_authority { "TRUE" } else { "FALSE" };
        words += &format!(" -addext basicConstraints=critical,CA:{is_authority}");
        let names = spec["dnsNames"].as_array().into_iter().flatten();
        let names: Vec<_> = names.map(|it| format!("DNS:{}", it.as_str().unwrap())).collect();
        if !names.is_empty() {
            words += &format!(" -addext subjectAltName={}", names.join(","));
        }
        let old = data(&spec["secretName"])
            .await
            .filter(|_| spec["privateKey"]["rotationPolicy"] == "Never");
        let key = match old {
            Some(mut it) => it["tls.key"].take(),
            None => {
                self.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1").into()
            }
        };
        self.write("own.key", &key);
        let signed: Value = self.openssl(&format!("req {words}")).into();
        let authority = match issuer["selfSigned"].is_null() {
            true => data(&issuer["ca"]["secretName"]).await.expect("it is there")["tls.crt"].take(),
            false => signed.clone(),
        };
        let data = json!({ "tls.key": key, "tls.crt": signed, "ca.crt": authority });
        server
            .apply(&json!({
                "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": data,
                "metadata": { "name": spec["secretName"], "namespace": SYSTEM },
            }))
            .await;
        let ready = json!({ "status": { "conditions": [{ "type": "Ready", "status": "True" }] } });
        server.merge(&certificate(name), ready).await;
        let from = format!("{SYSTEM}/{}", object["metadata"]["name"].as_str().unwrap());
        for object in called(server).await {
            let trust = |it: &mut Value| {
                clients(it).into_iter().for_each(|it| it["caBundle"] = authority.clone());
            };
            if object["metadata"]["annotations"][INJECT] == *from {
                server.edit(&crate::server::path(&object), trust).await;
            }
        }
    }

    fn write(&self, name: &str, data: &Value) {
        let data = BASE64_STANDARD.decode(data.as_str().expect("it is data"));
        fs::write(self.dir.join(name), data.expect("it is base64")).expect("the folder is ours");
    }

    /// What it prints, as the data of a Secret.
    fn openssl(&self, words: &str) -> String {
        let mut command = Command::new("openssl");
        command.current_dir(&self.dir).args(words.split(' '));
        let output = command.output().expect("`up` has run openssl as well");
        assert!(output.status.success(), "{}", support::said(&output));
        BASE64_STANDARD.encode(output.stdout)
    }
}

fn certificate(name: &str) -> String {
    let certificates = format!("/apis/cert-manager.io/v1/namespaces/{SYSTEM}/certificates");
    format!("{certificates}/webhook-operator-{name}")
}

fn is_ready(certificate: &Value) -> bool {
    let mut conditions = certificate["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

impl Drop for CertManager {
    fn drop(&mut self) {
        for it in &mut self.programs {
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

//! The operator with webhooks, as it was installed on a cluster: its process stands for the pods of its Deployment, at the
//! address that they have, so that API servers find it by the Service that their webhooks name.

use std::{
    fs::{self, File},
    net::UdpSocket,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    server::{APPLY, Answer, JSON, Server},
    support,
};

/// An address of this machine that endpoints may have, which those of loopback are not; none where it has no network,
/// which is then said.
pub fn address() -> Option<String> {
    let address = UdpSocket::bind("0.0.0.0:0").and_then(|it| {
        it.connect("203.0.113.1:9")?; // Nothing is sent.
        it.local_addr()
    });
    match address {
        Ok(it) if !it.ip().is_loopback() => Some(it.ip().to_string()),
        _ => {
            support::missing("this machine has no network, and webhooks are called at its address");
            None
        }
    }
}

pub struct Installed {
    child: Child,
    log: PathBuf,
    /// All serve on one port of this machine.
    _alone: File,
}

impl Installed {
    /// Started as its Deployment says, with its account's token, and with the files of the Secret that its pod mounts where
    /// the program looks for its certificate, unless it makes its own.
    pub async fn start(
        server: &Server,
        kubeconfig: &Path,
        manager: &Path,
        deployment: &str,
    ) -> Self {
        let deployment = server.get(deployment).await.expect("the operator is installed");
        let namespace = deployment["metadata"]["namespace"].as_str().expect("it has one");
        let template = &deployment["spec"]["template"];
        let container = &template["spec"]["containers"][0];
        let dir = kubeconfig.with_file_name("installed");
        fs::create_dir_all(&dir).expect("the folder is ours");
        let account = template["spec"]["serviceAccountName"].as_str().expect("it has one");
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token");
        let request = json!({ "spec": { "expirationSeconds": 3600 } });
        let token = server.create(&path, request).await.body["status"]["token"].take();
        let text = fs::read_to_string(kubeconfig).expect("`up` has written it");
        let mut config: Value = serde_yaml::from_str(&text).expect("it is YAML");
        config["users"][0]["user"] = json!({ "token": token });
        config["contexts"][0]["context"]["namespace"] = json!(namespace);
        let own = dir.join("kubeconfig");
        fs::write(&own, config.to_string()).expect("the folder is ours");

        let log = dir.join("log");
        let out = File::create(&log).expect("the folder is ours");
        let mut command = Command::new(manager);
        // Those are not asked for here, and everything shares the ports of this machine.
        let words = container["args"].as_array().expect("it has arguments").iter();
        let words = words.filter_map(Value::as_str);
        let elsewhere = ["--health-probe-bind-address=", "--metrics-bind-address="];
        command.args(words.filter(|it| !elsewhere.iter().any(|no| it.starts_with(no))));
        command.args(["--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=0"]);
        let env = container["env"].as_array().into_iter().flatten();
        if !env.clone().any(|it| it["name"] == "WEBHOOK_SECRET") {
            let certificate = certificate(server, namespace, template, manager, &dir).await;
            command.arg(format!("--webhook-cert-path={}", certificate.display()));
        }
        command.env_clear().env("KUBECONFIG", own);
        for entry in env {
            command.env(entry["name"].as_str().expect("it has a name"), value(entry, &deployment));
        }
        let errors = out.try_clone().expect("a file can be shared");
        command.stdin(Stdio::null()).stdout(out).stderr(errors);
        let alone = File::create(support::generated_target().join("webhooks.lock"));
        let alone = alone.expect("the manager has been built there");
        alone.lock().expect("it can be locked");
        Self { child: command.spawn().expect("it has been built"), log, _alone: alone }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log is there")
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a pod of a Deployment has in an entry of its environment.
fn value(entry: &Value, deployment: &Value) -> String {
    if let Some(it) = entry["value"].as_str() {
        return it.to_owned();
    }
    let path = entry["valueFrom"]["fieldRef"]["fieldPath"].as_str().expect("it is a field");
    let metadata = &deployment["spec"]["template"]["metadata"];
    let found = match path.strip_prefix("metadata.annotations['") {
        Some(it) => &metadata["annotations"][it.trim_end_matches("']")],
        None if path == "metadata.name" => {
            return format!("{}-0", deployment["metadata"]["name"].as_str().unwrap_or_default());
        }
        None if path == "metadata.namespace" => &deployment["metadata"]["namespace"],
        None => panic!("{path} is unknown here"),
    };
    found.as_str().unwrap_or_default().to_owned()
}

/// The certificate that the pods mount where the program looks for it by itself, as files.
async fn certificate(
    server: &Server,
    namespace: &str,
    template: &Value,
    manager: &Path,
    dir: &Path,
) -> PathBuf {
    let help = Command::new(manager).arg("--help").output().expect("it has been built");
    let help = support::said(&help);
    let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
    let mounts = list(&template["spec"]["containers"][0]["volumeMounts"]);
    let mount = mounts.iter().find(|it| {
        let path = it["mountPath"].as_str().expect("it has a path");
        help.contains(&format!("[env: WEBHOOK_CERT_PATH=] [default: {path}]"))
    });
    let mount = mount.unwrap_or_else(|| panic!("no certificate is mounted: {mounts:#?}\n{help}"));
    let volumes = list(&template["spec"]["volumes"]);
    let volume = volumes.iter().find(|it| it["name"] == mount["name"]).expect("it is a volume");
    let secret = volume["secret"]["secretName"].as_str().expect("it is that of a Secret");
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{secret}");
    let secret = server.until(&path, 30, "there", |it| it["data"]["tls.crt"].is_string()).await;
    let mut items = list(&volume["secret"]["items"]);
    if items.is_empty() {
        let keys = secret["data"].as_object().expect("it is a map").keys();
        items.extend(keys.map(|it| json!({ "key": it, "path": it })));
    }
    let res = dir.join("serving-certs");
    fs::create_dir_all(&res).expect("the folder is ours");
    for item in items {
        let [key, path] = ["key", "path"].map(|it| item[it].as_str().expect("it has both"));
        let data = secret["data"][key].as_str().expect("the Secret has the key");
        let data = BASE64_STANDARD.decode(data).expect("it is base64");
        fs::write(res.join(path), data).expect("the folder is ours");
    }
    res
}

/// Where a Memcached of these projects is.
pub fn at(version: &str, name: &str) -> String {
    format!("/apis/cache.example.com/{version}/namespaces/default/memcacheds/{name}")
}

fn object(version: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("cache.example.com/{version}"),
        "kind": "Memcached",
        "metadata": { "name": name, "namespace": "default" },
        "spec": spec,
    })
}

async fn apply(server: &Server, version: &str, name: &str, spec: Value, query: &str) -> Answer {
    let path = format!("{}?fieldManager=trial{query}", at(version, name));
    let answer = server.ask("PATCH", &path, APPLY, object(version, name, spec)).await;
    answer.expect("the API server answers")
}

/// Objects are defaulted, refused and converted by the operator, in the version that they are written in and in the other.
/// Two are left.
pub async fn webhooks_are_called(server: &Server, installed: &Installed) {
    // Nothing else tells when the API server has seen where to call them.
    let refused = json!({ "title": "it", "size": 4 });
    for tries in 1.. {
        let answer = apply(server, "v1alpha1", "refused", refused.clone(), "&dryRun=All").await;
        if answer.code == 422 {
            break;
        }
        assert!(tries < 100, "the webhooks are not called: {answer:?}\n{}", installed.log());
        sleep(Duration::from_millis(200)).await;
    }
    for (version, field, other, same) in
        [("v1alpha1", "note", "v1beta1", "remark"), ("v1beta1", "remark", "v1alpha1", "note")]
    {
        let answer = apply(server, version, "refused", refused.clone(), "").await;
        assert_eq!(answer.code, 422, "{answer:?}");
        assert!(answer.body["message"].to_string().contains("must not be 4"), "{answer:?}");

        let name = format!("in-{version}");
        let spec = json!({ "title": "it", "size": 2, field: "hello" });
        let answer = apply(server, version, &name, spec, "").await;
        assert_eq!(answer.code, 201, "{answer:?}");
        assert_eq!(answer.body["spec"]["tier"], "small", "it is computed: {answer:?}");
        let read = server.ask("GET", &at(other, &name), JSON, Value::Null).await;
        let read = read.expect("the API server answers");
        assert_eq!(read.body["spec"][same], "hello", "{read:?}");
        assert_eq!(read.body["spec"]["tier"], "small", "{read:?}");
    }
}

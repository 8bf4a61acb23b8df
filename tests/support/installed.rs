//! The operator with webhooks, as it was installed on a cluster: its process stands for the pods of its Deployment, at the
//! address that they have, so that API servers find it by the Service that their webhooks name.

use std::{
    fs::{self, File},
    net::{TcpListener, UdpSocket},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Request;
use kube::{Client, Config, client::Body};
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

/// Where the webhooks are served: all serve on one port of this machine.
pub const WEBHOOKS: &str = "127.0.0.1:9443";

pub struct Installed {
    child: Child,
    log: PathBuf,
    /// Where the metrics are served.
    pub metrics: String,
    certificate: Option<Mounted>,
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
        // Everything shares the ports of this machine, and nobody asks the probes.
        let words = container["args"].as_array().expect("it has arguments").iter();
        let words = words.filter_map(Value::as_str);
        let elsewhere = ["--health-probe-bind-address=", "--metrics-bind-address="];
        command.args(words.filter(|it| !elsewhere.iter().any(|no| it.starts_with(no))));
        let metrics = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let metrics = metrics.expect("there are free ports").to_string();
        command.arg("--health-probe-bind-address=127.0.0.1:0");
        command.arg(format!("--metrics-bind-address={metrics}"));
        let env = container["env"].as_array().into_iter().flatten();
        let mut certificate = None;
        if !env.clone().any(|it| it["name"] == "WEBHOOK_SECRET") {
            let mounted = Mounted::of(namespace, template, manager, &dir);
            mounted.write(server).await;
            command.arg(format!("--webhook-cert-path={}", mounted.dir.display()));
            certificate = Some(mounted);
        }
        command.env_clear().env("KUBECONFIG", own);
        for entry in env {
            let value = value(entry, &deployment);
            let place = certificate.as_ref().filter(|it| it.path == value);
            let value = place.map_or(value, |it| it.dir.display().to_string());
            command.env(entry["name"].as_str().expect("it has a name"), value);
        }
        let errors = out.try_clone().expect("a file can be shared");
        command.stdin(Stdio::null()).stdout(out).stderr(errors);
        let alone = File::create(support::generated_target().join("webhooks.lock"));
        let alone = alone.expect("the manager has been built there");
        alone.lock().expect("it can be locked");
        let child = command.spawn().expect("it has been built");
        Self { child, log, metrics, certificate, _alone: alone }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log is there")
    }

    /// Mounts the certificate as it is now, as the kubelet does soon, and waits until webhooks and metrics have it.
    pub async fn remount(&self, server: &Server) {
        let reloaded = || self.log().matches("reloaded the serving certificate").count();
        let before = reloaded();
        self.certificate.as_ref().expect("it is mounted").write(server).await;
        for _ in 0..300 {
            if reloaded() == before + 2 {
                return;
            }
            sleep(Duration::from_millis(100)).await;
        }
        panic!("the certificate is not reloaded\n{}", self.log());
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answers to one who trusts this authority, a Secret's data, and expects this name; 0 where TLS fails.
pub async fn answer(address: &str, name: &str, authority: &Value) -> u16 {
    let text = BASE64_STANDARD.decode(authority.as_str().expect("it is data"));
    let text = String::from_utf8(text.expect("it is base64")).expect("PEM is text");
    let body: String = text.lines().filter(|it| !it.starts_with('-')).collect();
    let mut config = Config::new(format!("https://{address}").parse().expect("it is a URL"));
    config.root_cert = Some(vec![BASE64_STANDARD.decode(body).expect("it is one certificate")]);
    config.tls_server_name = Some(name.to_owned());
    config.default_retry = false;
    let client = Client::try_from(config).expect("there is nothing to read");
    let request = Request::get("/metrics").body(Body::empty()).expect("it is plain");
    client.send(request).await.map_or(0, |it| it.status().as_u16())
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

/// The certificate that the pods mount where the program looks for it by itself.
struct Mounted {
    /// In the pods.
    path: String,
    /// Here: a link, so that all files change at once.
    dir: PathBuf,
    secret: String,
    items: Vec<Value>,
}

impl Mounted {
    fn of(namespace: &str, template: &Value, manager: &Path, dir: &Path) -> Self {
        let help = Command::new(manager).arg("--help").output().expect("it has been built");
        let help = support::said(&help);
        let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
        let mounts = list(&template["spec"]["containers"][0]["volumeMounts"]);
        let path = |it: &Value| it["mountPath"].as_str().expect("it has a path").to_owned();
        let mount = mounts.iter().find(|it| {
            help.contains(&format!("[env: WEBHOOK_CERT_PATH=] [default: {}]", path(it)))
        });
        let mount =
            mount.unwrap_or_else(|| panic!("no certificate is mounted: {mounts:#?}\n{help}"));
        let volumes = list(&template["spec"]["volumes"]);
        let volume = volumes.iter().find(|it| it["name"] == mount["name"]).expect("it is a volume");
        let secret = volume["secret"]["secretName"].as_str().expect("it is that of a Secret");
        Self {
            path: path(mount),
            dir: dir.join("serving-certs"),
            secret: format!("/api/v1/namespaces/{namespace}/secrets/{secret}"),
            items: list(&volume["secret"]["items"]),
        }
    }

    async fn write(&self, server: &Server) {
        let is_there = |it: &Value| it["data"]["tls.crt"].is_string();
        let secret = server.until(&self.secret, 30, "there", is_there).await;
        let mut items = self.items.clone();
        if items.is_empty() {
            let keys = secret["data"].as_object().expect("it is a map").keys();
            items.extend(keys.map(|it| json!({ "key": it, "path": it })));
        }
        let version = secret["metadata"]["resourceVersion"].as_str().expect("it has one");
        let new = self.dir.with_extension(version);
        fs::create_dir_all(&new).expect("the folder is ours");
        for item in items {
            let [key, path] = ["key", "path"].map(|it| item[it].as_str().expect("it has both"));
            let data = secret["data"][key].as_str().expect("the Secret has the key");
            let data = BASE64_STANDARD.decode(data).expect("it is base64");
            fs::write(new.join(path), data).expect("the folder is ours");
        }
        let link = self.dir.with_extension("link");
        symlink(new, &link).expect("the folder is ours");
        fs::rename(link, &self.dir).expect("the folder is ours");
    }
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

//! A control plane with OLM, and requests of its administrator.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use ureq::tls::TlsConfig;

use crate::support;

pub struct Plane {
    pub dir: PathBuf,
    server: String,
    token: String,
    agent: ureq::Agent,
    /// `up`, that ends everything at the end of its stdin, which is when this process ends at the latest.
    up: Child,
}

/// The one that tests share, with OLM running; none where its programs are absent, which is then said.
pub fn shared() -> Option<&'static Plane> {
    static SHARED: OnceLock<Option<Plane>> = OnceLock::new();
    SHARED.get_or_init(|| Plane::with_olm("shared", None)).as_ref()
}

/// OLM's manifests without its package server, which would be a pod that answers nothing: its APIService would stay
/// unavailable.
pub fn without_packageserver(plane: &Plane) -> PathBuf {
    let (from, to) = (plane.manifests(), plane.dir.join("manifests"));
    fs::create_dir_all(&to).unwrap();
    fs::copy(from.join("crds.yaml"), to.join("crds.yaml")).unwrap();
    let text = fs::read_to_string(from.join("olm.yaml")).unwrap();
    let kept = text.split("\n---\n").filter(|it| {
        !it.contains("kind: ClusterServiceVersion\n") && !it.contains("kind: CatalogSource\n")
    });
    fs::write(to.join("olm.yaml"), kept.collect::<Vec<_>>().join("\n---\n")).unwrap();
    to
}

impl Plane {
    /// One with OLM running, where pods may have an address of this machine.
    pub fn with_olm(name: &str, pods_at: Option<&str>) -> Option<Self> {
        let plane = Self::start_with(name, pods_at)?;
        let manifests = without_packageserver(&plane);
        let manifests = manifests.display();
        plane.done(&format!("olm install --manifests {manifests}/crds.yaml {manifests}/olm.yaml"));
        plane.start_olm();
        Some(plane)
    }

    pub fn start(name: &str) -> Option<Self> {
        Self::start_with(name, None)
    }

    fn start_with(name: &str, pods_at: Option<&str>) -> Option<Self> {
        for program in [
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "node-simulator",
            "opm",
            "olm",
            "catalog",
        ] {
            support::tool(program)?;
        }
        let dir = support::fresh(&format!("olm/{name}"));
        let mut up = Command::new(support::home().join("tests/control-plane/up"));
        up.arg(&dir).args(["--nodes", "--hold"]);
        up.args(pods_at.into_iter().flat_map(|it| ["--pods-at", it]));
        let mut up = up.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(up.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(!said.is_empty(), "the control plane starts; it says above why it does not");
        let text = fs::read_to_string(dir.join("kubeconfig")).unwrap();
        let config: Value = serde_yaml::from_str(&text).unwrap();
        let server = config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned();
        let token = config["users"][0]["user"]["token"].as_str().unwrap().to_owned();
        // It is on this machine, and has a certificate of its own.
        let tls = TlsConfig::builder().disable_verification(true).build();
        let agent =
            ureq::Agent::config_builder().tls_config(tls).http_status_as_error(false).build();
        Some(Self { dir, server, token, agent: agent.into(), up })
    }

    /// OLM's manifests.
    pub fn manifests(&self) -> PathBuf {
        support::tool("olm").unwrap().with_file_name("olm-manifests")
    }

    /// OLM's operators, ended with the rest.
    pub fn start_olm(&self) {
        let script = support::home().join("tests/control-plane/olm-up");
        assert!(Command::new(script).arg(&self.dir).status().unwrap().success());
    }

    /// Runs `operator-rs` as the administrator.
    pub fn operator_rs(&self, words: &str) -> std::process::Output {
        self.command(words).output().unwrap()
    }

    pub fn command(&self, words: &str) -> Command {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).arg("--kubeconfig").arg(self.dir.join("kubeconfig"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs `operator-rs`, which must succeed, and returns its stdout.
    pub fn done(&self, words: &str) -> String {
        let output = self.operator_rs(words);
        assert!(output.status.success(), "operator-rs {words}\n{}", support::said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs `operator-rs`, which must fail, and returns its stderr.
    pub fn refused(&self, words: &str) -> String {
        let output = self.operator_rs(words);
        assert_eq!(
            output.status.code(),
            Some(1),
            "operator-rs {words}\n{}",
            support::said(&output)
        );
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn get(&self, path: &str) -> Option<Value> {
        let request = self.agent.get(format!("{}{path}", self.server));
        let answer = request.header("Authorization", format!("Bearer {}", self.token)).call();
        self.answer(answer.unwrap(), path)
    }

    pub fn create(&self, path: &str, object: &Value) {
        let request = self.agent.post(format!("{}{path}", self.server));
        let request = request.header("Authorization", format!("Bearer {}", self.token));
        let request = request.header("Content-Type", "application/json");
        let answer = request.send(object.to_string()).unwrap();
        assert!(self.answer(answer, path).is_some(), "{path} is served");
    }

    /// Merges fields into an object.
    pub fn merge(&self, path: &str, fields: &Value) {
        let request = self.agent.patch(format!("{}{path}", self.server));
        let request = request.header("Authorization", format!("Bearer {}", self.token));
        let request = request.header("Content-Type", "application/merge-patch+json");
        let answer = request.send(fields.to_string()).unwrap();
        assert!(self.answer(answer, path).is_some(), "{path} exists");
    }

    /// Sends a signal to one of OLM's operators.
    pub fn signal(&self, signal: &str, program: &str) {
        let id = fs::read_to_string(self.dir.join(format!("{program}.pid"))).unwrap();
        let status = Command::new("kill").args([signal, id.trim()]).status().unwrap();
        assert!(status.success(), "{signal} {program}");
    }

    pub fn delete(&self, path: &str) {
        let request = self.agent.delete(format!("{}{path}", self.server));
        let answer = request.header("Authorization", format!("Bearer {}", self.token)).call();
        assert!(self.answer(answer.unwrap(), path).is_some(), "{path} exists");
    }

    fn answer(&self, mut answer: ureq::http::Response<ureq::Body>, path: &str) -> Option<Value> {
        let text = answer.body_mut().with_config().limit(1 << 28).read_to_string().unwrap();
        match answer.status().as_u16() {
            // What is asked for a moment after a CRD is created is answered with 429.
            404 | 429 => None,
            code => {
                assert!((200..300).contains(&code), "{path}: {text}");
                Some(serde_json::from_str(&text).unwrap())
            }
        }
    }

    /// Every object on the server that has this word in it: its resource, namespace and name.
    pub fn all(&self, word: &str) -> BTreeSet<String> {
        let mut res = BTreeSet::new();
        let groups = self.get("/apis").unwrap();
        let mut versions = vec!["/api/v1".to_owned()];
        for group in groups["groups"].as_array().unwrap() {
            let version = group["preferredVersion"]["groupVersion"].as_str().unwrap();
            versions.push(format!("/apis/{version}"));
        }
        for version in versions {
            let Some(list) = self.get(&version) else { continue };
            for resource in list["resources"].as_array().unwrap() {
                let name = resource["name"].as_str().unwrap();
                let can_list = resource["verbs"].as_array().unwrap().iter().any(|it| it == "list");
                // Events tell what has been, and are gone after an hour.
                if name.contains('/') || name == "events" || !can_list {
                    continue;
                }
                let Some(items) = self.get(&format!("{version}/{name}")) else { continue };
                for it in items["items"].as_array().into_iter().flatten() {
                    if it.to_string().contains(word) {
                        let metadata = &it["metadata"];
                        let namespace = metadata["namespace"].as_str().unwrap_or_default();
                        res.insert(format!(
                            "{name} {namespace}/{}",
                            metadata["name"].as_str().unwrap()
                        ));
                    }
                }
            }
        }
        res
    }

    /// Waits until no object on the server has this word in it. What belonged to a deleted object is removed by the garbage
    /// collector of Kubernetes, which waits longer after each failure on a busy machine.
    pub fn nothing_is_left_of(&self, word: &str) {
        const LONGEST: Duration = Duration::from_secs(180);
        let start = Instant::now();
        loop {
            let left = self.all(word);
            if left.is_empty() {
                return;
            }
            assert!(start.elapsed() < LONGEST, "left of {word}: {left:#?}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until something is so.
    pub fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        drop(self.up.stdin.take());
        let _ = self.up.wait();
        let _ = fs::remove_dir_all(self.dir.join("etcd"));
    }
}

/// `opm serve` on this machine.
pub struct Served {
    opm: Child,
    pub address: String,
}

impl Served {
    /// Serves a folder, which must be a valid catalog.
    pub fn start(folder: &Path) -> Self {
        let opm = support::tool("opm").unwrap();
        let valid = Command::new(&opm).arg("validate").arg(folder).output().unwrap();
        assert!(valid.status.success(), "{}", support::said(&valid));
        let [port, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [port, other] = [port, other].map(|it| it.local_addr().unwrap().port());
        let log = folder.with_extension("log");
        let mut command = Command::new(opm);
        command.arg("serve").arg(folder).args(["--port", &port.to_string()]);
        command.args(["--pprof-addr", &format!("127.0.0.1:{other}")]);
        command.arg("--termination-log").arg(folder.with_extension("end"));
        let opm = command.stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{}",
                fs::read_to_string(&log).unwrap()
            );
            thread::sleep(Duration::from_millis(50));
        }
        Self { opm, address: format!("127.0.0.1:{port}") }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.opm.kill();
        let _ = self.opm.wait();
    }
}

//! A real control plane of its own: started by `tests/control-plane/up`, which ends it when this process does,
//! in whatever way that happens.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Mutex,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{server::Server, support};

pub struct ControlPlane {
    pub dir: PathBuf,
    pub server: Server,
    /// `up`, that ends everything at the end of its stdin.
    up: Child,
    /// The API servers that were started after it.
    later: Mutex<Vec<Child>>,
}

impl ControlPlane {
    /// With a simulated node if there are to be pods.
    pub async fn start(name: &str, nodes: bool) -> Self {
        Self::start_with(name, if nodes { &["--nodes"] } else { &[] }).await
    }

    /// With these words for `up`.
    pub async fn start_with(name: &str, words: &[&str]) -> Self {
        let dir = support::fresh(&format!("cluster/{name}"));
        let mut up = Command::new(support::home().join("tests/control-plane/up"));
        up.arg(&dir).arg("--hold").args(words);
        let up = move || {
            let up = up.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut up = up.expect("tests/control-plane/up starts");
            let mut said = String::new();
            let stdout = up.stdout.take().expect("it is piped");
            BufReader::new(stdout).read_line(&mut said).expect("it says where the kubeconfig is");
            assert!(!said.is_empty(), "the control plane starts; it says above why it does not");
            up
        };
        let up = tokio::task::spawn_blocking(up).await.expect("it starts");
        let server = Server::connect(&dir.join("kubeconfig")).await;
        Self { dir, server, up, later: Mutex::default() }
    }

    /// Where clients find the API server, and the certificate that they shall trust.
    pub fn address(&self) -> (String, PathBuf) {
        let text = fs::read_to_string(self.dir.join("kubeconfig")).expect("it is there");
        let config: Value = serde_yaml::from_str(&text).expect("it is YAML");
        let server = config["clusters"][0]["cluster"]["server"].as_str().expect("it has a server");
        (server.to_owned(), self.dir.join("certs/apiserver.crt"))
    }

    /// Every call that the API server has answered, as its audit log has it.
    pub fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("audit.log")).expect("it is there");
        // The last line may be being written.
        text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect()
    }

    /// Kills the API server as if its machine had lost power, and waits until the process has released its port.
    pub fn kill_server(&self) {
        let id = self.server_id();
        signal("KILL", &id);
        let limit = Instant::now() + Duration::from_secs(60);
        while is_alive(&id) {
            assert!(Instant::now() < limit, "a killed API server ends");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The id of the API server's process.
    pub fn server_id(&self) -> String {
        let id = fs::read_to_string(self.dir.join("kube-apiserver.pid")).expect("it runs");
        id.trim().to_owned()
    }

    /// Starts the API server again on the same port, with the same data, and waits until it is ready.
    pub async fn start_server(&self) {
        let mut run = Command::new("bash");
        run.arg(self.dir.join("kube-apiserver.run")).stdin(Stdio::null());
        let run = run.spawn().expect("bash starts");
        self.later.lock().expect("no thread panics while it holds the lock").push(run);
        let limit = Instant::now() + Duration::from_secs(150);
        while !self.server.is_ready().await {
            let is_late = Instant::now() > limit;
            assert!(!is_late, "the API server is not ready again:\n{}", self.server_log_end());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The last 30 lines of the API server's log.
    fn server_log_end(&self) -> String {
        let log = fs::read(self.dir.join("kube-apiserver.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        drop(self.up.stdin.take());
        let _ = self.up.wait();
        for it in self.later.get_mut().into_iter().flatten() {
            let _ = it.wait();
        }
        // What is left is of use to people: logs, and who has called.
        let _ = fs::remove_dir_all(self.dir.join("etcd"));
    }
}

/// Sends a signal by name to a process.
pub fn signal(name: &str, id: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), id]).status();
    assert!(sent.expect("there is a `kill`").success(), "process {id} runs");
}

/// Whether a process with this id runs; one that has ended and waits for its parent does not.
fn is_alive(id: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let runs = status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'));
    // Until its last thread has ended, a process keeps its ports.
    runs || fs::read_dir(format!("/proc/{id}/task")).is_ok_and(|threads| 1 < threads.count())
}

/// Whether the programs that `up` starts are all there; says which are not.
pub fn is_there() -> bool {
    let programs = ["etcd", "kube-apiserver", "kube-controller-manager", "node-simulator"];
    programs.iter().all(|it| program(it).is_some())
}

/// Where `up` finds a program.
pub fn program(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("KUBEBUILDER_ASSETS").map(|it| PathBuf::from(it).join(name));
    given.filter(|it| it.is_file()).or_else(|| support::tool(name))
}

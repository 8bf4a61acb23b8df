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
    /// With a scheduler and a simulated node if there are to be pods.
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

    /// As if its machine had lost power.
    pub fn kill_server(&self) {
        signal("KILL", &self.server_id());
    }

    /// The id of the API server's process.
    pub fn server_id(&self) -> String {
        let id = fs::read_to_string(self.dir.join("kube-apiserver.pid")).expect("it runs");
        id.trim().to_owned()
    }

    /// On the same port, with the same data.
    pub async fn start_server(&self) {
        let mut run = Command::new("bash");
        run.arg(self.dir.join("kube-apiserver.run")).stdin(Stdio::null());
        let run = run.spawn().expect("bash starts");
        self.later.lock().expect("nobody panics with it").push(run);
        let start = Instant::now();
        while !self.server.is_ready().await {
            assert!(start.elapsed() < Duration::from_secs(60), "the API server is ready again");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
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

/// Whether the programs that `up` starts are all there; says which are not.
pub fn is_there() -> bool {
    let programs = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];
    programs.iter().all(|it| program(it).is_some())
}

/// Where `up` finds a program.
pub fn program(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("KUBEBUILDER_ASSETS").map(|it| PathBuf::from(it).join(name));
    given.filter(|it| it.is_file()).or_else(|| support::tool(name))
}

//! The operator's process, started as its Deployment says: with those words and that environment, and nothing else.
//! Only the addresses differ, for many of them share one loopback interface.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{control_plane::signal, ground::Ground};

pub struct Operator {
    child: Child,
    log: PathBuf,
    id: PathBuf,
    /// Where its account's token is read from.
    pub token: PathBuf,
    pub probes: String,
    pub metrics: String,
}

impl Operator {
    pub async fn start(ground: &Ground, name: &str) -> Self {
        Self::start_with(ground, name, &ground.token().await, |_| {}).await
    }

    /// With this token, and with other words.
    pub async fn start_with(
        ground: &Ground,
        name: &str,
        token: &str,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> Self {
        let (kubeconfig, token) = ground.kubeconfig(name, token);
        let dir = &ground.plane.dir;
        let file = |end: &str| dir.join(format!("{}-{name}.{end}", ground.system()));
        let (log, id) = (file("log"), file("pid"));
        let out = File::create(&log).expect("the folder is ours");
        let (probes, metrics) = (address(), address());

        let spec = &ground.object("Deployment")["spec"]["template"]["spec"]["containers"][0];
        let mut command = Command::new(&ground.project.manager);
        let mut words: Vec<String> = strings(&spec["args"])
            .map(|it| it.replace("=:8081", &format!("={probes}")))
            .map(|it| it.replace("=:8443", &format!("={metrics}")))
            .collect();
        edit(&mut words);
        command.args(words);
        command.env_clear().env("KUBECONFIG", kubeconfig).env("POD_NAME", name);
        let env = spec["env"].as_array().expect("it has an environment");
        // Nothing is mounted here.
        for entry in env.iter().filter(|it| it["name"] != "METRICS_CERT_PATH") {
            if let (Some(name), Some(value)) = (entry["name"].as_str(), entry["value"].as_str()) {
                command.env(name, value);
            }
        }
        if let Some(it) = &ground.watched {
            command.env("WATCH_NAMESPACE", it);
        }
        let errors = out.try_clone().expect("a file can be shared");
        command.current_dir(dir).stdin(Stdio::null()).stdout(out).stderr(errors);
        let child = command.spawn().expect("it has been built");
        // So that `down` ends it, whatever becomes of this process.
        fs::write(&id, child.id().to_string()).expect("the folder is ours");
        Self { child, log, id, token, probes, metrics }
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// What it has in memory, and the most that it had, in MiB.
    pub fn memory(&self) -> (f64, f64) {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.expect("it runs");
        let row = |name: &str| {
            let row = text.lines().find_map(|it| it.strip_prefix(name)).expect("it has one");
            let kib = row.trim().trim_end_matches(" kB").parse::<f64>().expect("it is a number");
            (kib / 102.4).round() / 10.0
        };
        (row("VmRSS:"), row("VmHWM:"))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("the log is there")
    }

    /// The lines of its log that have this in them.
    pub fn said(&self, what: &str) -> Vec<String> {
        self.log().lines().filter(|it| it.contains(what)).map(str::to_owned).collect()
    }

    pub async fn until_said(&self, what: &str, seconds: u64) {
        let limit = Instant::now() + Duration::from_secs(seconds);
        while self.said(what).is_empty() {
            assert!(
                Instant::now() < limit,
                "`{what}` is not said after {seconds} s\n{}",
                self.log()
            );
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub fn signal(&self, name: &str) {
        signal(name, &self.child.id().to_string());
    }

    pub async fn ended(&mut self, seconds: u64) -> ExitStatus {
        let limit = Instant::now() + Duration::from_secs(seconds);
        loop {
            if let Some(end) = self.child.try_wait().expect("it can be asked") {
                return end;
            }
            assert!(Instant::now() < limit, "it has not ended after {seconds} s\n{}", self.log());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// As the kubelet stops it; it has to end well, within 5 seconds.
    pub async fn stop(mut self) {
        assert!(self.runs(), "it runs still\n{}", self.log());
        self.signal("TERM");
        let end = self.ended(5).await;
        assert!(end.success(), "{end}\n{}", self.log());
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.id);
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// One that nobody listens on.
fn address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    listener.local_addr().expect("it is bound").to_string()
}

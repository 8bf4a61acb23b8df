//! A real API server without controllers, started by `tests/control-plane/up`, which ends it when this process ends.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

static STARTED: AtomicUsize = AtomicUsize::new(0);

pub struct Server {
    up: Child,
    dir: PathBuf,
    pub kubeconfig: PathBuf,
}

impl Server {
    /// `None` where its programs are not built; with `CI=true`, that is a failure.
    pub fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cache = env::var_os("XDG_CACHE_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache"));
        let tools = env::var_os("TOOLS").map_or_else(|| cache.join("operator-rs/tools"), PathBuf::from);
        let tools = env::var_os("KUBEBUILDER_ASSETS").map_or(tools, PathBuf::from);
        if !tools.join("kube-apiserver").is_file() {
            let why = "`kube-apiserver` is missing: build it with `tests/control-plane/build kubernetes`";
            assert!(env::var_os("CI").is_none(), "{why}");
            println!("skipped: {why}");
            return None;
        }
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "differential-{}-{}",
            std::process::id(),
            STARTED.fetch_add(1, Relaxed)
        ));
        let mut up = Command::new(root.join("tests/control-plane/up"));
        let up = up.arg(&dir).args(["--alone", "--hold"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut up = up.expect("`up` starts");
        let mut line = String::new();
        BufReader::new(up.stdout.take().expect("it is piped")).read_line(&mut line).expect("it prints the kubeconfig");
        assert!(!line.is_empty(), "the control plane starts; its error is above");
        Some(Self { up, dir, kubeconfig: line.trim().into() })
    }

    pub async fn client(&self) -> Client {
        let config = Kubeconfig::read_from(&self.kubeconfig).expect("`up` has written it");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let mut config = config.expect("it names a cluster and a user");
        config.default_retry = false;
        Client::try_from(config).expect("it has a certificate to trust")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.up.stdin.take());
        let _ = self.up.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

//! Runs a command with stubs on `PATH`, a proxy and a cluster that refuse everything, and folders that are watched.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, OnceLock},
    thread,
};

use crate::{support, table::Claim};

/// Each writes down that it was run. Those of the first list then do what they are for, the others fail.
const REAL: &[&str] = &["git", "sh"];
/// What the scripts of `sh` run.
const TOOLS: &[&str] = &["awk", "ps", "rm", "sleep"];
const STUBS: &[&str] = &[
    "cargo",
    "rustc",
    "rustup",
    "zig",
    "cc",
    "ld",
    "lld",
    "rust-lld",
    "clang",
    "gcc",
    "go",
    "make",
    "opm",
    "kustomize",
    "controller-gen",
    "operator-sdk",
    "kubectl",
    "helm",
    "docker",
    "podman",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "docker-credential-recorder",
    "cluster-credentials",
    "ssh",
    "curl",
    "wget",
    "less",
    "gpg",
    "uname",
    "git-remote-https",
];

/// A server that refuses every request, and what it was asked for.
struct Refusing {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Refusing {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let list = Arc::clone(&list);
                thread::spawn(move || refuse(&stream, &list));
            }
        });
        Self { address, asked }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().expect("nobody panics with it"))
    }
}

/// The first byte of a connection with TLS.
const TLS_HANDSHAKE: u8 = 22;

fn refuse(mut stream: &TcpStream, asked: &Mutex<Vec<String>>) {
    let mut first = [0];
    if stream.peek(&mut first).is_ok() && first == [TLS_HANDSHAKE] {
        asked.lock().expect("nobody panics with it").push(String::new());
        return;
    }
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    asked.lock().expect("nobody panics with it").push(lines.next().unwrap_or_default());
    lines.take_while(|it| !it.is_empty()).for_each(drop);
    let _ = stream
        .write_all(b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}

/// A project with a bundle and a catalog, in git, and with a change that nothing was generated for.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let dir = support::fresh("security/template");
        for words in [
            "init --domain example.com --project-name memcached-operator",
            "create api --group cache --kind Memcached --image memcached:1.6 --port 1",
            "create api --group cache --kind Second",
            "create webhook --group cache --kind Second --defaulting",
            "create api --group cache --kind Other --controller=false",
            "create api --group cache --version v1 --kind Other --controller=false",
            "bundle --image quay.io/example/operator:v0.0.1",
            "generate catalog --image quay.io/example/bundle:v0.0.1",
        ] {
            support::done(&dir, words);
        }
        fs::write(
            dir.join("template.yaml"),
            "schema: olm.semver\nstable:\n  bundles:\n  - image: quay.io/example/bundle:v0.0.1\n",
        )
        .expect("it is ours");
        fs::write(dir.join("olm.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: olm}\n")
            .expect("it is ours");
        fs::create_dir(dir.join("chart")).expect("it is ours");
        fs::write(dir.join("chart/Chart.yaml"), "apiVersion: v2\nname: a\nversion: 0.1.0\n")
            .expect("it is ours");
        fs::write(
            dir.join("rendered.yaml"),
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
        )
        .expect("it is ours");
        put_own_programs(&dir);
        let ours = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "a"]] {
            let status = Command::new("git").args(ours).args(words).current_dir(&dir).status();
            assert!(status.expect("git starts").success(), "git {words:?}");
        }
        let file = dir.join("api/src/cache/v1alpha1/memcached.rs");
        let text = fs::read_to_string(&file).expect("it is scaffolded");
        fs::write(&file, text.replacen("Number of pods.", "How many pods.", 1))
            .expect("it is ours");
        dir
    })
}

/// A copy of the project, and all that a command can reach.
pub struct World {
    dir: PathBuf,
    cluster: Refusing,
    proxy: Refusing,
}

impl World {
    pub fn new() -> Self {
        let dir = support::fresh("security/world");
        let res = Self { dir, cluster: Refusing::start(), proxy: Refusing::start() };
        put_stubs(&res.dir);
        res.put_home();
        res
    }

    /// Another project for each run that has changed the one before.
    fn project(&self, words: &str) -> PathBuf {
        let res = self.dir.join("project");
        if words.starts_with("init ") {
            fs::create_dir_all(&res).expect("it is ours");
        } else if !res.join("PROJECT").exists() {
            let status = Command::new("cp").arg("-a").args([template(), &res]).status();
            assert!(status.expect("cp starts").success());
        }
        if words.starts_with("test ") {
            support::done(&res, "manifests"); // of the change: stale files are not tested
        }
        res
    }

    /// What a command did, and whether it succeeded.
    pub fn run(&self, words: &str) -> (Claim, bool) {
        let project = self.project(words);
        let (before, home) = (support::tree(&project), support::tree(&self.dir.join("home")));
        let output = self.command(words).output().expect("the program starts");
        if std::env::var_os("SECURITY_VERBOSE").is_some() {
            eprintln!("$ operator-rs {words}\n{}", support::said(&output));
        }
        let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        let _ = fs::remove_file(self.dir.join("log"));
        let mut res = Claim { programs: log.lines().map(program).collect(), ..Claim::default() };
        if !self.cluster.take().is_empty() {
            res.network.insert("cluster".to_owned());
        }
        for it in self.proxy.take() {
            let name = if it.contains("github") { "GitHub" } else { "registries" };
            res.network.insert(name.to_owned());
        }
        let after = support::tree(&project);
        let all = before.keys().chain(after.keys());
        let changed = all.filter(|it| before.get(*it) != after.get(*it));
        let name = |it: &String| if it.starts_with("out") { "output" } else { "project" };
        res.writes.extend(changed.map(name).map(str::to_owned));
        if project.join("target").exists() {
            res.writes.insert("target directory".to_owned());
        }
        if !res.writes.is_empty() {
            fs::remove_dir_all(&project).expect("it is ours");
        }
        if support::tree(&self.dir.join("home")) != home {
            res.writes.insert("home".to_owned());
        }
        (res, output.status.success())
    }

    fn command(&self, words: &str) -> Command {
        let home = self.dir.join("home");
        let mut res = Command::new(support::BINARY);
        res.args(words.split(' ')).current_dir(self.dir.join("project"));
        res.stdin(std::process::Stdio::null()).env_clear();
        // The project has programs in the directories that the relative entries mean.
        let path = format!(":.:own-programs:{}", self.dir.join("bin").display());
        res.env("PATH", path).env("LC_ALL", "C");
        for (name, path) in [
            ("HOME", home.clone()),
            ("XDG_CACHE_HOME", home.join(".cache")),
            ("XDG_STATE_HOME", home.join(".local/state")),
            ("TMPDIR", self.dir.join("tmp")),
            ("KUBECONFIG", home.join(".kube/config")),
        ] {
            res.env(name, path);
        }
        let proxy = format!("http://{}", self.proxy.address);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            res.env(name, &proxy).env(name.to_lowercase(), &proxy);
        }
        res
    }

    fn put_home(&self) {
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: 'https://{0}'}}\n\
             - name: without-tls\n  cluster: {{server: 'http://{0}'}}\n\
             contexts:\n- name: a\n  context: {{cluster: a, user: a}}\n\
             - name: without-tls\n  context: {{cluster: without-tls, user: a}}\nusers:\n- name: a\n  user: {{exec: {{command: cluster-credentials, \
             apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}}\n",
            self.cluster.address
        );
        let home = self.dir.join("home");
        put(&home.join(".kube/config"), &kubeconfig);
        put(&home.join(".docker/config.json"), "{\"credsStore\": \"recorder\"}\n");
        for folder in [home.join(".cache"), home.join(".local/state"), self.dir.join("tmp")] {
            fs::create_dir_all(folder).expect("it is ours");
        }
    }
}

fn program(line: &str) -> String {
    match line {
        "docker-credential-recorder" => "credential helpers",
        "cluster-credentials" => "programs of your kubeconfig",
        name => name,
    }
    .to_owned()
}

/// What Rust is asked for before it compiles: which one it is, and whether it has the platform.
const RUSTC: &str = "case \"$*\" in *sysroot*) echo \"${0%/*}/../rust\";; *) echo 'host: a'; echo 'release: 1.90.0';; esac";
const CLUSTER: &str = r#"echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "a"}}'"#;
const REGISTRY: &str = r#"echo '{"Username": "a", "Secret": "b"}'"#;

/// Programs of the project that nothing may run: each writes down that it was run.
fn put_own_programs(project: &Path) {
    let log = support::folder("security/world").join("log");
    for folder in ["", "own-programs"] {
        // The client library still looks up the programs of the kubeconfig by itself.
        let names = REAL.iter().chain(TOOLS).chain(STUBS);
        for name in names.filter(|name| **name != "cluster-credentials") {
            let text =
                format!("#!/bin/sh\necho 'the {name} of the project' >> '{}'\n", log.display());
            put_program(&project.join(folder).join(name), &text);
        }
    }
}

fn put_stubs(world: &Path) {
    let log = world.join("log");
    for name in REAL.iter().chain(STUBS) {
        let then = match *name {
            it if REAL.contains(&it) => format!("exec {} \"$@\"", real(it).display()),
            "rustc" => RUSTC.to_owned(),
            "cluster-credentials" => CLUSTER.to_owned(),
            "docker-credential-recorder" => REGISTRY.to_owned(),
            // Until the other one has been started.
            "etcd" => format!("exec {} 10", real("sleep").display()),
            _ => "exit 1".to_owned(),
        };
        let path = world.join("bin").join(name);
        put_program(&path, &format!("#!/bin/sh\necho {name} >> '{}'\n{then}\n", log.display()));
    }
    for name in TOOLS {
        std::os::unix::fs::symlink(real(name), world.join("bin").join(name)).expect("it is ours");
    }
    for platform in ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"] {
        let folder = world.join("rust/lib/rustlib").join(platform).join("lib");
        fs::create_dir_all(folder).expect("it is ours");
    }
}

fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
    found.unwrap_or_else(|| panic!("`{name}` is not on PATH"))
}

fn put_program(path: &Path, text: &str) {
    put(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it is ours");
    fs::write(path, text).expect("it is ours");
}

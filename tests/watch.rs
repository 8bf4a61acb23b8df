//! `--watch`: what is saved is there.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// Longer than any answer takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command that goes on until it is dropped.
struct Watching {
    child: Child,
    printed: Receiver<String>,
    told: Receiver<String>,
}

impl Watching {
    fn start(folder: &Path, words: &str) -> Self {
        let mut child = Command::new(support::BINARY)
            .args(words.split(' '))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = lines(child.stdout.take().unwrap());
        let told = lines(child.stderr.take().unwrap());
        Self { child, printed, told }
    }

    /// Waits for a line with this in it on stdout.
    #[track_caller]
    fn prints(&self, what: &str) {
        wait(&self.printed, what);
    }

    /// Waits for a line with this in it on stderr.
    #[track_caller]
    fn tells(&self, what: &str) {
        wait(&self.told, what);
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[track_caller]
fn wait(lines: &Receiver<String>, what: &str) {
    let end = Instant::now() + PATIENCE;
    let mut said = Vec::new();
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
        if line.contains(what) {
            return;
        }
        said.push(line);
    }
    panic!("`{what}` was waited for, and this was said:\n{}", said.join("\n"));
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn kind(field: &str) -> String {
    format!(
        "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{{Deserialize, Serialize}};\n
#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"Watched\")]
pub struct WatchedSpec {{
    {field}
}}
"
    )
}

#[test]
fn crds_are_printed_again_when_a_file_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put(
        "Cargo.toml",
        "[package]\nname = \"watched\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
[dependencies]
k8s-openapi = { version = \"0.29\", features = [\"v1_33\", \"schemars\"] }
kube = { version = \"5\", default-features = false, features = [\"derive\"] }
schemars = \"1\"
serde = \"1\"
",
    );
    put("Cargo.lock", &support::lock_for("watched"));
    put("src/lib.rs", "mod api;\n");
    put("src/api.rs", &kind("pub first: i32,"));
    let watching = Watching::start(folder.path(), "generate crds --watch");
    watching.prints("first:");
    watching.tells("watching for changes");
    put("src/api.rs", &kind("pub second: i32,"));
    watching.prints("second:");
    // Text that is half written is told, and waited over.
    put("src/api.rs", &kind("pub third: "));
    watching.tells("src/api.rs:");
    put("src/api.rs", &kind("pub third: Third,"));
    watching.tells("`Third` is not found");
    // A file that was missing is waited for, too.
    put("src/lib.rs", "mod api;\nmod third;\n");
    watching.tells("src/lib.rs:2");
    put("src/third.rs", "");
    put("src/api.rs", &kind("pub third: i32,"));
    watching.prints("third:");
}

#[test]
fn manifests_are_written_again_when_a_file_is_saved() {
    let folder = support::fresh("watched");
    support::done(&folder, "init --domain example.com");
    support::done(&folder, "create api --group cache --kind Memcached");
    let watching = Watching::start(&folder, "manifests --watch");
    watching.tells("watching for changes");
    let types = folder.join("api/src/cache/v1alpha1/memcached.rs");
    let text = fs::read_to_string(&types).unwrap();
    let spec =
        text.find("pub struct MemcachedSpec {").unwrap() + "pub struct MemcachedSpec {".len();
    let (head, tail) = text.split_at(spec);
    fs::write(&types, format!("{head}\n    pub colour: Option<String>,{tail}")).unwrap();
    watching.prints("config/crd/bases/");
    let crd = folder.join("config/crd/bases/cache.example.com_memcacheds.yaml");
    assert!(fs::read_to_string(crd).unwrap().contains("colour:"));
}

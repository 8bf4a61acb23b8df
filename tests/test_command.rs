//! `operator-rs test`: a real API server comes and goes with it, whatever ends it; what it downloads is
//! checked; what an operator may do is held against what it did.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha512};

/// The folder of the real programs; nothing where they were not built, which is said.
fn assets() -> Option<PathBuf> {
    let etcd = support::tool("etcd")?;
    support::tool("kube-apiserver")?;
    support::tool("kube-controller-manager")?;
    etcd.parent().map(Path::to_owned)
}

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("test-command/{name}")).join("memcached-operator");
    fs::create_dir(&dir).unwrap();
    support::done(&dir, "init --domain example.com");
    support::done(
        &dir,
        "create api --group cache --kind Memcached --image memcached:1.6.39-alpine",
    );
    dir
}

/// `operator-rs test` with these words, that has nothing of the caller's environment to go by.
fn test(dir: &Path, words: &[&str]) -> Command {
    let mut res = support::command(support::BINARY, dir);
    res.arg("test").args(words).env_remove("KUBEBUILDER_ASSETS").env_remove("KUBECONFIG");
    res.env("TMPDIR", temporary(dir));
    res
}

/// Where it makes its folders.
fn temporary(dir: &Path) -> PathBuf {
    let res = dir.with_file_name("temporary");
    fs::create_dir_all(&res).unwrap();
    res
}

/// Held while cargo builds a project: two of one name share their places in the target folder.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

fn until(what: &str, is: impl Fn() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(60), "not {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A command that says what it was given, and where, in a file beside the project.
const SAY: &str = "env > ../said; echo $$ > ../pid";

fn variables(dir: &Path) -> BTreeMap<String, String> {
    let said = fs::read_to_string(dir.with_file_name("said")).unwrap();
    let pairs = said.lines().filter_map(|it| it.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The port of the API server that a kubeconfig names.
fn port(kubeconfig: &str) -> u16 {
    let text = fs::read_to_string(kubeconfig).unwrap();
    let rest = text.split_once("https://127.0.0.1:").expect("it is on this machine").1;
    rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn what_runs_finds_the_crds_and_both_accounts_and_nothing_is_left() {
    let Some(assets) = assets() else { return };
    let dir = project("whole");
    let before = support::tree(&dir);
    // Both accounts ask for the same: one may, the other may not.
    let script = format!(
        "{SAY}; cp $KUBECONFIG ../kubeconfig; {0} install > ../installed && \
         ! {0} install --kubeconfig $E2E_OPERATOR_KUBECONFIG 2> ../refused",
        support::BINARY
    );
    let output =
        test(&dir, &["--assets", assets.to_str().unwrap(), "--", "sh", "-c", &script]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    let variables = variables(&dir);
    assert_eq!(variables["KUBECONFIG"], variables["E2E_KUBECONFIG"]);
    assert_ne!(variables["KUBECONFIG"], variables["E2E_OPERATOR_KUBECONFIG"]);
    assert_eq!(variables["KUBEBUILDER_ASSETS"], assets.to_str().unwrap());
    let said = |name: &str| fs::read_to_string(dir.with_file_name(name)).unwrap();
    assert!(said("installed").contains("unchanged"), "{}", said("installed"));
    assert!(
        said("refused").contains("memcached-operator-controller-manager"),
        "{}",
        said("refused")
    );
    assert!(!listens(port(dir.with_file_name("kubeconfig").to_str().unwrap())));
    assert!(is_empty(&temporary(&dir)), "its folder is taken away");
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
}

#[test]
fn a_command_that_fails_fails_it() {
    let Some(assets) = assets() else { return };
    let dir = project("fails");
    let output =
        test(&dir, &["--assets", assets.to_str().unwrap(), "--", "false"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = support::said(&output);
    assert!(said.contains("error: `false` failed: exit status: 1"), "{said}");
    assert!(is_empty(&temporary(&dir)));
}

/// Ctrl-C, an orderly end from outside, and the end of a crash: each ends the API server, etcd, and what was run.
#[test]
fn whatever_ends_it_ends_everything() {
    let Some(assets) = assets() else { return };
    for signal in ["INT", "TERM", "KILL", "HUP"] {
        ends_everything(signal, &assets);
    }
}

fn ends_everything(signal: &str, assets: &Path) {
    let dir = project(signal);
    let script = format!("{SAY}; touch ../begun; exec sleep 1000");
    let words =
        ["--assets", assets.to_str().unwrap(), "--controller-manager", "--", "sh", "-c", &script];
    let mut child = test(&dir, &words).spawn().unwrap();
    until("begun", || dir.with_file_name("begun").exists());
    let variables = variables(&dir);
    let port = port(&variables["KUBECONFIG"]);
    assert_eq!(variables["E2E_CONTROLLERS"], "true");
    assert!(listens(port), "the API server runs");
    let folder = Path::new(&variables["KUBECONFIG"]).parent().unwrap();
    assert_eq!(programs_in(folder).len(), 3, "etcd, API server and controllers run");
    let command = fs::read_to_string(dir.with_file_name("pid")).unwrap();

    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    assert!(!child.wait().unwrap().success());
    until("ended", || programs_in(folder).is_empty() && !listens(port));
    until("taken away", || !folder.exists());
    let command = format!("/proc/{}/stat", command.trim());
    until("without its command", || match fs::read_to_string(&command) {
        // One that has ended may wait for its parent to hear of it.
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    });
}

/// The programs whose working folder this is.
fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let mut res = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let process = entry.unwrap().path();
        let program = fs::read_link(process.join("exe"));
        let name = |it: &Path| it.file_name().is_some_and(|it| it.to_string_lossy().len() > 3);
        if fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder))
            && let Ok(program) = program
            && name(&program)
        {
            res.push(program);
        }
    }
    // The shells between have short names; what is left are the programs themselves.
    res.retain(|it| !["bash", "dash", "busybox", "sleep"].iter().any(|name| it.ends_with(name)));
    res
}

#[test]
fn what_is_kept_goes_on_and_says_how_to_end_it() {
    let Some(assets) = assets() else { return };
    let dir = project("kept");
    let words = ["--assets", assets.to_str().unwrap(), "--keep", "--", "false"];
    let output = test(&dir, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the command failed");
    let kubeconfig = String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned();
    let said = support::said(&output);
    assert!(listens(port(&kubeconfig)), "{said}");
    let end = said.lines().find_map(|it| it.trim().strip_prefix("kill -9 ")).expect(&said);
    let ended = Command::new("sh").args(["-c", &format!("kill -9 {end}")]).status().unwrap();
    assert!(ended.success(), "what it says ends it: {end}");
    until("gone", || !listens(port_or_none(&kubeconfig)) && is_empty(&temporary(&dir)));
}

fn port_or_none(kubeconfig: &str) -> u16 {
    if Path::new(kubeconfig).exists() { port(kubeconfig) } else { 1 }
}

/// The untouched scaffold asks for what its role allows, and its role allows nothing else.
#[test]
fn the_scaffold_is_refused_nothing_and_uses_every_rule() {
    let Some(assets) = assets() else { return };
    let _alone = alone();
    let dir = project("audit");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac"];
    let cargo = ["--", env!("CARGO"), "test", "--locked", "--test", "e2e"];
    let mut command = test(&dir, &[&words[..], &cargo[..]].concat());
    let output = command
        .env("CARGO_TARGET_DIR", support::generated_target())
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("CARGO_MANIFEST_DIR")
        .output()
        .unwrap();
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("every_sample_becomes_available ... ok"), "{said}");
    assert!(!said.contains("not run"), "{said}");
    let report = said.split_once("did:\n").expect(&said).1;
    assert!(report.contains("calls, 0 refused, 0 unused\n"), "{report}");
    assert!(report.contains("used    deployments.apps: create, list, patch, watch\n"), "{report}");
}

#[test]
fn what_is_refused_comes_with_the_comment_to_add() {
    let Some(assets) = assets() else { return };
    let dir = project("refused");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "sh", "-c"];
    // The operator's account reaches for CRDs, which no comment asks for.
    let script = format!("{} install --kubeconfig $E2E_OPERATOR_KUBECONFIG", support::BINARY);
    let output = test(&dir, &[&words[..], &[&script]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = support::said(&output);
    let comment = "// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get";
    assert!(said.contains(comment), "{said}");
    assert!(said.contains("unused  deployments.apps: create, list, patch, watch\n"), "{said}");
}

/// Nobody asks as the operator: a report of nothing would look like one that is content.
#[test]
fn an_audit_of_no_calls_is_an_error() {
    let Some(assets) = assets() else { return };
    let dir = project("idle");
    let words = ["--assets", assets.to_str().unwrap(), "--audit-rbac", "--", "true"];
    let output = test(&dir, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        support::said(&output).contains("error: the tests did nothing as system:serviceaccount:")
    );
}

/// A server on this machine that knows some paths, and what it was asked for.
struct Web {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn serve(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = asked.clone();
        let own = address.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &files, &own, &notes);
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(
    mut stream: TcpStream,
    files: &BTreeMap<String, Vec<u8>>,
    own: &str,
    notes: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    lines.take_while(|it| !it.is_empty()).for_each(drop);
    // Before the answer: whoever has that may ask at once what was asked.
    notes.lock().unwrap().push(path.clone());
    let (status, body) = match files.get(&path) {
        Some(body) => ("200 OK", body.clone()),
        None => ("404 Not Found", Vec::new()),
    };
    // The index names its own server, whose port nobody knew before.
    let body = match String::from_utf8(body) {
        Ok(text) => text.replace("SERVER", own).into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("{os}-{arch}")
}

/// An archive as envtest's are, of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut res = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::none()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        let path = format!("controller-tools/envtest/{name}");
        res.append_data(&mut header, path, *bytes).unwrap();
    }
    res.into_inner().unwrap().finish().unwrap()
}

fn index(releases: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut res = "releases:\n".to_owned();
    for (version, file, bytes) in releases {
        let hash: String = Sha512::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
        res += &format!(
            "  {version}:\n    envtest-{version}-{}.tar.gz:\n      hash: {hash}\n      selfLink: SERVER/{file}\n",
            platform()
        );
    }
    res.into_bytes()
}

/// Runs the downloaded programs, and again without the network.
#[test]
fn a_download_is_checked_kept_and_run() {
    let Some(assets) = assets() else { return };
    let dir = project("download");
    // The real ones weigh 130 MB: what is fetched calls them.
    let call = |name: &str| format!("#!/bin/sh\nexec '{}' \"$@\"\n", assets.join(name).display());
    let (etcd, server) = (call("etcd"), call("kube-apiserver"));
    let good = archive(&[
        ("etcd", etcd.as_bytes()),
        ("kube-apiserver", server.as_bytes()),
        ("kubectl", b"#!/bin/sh\n"),
    ]);
    let files = BTreeMap::from([
        ("/index.yaml".to_owned(), index(&[("v1.36.3", "good", &good), ("v1.35.0", "old", b"")])),
        ("/good".to_owned(), good),
    ]);
    let web = Web::serve(files);
    let list = format!("{}/index.yaml", web.address);
    let run = |version: &str, list: &str| {
        let words = ["--download", version, "--index", list, "--", "sh", "-c", SAY];
        let output = test(&dir, &words).env("XDG_CACHE_HOME", dir.with_file_name("cache")).output();
        output.unwrap()
    };
    let output = run("1.36", &list);
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(web.asked(), ["/index.yaml", "/good"]);
    let kept =
        dir.with_file_name("cache").join(format!("operator-rs/envtest/1.36.3-{}", platform()));
    assert_eq!(variables(&dir)["KUBEBUILDER_ASSETS"], kept.to_str().unwrap());
    assert_eq!(
        support::tree(&kept).into_keys().collect::<Vec<_>>(),
        ["etcd", "kube-apiserver", "kubectl"]
    );

    let output = run("1.36", &list);
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(web.asked(), ["/index.yaml"], "what is kept is not fetched again");
    // An exact version asks nobody; another goes on with what is here, and says so.
    let nowhere = "http://127.0.0.1:1/index.yaml";
    let output = run("1.36.3", nowhere);
    assert!(output.status.success(), "{}", support::said(&output));
    let output = run("1.36", nowhere);
    assert!(output.status.success(), "{}", support::said(&output));
    assert!(support::said(&output).contains("going on with 1.36.3, which is here"));
}

#[test]
fn a_download_that_is_not_what_the_index_says_is_not_kept() {
    let dir = project("bad-download");
    let bad = archive(&[("etcd", b"1"), ("kube-apiserver", b"2")]);
    let files = BTreeMap::from([
        (
            "/index.yaml".to_owned(),
            index(&[("v1.36.3", "bad", b"another"), ("v1.35.1", "gone", b"")]),
        ),
        ("/half.yaml".to_owned(), index(&[("v1.36.3", "half", &archive(&[("etcd", b"1")]))])),
        ("/rubbish.yaml".to_owned(), b"a: [".to_vec()),
        ("/bad".to_owned(), bad),
        ("/half".to_owned(), archive(&[("etcd", b"1")])),
    ]);
    let web = Web::serve(files);
    let cache = dir.with_file_name("cache");
    let told = |version: &str, list: &str| {
        let list = format!("{}/{list}", web.address);
        let words = ["--download", version, "--index", &list, "--", "true"];
        let output = test(&dir, &words).env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert!(!cache.exists() || is_empty(&cache.join("operator-rs/envtest")), "nothing is kept");
        support::said(&output)
    };
    let said = told("1.36", "index.yaml");
    assert!(
        said.contains("is not what the index says: its SHA-512 is")
            && said.contains("nothing was kept")
    );
    let said = told("1.35", "index.yaml");
    assert!(said.contains("/gone"), "{said}");
    let said = told("1.34", "index.yaml");
    assert!(said.contains(&format!("the index has no 1.34 for {}", platform())), "{said}");
    assert!(said.contains("it has 1.36, 1.35"), "{said}");
    assert!(told("1.36", "half.yaml").contains("has no kube-apiserver"));
    assert!(told("1.36", "rubbish.yaml").contains("reading the index"));
    assert!(
        told("1.36", "nothing.yaml").contains("the index of envtest's archives cannot be read")
    );
}

/// A server that dies as it starts is told with what it said.
#[test]
fn programs_that_do_not_start_are_told_with_their_words() {
    let dir = project("broken");
    let folder = dir.with_file_name("programs");
    fs::create_dir_all(&folder).unwrap();
    for name in ["etcd", "kube-apiserver"] {
        let path = folder.join(name);
        fs::write(&path, "#!/bin/sh\necho 'no such flag: --shiny' >&2; exit 3\n").unwrap();
        Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    }
    let output =
        test(&dir, &["--assets", folder.to_str().unwrap(), "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = support::said(&output);
    assert!(
        said.contains("does not become ready") && said.contains("no such flag: --shiny"),
        "{said}"
    );
    assert!(is_empty(&temporary(&dir)));
}

/// With a KUBECONFIG of somebody's cluster, the project's own tests touch nothing.
#[test]
fn a_kubeconfig_alone_never_starts_the_end_to_end_tests() {
    let _alone = alone();
    let dir = project("guarded");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let kubeconfig = dir.with_file_name("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: 'http://{}'}}}}]\nusers: [{{name: a, user: {{}}}}]\n",
        listener.local_addr().unwrap()
    );
    fs::write(&kubeconfig, text).unwrap();
    let output = support::command(env!("CARGO"), &dir)
        .args(["test", "--locked", "--test", "e2e"])
        .env("KUBECONFIG", &kubeconfig)
        .env("CARGO_TARGET_DIR", support::generated_target())
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("CARGO_MANIFEST_DIR")
        .env_remove("E2E_KUBECONFIG")
        .output()
        .unwrap();
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("every_sample_becomes_available: not run"), "{said}");
    assert!(listener.accept().is_err(), "nobody called");
}

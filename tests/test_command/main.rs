//! `operator-rs test`: a real API server comes and goes with it, whatever ends it; what it downloads is
//! checked; what an operator may do is held against what it did.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod anywhere;
mod audit;
mod create_in_place;
mod download;
mod in_place;
#[path = "../support/mod.rs"]
mod support;
mod web;

use std::{
    collections::BTreeMap,
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// The folder of the real programs, `KUBEBUILDER_ASSETS` before our own; nothing where they were not built, which
/// is said.
fn assets() -> Option<PathBuf> {
    let all = ["etcd", "kube-apiserver", "kube-controller-manager"];
    let given = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    if let Some(given) = given.filter(|it| all.iter().all(|name| it.join(name).is_file())) {
        return Some(given);
    }
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

fn until(what: &str, mut is: impl FnMut() -> bool) {
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
        "{SAY}; cp $KUBECONFIG ../kubeconfig; folder=$(dirname $KUBECONFIG); \
         stat -c %a $folder $KUBECONFIG $folder/tokens.csv $E2E_OPERATOR_KUBECONFIG > ../modes; {0} install > ../installed && \
         ! {0} install --kubeconfig $E2E_OPERATOR_KUBECONFIG 2> ../refused",
        support::BINARY
    );
    let output =
        test(&dir, &["--assets", assets.to_str().unwrap(), "--", "sh", "-c", &script]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    let modes = fs::read_to_string(dir.with_file_name("modes")).unwrap();
    assert_eq!(modes, "700\n600\n600\n600\n", "others may read a token");
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

/// Neither we nor what is run may ask a proxy for this machine; for all else it is still there.
#[test]
fn nothing_for_this_machine_goes_to_a_proxy() {
    let Some(assets) = assets() else { return };
    let dir = project("proxy");
    let proxy = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let script = format!("{SAY}; {} install", support::BINARY);
    let mut command =
        test(&dir, &["--assets", assets.to_str().unwrap(), "--", "sh", "-c", &script]);
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    {
        command.env(name, &address);
    }
    let output = command.env("NO_PROXY", "example.org").env_remove("no_proxy").output().unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    assert!(proxy.accept().is_err(), "nobody called");
    let variables = variables(&dir);
    assert_eq!(variables["HTTPS_PROXY"], address);
    for name in ["NO_PROXY", "no_proxy"] {
        assert_eq!(variables[name], "example.org,127.0.0.1,localhost,127.0.0.1", "{name}");
    }
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
fn any_signal_that_ends_the_command_ends_its_programs() {
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
    let mut child = Running(support::obedient(&test(&dir, &words)).spawn().unwrap());
    until("begun", || dir.with_file_name("begun").exists());
    let variables = variables(&dir);
    let port = port(&variables["KUBECONFIG"]);
    assert_eq!(variables["E2E_CONTROLLERS"], "true");
    assert!(listens(port), "the API server runs");
    let folder = Path::new(&variables["KUBECONFIG"]).parent().unwrap();
    assert_eq!(programs_in(folder).len(), 3, "etcd, API server and controllers run");
    let command = fs::read_to_string(dir.with_file_name("pid")).unwrap();

    let sent =
        Command::new("kill").args([&format!("-{signal}"), &child.0.id().to_string()]).status();
    assert!(sent.unwrap().success());
    let mut status = None;
    until("ended by the signal", || {
        status = child.0.try_wait().unwrap();
        status.is_some()
    });
    assert!(!status.unwrap().success());
    until("ended", || programs_in(folder).is_empty() && !listens(port));
    until("taken away", || !folder.exists());
    let command = format!("/proc/{}/stat", command.trim());
    until("without its command", || match fs::read_to_string(&command) {
        // One that has ended may wait for its parent to hear of it.
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    });
}

/// A program that does not outlive a test that fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
fn keep_leaves_the_control_plane_running_and_prints_how_to_stop_it() {
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

/// A server that dies as it starts is told with what it said.
#[test]
fn programs_that_do_not_start_are_reported_with_their_words() {
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
        said.contains("did not become ready") && said.contains("no such flag: --shiny"),
        "{said}"
    );
    assert!(is_empty(&temporary(&dir)));
}

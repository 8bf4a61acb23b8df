//! Every command that talks to a server has `--timeout`, and ends in time whatever the server does.
//!
//! The commands are those of SECURITY.md. A command "ends in time" if it does so long before the servers here would do
//! something else.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

#[path = "security/runs.rs"]
mod runs;
#[path = "security/table.rs"]
#[allow(dead_code, reason = "tests/security uses the rest")]
mod table;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a server or a program waits where it is slow.
const DELAY: Duration = Duration::from_secs(120);
/// A command with `--timeout 1s` ends before this, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a server does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It accepts and never answers.
    Silent,
    /// It sends a byte of the body now and then.
    Bytes,
    /// It sends a header now and then.
    Headers,
    /// It is overloaded, and wants to be asked again after so many seconds.
    Retry(u64),
    /// It sends a byte of a TLS record now and then.
    Handshake,
}

fn serve(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, manner));
        }
    });
    address
}

fn answer(mut stream: TcpStream, manner: Manner) -> std::io::Result<()> {
    let slowly = |stream: &mut TcpStream, first: &[u8], then: &[u8]| {
        stream.write_all(first)?;
        loop {
            stream.write_all(then)?;
            thread::sleep(Duration::from_millis(300));
        }
    };
    if manner == Manner::Handshake {
        return slowly(&mut stream, &[22, 3, 3, 64, 0], &[2]);
    }
    let mut lines = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    let asked = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let ok = b"HTTP/1.1 200 OK\r\n";
    match manner {
        // What comes after the proxy has connected is TLS.
        Manner::Bytes if asked.starts_with("CONNECT ") => {
            stream.write_all(&[ok, &b"\r\n"[..]].concat())?;
            stream.read_exact(&mut [0])?;
            slowly(&mut stream, &[22, 3, 3, 64, 0], &[2])
        }
        Manner::Bytes => {
            slowly(&mut stream, &[ok, &b"Content-Length: 500\r\n\r\n"[..]].concat(), b" ")
        }
        Manner::Headers => slowly(&mut stream, ok, b"X: y\r\n"),
        Manner::Retry(seconds) => write!(
            stream,
            "HTTP/1.1 429 X\r\nRetry-After: {seconds}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
        Manner::Silent | Manner::Handshake => {
            thread::sleep(DELAY);
            Ok(())
        }
    }
}

/// A project, and a kubeconfig of a server.
struct World {
    project: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        let project = support::fresh("time-limits/project");
        for words in [
            "init --domain example.com --project-name memcached-operator",
            "create api --group cache --kind Memcached --image memcached:1.6 --port 1",
            "bundle --image quay.io/example/operator:v0.0.1",
            "generate catalog --image quay.io/example/bundle:v0.0.1",
        ] {
            support::done(&project, words);
        }
        let put = |name: &str, text: &str| fs::write(project.join(name), text).expect("it is ours");
        let template =
            "schema: olm.semver\nstable:\n  bundles:\n  - image: quay.io/example/bundle:v0.0.1\n";
        put("template.yaml", template);
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                   metadata: {name: subscriptions.operators.coreos.com}\n";
        put("olm.yaml", crd);
        put("rendered.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
        let home = support::outside().join("time-limits");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).expect("it is ours");
        Self { project, home }
    }

    /// A program in the home directory.
    fn program(&self, name: &str, script: &str) -> String {
        let path = self.home.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path.display().to_string()
    }

    fn kubeconfig(&self, name: &str, server: &str, user: &str) -> PathBuf {
        let path = self.home.join(name);
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: '{server}'}}}}]\n\
             users: [{{name: a, user: {{{user}}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n"
        );
        fs::write(&path, text).expect("it is ours");
        path
    }

    /// The project, or a copy of it for a command that may write there while others do.
    fn folder(&self, words: &str) -> PathBuf {
        if !words.starts_with("catalog add ") {
            return self.project.clone();
        }
        let copy = self.project.with_file_name("copy");
        let _ = fs::remove_dir_all(&copy);
        let status = Command::new("cp").arg("-a").args([&self.project, &copy]).status();
        assert!(status.expect("cp starts").success());
        copy
    }

    /// The command with this kubeconfig, where registries and GitHub are reached by this proxy.
    fn command(&self, words: &str, kubeconfig: &Path, proxy: &str) -> Command {
        let mut command = Command::new(support::BINARY);
        command.args(words.split(' ')).current_dir(self.folder(words)).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
        command.env("HOME", &self.home).env("KUBECONFIG", kubeconfig);
        command.env("XDG_CACHE_HOME", self.home.join("cache"));
        let proxy = format!("http://{proxy}");
        command.env("HTTP_PROXY", &proxy).env("HTTPS_PROXY", &proxy);
        command
    }
}

/// The output of a command, unless it does not end in time.
fn output(command: &mut Command) -> Option<Output> {
    let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program starts");
    let (start, id) = (Instant::now(), child.id().to_string());
    let late = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut streams = (child.stdout.take(), child.stderr.take());
        let reader = scope.spawn(move || {
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let _ = streams.1.as_mut().map(|it| it.read_to_end(&mut stderr));
            let _ = streams.0.as_mut().map(|it| it.read_to_end(&mut stdout));
            (stdout, stderr)
        });
        let status = loop {
            if let Ok(Some(status)) = child.try_wait() {
                break status;
            }
            if start.elapsed() > PATIENCE {
                late.store(true, Ordering::Relaxed);
                let _ = Command::new("kill").args(["-9", &id]).status();
            }
            thread::sleep(Duration::from_millis(20));
        };
        let (stdout, stderr) = reader.join().expect("it reads");
        let output = Output { status, stdout, stderr };
        (!late.load(Ordering::Relaxed)).then_some(output)
    })
}

/// One run of a command, and a part of what it must say.
struct Case {
    title: String,
    command: Command,
    expected: &'static str,
}

/// Runs all cases, some at a time.
fn check(cases: Vec<Case>) {
    let (queue, faults) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("nobody panics with it").next();
                    let Some(Case { title, mut command, expected }) = next else { return };
                    let fault = match output(&mut command) {
                        None => format!("{title}: does not end"),
                        Some(output) if support::said(&output).contains(expected) => continue,
                        Some(output) => format!("{title}:\n{}", support::said(&output)),
                    };
                    faults.lock().expect("nobody panics with it").push(fault);
                }
            });
        }
    });
    let faults = faults.into_inner().expect("nobody panics with it");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Command lines of all commands that talk to a server, with a time limit of a second.
fn runs() -> Vec<String> {
    let rows = table::rows();
    let talks =
        |words: &str| table::row_of(&rows, words).is_some_and(|row| !row.claim.network.is_empty());
    // These read what is on this machine, or name a context that is not in the kubeconfig here.
    let is_local = |words: &str| {
        let local = ["chart", "HEAD", "without-tls"];
        let is_bundle = words.ends_with(" bundle") && !words.starts_with("run ");
        is_bundle || words.contains("add bundle") || words.split(' ').any(|it| local.contains(&it))
    };
    let lines = runs::RUNS.iter().filter(|words| talks(words) && !is_local(words));
    lines.map(|words| format!("{} --timeout 1s", words.replace(" --timeout 2s", ""))).collect()
}

const LATE: &str = "timed out after 1s while waiting for ";

/// What is said of a server that does not answer.
fn expected(words: &str) -> &'static str {
    match words.split(' ').next().unwrap_or_default() {
        // It is no error.
        "status" => "\nCluster",
        // These compile before they send a request, and there is no Rust here.
        "image" => "error: ",
        // The programs of a control plane are not here.
        "test" if !words.contains("--download") => "error: ",
        _ => LATE,
    }
}

#[test]
fn every_command_that_talks_to_a_server_has_a_time_limit() {
    let mut lacking = Vec::new();
    for row in table::rows().iter().filter(|row| !row.claim.network.is_empty()) {
        let help = support::done(support::home(), &format!("{} --help", row.command));
        if !help.contains("--timeout <TIME>") {
            lacking.push(row.command.clone());
        }
    }
    assert!(lacking.is_empty(), "these have no `--timeout`: {}", lacking.join(", "));
}

#[test]
fn every_command_ends_in_time_whatever_the_server_does() {
    let world = World::new();
    let mut cases = Vec::new();
    let mut add = |words: &str, kubeconfig: &Path, proxy: &str, what: &str, expected| {
        let command = world.command(words, kubeconfig, proxy);
        cases.push(Case { title: format!("`{words}` with {what}"), command, expected });
    };
    let of_all_kinds = [
        "install --timeout 1s",
        "status --timeout 1s",
        "olm status --timeout 1s",
        "catalog render quay.io/example/bundle:v1 --timeout 1s",
        "run bundle quay.io/example/bundle:v1 --timeout 1s",
        "test --download 1.37 --timeout 1s",
    ];
    let manners =
        [Manner::Silent, Manner::Bytes, Manner::Headers, Manner::Retry(5), Manner::Retry(30)];
    for manner in manners {
        let (address, name) = (serve(manner), format!("{manner:?}"));
        let kubeconfig = world.kubeconfig(&name, &format!("http://{address}"), "token: x");
        let all = if manner == Manner::Silent {
            runs()
        } else {
            of_all_kinds.map(str::to_owned).to_vec()
        };
        for words in all {
            let is_hasty = matches!(manner, Manner::Retry(_) | Manner::Headers);
            let expected = expected(&words);
            // What comes at once says something else, if this machine is fast enough.
            let expected = if is_hasty { "" } else { expected };
            add(&words, &kubeconfig, &address, &name, expected);
        }
    }
    let address = serve(Manner::Handshake);
    let kubeconfig = world.kubeconfig("handshake", &format!("https://{address}"), "token: x");
    for words in ["install --timeout 1s", "status --timeout 1s"] {
        add(words, &kubeconfig, &address, "a slow handshake", expected(words));
    }
    let words = &format!("catalog render {address}/a/b:v1 --timeout 1s");
    add(words, &kubeconfig, &address, "a slow handshake", LATE);

    let output = r#"echo '{"kind": "ExecCredential", "status": {"token": "x"}}'"#;
    for (name, script) in [
        ("hangs", "sleep 120".to_owned()),
        ("ignores-signals", "trap '' TERM INT HUP; sleep 120; sleep 120".to_owned()),
        ("leaves-a-child", format!("sleep 120 & {output}")),
    ] {
        let command = world.program(name, &script);
        for mode in ["Never", "IfAvailable"] {
            let user = format!(
                "exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{command}', interactiveMode: {mode}}}"
            );
            let name = &format!("{name}-{mode}");
            let kubeconfig =
                world.kubeconfig(&format!("{name}.yaml"), "https://127.0.0.1:1", &user);
            add(
                "install --timeout 1s",
                &kubeconfig,
                &address,
                name,
                "waiting for the credential plugin `",
            );
            add(
                "status --timeout 1s",
                &kubeconfig,
                &address,
                name,
                "waiting for the credential plugin `",
            );
        }
    }
    fs::create_dir(world.home.join("docker")).expect("it is ours");
    let helper = world.program("docker-credential-slow", "sleep 120");
    let folder = Path::new(&helper).parent().expect("it is in a directory");
    fs::write(world.home.join("docker/config.json"), r#"{"credsStore": "slow"}"#)
        .expect("it is ours");
    let mut command =
        world.command("catalog render quay.io/a/b:v1 --timeout 1s", &kubeconfig, &address);
    command.env("DOCKER_CONFIG", world.home.join("docker"));
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    cases.push(Case {
        title: "a credential helper that hangs".to_owned(),
        command,
        expected: LATE,
    });
    check(cases);
}

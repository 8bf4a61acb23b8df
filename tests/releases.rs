//! A release as its users meet it: install.sh and the GitHub action, with a server on this machine in place of GitHub.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

const PLATFORM: &str = "x86_64-unknown-linux-musl";

#[test]
fn the_program_is_installed_where_it_is_asked_for() {
    let release = Release::new("installed");
    let named = release.dir.join("with two blanks");
    for to in ["plain", "a:b", "-x", named.to_str().unwrap()] {
        let output = release.install(&["--to", to]);
        let to = release.dir.join(to);
        assert!(output.status.success(), "{}", support::said(&output));
        assert_eq!(names(&to), ["operator-rs"]);
        assert_eq!(version(&to), "this is 1.2.3\n");
        assert!(support::said(&output).contains("to PATH"), "{}", support::said(&output));
    }
    // Without a folder, below HOME; and over an earlier program.
    let to = release.dir.join("home/.local/bin");
    program(&to, "operator-rs", "echo this is old");
    let output = release.install(&[]);
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(version(&to), "this is 1.2.3\n");
}

#[test]
fn nothing_is_installed_unless_everything_is_right() {
    let check = |name: &str, spoil: &dyn Fn(&Release), message: &str| {
        let release = Release::new(name);
        let to = release.dir.join("home/.local/bin");
        program(&to, "operator-rs", "echo this is old");
        spoil(&release);
        let output = release.install(&[]);
        let text = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        assert!(text.contains(message), "{name}: {text}");
        assert_eq!(names(&to), ["operator-rs"], "{name}");
        assert_eq!(version(&to), "this is old\n", "{name}");
    };
    let archive = |release: &Release| release.dist.join(archive_of(PLATFORM));
    check(
        "other-bytes",
        &|it| fs::copy(it.dist.join("other"), archive(it)).map(drop).unwrap(),
        "nothing was installed",
    );
    check("half", &|it| fs::write(it.dist.join("cut"), "").unwrap(), "cannot download");
    check("endless", &|it| fs::write(it.dist.join("endless"), "").unwrap(), "cannot download");
    let silent = |it: &Release| {
        fs::write(it.dist.join("silent"), "").unwrap();
        it.edit("patience=30", "patience=1");
        it.edit("--retry 2", "");
    };
    check("silent", &silent, "cannot download");
    check("gone", &|it| fs::remove_file(archive(it)).unwrap(), "cannot download");
    check(
        "platform",
        &|it| it.machine("Linux", "riscv64"),
        "there is no archive for Linux on riscv64",
    );
    check("system", &|it| it.machine("MINGW64_NT-10.0", "x86_64"), "on Windows, unpack");
    // It is a platform of releases, but not of this one.
    check(
        "unbuilt",
        &|it| it.machine("Darwin", "arm64"),
        "has no archive for aarch64-apple-darwin",
    );
    check(
        "broken",
        &|it| {
            it.pack(PLATFORM, "exit 1");
            it.stamp();
        },
        "does not run on this machine",
    );
    let unstamped = |it: &Release| {
        fs::copy(support::home().join("install.sh"), it.dist.join("install.sh")).unwrap();
    };
    check("unstamped", &unstamped, "belongs to no release");
}

/// As `curl … | sh` runs it when the connection breaks.
#[test]
fn half_a_script_does_nothing() {
    let release = Release::new("half-a-script");
    let path = release.dist.join("install.sh");
    let script = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = script.lines().collect();
    for end in 0..lines.len() {
        fs::write(&path, lines[..end].join("\n")).unwrap();
        release.install(&[]);
        assert!(!release.dir.join("home/.local").exists(), "with {end} lines");
    }
}

#[test]
fn the_installer_refuses_unknown_arguments() {
    let release = Release::new("arguments");
    fs::create_dir_all(release.dir.join("taken/operator-rs")).unwrap();
    for (words, message) in [
        (&["--to", "taken"][..], "taken/operator-rs is a directory"),
        (&["--dir", "x"][..], "unknown argument `--dir`"),
        (&["--to"][..], "`--to` needs a directory"),
    ] {
        let output = release.install(words);
        assert_eq!(output.status.code(), Some(1));
        assert!(support::said(&output).contains(message), "{}", support::said(&output));
    }
}

#[test]
fn the_action_runs_a_check_of_the_version_that_it_is_given() {
    let release = Release::new("action");
    let output = release.action("manifests --check", "v1.2.3");
    assert!(output.status.success(), "{}", support::said(&output));
    let text = support::said(&output);
    assert!(text.contains("this is 1.2.3: manifests --check --message-format github\n"), "{text}");
    // The steps after it have the program on their PATH.
    let path = fs::read_to_string(release.dir.join("github_path")).unwrap();
    assert_eq!(version(Path::new(path.trim_end())), "this is 1.2.3\n");

    // A second step of the same job does not download again; wildcards and quotes are plain characters.
    fs::write(release.dist.join("cut"), "").unwrap();
    let text = support::said(&release.action("generate crds -p * --check \"$HOME\"", "1.2.3"));
    let words = "generate crds -p * --check \"$HOME\" --message-format github";
    assert!(text.contains(&format!("this is 1.2.3: {words}\n")), "{text}");

    // A format that is named is kept.
    let words = "manifests --check --message-format=short";
    let text = support::said(&release.action(words, "1.2.3"));
    assert!(text.contains(&format!("this is 1.2.3: {words}\n")), "{text}");
}

#[test]
fn the_action_refuses_what_is_no_check() {
    let release = Release::new("action-refuses");
    for (command, version, message) in [
        ("manifests", "1.2.3", "must be `manifests --check`"),
        ("deploy --check", "1.2.3", "must be `manifests --check`"),
        ("manifests --check\ndeploy", "1.2.3", "must be one line"),
        ("manifests --check", "../1.2.3", "must be a version"),
        ("manifests --check", "1.2.4", "there is no release 1.2.4"),
    ] {
        let output = release.action(command, version);
        let text = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("::error title=operator-rs::"), "{text}");
        assert!(text.contains(message), "{text}");
        assert!(!text.contains("this is"), "{text}");
    }
}

/// A released version 1.2.3, whose program says what it is called with, on a server.
struct Release {
    dir: PathBuf,
    dist: PathBuf,
    url: String,
}

impl Release {
    fn new(name: &str) -> Self {
        let dir = support::fresh(&format!("releases/{name}"));
        let dist = dir.join("dist");
        fs::create_dir_all(&dist).unwrap();
        fs::write(dist.join("other"), "other bytes").unwrap();
        let url = serve(dist.clone());
        let res = Self { dir, dist, url };
        res.machine("Linux", "x86_64");
        res.pack(PLATFORM, "echo \"this is 1.2.3${2:+: $*}\"");
        res.stamp();
        res
    }

    /// Makes the archive of a platform.
    fn pack(&self, platform: &str, code: &str) {
        let archive = archive_of(platform);
        let name = archive.trim_end_matches(".tar.gz");
        program(&self.dir.join("stage").join(name), "operator-rs", code);
        let mut tar = Command::new("tar");
        tar.arg("-czf").arg(self.dist.join(&archive)).arg("-C").arg(self.dir.join("stage"));
        assert!(tar.arg(name).status().expect("tar is there").success());
    }

    /// Writes install.sh for what is packed.
    fn stamp(&self) {
        let mut command = script(".github/release/installer");
        let output = command.arg("1.2.3").arg(&self.url).arg(&self.dist).output().unwrap();
        assert!(output.status.success(), "{}", support::said(&output));
        fs::write(self.dist.join("install.sh"), output.stdout).unwrap();
    }

    /// Changes the script, whose limits are long.
    fn edit(&self, is: &str, becomes: &str) {
        let path = self.dist.join("install.sh");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(is), "{is}");
        fs::write(path, text.replace(is, becomes)).unwrap();
    }

    /// Lets `uname` name a machine.
    fn machine(&self, system: &str, processor: &str) {
        let code = format!("case $1 in -s) echo {system} ;; *) echo {processor} ;; esac");
        program(&self.dir.join("bin"), "uname", &code);
    }

    fn install(&self, words: &[&str]) -> Output {
        let mut sh = self.command(Path::new("sh"));
        sh.arg(self.dist.join("install.sh")).args(words).output().unwrap()
    }

    fn action(&self, command: &str, version: &str) -> Output {
        let mut action = self.command(&support::home().join(".github/action"));
        action.env("COMMAND", command).env("VERSION", version).env("RELEASES", &self.url);
        action.env("RUNNER_TEMP", self.dir.join("runner")).current_dir(&self.dir);
        action.env("GITHUB_PATH", self.dir.join("github_path")).output().unwrap()
    }

    fn command(&self, program: &Path) -> Command {
        let mut res = support::command(program, &self.dir);
        let path = std::env::var("PATH").unwrap();
        res.env("PATH", format!("{}:{path}", self.dir.join("bin").display()));
        res.env("HOME", self.dir.join("home"));
        res
    }
}

fn archive_of(platform: &str) -> String {
    format!("operator-rs-v1.2.3-{platform}.tar.gz")
}

fn script(path: &str) -> Command {
    support::command(support::home().join(path), support::home())
}

/// Writes a shell script that can be run.
fn program(folder: &Path, name: &str, code: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), format!("#!/bin/sh\n{code}\n")).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn version(folder: &Path) -> String {
    let output = Command::new(folder.join("operator-rs")).arg("version").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// All that is in a folder, hidden files too.
fn names(folder: &Path) -> Vec<String> {
    support::tree(folder).into_keys().collect()
}

/// Serves a folder's files as `/v1.2.3/NAME`. Files in it spoil the archives: with `cut`, half of each is sent, with
/// `endless` bytes without an end, with `silent` none.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that hangs up early is its own affair.
            drop(answer(stream.unwrap(), &folder));
        }
    });
    url
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let lines: Vec<String> = BufReader::new(&stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|it| !it.is_empty())
        .collect();
    let path = lines.first().and_then(|it| it.split(' ').nth(1)).unwrap_or_default();
    let body = path.strip_prefix("/v1.2.3/").and_then(|it| fs::read(folder.join(it)).ok());
    let Some(body) = body else {
        return write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    };
    let spoils = |file: &str| path.ends_with(".tar.gz") && folder.join(file).exists();
    if spoils("endless") {
        write!(stream, "HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[0; 1 << 16])?;
        }
    }
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if spoils("silent") {
        // Until the client hangs up.
        return stream.read_to_end(&mut Vec::new()).map(drop);
    }
    stream.write_all(if spoils("cut") { &body[..body.len() / 2] } else { &body })
}

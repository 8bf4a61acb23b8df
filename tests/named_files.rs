//! Files that the user or a kubeconfig names may be pipes and devices: all are read up to a size, and until the deadline.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test looks at the disk from outside")]

mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

/// Command lines that read a file `F`, as far as no program and no cluster is needed before.
const READ: &[&str] = &[
    "bundle --input F --output-dir new --timeout 1s",
    "catalog render quay.io/a/b:v1 --authfile F --timeout 1s",
    "catalog render quay.io/a/b:v1 --ca-file F --timeout 1s",
    "catalog render-template F --timeout 1s",
    "chart check chart --input F --timeout 1s",
    "chart check chart --input m.yaml --observed F --timeout 1s",
    "deploy --manifests F --timeout 1s",
    "install --manifests F --timeout 1s",
    "install --kubeconfig F --timeout 1s",
    "olm install --manifests F --dry-run --timeout 1s",
    "scorecard bundle --config F --timeout 1s",
    "undeploy --manifests F --timeout 1s",
    "uninstall --manifests F --timeout 1s",
];

/// Command lines that read a file and have no deadline.
const READ_WITHOUT_DEADLINE: &[&str] = &[
    "generate docs --crds F --output-dir new",
    "generate docs --samples F --output-dir new",
    "generate installer --manifests F",
    "generate schemas --crds F --output-dir new",
];

/// Flags for files that are written, or that another program reads, or with a test of their own.
const OTHER: &[(&str, &str)] = &[
    ("--output-file", "is written"),
    ("--archive", "is written"),
    ("--digest-file", "is written"),
    ("--sbom", "is written"),
    ("--values", "helm reads it"),
    ("--from", "init reads it as it reads any file of a project"),
];

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(name);
    for words in [
        "init --domain example.com --project-name a",
        "create api --group g --kind Memcached",
        "bundle --image quay.io/example/a:v0.0.1",
        "generate chart",
    ] {
        support::done(&dir, words);
    }
    fs::write(dir.join("m.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
        .unwrap();
    make_pipe(&dir.join("pipe"));
    dir
}

fn make_pipe(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.expect("there is mkfifo").success());
}

/// A home directory outside of every project.
fn home() -> PathBuf {
    support::outside().join("named-files")
}

fn run(dir: &Path, words: &str, file: &str) -> Output {
    let mut command = support::command(support::BINARY, dir);
    command.env("HOME", home()).env_remove("KUBECONFIG");
    command.args(words.split(' ').map(|word| if word == "F" { file } else { word }));
    command.output().expect("the program starts")
}

#[track_caller]
fn refused(dir: &Path, words: &str, file: &str, expected: &str) {
    let output = run(dir, words, file);
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{words}: {said}");
    assert!(said.contains(expected), "{words} with {file}:\n{said}\nthis is missing: {expected}");
}

#[test]
fn every_file_that_a_command_reads_is_read_within_bounds() {
    let dir = project("bounds");
    thread::scope(|scope| {
        for words in READ {
            scope.spawn(|| {
                refused(&dir, words, "pipe", "timed out after 1s while waiting for ");
                if !words.contains("--manifests F") {
                    refused(&dir, words, ".", "directory");
                }
                if words.contains("file F") || words.contains("config F") {
                    refused(&dir, words, "/dev/zero", "it is longer than ");
                }
            });
        }
    });
    for words in READ_WITHOUT_DEADLINE {
        let pipe = dir.join("pipe");
        let writer = thread::spawn(move || fs::write(pipe, "not: a manifest\n"));
        refused(&dir, words, "pipe", "pipe:1:1: not a manifest");
        writer.join().expect("it writes").expect("it writes");
    }
}

#[test]
fn manifests_are_read_from_pipes_of_the_shell() {
    let dir = project("shell");
    for script in [
        "\"$0\" generate installer --manifests <(cat m.yaml)",
        "\"$0\" generate installer --manifests /dev/stdin < m.yaml",
        "cat m.yaml | \"$0\" generate installer --manifests /dev/stdin",
        "cat m.yaml | \"$0\" generate installer --manifests -",
    ] {
        let mut command = support::command("bash", &dir);
        let output = command.args(["-c", script, support::BINARY]).output().expect("bash starts");
        assert!(String::from_utf8_lossy(&output.stdout).contains("kind: Namespace"), "{script}");
    }
}

#[test]
fn a_pipe_that_a_project_names_is_not_opened() {
    let dir = project("recorded");
    let path = dir.join("PROJECT");
    let text = fs::read_to_string(&path).unwrap();
    let text = text + "plugins:\n  rust.operator-rs.io/v1:\n    manifests: pipe\n";
    fs::write(path, text).unwrap();
    refused(&dir, "generate installer", "", "pipe`\n  because: it is not a regular file");
}

#[test]
fn the_files_of_a_kubeconfig_are_read_until_the_deadline_and_kept_for_tls() {
    let dir = project("kubeconfig");
    let folder = home().join(".kube");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    make_pipe(&folder.join("pipe"));
    let config = folder.join("config");
    let check = |server: &str, cluster: &str, user: &str, expected: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
             clusters: [{{name: a, cluster: {{server: '{server}', {cluster}}}}}]\n\
             users: [{{name: a, user: {{{user}}}}}]\n\
             contexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n"
        );
        fs::write(&config, text).unwrap();
        refused(&dir, "install --timeout 1s", "", expected);
    };
    // As with kubectl, paths are relative to the kubeconfig.
    let pipe = "../.kube/pipe";
    let fields = [
        (
            format!("certificate-authority: {pipe}"),
            String::new(),
            "the cluster's certificate authority",
        ),
        (String::new(), format!("client-certificate: {pipe}"), "the user's client certificate"),
        (String::new(), format!("client-key: {pipe}"), "the user's client key"),
        (String::new(), format!("tokenFile: {pipe}"), "the user's token file"),
    ];
    for (cluster, user, name) in fields {
        let expected = format!("timed out after 1s while waiting for {name}");
        check("https://127.0.0.1:1", &cluster, &user, &expected);
        // kubectl reads none of them without TLS, where no credentials are sent.
        check("http://127.0.0.1:1", &cluster, &user, "cannot connect to http://127.0.0.1:1");
    }
    check(
        "https://127.0.0.1:1",
        "",
        "tokenFile: /dev/zero",
        "cannot read the user's token file\n  because: it is longer than 64 MiB",
    );
    fs::rename(folder.join("pipe"), &config).unwrap();
    refused(
        &dir,
        "install --timeout 1s",
        "",
        "timed out after 1s while waiting for the kubeconfig",
    );
}

#[test]
fn every_flag_for_a_file_is_in_a_table_here() {
    let mut unknown = BTreeSet::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let help = support::done(support::home(), format!("{path} --help").trim());
        let names = support::commands_in(&help).into_iter();
        paths.extend(names.map(|name| format!("{path} {name}").trim().to_owned()));
        for line in help.lines().map(str::trim_start).filter(|line| line.contains("FILE")) {
            let words = line.split([' ', ',']).take_while(|word| !word.contains("FILE"));
            let flag = words.filter(|word| word.starts_with("--")).last();
            let Some(flag) = flag.filter(|_| line.starts_with('-')) else { continue };
            let flag = &format!(" {flag} F");
            let lines = READ.iter().chain(READ_WITHOUT_DEADLINE);
            let is_known = lines.into_iter().any(|line| format!("{line} ").contains(flag))
                || OTHER.iter().any(|(name, _)| flag.trim_end_matches(" F").trim() == *name);
            if !is_known {
                unknown.insert(format!("{path}{flag}"));
            }
        }
    }
    assert!(unknown.is_empty(), "no test reads a pipe for these: {unknown:?}");
}

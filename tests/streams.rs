//! What the program does where nobody reads it, where nothing can be written, and with text that a terminal would
//! obey.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs::{self, File, OpenOptions},
    io::Read as _,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("streams/{name}"));
    support::done(&dir, "init --domain example.com --project-name p");
    support::done(&dir, "create api --group cache --kind Memcached");
    dir
}

/// Where nothing fits.
fn full() -> Option<File> {
    OpenOptions::new().write(true).open("/dev/full").ok()
}

fn run(dir: &Path, words: &str, stdout: Stdio, stderr: Stdio) -> Output {
    let mut command = support::command(support::BINARY, dir);
    command.args(words.split_whitespace()).stdout(stdout).stderr(stderr);
    command.spawn().unwrap().wait_with_output().unwrap()
}

const LOST: &str = "error: stdout cannot be written: no space left on the disk\n\
    hint: only the output is incomplete; the command has finished its work\n";

#[test]
fn output_that_is_lost_is_an_error() {
    let dir = project("full-stdout");
    for words in [
        "generate crds",
        "generate installer --image a.example/b:v1",
        "completion bash",
        "version",
        "--help",
    ] {
        let Some(full) = full() else { return };
        let output = run(&dir, words, full.into(), Stdio::piped());
        assert_eq!(String::from_utf8_lossy(&output.stderr), LOST, "{words}");
        assert_eq!(output.status.code(), Some(1), "{words}");
    }
}

/// The work is done whole, and said so.
#[test]
fn a_command_whose_list_is_lost_has_done_its_work() {
    let dir = project("lost-list");
    let Some(full) = full() else { return };
    let words = "create api --group cache --kind Other";
    let output = run(&dir, words, full.into(), Stdio::piped());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.ends_with(LOST), "{said}");
    assert_eq!(output.status.code(), Some(1));
    support::done(&dir, "generate --check");
    assert!(support::done(&dir, "generate crds").contains("kind: Other"));
}

#[test]
fn a_closed_stdout_ends_the_command_without_an_error() {
    let dir = project("gone");
    for words in ["generate crds", "generate crds --keep-going", "completion bash"] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = support::command(support::BINARY, &dir);
        command.args(words.split_whitespace()).stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        reader.read_exact(&mut [0]).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words}");
        assert_eq!(output.status.code(), Some(0), "{words}");
    }
    // Nor was there anybody from the start.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = run(&dir, "generate crds", writer.into(), Stdio::piped());
    assert_eq!((output.stderr, output.status.code()), (Vec::new(), Some(0)));
}

/// What is done is done, and what fails fails, whether or not anybody is told.
#[test]
fn a_stderr_that_is_full_or_closed_changes_nothing() {
    let dir = project("full-stderr");
    let statuses = [
        ("create api --group cache --kind Other", Some(0)),
        ("create api --group cache --kind Other", Some(1)),
        ("create api --nonsense", Some(2)),
        ("generate --check", Some(0)),
        ("bundle validate", Some(1)),
    ];
    for (words, status) in statuses {
        let Some(full) = full() else { return };
        let output = run(&dir, words, Stdio::piped(), full.into());
        assert_eq!(output.status.code(), status, "{words}");
    }
    for (words, status) in [("generate crds --nonsense", 2), ("bundle validate", 1)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(&dir, words, Stdio::piped(), writer.into());
        assert_eq!(output.status.code(), Some(status), "{words}");
    }
}

/// What a file says is shown, and not obeyed; where it is data, it stays as it is.
#[test]
fn nothing_from_a_file_reaches_a_terminal_as_an_order() {
    let dir = project("orders");
    let types = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let good = fs::read_to_string(&types).unwrap();
    fs::write(&types, good.replace("cache.example.com", "a.\u{1b}[2J\u{202e}")).unwrap();
    let output = support::operator_rs(&dir, "manifests");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("group `a.\\u{1b}[2J\\u{202e}` must hold"), "{said}");
    // Of what is typed, too.
    let mut command = support::command(support::BINARY, &dir);
    let output = command.args(["create", "api", "--group", "\u{202e}a\u{1b}[2J"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("'\\u{202e}a' for '--group") && !said.contains('\u{1b}'), "{said}");

    // A description is data: YAML and JSON have escapes of their own.
    fs::write(
        &types,
        good.replacen("pub struct", "#[doc = \"\\u{1b}[2J\\u{9b}\\u{7f}\"]\npub struct", 1),
    )
    .unwrap();
    let yaml = support::done(&dir, "generate crds");
    assert!(!yaml.contains(['\u{1b}', '\u{9b}', '\u{7f}']), "{yaml}");
    // JSON asks it of the first 32 characters only.
    assert!(!support::done(&dir, "generate crds -o json").contains('\u{1b}'));
    // `patch` must find in a diff what is in the file.
    support::done(&dir, "manifests");
    let crd = dir.join("config/crd/bases/cache.example.com_memcacheds.yaml");
    let text = fs::read_to_string(&crd).unwrap();
    fs::write(&crd, text.replace("kind: Memcached\n", "kind: \u{1b}Memcached\n")).unwrap();
    let diff = support::done(&dir, "manifests --diff --force");
    assert!(diff.contains("-    kind: \u{1b}Memcached\n"), "{diff}");
}

//! Images without a daemon: what `bundle build` and `bundle push` give is read by Debian's registry, skopeo and umoci,
//! and by opm.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

#[path = "../support/mod.rs"]
mod support;

mod archives;
mod credentials;
mod pushed;
mod registry;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A copy of the example with its bundle, in a folder of this test.
fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("images/{name}"));
    let example = support::home().join("examples/memcached-operator");
    for part in ["bundle", "bundle.Dockerfile", "PROJECT"] {
        let from = example.join(part);
        match from.is_dir() {
            true => support::put(&support::tree(&from), &dir.join(part)),
            false => drop(fs::copy(&from, dir.join(part)).expect("it is ours")),
        }
    }
    dir
}

/// Runs `operator-rs` with nobody's credentials.
fn ours(dir: &Path, words: &[&str]) -> Command {
    let mut res = support::command(support::BINARY, dir);
    res.args(words).env("HOME", dir.join("home"));
    for name in [
        "DOCKER_CONFIG",
        "REGISTRY_AUTH_FILE",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
    ] {
        res.env_remove(name);
    }
    res
}

/// Its stdout; it must succeed.
#[track_caller]
fn done(dir: &Path, words: &[&str]) -> String {
    printed(ours(dir, words))
}

#[track_caller]
fn printed(mut command: Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}\n{}", support::said(&output));
    String::from_utf8(output.stdout).expect("stdout is UTF-8")
}

/// What it says as it fails.
#[track_caller]
fn refused(mut command: Command) -> String {
    let output: Output = command.output().expect("the program starts");
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{command:?}\n{said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// A program of the tools in a folder, with a policy for images that trusts everything, and no credentials.
fn tool(name: &str, dir: &Path, words: &[&str]) -> Option<Command> {
    let program = support::installed(&[name], "images", name)?;
    let home = dir.join("home");
    fs::create_dir_all(home.join(".config/containers")).expect("it is ours");
    let policy = r#"{"default":[{"type":"insecureAcceptAnything"}]}"#;
    fs::write(home.join(".config/containers/policy.json"), policy).expect("it is ours");
    let mut res = support::command(program, dir);
    res.args(words).env("HOME", home).env_remove("XDG_RUNTIME_DIR").env_remove("XDG_CONFIG_HOME");
    Some(res)
}

/// The digest in what a command prints.
fn digest(text: &str) -> String {
    let at = text.find("sha256:").expect("it prints a digest");
    text[at..].trim().to_owned()
}

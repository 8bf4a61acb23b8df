//! `crds diff` on repositories as they are not in the session page: hostile ones, partial ones, large and odd ones; and
//! on a cluster.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod cluster;
mod conversion;
mod hostile;
mod reading;
#[path = "../support/mod.rs"]
mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const KIND: &str = r#"
use kube::CustomResource;
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Backup", namespaced)]
pub struct BackupSpec { pub keep: Option<i64>, pub target: crate::Target }
"#;
const TARGET: &str = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]\npub struct Target { pub url: String }\n";
const IMPORTS: &str = "use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n";
const MANIFEST: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = { version = \"5\", features = [\"derive\"] }\nschemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\n";

/// A repository with one kind in one commit.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let it = Self(support::fresh(&format!("crds-diff/{name}")));
        it.git(&["init", "-q", "-b", "main", "."]);
        it.write("Cargo.toml", MANIFEST);
        it.write("Cargo.lock", &support::lock_for("a"));
        it.write("src/main.rs", &format!("{IMPORTS}{TARGET}{KIND}fn main() {{}}\n"));
        it.commit("First");
        it
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is ours");
        fs::write(path, text).expect("it is ours");
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = support::command("git", &self.0);
        command.args(["-c", "user.name=me", "-c", "user.email=me@example.com"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let output = command.args(words).output().expect("there is git");
        assert!(output.status.success(), "git {words:?}: {}", support::said(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, title: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", title]);
    }

    fn diff(&self, words: &[&str]) -> Output {
        diff(&self.0, words, |it| it)
    }

    #[track_caller]
    fn says(&self, words: &[&str], code: i32, expected: &str) {
        check(&self.diff(words), code, expected);
    }
}

fn diff(dir: &Path, words: &[&str], change: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let mut command = support::command(support::BINARY, dir);
    change(command.args(["crds", "diff"]).args(words)).output().expect("the binary starts")
}

#[track_caller]
fn check(output: &Output, code: i32, expected: &str) {
    let text = support::said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(expected), "{text}\n\nthis is missing: {expected}");
}

const SAME: &str = "no breaking change from HEAD to the working tree (1 CRD)";
const REMOVED: &str =
    "error[existingFieldRemoval]: the field was removed\n  backups.example.com v1 ^.spec.keep";

/// Takes a field out of the working tree.
fn remove_a_field(repository: &Repository) {
    let path = repository.0.join("src/main.rs");
    let text = fs::read_to_string(&path).expect("it is ours");
    fs::write(path, text.replace("pub keep: Option<i64>, ", "")).expect("it is ours");
}

//! Markers against controller-gen itself: the same comments in a Go file and in a Rust file.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

#[path = "../support/mod.rs"]
mod support;

mod rbac;
mod sets;
mod webhooks;

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde::Deserialize as _;
use serde_json::Value;

/// The objects that a command writes; an error if it fails.
type Objects = Result<Vec<Value>, ()>;

/// Runs generators of controller-gen on a Go file with these comments. Returns the objects, and what the command prints.
fn controller_gen_on(
    controller_gen: &Path,
    generators: &[&str],
    comments: &str,
    file: &str,
) -> (Objects, String) {
    controller_gen_on_all(controller_gen, generators, &[("x.go", comments)], file)
}

/// The same on several Go files. Each folder is a package.
fn controller_gen_on_all(
    controller_gen: &Path,
    generators: &[&str],
    files: &[(&str, &str)],
    file: &str,
) -> (Objects, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("go.mod"), "module example.com/x\n\ngo 1.21\n").unwrap();
    for (at, (path, comments)) in files.iter().enumerate() {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("package x\n\n{comments}\nfunc F{at}() {{}}\n")).unwrap();
    }
    let mut command = Command::new(controller_gen);
    command.args(generators).arg("paths=./...");
    command.current_dir(folder.path()).env("GOFLAGS", "-mod=mod");
    objects(&mut command, &folder.path().join("out").join(file))
}

/// Runs `operator-rs manifests` on a Rust file with these comments.
fn manifests_of(comments: &str, file: &str) -> (Objects, String) {
    manifests_of_all(&[("src/main.rs", comments)], file)
}

/// The same on several Rust files, the first of which is the program.
fn manifests_of_all(files: &[(&str, &str)], file: &str) -> (Objects, String) {
    let folder = tempfile::tempdir().unwrap();
    let project =
        "domain: example.com\nlayout:\n- rust.operator-rs.io/v1\nprojectName: x\nversion: \"3\"\n";
    fs::write(folder.path().join("PROJECT"), project).unwrap();
    for (at, (path, comments)) in files.iter().enumerate() {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let name = if at == 0 { "main" } else { "f" };
        fs::write(path, format!("{comments}\nfn {name}() {{}}\n")).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_operator-rs"));
    command.args(["manifests", "--message-format", "short"]).current_dir(folder.path());
    objects(&mut command, &folder.path().join(file))
}

fn objects(command: &mut Command, path: &Path) -> (Objects, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (if output.status.success() { Ok(documents(path)) } else { Err(()) }, text)
}

fn documents(path: &Path) -> Vec<Value> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    serde_yaml::Deserializer::from_str(&text)
        .map(|it| Value::deserialize(it).unwrap())
        .filter(|it| !it.is_null())
        .collect()
}

/// The lines of a file that are reported, with the reports.
fn refused(output: &str, file: &str) -> BTreeMap<usize, String> {
    let place = |line: &str| {
        let (_, rest) = line.split_once(file)?;
        rest.split_once(':')?.0.parse::<usize>().ok()
    };
    output.lines().filter_map(|it| Some((place(it)?, it.to_owned()))).collect()
}

/// Random numbers below a limit. `SEED` chooses others.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = std::env::var("SEED").map_or(seed, |it| it.parse::<u64>().unwrap());
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    }
}

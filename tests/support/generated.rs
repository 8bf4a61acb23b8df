//! Cargo in a generated project, with the target folder that all of them share.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A copy of a project in `examples/`, with the two crates in `vendor/`, which are not in git. It is in a folder that all
/// suites share, so that it is built once.
pub fn example(name: &str) -> PathBuf {
    let complete = super::fresh(&format!("complete/{}/{name}", std::process::id()));
    super::put(&super::tree(&super::home().join("examples").join(name)), &complete);
    super::done(&complete, "generate");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples").join(name);
    super::sync(super::tree(&complete), &dir);
    dir
}

/// The one step that may ask the registry, where this machine has not the crates yet.
pub fn fetch(dir: &Path) {
    if !run(dir, "fetch --locked --offline").0 {
        cargo(dir, "fetch --locked");
    }
}

/// Runs cargo in a generated project; it must succeed without a warning.
pub fn cargo(dir: &Path, words: &str) {
    let (success, said) = run(dir, words);
    assert!(success, "cargo {words}\n{said}");
    assert!(!said.contains("\nwarning: "), "cargo {words} warns:\n{said}");
}

pub fn run(dir: &Path, words: &str) -> (bool, String) {
    let mut command = Command::new(env!("CARGO"));
    command.args(words.split(' ')).current_dir(dir).env("CARGO_TERM_COLOR", "never");
    let _alone = super::alone_in_target();
    let output = super::building(&mut command).output().expect("cargo runs");
    (output.status.success(), super::said(&output))
}

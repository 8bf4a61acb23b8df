//! The only room that runs programs: cargo, where a person asked for a compilation, and what a person
//! asked to be tested, with the API server that it is tested against; and git, to read a repository.
//!
//! What a program says on stderr goes through to the person as it comes; what it prints is given back.

#![expect(clippy::disallowed_methods, reason = "it is what this room is for")]

mod beside;
mod git;

pub use beside::{Beside, attended, end, left_running, pause};
pub use git::{Answer, Git, Object, Objects};

use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;

use crate::hint::Hint as _;

/// Runs a program in a folder and gives what it printed, or nothing where it failed: it has said why.
pub fn run(program: &str, folder: &Path, arguments: &[OsString]) -> anyhow::Result<Option<String>> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("running `{program}`"))
        .hint(format!("install `{program}`, or bring it on PATH"))?;
    if !output.status.success() {
        return Ok(None);
    }
    String::from_utf8(output.stdout).map(Some).context("reading what the program printed")
}

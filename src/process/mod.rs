//! The only room that runs programs: cargo, where a person allowed a compilation; git, to read a repository; and
//! what a person asked to be tested, with the API server that it is tested against.
//!
//! What a program says on stderr goes through to the person as it comes; what it prints is given back.

#![expect(clippy::disallowed_methods, reason = "it is what this room is for")]

mod beside;
mod git;
mod group;

pub use beside::{Beside, attended, end, left_running, pause};
pub use git::{Answer, Git, Object, Objects};
pub use group::{Program, output};

use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

/// Runs a program that says little and ends at once; nothing where it is not there or fails.
pub fn ask(program: &Path, folder: &Path, arguments: &[OsString]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}

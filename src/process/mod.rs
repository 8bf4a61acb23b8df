//! The only module that runs programs: cargo, if the user has allowed a compilation; git, to read a repository; and the
//! command of `operator-rs test`, with its API server.
//!
//! The stderr of a program is inherited; its stdout is returned.

#![expect(clippy::disallowed_methods, reason = "this module runs programs")]

mod answer;
mod beside;
mod git;
mod group;

pub use answer::{Reply, answer};
pub use beside::{Beside, attended, end, left_running, pause};
pub use git::{Answer, Git, Object, Objects};
pub use group::{Program, output};

use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
};

/// Returns the output of a program that prints little and ends at once; `None` if the program is missing or fails.
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

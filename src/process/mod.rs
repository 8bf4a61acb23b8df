//! The only module that runs programs: cargo, if the user has allowed a compilation; git, to read a repository; and the
//! command of `operator-rs test`, with its API server.
//!
//! The stderr of a program is inherited; its stdout is returned.

mod answer;
mod background;
mod git;
mod group;
mod program;
mod shell;

pub use answer::{Input, Question, Reply, answer};
pub use background::{BackgroundProcess, attended, end, left_running, pause};
pub use git::{Answer, Git, Object, Objects};
pub use group::{Invocation, output};
pub use program::ProgramPath;

use std::{ffi::OsString, io::Read as _, path::Path, process::Stdio};

/// Returns the output of a program that prints little, without what it prints on stderr; `None` if it is missing, fails, or does not end within so many
/// seconds.
pub fn ask(
    program: &ProgramPath,
    folder: &Path,
    arguments: &[OsString],
    seconds: u64,
) -> Option<String> {
    run(program, folder, arguments, seconds, Stdio::null())
}

/// The same, with the program's own error messages on stderr.
pub fn ask_aloud(
    program: &ProgramPath,
    folder: &Path,
    arguments: &[OsString],
    seconds: u64,
) -> Option<String> {
    run(program, folder, arguments, seconds, Stdio::inherit())
}

fn run(
    program: &ProgramPath,
    folder: &Path,
    arguments: &[OsString],
    seconds: u64,
    stderr: Stdio,
) -> Option<String> {
    let mut command = program.command();
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
    let mut group = group::Group::start(&mut command).ok()?;
    let limit = group.limit(seconds);
    let mut text = String::new();
    group.child.stdout.take()?.read_to_string(&mut text).ok()?;
    let status = group.wait().ok()?;
    (status.success() && !limit.is_over()).then_some(text)
}

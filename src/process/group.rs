//! A program and everything that it starts, in a process group of their own.
//!
//! Cargo starts compilers and build scripts, and a build script may hang or ignore signals. Whatever ends this process
//! (Ctrl-C, SIGTERM, `kill -9`, a crash) closes a pipe, and a small shell at its other end then ends the whole group. No
//! signal needs to be caught for that; `beside` says why no crate does it.

use std::{
    ffi::OsString,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use anyhow::Context as _;

use super::beside::shell;
use crate::hint::Hint as _;

/// `sh -c … sh GROUP`: ends a process group when the pipe is closed without a line. Programs that ignore SIGTERM are
/// killed.
const END_GROUP: &str = r#"if read -r _; then exit 0; fi
kill -s TERM -- "-$1" 2>/dev/null; n=0
while kill -s 0 -- "-$1" 2>/dev/null && [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.1; done
kill -s KILL -- "-$1" 2>/dev/null"#;

/// A program and how to run it.
pub struct Program<'a> {
    pub name: &'a str,
    pub arguments: &'a [OsString],
    pub folder: &'a Path,
    /// Variables in addition to those of this process.
    pub variables: &'a [(String, OsString)],
}

/// Runs a program and returns its output, as an error if it failed.
pub fn output(program: &Program<'_>) -> anyhow::Result<Result<String, String>> {
    let Program { name, arguments, folder, variables } = program;
    let running = || format!("running `{name}`");
    let mut command = Command::new(name);
    command.args(*arguments).current_dir(folder);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = supervise(&mut command)
        .with_context(running)
        .hint(format!("install `{name}`, or add it to PATH"))?;
    let text = String::from_utf8(output.stdout).context("reading the output of the program")?;
    Ok(if output.status.success() { Ok(text) } else { Err(text) })
}

fn supervise(command: &mut Command) -> std::io::Result<Output> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command.spawn()?;
    // If this fails, the program outlives a crash of this one, and nothing else changes.
    let mut watch = shell(END_GROUP);
    watch.arg(child.id().to_string()).stdin(Stdio::piped());
    let watch = watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let output = child.wait_with_output();
    if let Ok(mut watch) = watch {
        if let Some(mut pipe) = watch.stdin.take() {
            let _ = pipe.write_all(b"ended\n");
        }
        let _ = watch.wait();
    }
    output
}

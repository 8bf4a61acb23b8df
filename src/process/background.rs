//! Programs that run next to this one, and end with it unless the user wants to keep them.
//!
//! A small shell supervises them: it holds the reading end of a pipe, and whatever ends this process (a normal return,
//! Ctrl-C, a crash, `kill -9`) closes the other end. No signal needs to be caught for that.
//!
//! No crate does this. `process-wrap` and `command-group` end a process group when a value is dropped, which `kill -9`
//! prevents, and only on Windows does the system end a job with its owner. Linux alone has `PR_SET_PDEATHSIG`, which must
//! be set between fork and exec, in unsafe code. A supervisor has to be a separate process, and `sh`, `ps` and `awk`
//! are in POSIX. On Windows it needs a `sh` on PATH, such as that of Git for Windows.

use std::{
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use anyhow::Context as _;

use super::{ProgramPath, group, shell::supervising_shell};
use model::display_path;

/// `sh -c … sh LOG PROGRAM ARGUMENT…`: runs the program until it ends or the pipe at stdin is closed.
const UNTIL_WE_END: &str = r#"exec 3<&0; log=$1; shift
"$@" 3<&- </dev/null >"$log" 2>&1 & it=$!
{ read -r _ <&3; kill -9 $it; } 2>/dev/null & watch=$!
exec 3<&-; wait $it; code=$?; kill $watch 2>/dev/null; exit $code"#;

/// `sh -c … sh LOG PROGRAM ARGUMENT…`: runs a program that keeps running when this one ends.
const LEFT: &str = r#"trap '' HUP; log=$1; shift; exec "$@" </dev/null >"$log" 2>&1"#;

/// `sh -c … sh FOLDER`: deletes the folder when the pipe is closed. Programs that end at the same moment may still write
/// to it.
const SWEEP: &str = r#"read -r _; n=0
while [ $n -lt 100 ]; do rm -rf "$1" 2>/dev/null && exit 0; n=$((n + 1)); sleep 0.1; done; exit 1"#;

/// `sh -c … sh PID`: ends a program and its descendants when the pipe is closed without a line.
const END_WITH_US: &str = r#"if read -r _; then exit 0; fi
end() { for it in $(ps -A -o pid= -o ppid= | awk -v p="$1" '$2 == p { print $1 }'); do end "$it"; done
kill -TERM "$1"; }
end "$1" 2>/dev/null"#;

/// A program that ends, or does its work, when this value is dropped or this process ends.
pub struct BackgroundProcess(Child);

impl BackgroundProcess {
    /// Starts it in a folder; its output goes to a file there.
    pub fn start(
        program: &ProgramPath,
        arguments: &[String],
        folder: &Path,
        log: &str,
    ) -> anyhow::Result<Self> {
        let program = program.as_path();
        let mut shell = supervising_shell(UNTIL_WE_END)?;
        shell.arg(log).arg(program).args(arguments).current_dir(folder);
        let child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Self).with_context(|| format!("cannot start `{}`", display_path(&program)))
    }

    /// Deletes a folder when this value is dropped or this process ends.
    pub fn sweeping(folder: &Path) -> anyhow::Result<Self> {
        let mut shell = supervising_shell(SWEEP)?;
        let child = shell.arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        child.map(Self).with_context(|| format!("cannot supervise `{}`", display_path(&folder)))
    }

    /// Returns whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Starts a program that keeps running when this one ends; returns its process id.
pub fn left_running(
    program: &ProgramPath,
    arguments: &[String],
    folder: &Path,
    log: &str,
) -> anyhow::Result<u32> {
    let program = program.as_path();
    let mut shell = supervising_shell(LEFT)?;
    shell.arg(log).arg(program).args(arguments).current_dir(folder);
    let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.map(|it| it.id()).with_context(|| format!("cannot start `{}`", display_path(&program)))
}

/// Ends programs that were kept running.
pub fn end(programs: &[u32]) {
    for process in programs {
        if cfg!(windows) {
            group::kill(*process);
        } else if let Ok(mut shell) = supervising_shell("kill -9 \"$1\" 2>/dev/null") {
            let _ = shell.arg(process.to_string()).status();
        }
    }
}

/// Sleeps.
pub fn pause(time: Duration) {
    thread::sleep(time);
}

/// Runs a program in the foreground with additional variables, and waits for it.
pub fn attended(
    words: &[OsString],
    folder: &Path,
    variables: &[(&str, PathBuf)],
) -> anyhow::Result<ExitStatus> {
    let [program, arguments @ ..] = words else { anyhow::bail!("no program to run was given") };
    let running = || format!("cannot run `{}`", display_path(&program));
    let mut command = ProgramPath::require_from(folder, program)?.command();
    command.args(arguments).current_dir(folder);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().with_context(running)?;
    // If this fails, the program outlives a crash of this one, and nothing else changes. On Windows, a shell has other
    // process ids than the system.
    let watch = (!cfg!(windows)).then(|| supervising_shell(END_WITH_US).ok()).flatten();
    let watch = watch
        .and_then(|mut shell| shell.arg(child.id().to_string()).stdin(Stdio::piped()).spawn().ok());
    let status = child.wait().with_context(running)?;
    if let Some(mut watch) = watch {
        if let Some(mut pipe) = watch.stdin.take() {
            let _ = pipe.write_all(b"ended\n");
        }
        let _ = watch.wait();
    }
    Ok(status)
}

//! Programs that run beside us, and never longer than we do unless a person wants that.
//!
//! A small shell stands between: it holds the reading end of a pipe, and whatever ends us (an orderly
//! return, Ctrl-C, a crash, `kill -9`) closes the other one. No signal needs to be caught for that.

#![expect(clippy::disallowed_methods, reason = "it is what this room is for")]

use std::{
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use anyhow::Context as _;

use crate::hint::Hint as _;

/// `sh -c … sh LOG PROGRAM ARGUMENT…`: runs the program until it ends, or the pipe at stdin does.
const UNTIL_WE_END: &str = r#"exec 3<&0; log=$1; shift
"$@" 3<&- </dev/null >"$log" 2>&1 & it=$!
{ read -r _ <&3; kill -9 $it; } 2>/dev/null & watch=$!
exec 3<&-; wait $it; code=$?; kill $watch 2>/dev/null; exit $code"#;

/// The same for one that stays when we end.
const LEFT: &str = r#"trap '' HUP; log=$1; shift; exec "$@" </dev/null >"$log" 2>&1"#;

/// `sh -c … sh FOLDER`: takes the folder away when the pipe ends. Programs that end at the same moment
/// may still write there.
const SWEEP: &str = r#"read -r _; n=0
while [ $n -lt 100 ]; do rm -rf "$1" 2>/dev/null && exit 0; n=$((n + 1)); sleep 0.1; done; exit 1"#;

/// `sh -c … sh PID`: ends a program, and those that it has started, when the pipe ends without a word.
const END_WITH_US: &str = r#"if read -r _; then exit 0; fi
end() { for it in $(ps -A -o pid= -o ppid= | awk -v p="$1" '$2 == p { print $1 }'); do end "$it"; done
kill -TERM "$1"; }
end "$1" 2>/dev/null"#;

/// A program that ends, or does its work, when this is dropped, or when this process ends.
pub struct Beside(Child);

impl Beside {
    /// Starts it in a folder; what it says goes into a file there.
    pub fn start(
        program: &Path,
        arguments: &[String],
        folder: &Path,
        log: &str,
    ) -> anyhow::Result<Self> {
        let mut shell = shell(UNTIL_WE_END);
        shell.arg(log).arg(program).args(arguments).current_dir(folder);
        let child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.map(Self).with_context(|| format!("starting `{}`", program.display()))
    }

    /// Takes a folder away at that moment.
    pub fn sweeping(folder: &Path) -> anyhow::Result<Self> {
        let child = shell(SWEEP).arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        child.map(Self).with_context(|| format!("watching over `{}`", folder.display()))
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Starts a program that goes on when we end; returns its number.
pub fn left_running(
    program: &Path,
    arguments: &[String],
    folder: &Path,
    log: &str,
) -> anyhow::Result<u32> {
    let mut shell = shell(LEFT);
    shell.arg(log).arg(program).args(arguments).current_dir(folder);
    let child = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.map(|it| it.id()).with_context(|| format!("starting `{}`", program.display()))
}

/// Ends what was left running.
pub fn end(programs: &[u32]) {
    for it in programs {
        let _ = shell("kill -9 \"$1\" 2>/dev/null").arg(it.to_string()).status();
    }
}

/// Lets time pass before something is looked at again.
pub fn pause(time: Duration) {
    thread::sleep(time);
}

/// Runs a program for the person at the terminal, with these variables besides, and waits for it.
pub fn attended(
    words: &[OsString],
    folder: &Path,
    variables: &[(&str, PathBuf)],
) -> anyhow::Result<ExitStatus> {
    let [program, arguments @ ..] = words else { anyhow::bail!("no program to run was given") };
    let running = || format!("running `{}`", program.display());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let mut child = command
        .spawn()
        .with_context(running)
        .hint(format!("install `{}`, or add it to PATH", program.display()))?;
    // Where this fails, the program only outlives a crash of ours.
    let watch = shell(END_WITH_US).arg(child.id().to_string()).stdin(Stdio::piped()).spawn();
    let status = child.wait().with_context(running)?;
    if let Ok(mut watch) = watch {
        if let Some(mut pipe) = watch.stdin.take() {
            let _ = pipe.write_all(b"ended\n");
        }
        let _ = watch.wait();
    }
    Ok(status)
}

/// In a process group of its own: Ctrl-C is for us, and the pipe tells the rest.
pub(super) fn shell(script: &str) -> Command {
    let mut res = Command::new("sh");
    res.args(["-c", script, "sh"]);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut res, 0);
    res
}

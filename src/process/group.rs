//! A program and everything that it starts, in a process group of their own.
//!
//! Cargo starts compilers and build scripts, and a build script may hang or ignore signals. Whatever ends this process
//! (Ctrl-C, SIGTERM, `kill -9`, a crash) closes a pipe, and a small shell at its other end then ends the whole group. No
//! signal needs to be caught for that; `background` says why no crate does it.
//!
//! A program that only looks something up has a deadline too: a repository or a directory may contain pipes, and to open
//! one of them never ends.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    thread,
    time::Duration,
};

use anyhow::Context as _;

use super::{ProgramPath, shell::supervising_shell};
use model::display_path;

/// `sh -c … sh GROUP`: ends a process group when the pipe is closed without a line. Programs that ignore SIGTERM are
/// killed.
const END_GROUP: &str = r#"if read -r _; then exit 0; fi
kill -s TERM -- "-$1" 2>/dev/null; n=0
while kill -s 0 -- "-$1" 2>/dev/null && [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.1; done
kill -s KILL -- "-$1" 2>/dev/null"#;

/// A program and how to run it.
pub struct Invocation<'a> {
    pub program: &'a ProgramPath,
    pub arguments: &'a [OsString],
    pub folder: &'a Path,
    /// Variables in addition to those of this process.
    pub variables: &'a [(String, OsString)],
}

/// Runs a program and returns its output, as an error if it failed.
pub fn output(invocation: &Invocation<'_>) -> anyhow::Result<Result<String, String>> {
    let Invocation { program, arguments, folder, variables } = invocation;
    let running = || format!("cannot run `{}`", display_path(&program.as_path()));
    let mut command = program.command();
    command.args(*arguments).current_dir(folder);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output =
        Group::start(&mut command).with_context(running)?.output().with_context(running)?;
    let text = String::from_utf8(output.stdout).context("cannot read the output of the program")?;
    Ok(if output.status.success() { Ok(text) } else { Err(text) })
}

/// A running program and all that it has started. They end when this value is dropped, or this process ends.
pub(super) struct Group {
    pub child: Child,
    /// None if there is no shell, and on Windows, where a shell has other process ids than the system: then the program
    /// outlives a crash of this process, and nothing else changes.
    watch: Option<Child>,
    /// True if the group is not that of this process.
    is_apart: bool,
    has_ended: bool,
}

impl Group {
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        let shell = (!cfg!(windows)).then(|| supervising_shell(END_GROUP).ok()).flatten();
        let watch = shell.and_then(|mut watch| {
            watch.arg(child.id().to_string()).stdin(Stdio::piped());
            watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        });
        Ok(Self { child, watch, is_apart: true, has_ended: false })
    }

    /// Starts a program in the process group of this one, so that it can use the terminal. Ctrl-C ends both.
    pub fn start_at_terminal(command: &mut Command) -> io::Result<Self> {
        let child = command.spawn()?;
        Ok(Self { child, watch: None, is_apart: false, has_ended: false })
    }

    /// The program has ended; what it has left behind keeps running.
    pub fn leave(&mut self) {
        self.has_ended = true;
    }

    /// Waits for the program; what it has left behind keeps running.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait();
        self.has_ended = true;
        status
    }

    /// Its whole output, and its exit status.
    fn output(mut self) -> io::Result<Output> {
        let mut stdout = Vec::new();
        if let Some(mut pipe) = self.child.stdout.take() {
            io::Read::read_to_end(&mut pipe, &mut stdout)?;
        }
        Ok(Output { status: self.wait()?, stdout, stderr: Vec::new() })
    }

    /// Ends the whole group after some seconds, unless the returned value is dropped before. Reading what a program
    /// prints then comes to an end.
    pub fn limit(&self, seconds: u64) -> Deadline {
        let (ended, wait) = mpsc::channel::<()>();
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, group) = (Arc::clone(&is_over), self.child.id());
        thread::spawn(move || {
            if wait.recv_timeout(Duration::from_secs(seconds))
                == Err(mpsc::RecvTimeoutError::Timeout)
            {
                over.store(true, Ordering::SeqCst);
                kill(group);
            }
        });
        Deadline { _ended: ended, is_over }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.has_ended {
            if self.is_apart {
                kill(self.child.id());
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if let Some(watch) = &mut self.watch {
            if let Some(mut pipe) = watch.stdin.take() {
                let _ = pipe.write_all(b"ended\n");
            }
            let _ = watch.wait();
        }
    }
}

/// Until when a program may run.
pub(super) struct Deadline {
    _ended: Sender<()>,
    is_over: Arc<AtomicBool>,
}

impl Deadline {
    /// Returns whether the program was ended because of it.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

/// Kills a process group. Its leader has not been waited for, so the number is still its own.
#[cfg(unix)]
pub(super) fn kill(group: u32) {
    let group = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
pub(super) fn kill(program: u32) {
    let program = program.to_string();
    if let Some(taskkill) = ProgramPath::find("taskkill") {
        let _ = taskkill.command().args(["/T", "/F", "/PID", &program]).output();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_program_ends_at_its_deadline_with_all_that_it_has_started() {
        let mut command = ProgramPath::find("sh").unwrap().command();
        // Both hold the pipe open, and ignore what asks them politely.
        command.args(["-c", "trap '' TERM; sleep 60 & sleep 60"]).stdout(Stdio::piped());
        let mut group = Group::start(&mut command).unwrap();
        let limit = group.limit(1);
        let mut printed = Vec::new();
        group.child.stdout.take().unwrap().read_to_end(&mut printed).unwrap();
        assert!(limit.is_over());
        assert!(!group.wait().unwrap().success());
    }

    #[test]
    fn a_program_that_ends_before_its_deadline_is_left_alone() {
        let mut group = Group::start(&mut ProgramPath::find("true").unwrap().command()).unwrap();
        let limit = group.limit(60);
        assert!(group.wait().unwrap().success());
        assert!(!limit.is_over());
    }
}

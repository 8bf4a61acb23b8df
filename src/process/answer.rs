//! A program that is asked one thing at stdin and answers at stdout, as credential helpers do.

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use model::display_path;

use super::{ProgramPath, group::Group};
use model::Deadline;

/// The interval of checks whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The maximum length of a failing program's error message.
const LONGEST_COMPLAINT: u64 = 64 << 10;

/// The answer of a program.
pub enum Reply {
    Printed(String),
    /// It failed: its exit status, what it printed, and its error message.
    Failed {
        status: String,
        printed: String,
        message: String,
    },
}

/// A program that answers, and how to ask it.
pub struct Question<'a> {
    pub program: &'a ProgramPath,
    pub arguments: &'a [&'a str],
    /// Variables in addition to those of this process.
    pub variables: &'a [(String, String)],
    pub input: Input<'a>,
    /// The largest answer, in bytes.
    pub limit: u64,
    pub deadline: Deadline,
}

/// The input of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    Text(&'a str),
    /// The terminal, where it may ask the user, and print more than its answer.
    Terminal,
}

/// Runs a program. At the deadline it is ended, with all that it has started unless it has the terminal.
pub fn answer(question: &Question<'_>) -> anyhow::Result<Reply> {
    let Question { program, arguments, variables, input, limit, deadline } = *question;
    let shown = display_path(&program.as_path());
    let running = || format!("cannot run `{shown}`");
    let mut command = program.command();
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdout(Stdio::piped());
    let mut group = match input {
        Input::Text(_) => Group::start(command.stdin(Stdio::piped()).stderr(Stdio::piped())),
        Input::Terminal => Group::start_at_terminal(&mut command),
    }
    .with_context(running)?;
    // A program that does not read its input is none of our business.
    if let (Some(mut stdin), Input::Text(text)) = (group.child.stdin.take(), input) {
        let _ = stdin.write_all(text.as_bytes());
    }
    let stderr = group.child.stderr.take();
    let complaint = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.map(|it| it.take(LONGEST_COMPLAINT).read_to_end(&mut bytes));
        bytes
    });
    let stdout = group.child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.map(|it| it.take(limit).read_to_end(&mut bytes)).transpose().map(|_| bytes)
    });
    let status = loop {
        if let Some(status) = group.child.try_wait().with_context(running)? {
            break status;
        }
        if deadline.is_over() {
            return Err(deadline.timed_out_waiting_for(format!("`{shown}`")).into());
        }
        thread::sleep(LOOK);
    };
    // A program that it has left behind may keep the pipe open.
    while !(reader.is_finished() && (status.success() || complaint.is_finished())) {
        if deadline.is_over() {
            break;
        }
        thread::sleep(LOOK);
    }
    if !reader.is_finished() {
        let what = format!("`{shown}` to close its output");
        return Err(deadline.timed_out_waiting_for(what).into());
    }
    group.leave();
    let bytes = reader.join().map_err(|_| anyhow::format_err!("{}", running()))?;
    let bytes = bytes.with_context(running)?;
    if status.success() {
        return Ok(Reply::Printed(String::from_utf8(bytes).with_context(running)?));
    }
    let message = if complaint.is_finished() { complaint.join().ok() } else { None };
    let message = String::from_utf8_lossy(&message.unwrap_or_default()).into_owned();
    Ok(Reply::Failed {
        status: status.to_string(),
        printed: String::from_utf8_lossy(&bytes).into_owned(),
        message,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn asked(script: &str) -> String {
        let question = Question {
            program: &ProgramPath::find("/bin/sh").unwrap(),
            arguments: &["-c", script],
            variables: &[],
            input: Input::Text("quay.io"),
            limit: 20,
            deadline: Deadline::after(Duration::from_secs(1)),
        };
        match answer(&question) {
            Ok(Reply::Printed(text)) => text,
            Ok(Reply::Failed { status, printed, message }) => {
                format!("{status}: {} ({printed})", message.replace('\n', "|"))
            }
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn a_program_is_asked_and_ends_in_time() {
        assert_eq!(asked("read -r it; echo \"you asked $it\""), "you asked quay.io\n");
        assert_eq!(asked("echo a; echo b >&2; echo c >&2; exit 3"), "exit status: 3: b|c| (a\n)");
        assert_eq!(asked("echo done"), "done\n", "without reading its input");
        assert_eq!(asked("exec sleep 30"), "timed out after 1s while waiting for `/bin/sh`");
        let left = "timed out after 1s while waiting for `/bin/sh` to close its output";
        assert_eq!(asked("sleep 30 & echo x"), left);
        assert_eq!(asked("printf %050d 1").len(), 20);
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_at_the_deadline() {
        // It ends only if the group is killed: nothing else closes the pipe of its process id.
        let (start, pid) = ("sleep 60 & echo $! >&2; echo x", asked("sleep 60 & echo $!"));
        assert!(asked(start).starts_with("timed out"));
        assert!(pid.starts_with("timed out"));
    }
}

//! A program that is asked one thing at stdin and answers at stdout, as credential helpers do.

use std::{
    io::{Read as _, Write as _},
    process::Stdio,
    thread,
    time::Duration,
};

use anyhow::Context as _;

use super::ProgramPath;

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

/// Runs a program that prints up to `limit` bytes; it is ended after `seconds`.
pub fn answer(
    program: &ProgramPath,
    arguments: &[&str],
    input: &str,
    limit: u64,
    seconds: u64,
) -> anyhow::Result<Reply> {
    let shown = program.as_path().display();
    let running = || format!("cannot run `{shown}`");
    let mut child = program
        .command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(running)?;
    // A program that does not read its input is none of our business.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input.as_bytes());
    }
    let stderr = child.stderr.take();
    let complaint = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.map(|it| it.take(LONGEST_COMPLAINT).read_to_end(&mut bytes));
        bytes
    });
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.map(|it| it.take(limit).read_to_end(&mut bytes)).transpose().map(|_| bytes)
    });
    let mut left = seconds * 1000 / LOOK.as_millis() as u64;
    let status = loop {
        if let Some(status) = child.try_wait().with_context(running)? {
            break status;
        }
        if left == 0 {
            let _ = child.kill();
            let _ = child.wait();
            anyhow::bail!("`{shown}` did not end within {seconds} seconds");
        }
        left -= 1;
        thread::sleep(LOOK);
    };
    // A program that it has left behind may keep the pipe open.
    while !(reader.is_finished() && (status.success() || complaint.is_finished())) && 0 < left {
        left -= 1;
        thread::sleep(LOOK);
    }
    anyhow::ensure!(reader.is_finished(), "`{shown}` did not close its output");
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
        match answer(&ProgramPath::find("/bin/sh").unwrap(), &["-c", script], "quay.io", 20, 1) {
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
        assert_eq!(asked("exec sleep 30"), "`/bin/sh` did not end within 1 seconds");
        assert_eq!(asked("sleep 30 & echo x"), "`/bin/sh` did not close its output");
        assert_eq!(asked("printf %050d 1").len(), 20);
    }
}
